//! Files of many shapes are optimized, and keep everything.
mod kept;
mod many;
mod single;

use ncirrus::{Dataset, Session};
use ncirrus_testkit::corpus::{left_out, peers_python};
use ncirrus_tools::{CompareOptions, FileOutcome, OptimizeOptions, OptimizedFile, Profile, optimize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The text of a path.
fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Makes files of those numbers with netCDF4; `None` without the peers.
fn made(folder: &Path, numbers: impl Iterator<Item = usize>) -> Option<Vec<PathBuf>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/optimizing/make.py");
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let made = Command::new(peers_python()?).arg(script).arg(folder).args(numbers).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    Some(paths)
}

/// What the reference check of CMIP7 says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passes,
    Fails,
    /// It does not know a type of the file.
    CannotParse,
}

/// The verdicts of the reference check; `None` without it.
fn reference_check(paths: &[PathBuf]) -> Option<Vec<Verdict>> {
    let python = peers_python()?;
    let program = python.with_file_name("check_cmip7_packing");
    if !program.is_file() {
        left_out("the program check_cmip7_packing of cmip7-repack (peers/requirements.txt)");
        return None;
    }
    let verdict = |path: &PathBuf| {
        let output = Command::new(&python).arg(&program).arg(path).output().unwrap();
        match output.status.code() {
            Some(0) => Verdict::Passes,
            Some(1) => Verdict::Fails,
            Some(5) => Verdict::CannotParse,
            code => unreachable!("{}: {code:?}: {}", path.display(), String::from_utf8_lossy(&output.stderr)),
        }
    };
    Some(paths.iter().map(verdict).collect())
}

/// The results for files that must not fail.
fn optimized(paths: &[PathBuf], options: &OptimizeOptions<'_>, session: &Session) -> Vec<OptimizedFile> {
    let paths: Vec<String> = paths.iter().map(|path| text(path)).collect();
    let files = optimize(&paths, options, session).unwrap();
    for file in &files {
        assert!(!matches!(file.outcome, FileOutcome::Failed(_)), "{file}");
        assert_eq!(file.notes, [] as [String; 0], "{file}");
    }
    files
}

/// Fails if two files differ in definitions, their order, attributes or values.
fn assert_same(one: &Path, other: &Path, session: &Session) {
    let open = |path: &Path| Dataset::open_with(&text(path), &Default::default(), session).unwrap();
    let exact = CompareOptions::new().order(true).ignore([] as [String; 0]);
    let report = ncirrus_tools::compare(&open(one), &open(other), &exact).unwrap();
    assert!(report.is_same() && report.left_out.is_empty(), "{}: {report}", one.display());
}

/// Whether our check finds that a file fits a profile, and what it says.
fn fits(url: &str, profile: &Profile, session: &Session) -> (bool, String) {
    let options = ncirrus_tools::CheckOptions::new().profile(profile.clone());
    let report = ncirrus_tools::check(url, &options, session).unwrap();
    (report.is_sound(), report.to_string())
}
