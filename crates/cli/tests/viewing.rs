//! `ncirrus view` in a real browser: pages of datasets open without an error, and axe finds no violation.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::{corpus, left_out, peers_python, program};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running `ncirrus view`, which ends with the test.
struct Viewer {
    process: Child,
    address: String,
}

impl Viewer {
    fn start(shown: &Path) -> Self {
        let mut command = crate::program::command();
        command.arg("view").arg("--no-browser").arg(shown);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { process, address: address.trim().to_owned() }
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

/// Runs the script with a viewer of a folder.
fn browse(shown: &Path, mode: &str) {
    let (Some(python), Some(axe)) = (peers_python(), axe()) else { return };
    if program("chromium").is_none() || program("chromedriver").is_none() {
        return;
    }
    let viewer = Viewer::start(shown);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/viewing/browse.py");
    let browsed = Command::new(python).args([script, &viewer.address, mode]).arg(axe).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&browsed.stdout), String::from_utf8_lossy(&browsed.stderr));
    assert!(browsed.status.success(), "{mode}: {text}");
}

#[test]
fn every_page_works_by_pointer_and_keyboard_and_axe_finds_no_violation() {
    browse(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")), "pages");
}

#[test]
fn the_datasets_of_the_corpora_open_without_an_error_in_the_console() {
    for name in ["realdata/files", "hdf5/gennc", "zarr3", "cfa", "nczarr/cases"] {
        let Some(folder) = corpus(name) else { return };
        browse(&folder, "corpus");
    }
}

#[test]
fn addresses_that_cannot_be_read_end_with_a_message() {
    let output = crate::program::command().args(["view", "--no-browser", "none.nc"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("none.nc"));
}
