//! One file per subcommand.
pub(crate) mod aggregate;
pub(crate) mod append;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod copy;
pub(crate) mod dialect;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod filters;
pub(crate) mod fragments;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod master;
pub(crate) mod optimize;
pub(crate) mod overwrite;
pub(crate) mod pipe;
#[cfg(feature = "plot")]
pub(crate) mod plot;
pub(crate) mod reading;
pub(crate) mod reference;
pub(crate) mod relocate;
pub(crate) mod rm;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod split;
#[cfg(feature = "serve")]
pub(crate) mod view;
pub(crate) mod whoami;

use crate::CommandStatus;
use ncirrus::{Dataset, DatasetView, Error, ErrorKind, OpenOptions, Result, Session};
use std::io;

/// The result of a command that printed: a closed pipe (`ncirrus info x | head`) is not an error.
pub(crate) fn finish(written: io::Result<()>) -> Result<CommandStatus> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io { retryable: false }, format!("standard output: {error}")))
        }
        _ => Ok(CommandStatus::SUCCESS),
    }
}

/// The value of an option that has a default of its own, in the words of addresses.
pub(crate) fn yes_or_no(text: &str) -> std::result::Result<bool, &'static str> {
    ncirrus::layout::yes_or_no(text).ok_or("yes or no")
}

/// Opens the dataset of a command.
pub(crate) fn open(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::open_with(&pipe::source(url)?, &OpenOptions::default(), session)
}

/// As [`open`], in the view of netCDF-C where there is another one, unless the address says which.
pub(crate) fn open_as_netcdf_c(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::open_with(&pipe::source(url)?, &OpenOptions::default().view(DatasetView::NetcdfC), session)
}

/// An address for display: without password and query.
pub(crate) fn shown(address: &str) -> String {
    ncirrus::store::Url::parse(address).map_or_else(|_| String::new(), |url| url.to_string())
}

/// Standard output that remembers its failure: a closed pipe, a full disk.
pub(crate) struct StandardOutput {
    out: io::BufWriter<io::StdoutLock<'static>>,
    failure: Option<io::Error>,
}

impl StandardOutput {
    pub(crate) fn new() -> Self {
        Self { out: io::BufWriter::with_capacity(1 << 16, io::stdout().lock()), failure: None }
    }

    /// The result of a command whose output failed.
    pub(crate) fn failed(&mut self) -> Option<Result<CommandStatus>> {
        self.failure.take().map(|failure| finish(Err(failure)))
    }

    fn note<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        written.map_err(|failure| {
            let reported = io::Error::from(failure.kind());
            self.failure.get_or_insert(failure);
            reported
        })
    }
}

impl io::Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed)
    }
}

/// A number of bytes, as in the configuration.
pub(crate) fn parse_size(text: &str) -> std::result::Result<usize, String> {
    let bytes = ncirrus::store::config::parse_size(text)?;
    usize::try_from(bytes).map_err(|_| format!("{text:?} is too large"))
}

/// A number of bytes in readable form.
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
        assert_eq!(parse_size("1.5G"), Ok(3 << 29));
        assert_eq!(parse_size("500MB"), Ok(500_000_000));
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
