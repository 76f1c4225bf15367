//! One file per subcommand.
pub(crate) mod aggregate;
pub(crate) mod clean;
pub(crate) mod config;
pub(crate) mod copy;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod filters;
pub(crate) mod fragments;
pub(crate) mod info;
pub(crate) mod keys;
pub(crate) mod ls;
pub(crate) mod master;
pub(crate) mod reading;
pub(crate) mod reference;
pub(crate) mod relocate;
pub(crate) mod rm;
pub(crate) mod split;
pub(crate) mod whoami;

use ncirrus::{Dataset, Error, ErrorKind, OpenOptions, Result, Session};
use std::io;
use std::process::ExitCode;

/// The end of a command that printed: a closed pipe (`ncirrus info x | head`) is no error.
pub(crate) fn finish(written: io::Result<()>) -> Result<ExitCode> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io { retryable: false }, format!("standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Opens the dataset that a command is about.
pub(crate) fn open(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::open_with(url, &OpenOptions::default(), session)
}

/// A number of bytes with an optional suffix K, M, G or T (powers of 1024).
pub(crate) fn parse_size(text: &str) -> std::result::Result<usize, String> {
    let (digits, shift) = match text.trim_end_matches(['B', 'b', 'i']).char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        Some((at, 'T' | 't')) => (&text[..at], 40),
        _ => (text, 0),
    };
    let number: usize = digits.trim().parse().map_err(|_| format!("{text:?} is not a size"))?;
    number.checked_mul(1usize << shift).ok_or_else(|| format!("{text:?} is too large"))
}

/// A number of bytes for people.
pub(crate) fn show_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut unit = 0;
    let mut whole = bytes;
    let mut rest = 0;
    while whole >= 1024 && unit + 1 < UNITS.len() {
        rest = whole % 1024;
        whole /= 1024;
        unit += 1;
    }
    let tenth = rest * 10 / 1024;
    if unit == 0 || whole >= 100 {
        format!("{whole} {}", UNITS[unit])
    } else {
        format!("{whole}.{tenth} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_suffixes() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("4K"), Ok(4096));
        assert_eq!(parse_size("3MiB"), Ok(3 << 20));
        assert_eq!(parse_size("2g"), Ok(2 << 30));
        assert!(parse_size("x").is_err());
        assert!(parse_size("99999999999T").is_err());
    }

    #[test]
    fn sizes_are_shown_with_one_decimal() {
        assert_eq!(show_size(999), "999 B");
        assert_eq!(show_size(1536), "1.5 KiB");
        assert_eq!(show_size(300 << 20), "300 MiB");
    }
}
