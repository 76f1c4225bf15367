//! `ncirrus ls`: the datasets below a prefix.
use super::{finish, show_size};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::places::{FoundDataset, ListOptions};
use serde_json::json;
use std::io::{self, Write};

/// List the datasets in a directory, bucket or zip file, with their formats.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus ls data/                   the datasets in a directory
  ncirrus ls -r -l s3://bucket/2024  all datasets below a prefix, with sizes
  ncirrus ls -r --json s3://bucket | jq -r 'select(.kind == \"Zarr v3\").path'")]
pub(crate) struct Args {
    /// Path or URL of a directory, prefix, zip or dataset.
    url: String,
    /// Descend into prefixes, but not into datasets.
    #[arg(short, long)]
    recursive: bool,
    /// Show sizes.
    #[arg(short, long)]
    long: bool,
    /// Also list files and prefixes that are not datasets.
    #[arg(short, long)]
    all: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let options = ListOptions::new().recursive(args.recursive).all(args.all);
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    let mut outcome = CommandStatus::SUCCESS;
    let mut places = ncirrus_tools::places::list(&args.url, &options, session)?;
    for found in places.by_ref() {
        match found {
            Ok(found) => {
                // Finding the next one may take time.
                let shown = show(&mut out, &found, args).and_then(|()| out.flush());
                if shown.is_err() {
                    return finish(shown);
                }
            }
            // The others are still listed.
            Err(error) => outcome = crate::hint::report(&error),
        }
    }
    crate::message::notes(&places.warnings());
    finish(out.flush()).map(|_| outcome)
}

fn show(out: &mut impl Write, found: &FoundDataset, args: &Args) -> io::Result<()> {
    if args.json {
        let line = json!({"path": found.path, "kind": found.kind.as_str(), "size": found.size});
        return writeln!(out, "{line}");
    }
    if args.long {
        let size = found.size.map_or_else(|| "-".to_owned(), show_size);
        write!(out, "{size:>9}  ")?;
    }
    let path = if found.path.is_empty() { super::shown(&args.url) } else { found.path.clone() };
    let slash = if found.kind == ncirrus_tools::places::PlaceKind::Prefix { "/" } else { "" };
    writeln!(out, "{:<15} {}{slash}", found.kind, crate::message::escaped(&path))
}
