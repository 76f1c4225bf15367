//! `ncirrus optimize`: stores netCDF-4 files so that few requests read them.
use crate::CommandStatus;
use crate::exit;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::{FileOutcome, OptimizeOptions, OptimizeProgress, OptimizedFile, Profile, optimize};
use serde_json::Value;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

/// Rewrite netCDF-4 files so that few requests read them, without changing any value.
///
/// Chunks get a useful size and all metadata move to the front. Each file is written beside itself, compared with the original, and
/// then replaces it atomically, with the same owner and mode. Files that fit the profile are not changed, so an interrupted command
/// can be repeated. Filters stay unless the profile names others.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus optimize --profile cmip7 tas_*.nc         as CMIP7 requires, in place
  ncirrus optimize -o packed --jobs 2 data/*.nc     cloud-optimized, in the folder packed
  ncirrus optimize --dry-run data.nc                what would change, and what reads would cost
  ncirrus optimize --profile own.toml --times data.nc
                                                    by rules of your own, with the same times")]
pub(crate) struct Args {
    /// Paths of netCDF-4 files on this machine.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Storage of the files: cmip7, cloud or FILE.toml.
    ///
    /// Both cmip7 and cloud store coordinates of time and their bounds in one chunk each. Chunks of other variables have at
    /// least 4 MiB with cmip7, and 1 to 16 MiB with cloud. FILE.toml has sizes and rules of its own (docs/optimizing.md).
    #[arg(long, value_name = "PROFILE", default_value = "cloud")]
    profile: String,
    /// Write the files to this folder instead of replacing them.
    ///
    /// The folder is made if it does not exist. Files that are complete in it are skipped.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace files in the folder.
    #[arg(long, requires = "output", hide_short_help = true)]
    overwrite: bool,
    /// Process N files at once.
    ///
    /// One file already uses all cores if its chunks change. Each job uses as much memory as --memory allows.
    #[arg(long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// Keep the files' times of access and modification.
    #[arg(long)]
    times: bool,
    /// Print what would change; write nothing.
    ///
    /// The cost of reads afterwards is an estimate.
    #[arg(long)]
    dry_run: bool,
    /// Print the reports as JSON, a list.
    #[arg(long)]
    json: bool,
    /// Print only failures.
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
}

/// Memory of a command for which none was chosen.
pub(crate) const MEMORY: usize = 128 << 20;

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let bar = if args.quiet { indicatif::ProgressBar::hidden() } else { super::copy::progress_bar() };
    let show = |at: OptimizeProgress<'_>| {
        let message = format!("{} {}", at.file, at.copied.variable);
        super::copy::show_progress(&bar, &message, at.copied.done, at.copied.total);
    };
    let printed = Mutex::new(Ok(()));
    let print = |file: &OptimizedFile| {
        if args.json || (args.quiet && !is_failed(file)) {
            return;
        }
        bar.suspend(|| {
            let written = print_file(file);
            if let Ok(mut printed) = printed.lock()
                && printed.is_ok()
            {
                *printed = written;
            }
        });
    };
    let options = OptimizeOptions::new()
        .profile(Profile::parse(&args.profile)?)
        .folder(args.output.clone())
        .overwrite(args.overwrite)
        .jobs(args.jobs.get())
        .dry_run(args.dry_run)
        .times(args.times)
        .done(&print)
        .progress(&show);
    let files = optimize(&args.files, &options, session);
    bar.finish_and_clear();
    let files = files?;
    if args.json {
        let list = Value::Array(files.iter().map(OptimizedFile::to_json).collect());
        super::finish(writeln!(anstream::stdout().lock(), "{list:#}"))?;
    }
    super::finish(printed.into_inner().unwrap_or(Ok(())))?;
    Ok(status(&files))
}

/// Prints a report: failures to standard error, like those of every command.
fn print_file(file: &OptimizedFile) -> std::io::Result<()> {
    crate::message::notes(&file.notes);
    match &file.outcome {
        FileOutcome::Failed(error) => {
            crate::message::print(format_args!("{}: {error}", file.path));
            Ok(())
        }
        _ => write!(anstream::stdout().lock(), "{file}"),
    }
}

fn is_failed(file: &OptimizedFile) -> bool {
    matches!(file.outcome, FileOutcome::Failed(_))
}

/// The status of the first failure; otherwise whether everything fits the profile.
fn status(files: &[OptimizedFile]) -> CommandStatus {
    let failure = files.iter().find_map(|file| match &file.outcome {
        FileOutcome::Failed(error) => Some(exit::code(error.kind())),
        _ => None,
    });
    let is_kept = || files.iter().any(|file| file.variables.iter().any(|variable| variable.kept.is_some()));
    match failure {
        Some(status) => status,
        None if is_kept() => CommandStatus::from(exit::PARTIAL),
        None => CommandStatus::SUCCESS,
    }
}
