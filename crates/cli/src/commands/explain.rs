//! `ncirrus explain`: the plan of a read.
use super::show_size;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Dataset, Result, Selection, Session, VarId, VariableSelect};
use serde_json::json;
use std::io::Write;

/// Explain how data would be read: requests, bytes, chunks, over-read, decoding.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus explain s3://bucket/sst.zarr sst  the whole variable
  ncirrus explain sst.nc 'sst[:,9,18]'      a time series at one point
  ncirrus explain sst.nc sst 'time[0:4]'    several variables, read together
  ncirrus explain sst.nc                    all variables")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Variables and selections: VAR or VAR[0:10:2,5,:] [default: all].
    ///
    /// Several variables are read together.
    variables: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    let opening = session.statistics();
    let wanted = wanted(&dataset, &args.variables)?;
    let model = dataset.model()?;
    let paths: Vec<String> = wanted.iter().map(|(id, _)| model.variable_path(*id)).collect();
    let plan = dataset.plan_many(&wanted)?;
    let mut out = anstream::stdout().lock();
    let written = if args.json {
        let mut object = match paths.as_slice() {
            [path] => ncirrus_tools::plan_json(path, &plan),
            paths => ncirrus_tools::plans_json(paths, &plan),
        };
        object["open"] = json!({"requests": opening.requests, "bytes": opening.bytes_fetched});
        writeln!(out, "{object:#}")
    } else {
        let (requests, bytes) = (opening.requests, show_size(opening.bytes_fetched));
        write!(out, "variable    {}\nopened      {requests} requests, {bytes}\n{plan}", paths.join(" "))
    };
    super::finish(written)
}

/// The variables and their selections; all that can be read if none is named.
fn wanted(dataset: &Dataset, variables: &[String]) -> Result<Vec<(VarId, Selection)>> {
    let model = dataset.model()?;
    if variables.is_empty() {
        let is_sound = |id: &VarId| model.variable(*id).is_some_and(|variable| variable.fault.is_none());
        let all = model.variables().into_iter().filter(is_sound);
        return Ok(all.map(|id| (id, Selection::all(&model.shape(id)))).collect());
    }
    let one = |text: &String| {
        let select = VariableSelect::parse(text)?;
        let variable = dataset.variable(&select.path)?;
        Ok((variable.id(), select.resolve(&variable.shape())?))
    };
    variables.iter().map(one).collect()
}
