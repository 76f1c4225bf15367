//! Where the data sets for tests lie, and what is done when they are absent.
use std::path::{Path, PathBuf};

/// The folder of that name in the corpus beside the project, or `None` (with a note) when the corpus is not there.
///
/// # Panics
/// With `CI=true` in the environment when it is absent: a missing corpus is then a failure.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn corpus(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    assert!(!required(), "the corpus folder {folder} is absent");
    eprintln!("skipped: the corpus folder {folder} is absent");
    None
}

/// Whether missing corpora and peers are failures.
pub fn required() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// The Python of the environment that holds the peers (netCDF4, h5py, zarr, xarray), or `None` (with a note): the one
/// that `NCIRRUS_PEERS_PYTHON` names, else `.venv` in the project.
///
/// # Panics
/// With `CI=true` in the environment when there is none.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn peers_python() -> Option<PathBuf> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var_os("NCIRRUS_PEERS_PYTHON").map_or(local, PathBuf::from);
    if python.exists() {
        return Some(python);
    }
    assert!(!required(), "no Python with the peers: {} is absent", python.display());
    eprintln!("skipped: no Python with the peers at {}", python.display());
    None
}

/// The Python of the environment that holds a reader of aggregations (`cfdm`, `CFAPyX`, `cf`), or `None` (with a note):
/// the one that `NCIRRUS_CFA_PYTHON` names, for `cf` `NCIRRUS_CF_PYTHON`, else `.venv-cfa` or `.venv-cf` in the project:
/// they do not get along with each other.
///
/// # Panics
/// With `CI=true` in the environment when there is none.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn aggregation_python(program: &str) -> Option<PathBuf> {
    let (variable, folder) = match program {
        "cf" => ("NCIRRUS_CF_PYTHON", ".venv-cf"),
        _ => ("NCIRRUS_CFA_PYTHON", ".venv-cfa"),
    };
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join("bin/python");
    let python = std::env::var_os(variable).map_or(local, PathBuf::from);
    if python.exists() {
        return Some(python);
    }
    assert!(!required(), "no Python with {program}: {} is absent", python.display());
    eprintln!("skipped: no Python with {program} at {}", python.display());
    None
}

/// A program of the netCDF C library (`ncdump`, `ncgen`, `nccopy`) on the path, or `None` (with a note).
///
/// # Panics
/// With `CI=true` in the environment when it is absent.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn program(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file()));
    assert!(found.is_some() || !required(), "the program {name} is not installed");
    if found.is_none() {
        eprintln!("skipped: the program {name} is not installed");
    }
    found
}
