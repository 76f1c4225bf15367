//! `ncirrus explain`: how a read would be done.
use super::show_size;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session, VariableSelect};
use serde_json::json;
use std::io::Write;

/// Explain how a selection would be read: requests, bytes, chunks, over-read, decoding.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus explain s3://bucket/sst.zarr sst              the whole variable
  ncirrus explain sst.nc 'sst[:,9,18]'                  a point series")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Variable and selection: VAR or VAR[0:10:2,5,:].
    variable: String,
    /// As JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    let opening = session.statistics();
    let select = VariableSelect::parse(&args.variable)?;
    let variable = dataset.variable(&select.path)?;
    let selection = select.resolve(&variable.shape())?;
    let plan = dataset.plan(&variable, &selection)?;
    let mut out = anstream::stdout().lock();
    let written = if args.json {
        let mut object = ncirrus_tools::plan_json(&variable.path(), &plan);
        object["open"] = json!({"requests": opening.requests, "bytes": opening.bytes_fetched});
        writeln!(out, "{object:#}")
    } else {
        let (requests, bytes) = (opening.requests, show_size(opening.bytes_fetched));
        write!(out, "variable    {}\nopened      {requests} requests, {bytes}\n{plan}", variable.path())
    };
    super::finish(written)
}
