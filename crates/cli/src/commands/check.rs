//! `ncirrus check`: whether a dataset is sound.
use super::reading::ReadingOptions;
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use indicatif::ProgressBar;
use ncirrus::{Result, Session};
use ncirrus_tools::{CheckOptions, CheckPlan, CheckProgress, Profile, check};
use std::io::Write as _;

/// Check that a dataset is sound: metadata, chunks, checksums, references.
///
/// Nothing is written. All stored data is located, read and decoded. The exit code is 0 if the dataset is sound, and 1 if a fault was found.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus check a.nc                        everything
  ncirrus check --quick s3://bucket/a.zarr  definitions and chunk locations, without reading data
  ncirrus check --cf --json a.nc            also the rules of CF for attributes, as JSON
  ncirrus check --profile cmip7 tas.nc      whether it is stored as CMIP7 requires
  ncirrus check --digest a.nc               also print a SHA-256 of the values of each variable")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Read no values: check definitions and where chunks are stored.
    #[arg(long)]
    quick: bool,
    /// Also check units, calendars, coordinates and names in attributes by CF.
    ///
    /// CF are the conventions for climate and forecast metadata.
    #[arg(long)]
    cf: bool,
    /// Only check the storage by a profile: cmip7, cloud or FILE.toml.
    ///
    /// Only metadata are read, with at most three requests if the file is not on this machine. `ncirrus optimize` stores files
    /// as a profile requires.
    #[arg(long, value_name = "PROFILE", conflicts_with_all = ["quick", "cf", "list_absent", "digest"])]
    profile: Option<String>,
    /// List chunks that were never written.
    ///
    /// Each is listed by the indices of its first element.
    // `--absent` is an option of every command: the treatment of absent fragments.
    #[arg(long)]
    list_absent: bool,
    /// Print a SHA-256 of the values of each variable, equal in any format.
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
        .profile(args.profile.as_deref().map(Profile::parse).transpose()?)
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
