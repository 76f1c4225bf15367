//! `ncirrus clean`.
use super::finish;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::{leftovers, remove_leftover};
use std::io::Write;
use std::time::{Duration, SystemTime};

/// Remove incomplete uploads, datasets and temporary files of interrupted writers.
///
/// On object stores these are multipart uploads that were never completed, and datasets whose creation was not finished.
/// Such uploads cost money and are not listed. In a directory they are temporary files. Complete datasets are never
/// removed.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus clean --dry-run s3://bucket/run1/  show what would be removed
  ncirrus clean --older-than 7d data/        remove what has not changed for a week")]
pub(crate) struct Args {
    /// Path or URL to search.
    ///
    /// In an object store everything below it is searched, in a directory only the directory itself.
    url: String,
    /// Print what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Only what has not changed for this long: 90s, 30m, 1h or 7d.
    ///
    /// What is younger may still be in use.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_time)]
    older_than: Duration,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let (found, notes) = leftovers(&args.url, session)?;
    crate::message::notes(&notes);
    let (now, mut out) = (SystemTime::now(), std::io::stdout().lock());
    let (mut removed, mut young) = (0, 0);
    for leftover in found {
        let age = now.duration_since(leftover.since).unwrap_or_default();
        if age < args.older_than {
            young += 1;
            continue;
        }
        if !args.dry_run {
            remove_leftover(&args.url, &leftover, session)?;
        }
        let verb = if args.dry_run { "would remove" } else { "removed" };
        let (what, place) = (&leftover.what, crate::message::escaped(&leftover.place));
        finish(writeln!(out, "{verb} {place}: {what}, {} old", show_time(age)))?;
        removed += 1;
    }
    let verb = if args.dry_run { "would be removed; nothing was" } else { "removed" };
    let kept = if young > 0 {
        format!(", {young} younger than {} kept", show_time(args.older_than))
    } else {
        String::new()
    };
    finish(writeln!(out, "{removed} {verb}{kept}"))
}

/// A number with a unit: s, m, h or d.
fn parse_time(text: &str) -> std::result::Result<Duration, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{text:?} is not a time"))?;
    number.checked_mul(unit).map(Duration::from_secs).ok_or_else(|| format!("{text:?} is too long"))
}

fn show_time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in
            [("90", 90), ("90s", 90), ("30m", 1800), ("1h", 3600), ("7d", 604_800), ("0s", 0)]
        {
            assert_eq!(parse_time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "h", "1w", "-1s", "99999999999999999999d"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
