//! `ncirrus dump`: prints a dataset as ncdump does.
use super::{StandardOutput, finish};
use crate::CommandStatus;
use crate::exit;
use clap::{Args as ClapArgs, ValueEnum};
use ncirrus::{Dataset, LeftOut, Result, Session};
use ncirrus_tools::cdl;
use std::io::Write;

/// Print a dataset as CDL text, byte for byte as ncdump does.
#[derive(ClapArgs)]
#[command(
    disable_help_flag = true,
    before_long_help = "Examples:
  ncirrus dump -h s3://bucket/sst.zarr     the header only
  ncirrus dump sst.nc                      everything
  ncirrus dump -v sst,time -p 9,17 sst.nc  two variables, exact numbers
  ncirrus dump -t -c store.zarr.zip        coordinates, times as dates"
)]
pub(crate) struct Args {
    /// Path or URL of the dataset; - for standard input.
    url: String,
    /// Print help.
    #[arg(long, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print the header only, without data.
    #[arg(short = 'h', conflicts_with_all = ["coordinates", "variables"])]
    header: bool,
    /// Print the header and the data of coordinate variables.
    #[arg(short = 'c')]
    coordinates: bool,
    /// Print the data of these variables only.
    #[arg(short, value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// Print the data of these groups only.
    #[arg(short, value_name = "GROUP,...", value_delimiter = ',')]
    groups: Vec<String>,
    /// Print only the kind of the dataset.
    #[arg(short)]
    kind: bool,
    /// Show how variables are stored, as special attributes.
    #[arg(short)]
    special: bool,
    /// Print times as dates, with a space between date and time.
    #[arg(short)]
    times: bool,
    /// Print times as ISO 8601 dates, with a T between date and time.
    #[arg(short, conflicts_with = "times")]
    iso_times: bool,
    /// Add a short comment with indices to each row: c or f.
    ///
    /// c counts from 0, as in C; f counts from 1 in Fortran order.
    #[arg(short, value_name = "c|f")]
    brief: Option<Indices>,
    /// Print one value per line, with its indices: c or f.
    ///
    /// c counts from 0, as in C; f counts from 1 in Fortran order.
    #[arg(short, value_name = "c|f", conflicts_with = "brief")]
    full: Option<Indices>,
    /// Maximum length of lines of data.
    #[arg(short, value_name = "N", default_value_t = 80)]
    length: usize,
    /// Significant digits of float and double.
    #[arg(short, value_name = "F[,D]", value_parser = parse_precision)]
    precision: Option<(usize, Option<usize>)>,
    /// Name of the dataset in the output.
    #[arg(short, value_name = "NAME")]
    name: Option<String>,
    /// Print the header as NcML instead of CDL.
    #[arg(short = 'x')]
    ncml: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

/// How indices are counted.
#[derive(Clone, Copy, ValueEnum)]
enum Indices {
    /// From 0, slowest first.
    C,
    /// From 1, fastest first.
    F,
}

impl From<Indices> for cdl::IndexOrder {
    fn from(indices: Indices) -> Self {
        match indices {
            Indices::C => Self::C,
            Indices::F => Self::Fortran,
        }
    }
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    if args.kind {
        let mut out = StandardOutput::new();
        return finish(writeln!(out, "{}", dataset.kind()).and_then(|()| out.flush()));
    }
    let options = options(args, &dataset);
    let done = print(&dataset, &options, args.ncml)?;
    if !args.ncml {
        super::reading::print_odd(&dataset);
    }
    Ok(done)
}

/// Prints a dataset to standard output as CDL or NcML, and reports on standard error what could not be read.
pub(crate) fn print(dataset: &Dataset, options: &cdl::PrintOptions, is_ncml: bool) -> Result<CommandStatus> {
    let mut out = StandardOutput::new();
    let printed = if is_ncml {
        ncirrus_tools::dump_ncml(dataset, &mut out, options)
    } else {
        ncirrus_tools::dump(dataset, &mut out, options).map(|summary| summary.faults)
    };
    let flushed = out.flush();
    if let Some(failed) = out.failed() {
        return failed;
    }
    let faults = printed?;
    drop(out);
    super::reading::print_absent(dataset);
    let mut left_out = dataset.left_out()?;
    for (path, reason) in faults {
        if left_out.iter().all(|known| known.path.trim_end_matches('/') != path.trim_end_matches('/')) {
            left_out.push(LeftOut { path, reason });
        }
    }
    Ok(exit::after(finish(flushed)?, &left_out))
}

fn options(args: &Args, dataset: &Dataset) -> cdl::PrintOptions {
    let data = match (args.header, args.coordinates) {
        (true, _) => cdl::DataChoice::HeaderOnly,
        (_, true) => cdl::DataChoice::Coordinates,
        _ => cdl::DataChoice::All,
    };
    let annotation = |style| move |order: Indices| cdl::IndexAnnotation { style, order: order.into() };
    let brief = args.brief.map(annotation(cdl::AnnotationStyle::Brief));
    let times = match (args.times, args.iso_times) {
        (_, true) => Some(cdl::TimeStyle::T),
        (true, _) => Some(cdl::TimeStyle::Blank),
        _ => None,
    };
    cdl::PrintOptions::new()
        .name(args.name.clone().unwrap_or_else(|| dataset.name().to_owned()))
        .data(data)
        .variables(args.variables.clone())
        .groups(args.groups.clone())
        .special(args.special)
        .line_len(args.length)
        .float_digits(args.precision.map(|(float, _)| float))
        .double_digits(args.precision.and_then(|(_, double)| double))
        .times(times)
        .annotation(brief.or(args.full.map(annotation(cdl::AnnotationStyle::Full))))
        .classic(ncirrus_tools::is_classic_model(dataset))
}

fn parse_precision(text: &str) -> std::result::Result<(usize, Option<usize>), String> {
    let digits = |part: &str| match part.parse::<usize>() {
        Ok(digits @ 1..=64) => Ok(digits),
        _ => Err(format!("{part:?} is not a number of digits from 1 to 64")),
    };
    match text.split_once(',') {
        Some((float, double)) => Ok((digits(float)?, Some(digits(double)?))),
        None => Ok((digits(text)?, None)),
    }
}
