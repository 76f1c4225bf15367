//! `ncirrus keys`: the raw objects of a store.
use super::{StandardOutput, finish};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::places::{Key, KeysOptions};
use serde_json::json;
use std::io::{self, Write};

/// List the raw objects of a store, or print one, as netCDF-C's zmapio and ncs3 tools do.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus keys sst.zarr                          all objects
  ncirrus keys --sizes s3://bucket/sst.zarr lat  those below lat, with sizes
  ncirrus keys --get lat/.zarray s3://bucket/sst.zarr | jq .shape")]
pub(crate) struct Args {
    /// Path or URL of a dataset, directory, prefix or zip.
    url: String,
    /// Only objects at or below this key.
    #[arg(default_value = "")]
    prefix: String,
    /// Print sizes in bytes.
    #[arg(short, long)]
    sizes: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    /// Write the bytes of this object to standard output instead.
    #[arg(long, value_name = "KEY", conflicts_with_all = ["prefix", "sizes", "json"])]
    get: Option<String>,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let mut out = StandardOutput::new();
    if let Some(key) = &args.get {
        let got = ncirrus_tools::places::get(&args.url, key, &mut out, session);
        return out.failed().unwrap_or_else(|| got.and_then(|_| finish(out.flush())));
    }
    let options = KeysOptions::new().prefix(args.prefix.clone()).sizes(args.sizes);
    let (mut keys, mut unnamed) = (ncirrus_tools::places::keys(&args.url, &options, session)?, 0);
    for key in keys.by_ref() {
        let key = key?;
        unnamed += u64::from(!key.is_named);
        let shown = show(&mut out, &key, args);
        if shown.is_err() {
            return finish(shown);
        }
    }
    let flushed = out.flush();
    if unnamed > 0 {
        let why = "have an empty part, \".\", \"..\" or a control character: they cannot be read";
        crate::message::notes(&[format!(
            "{unnamed} of these keys {why}, and are removed with the dataset that contains them"
        )]);
    }
    crate::message::notes(&keys.warnings());
    finish(flushed)
}

fn show(out: &mut impl Write, key: &Key, args: &Args) -> io::Result<()> {
    if args.json {
        let mut line = json!({"key": key.key, "size": key.size.filter(|_| args.sizes)});
        if !key.is_named {
            line["named"] = false.into();
        }
        return writeln!(out, "{line}");
    }
    let url = ncirrus::store::Url::parse(&args.url);
    let name = match url.as_ref() {
        // The object at the address itself.
        Ok(url) if key.key.is_empty() => url.path().rsplit('/').next().unwrap_or_default(),
        _ => &key.key,
    };
    let name = crate::message::escaped(name);
    match key.size.filter(|_| args.sizes) {
        Some(size) => writeln!(out, "{size:>12} {name}"),
        None => writeln!(out, "{name}"),
    }
}
