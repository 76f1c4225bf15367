//! `ncirrus split`: divides a dataset into an aggregation of many files.
use super::master::{MasterArgs, MasterFormat, progress_bar};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Error, Kind, Result, Session};
use ncirrus_tools::aggregate::{DEFAULT_SIZE, SplitOptions, SplitReport, split};
use std::collections::BTreeMap;
use std::io::Write as _;

/// Split a dataset into an aggregation of many files.
#[derive(ClapArgs)]
#[command(
    before_long_help = "Examples:
  ncirrus split sst.nc sst.nca                              fragments of up to 50 MiB in folder sst
  ncirrus split --shape time=120,lat=90 sst.nc sst.nca      fragments of these lengths
  ncirrus split --fragments s3://bucket/sst sst.nc sst.nca  fragments on an object store
  ncirrus split --convention cfa-0.4 --format nc3 sst.nc sst.nca",
    after_long_help = "\
Variables along dimensions are split. The master contains coordinates, bounds, scalars, variables that are named by attributes \
of others, and variables of user-defined types. Fragments are called FOLDER/MASTER.VARIABLE.0.1.nc, with their indices in the \
array of fragments. The last fragment along a dimension may be shorter. The same command continues a run that was killed: \
existing fragments are kept, and the master is written last."
)]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    source: String,
    /// Path or URL of the master.
    target: String,
    /// Maximum size of a fragment, such as 100M or 1G [default: 50 MiB].
    ///
    /// The size is that before compression. The default is 52428800 bytes. K, M and G are powers of 1024; KB, MB and GB are powers of
    /// 1000. With --like-s3netcdf4 it is a number of elements.
    #[arg(long, value_name = "SIZE", value_parser = super::parse_size)]
    max_size: Option<usize>,
    /// Lengths of fragments along dimensions.
    ///
    /// Other dimensions are not split.
    #[arg(long, value_name = "DIM=LEN,...", value_delimiter = ',')]
    shape: Vec<String>,
    /// Directory or prefix of the fragments.
    ///
    /// The default is next to the master, and named after it.
    #[arg(long, value_name = "DIR")]
    fragments: Option<String>,
    /// Kind of the fragments: nc3, nc5, nc4 or nczarr.
    ///
    /// The default is netCDF-4, or the kind of the master if that is netCDF-3.
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    fragment_format: Option<MasterFormat>,
    /// Split exactly as S3netCDF4 does.
    ///
    /// If elements would be lost by that, this is an error.
    #[arg(long, hide_short_help = true)]
    like_s3netcdf4: bool,
    #[command(flatten)]
    master: MasterArgs,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let source = super::open(&args.source, session)?;
    let bar = if args.quiet { indicatif::ProgressBar::hidden() } else { progress_bar() };
    let show = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let options = SplitOptions::new()
        .max_size(args.max_size.map_or(DEFAULT_SIZE, |size| size as u64))
        .shape(shape(&args.shape)?)
        .fragments(args.fragments.clone())
        .like_s3netcdf4(args.like_s3netcdf4)
        .fragment_kind(args.fragment_format.map(Kind::from))
        .steps(&show);
    let report = split(&source, &args.target, &options, &args.master.options()?, session);
    bar.finish_and_clear();
    let report = report?;
    let done = if args.quiet { CommandStatus::SUCCESS } else { super::finish(print(&report))? };
    Ok(crate::exit::after(done, &report.left_out))
}

fn print(report: &SplitReport) -> std::io::Result<()> {
    let mut out = anstream::stdout().lock();
    for (path, shape) in &report.variables {
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        writeln!(out, "{path}  {} fragments", shape.join(" x "))?;
    }
    writeln!(out, "{} fragments written, {} kept", report.written, report.kept)
}

/// `time=120,lat=90`
fn shape(parts: &[String]) -> Result<BTreeMap<String, u64>> {
    let mut lengths = BTreeMap::new();
    for text in parts {
        let part = text.split_once('=').and_then(|(name, len)| Some((name.trim(), len.trim().parse().ok()?)));
        let bad = || Error::invalid(format!("--shape {text:?} is not of the form DIM=LEN"));
        let (name, len) = part.filter(|(name, len)| !name.is_empty() && *len > 0).ok_or_else(bad)?;
        if lengths.insert(name.to_owned(), len).is_some() {
            return Err(Error::invalid(format!("--shape has two lengths along {name:?}")));
        }
    }
    Ok(lengths)
}
