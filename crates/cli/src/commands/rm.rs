//! `ncirrus rm`.
use super::{finish, shown};
use crate::hint::escaped;
use clap::Args as ClapArgs;
use ncirrus::{Dataset, Error, ErrorKind, OpenOptions, Result, Session, removal, remove};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

/// Remove a dataset: its keys and nothing else.
///
/// What is removed is told first; without -y a terminal is asked. What is no dataset that can be opened is refused
/// unless --force is given. A whole bucket, the root directory, and the current directory are never removed.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Path or URL.
    url: String,
    /// Tell what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(short = 'y', long)]
    yes: bool,
    /// Remove what is no dataset, too: everything at and below the address.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<ExitCode> {
    let removal = removal(&args.url, session)?;
    if !args.force {
        check_dataset(&args.url, session)?;
    }
    let mut out = std::io::stdout().lock();
    let count = removal.keys.len();
    if args.dry_run {
        let told = removal.keys.iter().try_for_each(|key| writeln!(out, "would remove {}", escaped(key)));
        return finish(told.and_then(|()| writeln!(out, "{count} in all; nothing was removed")));
    }
    let (url, keys) = (escaped(&shown(&args.url)).into_owned(), if count == 1 { "key" } else { "keys" });
    if !args.yes && !is_wanted(&url, &format!("{count} {keys}"))? {
        return finish(writeln!(out, "nothing was removed"));
    }
    remove(&args.url, removal, session)?;
    finish(writeln!(out, "removed {url} ({count} {keys})"))
}

/// Refuses what does not open as a dataset.
fn check_dataset(url: &str, session: &Session) -> Result<()> {
    match Dataset::open_with(url, &OpenOptions::default(), session) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = "is no dataset that can be opened: --force removes everything at and below it";
            Err(Error::new(ErrorKind::Conflict, message).at_object(shown(url)).because(error))
        }
    }
}

fn is_wanted(url: &str, keys: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        let message = "removing without asking: give -y, or --dry-run to see what would go";
        return Err(Error::invalid(message).at_object(url));
    }
    let failed = |error: std::io::Error| Error::new(ErrorKind::Io { retryable: false }, error.to_string());
    let mut err = std::io::stderr().lock();
    write!(err, "remove {url} ({keys})? [y/N] ").and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
