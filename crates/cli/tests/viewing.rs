//! The pages of `ncirrus view` and `ncirrus serve` in a real browser: they open without an error, axe finds no violation, and
//! they look as before.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
mod datasets;

use ncirrus_testkit::corpus::{corpus, left_out, peers_python, program};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/viewing");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A running program that shows pages, which ends with the test.
struct Viewer {
    process: Child,
    address: String,
}

impl Viewer {
    /// The pages of `ncirrus view`.
    fn of_view(shown: &Path) -> Self {
        Self::start(&["view", "--no-browser"], shown, str::to_owned)
    }

    /// The pages of `ncirrus serve`.
    fn of_serve(shown: &Path) -> Self {
        Self::start(&["serve", "--bind", "127.0.0.1:0", "--log", "none"], shown, |line| {
            format!("{}view/", line.strip_prefix("listening on ").unwrap())
        })
    }

    fn start(arguments: &[&str], shown: &Path, address_in: impl FnOnce(&str) -> String) -> Self {
        let mut command = crate::program::command();
        command.args(arguments).arg(shown);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = address_in(line.trim());
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { process, address }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// axe-core, which `cargo xtask peers` installs.
fn axe() -> Option<PathBuf> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.node/node_modules/axe-core/axe.min.js");
    let path = std::env::var_os("NCIRRUS_PEERS_AXE").map_or_else(|| own.into(), PathBuf::from);
    if path.exists() {
        return Some(path);
    }
    left_out("axe-core (npm)");
    None
}

/// The Python that has Selenium, if there is a browser, too.
fn browsing_python() -> Option<PathBuf> {
    let python = peers_python()?;
    (program("chromium").is_some() && program("chromedriver").is_some()).then_some(python)
}

/// Runs a script with the address of pages.
fn run(python: &Path, script: &str, viewer: &Viewer, arguments: &[&str]) {
    let script = Path::new(FOLDER).join(script);
    let browsed = Command::new(python).arg(script).arg(&viewer.address).args(arguments).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&browsed.stdout), String::from_utf8_lossy(&browsed.stderr));
    assert!(browsed.status.success(), "{arguments:?}: {text}");
}

/// Runs `browse.py` with pages.
fn browse(viewer: impl FnOnce() -> Viewer, mode: &str) {
    if let (Some(python), Some(axe)) = (browsing_python(), axe()) {
        run(&python, "browse.py", &viewer(), &[mode, &axe.to_string_lossy()]);
    }
}

#[test]
fn every_page_works_by_pointer_and_keyboard_and_axe_finds_no_violation() {
    browse(|| Viewer::of_view(Path::new(EXAMPLES)), "pages");
}

#[test]
fn the_pages_of_a_server_work_and_show_its_addresses() {
    browse(|| Viewer::of_serve(Path::new(EXAMPLES)), "served");
}

#[test]
fn ten_pages_look_as_before_and_a_changed_one_does_not() {
    let Some(python) = browsing_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    datasets::make(folder.path());
    // The pages of a server do not show where the folder is.
    let viewer = Viewer::of_serve(folder.path());
    let golden = Path::new(FOLDER).join("golden");
    run(&python, "pictures.py", &viewer, &[&golden.to_string_lossy()]);
}

#[test]
fn the_datasets_of_the_corpora_open_without_an_error_in_the_console() {
    for name in ["realdata/files", "hdf5/gennc", "zarr3", "cfa", "nczarr/cases"] {
        let Some(folder) = corpus(name) else { return };
        browse(|| Viewer::of_view(&folder), "corpus");
    }
}

#[test]
fn addresses_that_cannot_be_read_end_with_a_message() {
    let output = crate::program::command().args(["view", "--no-browser", "none.nc"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("none.nc"));
}
