//! Tests of the shipped program. `cargo xtask shipped` runs these tests with the program of `cargo build --release`:
//! its output is that of the library, which is compiled differently and compared with the peers itself; the peers
//! read what it wrote; killed, it leaves the old dataset, the new one or nothing; and the commands of the
//! documentation work.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod checks;
pub(crate) mod copies;
pub(crate) mod corpora;
pub(crate) mod documents;
pub(crate) mod kills;
pub(crate) mod peers;
mod round_trips;
pub(crate) mod sources;

use crate::support::cdl_of;
use ncirrus::Dataset;
use ncirrus_tools::cdl;
use std::path::Path;

/// The result of a program run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Whether the work was done, with or without members left out.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.code, Some(0 | 1))
    }
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    let output = crate::program::command().args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Runs a command that must succeed.
pub(crate) fn done(arguments: &[&str]) -> Result<(), String> {
    let run = run(arguments);
    if run.code == Some(0) { Ok(()) } else { Err(format!("{arguments:?}: {:?}: {}", run.code, run.err)) }
}

/// A dataset as text with all digits, and whether every member could be read.
pub(crate) fn text(dataset: &Dataset, data: cdl::DataChoice) -> ncirrus::Result<(String, bool)> {
    cdl_of(dataset, NAME, |options| {
        options.float_digits = Some(9);
        options.double_digits = Some(17);
        options.data = data;
    })
}

/// The dataset's name in texts that are compared.
pub(crate) const NAME: &str = "x";

/// The whole text of a dataset, in netCDF-4 notation whatever its kind.
pub(crate) fn whole(dataset: &Dataset) -> Result<String, String> {
    let text = cdl_of(dataset, NAME, |options| {
        options.float_digits = Some(9);
        options.double_digits = Some(17);
        options.classic = false;
    });
    text.map(|(text, _)| text).map_err(|error| error.to_string())
}

/// Whether a dataset is too large for its text.
pub(crate) fn is_large(dataset: &Dataset) -> bool {
    let elements = |variable: &ncirrus::Variable| variable.shape().iter().product::<u64>();
    dataset.variables().iter().map(elements).sum::<u64>() > 1 << 20
}

/// Fails with a list of everything that went wrong.
pub(crate) fn none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

pub(crate) fn str_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) fn example() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc")
}
