//! `ncirrus compare`: compares two datasets.
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session, VariableSelect};
use ncirrus_tools::{CompareOptions, CompareScope, compare};
use std::io::Write as _;

/// Compare two datasets of any format: definitions, attributes and values.
///
/// Chunks, filters and the format are not compared. The exit code is 0 if the datasets are equal, and 1 if they differ.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus compare a.nc s3://bucket/a.zarr               everything, exactly
  ncirrus compare --relative 1e-6 --first 10 a.nc b.nc  with a tolerance; list ten elements each
  ncirrus compare --only data -v sst,lat a.nc b.nc      the values of two variables
  ncirrus compare --unpacked packed.nc plain.nc         unpacked values")]
pub(crate) struct Args {
    /// Path or URL of the first dataset.
    #[arg(value_name = "FIRST")]
    one: String,
    /// Path or URL of the second dataset.
    #[arg(value_name = "SECOND")]
    other: String,
    /// Numbers are equal if they differ by at most this much.
    #[arg(long, value_name = "NUMBER")]
    tolerance: Option<f64>,
    /// Numbers are equal if they differ by at most this fraction.
    ///
    /// The fraction is of the larger number.
    #[arg(long, value_name = "FRACTION")]
    relative: Option<f64>,
    /// Numbers are equal if at most N representable numbers apart.
    #[arg(long, value_name = "N", hide_short_help = true)]
    ulps: Option<u64>,
    /// Compare only the values (data) or only the definitions.
    #[arg(long, value_name = "WHAT")]
    only: Option<Only>,
    /// Compare only these variables: names or paths.
    #[arg(short, long, value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// Compare only the variables of these groups.
    #[arg(short, long, value_name = "GROUP,...", value_delimiter = ',', hide_short_help = true)]
    groups: Vec<String>,
    /// Compare only this part: VAR[0:10:2,5,:]; repeatable.
    #[arg(long, value_name = "VAR[SEL]", hide_short_help = true)]
    select: Vec<String>,
    /// Ignore these attributes.
    #[arg(long, value_name = "ATTRIBUTE,...", value_delimiter = ',', default_values_t = CompareOptions::default().ignore)]
    ignore: Vec<String>,
    /// Compare the order of members, too.
    ///
    /// Members are variables, dimensions, attributes, types and groups.
    #[arg(long, hide_short_help = true)]
    order: bool,
    /// Compare unpacked values instead of the stored ones.
    ///
    /// Values are unpacked by scale_factor, add_offset and the attributes of missing values.
    #[arg(long)]
    unpacked: bool,
    /// List this many differing elements of each variable.
    #[arg(long = "first", value_name = "N", default_value_t = CompareOptions::default().first)]
    listed: usize,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Print nothing; the exit code is the result.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

/// The part of the datasets that is compared.
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
