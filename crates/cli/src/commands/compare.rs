//! `ncirrus compare`: whether two datasets are the same.
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session, VariableSelect};
use ncirrus_tools::{CompareOptions, CompareScope, compare};
use std::io::Write as _;

/// Report what differs between two datasets of any kinds: definitions, attributes and values.
///
/// Chunks, filters and the kind of storage do not count. Exit code 0: the same; 1: different.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus compare a.nc s3://bucket/a.zarr               everything, exactly
  ncirrus compare --relative 1e-6 --first 10 a.nc b.nc  numbers within a tolerance; ten places of each variable
  ncirrus compare --only data -v sst,lat a.nc b.nc      the values of two variables
  ncirrus compare --unpacked packed.nc plain.nc         what packed values stand for")]
pub(crate) struct Args {
    /// Path or URL of the first dataset.
    #[arg(value_name = "FIRST")]
    one: String,
    /// Path or URL of the second dataset.
    #[arg(value_name = "SECOND")]
    other: String,
    /// Numbers are the same if they differ by at most this much.
    #[arg(long, value_name = "NUMBER")]
    tolerance: Option<f64>,
    /// Numbers are the same if they differ by at most this fraction of the larger one.
    #[arg(long, value_name = "FRACTION")]
    relative: Option<f64>,
    /// Numbers are the same if they are at most this many representable numbers apart.
    #[arg(long, value_name = "N")]
    ulps: Option<u64>,
    /// Compare only the values, or only the definitions.
    #[arg(long, value_name = "WHAT")]
    only: Option<Only>,
    /// Compare these variables only: names or paths.
    #[arg(short, long, value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// Compare the variables of these groups only.
    #[arg(short, long, value_name = "GROUP,...", value_delimiter = ',')]
    groups: Vec<String>,
    /// Compare this part of a variable only: VAR[0:10:2,5,:]; repeatable.
    #[arg(long, value_name = "SELECTION")]
    select: Vec<String>,
    /// Attributes that do not count.
    #[arg(long, value_name = "ATTRIBUTE,...", value_delimiter = ',', default_values_t = CompareOptions::default().ignore)]
    ignore: Vec<String>,
    /// The order of variables, dimensions, attributes, types and groups counts.
    #[arg(long)]
    order: bool,
    /// Compare what packed values stand for (scale_factor, add_offset, missing values) instead of what is stored.
    #[arg(long)]
    unpacked: bool,
    /// List this many differing elements of each variable.
    #[arg(long = "first", value_name = "N", default_value_t = CompareOptions::default().first)]
    listed: usize,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Print nothing: the exit code tells.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

/// What alone is compared.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Only {
    /// The values.
    Data,
    /// Groups, types, dimensions, variables and attributes.
    Definitions,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let first = args.reading.open(&args.one, session)?;
    let second = args.reading.open(&args.other, session)?;
    let scope = match args.only {
        None => CompareScope::All,
        Some(Only::Data) => CompareScope::Data,
        Some(Only::Definitions) => CompareScope::Definitions,
    };
    let select = args.select.iter().map(|text| VariableSelect::parse(text)).collect::<Result<Vec<_>>>()?;
    let options = CompareOptions::new()
        .tolerance(args.tolerance)
        .relative(args.relative)
        .ulps(args.ulps)
        .scope(scope)
        .variables(args.variables.iter().cloned())
        .groups(args.groups.iter().cloned())
        .select(select)
        .ignore(args.ignore.iter().cloned())
        .order(args.order)
        .unpacked(args.unpacked)
        .first(args.listed);
    let report = compare(&first, &second, &options)?;
    let mut out = anstream::stdout().lock();
    let written = match (args.quiet, args.json) {
        (true, _) => Ok(()),
        (false, true) => writeln!(out, "{:#}", report.to_json()),
        (false, false) => write!(out, "{report}"),
    };
    drop(out);
    [&first, &second].into_iter().for_each(super::reading::print_absent);
    let done = exit::after(super::finish(written)?, &report.left_out);
    Ok(if report.is_same() { done } else { CommandStatus::from(exit::PARTIAL) })
}
