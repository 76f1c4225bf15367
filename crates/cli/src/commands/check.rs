//! `ncirrus check`: whether a dataset is sound.
use super::reading::ReadingOptions;
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use indicatif::ProgressBar;
use ncirrus::{Result, Session};
use ncirrus_tools::{CheckOptions, CheckPlan, CheckProgress, check};
use std::io::Write as _;

/// Check that a dataset is sound: metadata, chunks, checksums, references. Nothing is written.
///
/// Everything stored is located, read and decoded. Exit code 0: sound; 1: something was found.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus check a.nc                       everything
  ncirrus check --quick s3://bucket/a.zarr definitions and places of chunks; no data are read
  ncirrus check --cf --json a.nc           with what CF asks of attributes, as JSON
  ncirrus check --digest a.nc              with a SHA-256 of the values of each variable")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Read no values: check definitions and where chunks are stored.
    #[arg(long)]
    quick: bool,
    /// Check units, calendars, coordinates and names in attributes by the CF conventions, too.
    #[arg(long)]
    cf: bool,
    /// List the indices of the first element of each chunk that was never written.
    // `--absent` is the option of every command that says what absent fragments do.
    #[arg(long)]
    list_absent: bool,
    /// Print a SHA-256 of the values of each variable: the same for the same values in any format.
    #[arg(long, conflicts_with = "quick")]
    digest: bool,
    /// Print the report as JSON (docs/check.schema.json).
    #[arg(long)]
    json: bool,
    /// Show no progress and no plan.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    reading: ReadingOptions,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let bar = if args.quiet { ProgressBar::hidden() } else { super::copy::progress_bar() };
    let show = |at: CheckProgress<'_>| super::copy::show_progress(&bar, at.variable, at.done, at.total);
    let reported = |plan: &CheckPlan| {
        if !args.quiet {
            bar.suspend(|| crate::message::print(plan));
        }
    };
    let options = CheckOptions::new()
        .open(args.reading.options())
        .quick(args.quick)
        .cf(args.cf)
        .absent(args.list_absent)
        .digest(args.digest)
        .plan(&reported)
        .progress(&show);
    let report = check(&super::pipe::source(&args.url)?, &options, session);
    bar.finish_and_clear();
    let report = report?;
    let mut out = anstream::stdout().lock();
    let written = if args.json { writeln!(out, "{:#}", report.to_json()) } else { write!(out, "{report}") };
    drop(out);
    let done = super::finish(written)?;
    Ok(if report.is_sound() { done } else { CommandStatus::from(exit::PARTIAL) })
}
