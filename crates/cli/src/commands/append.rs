//! `ncirrus append`: appends the records of datasets to another one.
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::{AppendOptions, append};
use std::io::Write as _;

/// Add the records of datasets, in the given order, to the end of a dataset.
///
/// Definitions, attributes, coordinates and values are checked first; nothing is written unless everything fits.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus append year.nc jan.nc feb.nc                  along the unlimited dimension
  ncirrus append --along time series.zarr day.nc        along a dimension of Zarr
  ncirrus append --dry-run year.nc feb.nc               report what does not fit
  ncirrus append --skip-existing year.nc feb.nc         continue after an interruption
  ncirrus append --rewrite s3://bucket/year.nc feb.nc   a single file on an object store")]
pub(crate) struct Args {
    /// Path or URL of the dataset that grows.
    target: String,
    /// Paths or URLs of the datasets to append.
    #[arg(required = true)]
    sources: Vec<String>,
    /// Dimension that grows [default: the only unlimited one, or time].
    ///
    /// Without this option it is the only unlimited dimension, or the dimension of time.
    #[arg(long, value_name = "DIM")]
    along: Option<String>,
    /// Reorder data whose other coordinates are in another order.
    ///
    /// The coordinates along the other dimensions are brought to the target's order, together with the data.
    #[arg(long)]
    reorder: bool,
    /// Skip records that the target already has, instead of failing.
    #[arg(long)]
    skip_existing: bool,
    /// Do not compare variables without records; keep the target's.
    #[arg(long)]
    keep: bool,
    /// Attributes that may differ; the target's are kept.
    #[arg(long, value_name = "ATTRIBUTE,...", value_delimiter = ',', default_values_t = AppendOptions::default().ignore)]
    ignore: Vec<String>,
    /// Print what would be added and what does not fit; write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Allow a single file on an object store to be downloaded, changed and uploaded as a whole.
    #[arg(long)]
    pub(crate) rewrite: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let bar = super::copy::progress_bar();
    let show =
        |at: ncirrus_tools::Progress<'_>| super::copy::show_progress(&bar, at.variable, at.done, at.total);
    let options = AppendOptions::new()
        .along(args.along.clone())
        .reorder(args.reorder)
        .skip_existing(args.skip_existing)
        .keep(args.keep)
        .ignore(args.ignore.iter().cloned())
        .dry_run(args.dry_run)
        .progress(&show);
    let report = append(&args.target, &args.sources, &options, session);
    bar.finish_and_clear();
    let report = report?;
    report.notes.iter().for_each(crate::message::print);
    report.findings.iter().for_each(crate::message::print);
    let mut out = anstream::stdout().lock();
    let verb = if args.dry_run { "would grow" } else { "grew" };
    let written = writeln!(
        out,
        "{} {verb} from {} to {}; {} records existed already",
        report.axis, report.old_len, report.new_len, report.skipped
    );
    drop(out);
    let done = super::finish(written)?;
    Ok(if report.findings.is_empty() { done } else { CommandStatus::from(exit::PARTIAL) })
}
