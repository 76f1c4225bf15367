//! `ncirrus rm`.
use super::{finish, shown};
use crate::CommandStatus;
use crate::message::{escaped, print};
use clap::Args as ClapArgs;
use ncirrus::{Dataset, Error, ErrorKind, OpenOptions, Result, Session};
use ncirrus_tools::{removal, remove};
use std::io::{BufRead, IsTerminal, Write};

/// Remove a dataset: its own objects and nothing else.
///
/// Other objects among those of a Zarr dataset are kept and listed. Without -y the command shows what it will remove, and
/// requires confirmation on the terminal. Without --force it rejects addresses that cannot be opened as a dataset, and groups
/// or arrays inside another dataset. A whole bucket, the root directory, and the current directory are never removed.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus rm --dry-run s3://bucket/old.zarr  list the objects that would be removed
  ncirrus rm -y s3://bucket/old.zarr         remove them without confirmation")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Print what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove without confirmation.
    #[arg(short = 'y', long)]
    yes: bool,
    /// Remove everything at and below the address, dataset or not.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let mut removal = removal(&args.url, session)?;
    if args.force {
        removal = removal.of_everything();
    }
    let others = removal.others.clone();
    if !args.force {
        check_dataset(&args.url, session)?;
        if removal.is_tree {
            check_around(&args.url, session)?;
        }
    }
    let mut out = std::io::stdout().lock();
    let count = removal.keys.len();
    if args.dry_run {
        let reported = removal.keys.iter().try_for_each(|key| writeln!(out, "would remove {}", escaped(key)));
        let stay = others.iter().try_for_each(|key| writeln!(out, "would keep   {}", escaped(key)));
        return finish(
            reported.and(stay).and_then(|()| writeln!(out, "{count} in all; nothing was removed")),
        );
    }
    let (url, keys) = (escaped(&shown(&args.url)).into_owned(), if count == 1 { "key" } else { "keys" });
    if !args.yes && !is_wanted(&url, &format!("{count} {keys}"))? {
        return finish(writeln!(out, "nothing was removed"));
    }
    remove(&args.url, removal, session)?;
    others
        .iter()
        .for_each(|key| print(format_args!("{} was kept: it is not part of the dataset", escaped(key))));
    finish(writeln!(out, "removed {url} ({count} {keys})"))
}

/// Refuses addresses that do not open as a dataset.
fn check_dataset(url: &str, session: &Session) -> Result<()> {
    match Dataset::open_with(url, &OpenOptions::default(), session) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = "cannot be opened as a dataset; --force removes everything at and below it";
            Err(Error::new(ErrorKind::Conflict, message).at_object(shown(url)).because(error))
        }
    }
}

/// Refuses members of another dataset: they may be its groups or arrays.
fn check_around(url: &str, session: &Session) -> Result<()> {
    let Some(around) = around(url) else { return Ok(()) };
    match Dataset::open_with(&around, &OpenOptions::default(), session) {
        Ok(_) => {}
        // It could not be determined.
        Err(error) if matches!(error.kind(), ErrorKind::Io { .. }) => return Err(error),
        Err(_) => return Ok(()),
    }
    let message = format!("may be part of the dataset {}; --force removes it anyway", shown(&around));
    Err(Error::new(ErrorKind::Conflict, message).at_object(shown(url)))
}

/// The address of the parent folder, if there is one.
fn around(url: &str) -> Option<String> {
    let (address, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (scheme, path) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let (folder, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
    let is_plain = !matches!(name, "" | "." | "..") && !address.contains('?');
    let folder = if folder.is_empty() && scheme.is_empty() && !path.starts_with('/') { "." } else { folder };
    (is_plain && !folder.is_empty()).then(|| format!("{scheme}{folder}{fragment}"))
}

fn is_wanted(url: &str, keys: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        let message = "cannot ask for confirmation without a terminal: pass -y, or --dry-run to see what would be removed";
        return Err(Error::invalid(message).at_object(url));
    }
    let failed = |error: std::io::Error| Error::new(ErrorKind::Io { retryable: false }, error.to_string());
    let mut err = std::io::stderr().lock();
    write!(err, "remove {url} ({keys})? [y/N] ").and_then(|()| err.flush()).map_err(failed)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn addresses_lie_in_folders() {
        for (url, folder) in [
            ("s3://b/a.zarr/v/#aws.profile=x", Some("s3://b/a.zarr#aws.profile=x")),
            ("s3://b/a.zarr", Some("s3://b")),
            ("s3://b", None),
            ("a.zarr/g/v", Some("a.zarr/g")),
            ("v", Some(".")),
            ("/v", None),
            ("file:///a/v", Some("file:///a")),
            ("a/..", None),
        ] {
            assert_eq!(around(url).as_deref(), folder, "{url}");
        }
    }
}
