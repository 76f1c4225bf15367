//! Locations of the data sets and programs for tests, and what happens if they are missing.
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder of that name in the corpus, or `None` (with a note) if it does not exist. The corpus is the folder that
/// `NCIRRUS_CORPUS` names, otherwise `shared/corpus` beside the project.
///
/// # Panics
/// With `CI=true` in the environment if it is missing: that is then a failure.
pub fn corpus(folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = std::env::var_os("NCIRRUS_CORPUS").map_or(beside, PathBuf::from).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    left_out(&match cases(folder) {
        Some(cases) => format!("{cases} cases of the corpus folder {folder}"),
        None => format!("the corpus folder {folder}"),
    });
    None
}

/// Number of cases in a folder of the corpus.
fn cases(folder: &str) -> Option<usize> {
    CASES.iter().find(|(name, _)| *name == folder).map(|(_, cases)| *cases)
}

/// Folders of the corpus and their numbers of cases, for reporting what is skipped if they are missing.
const CASES: [(&str, usize); 12] = [
    ("hdf5", 239),
    ("hdf5/gen", 139),
    ("hdf5/gennc", 38),
    ("nczarr", 288),
    ("nczarr/cases", 288),
    ("nczarr/cdl-format", 23),
    ("cfa", 57),
    ("realdata", 21),
    ("dap", 123),
    ("zarr3", 43),
    ("icechunk", 62),
    ("parquetrefs", 16),
];

/// Whether missing corpora and peers are failures.
pub fn required() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Reports that a test is skipped because something is missing: in a line on standard error, once per process, and for
/// each test in the file that `NCIRRUS_LEFT_OUT` names.
///
/// # Panics
/// With `CI=true` in the environment.
pub fn left_out(absent: &str) {
    assert!(!required(), "not there: {absent}");
    if let Some(file) = std::env::var_os("NCIRRUS_LEFT_OUT") {
        // Only used for a summary: failing to write it does not fail a test.
        let _ = note(Path::new(&file), absent);
    }
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(absent.to_owned()) {
        // Bypasses the capture of output of passing tests.
        let _ = writeln!(io::stderr(), "left out, as it is not there: {absent}");
    }
}

/// Adds a line; tests of several processes write to the same file.
fn note(file: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{line}\n").as_bytes())
}

/// The Python of the environment with the peers (netCDF4, h5py, zarr, xarray), or `None` (with a note): the one that
/// `NCIRRUS_PEERS_PYTHON` names, otherwise `.venv` in the project.
///
/// # Panics
/// With `CI=true` in the environment if there is none.
pub fn peers_python() -> Option<PathBuf> {
    python("NCIRRUS_PEERS_PYTHON", ".venv", "a Python with the peers")
}

/// The Python of the environment with a reader of aggregations (`cfdm`, `CFAPyX`, `cf`), or `None` (with a note): the
/// one that `NCIRRUS_CFA_PYTHON` names, for `cf` `NCIRRUS_CF_PYTHON`, otherwise `.venv-cfa` or `.venv-cf` in the
/// project: they are incompatible with each other.
///
/// # Panics
/// With `CI=true` in the environment if there is none.
pub fn aggregation_python(program: &str) -> Option<PathBuf> {
    let (variable, folder) = match program {
        "cf" => ("NCIRRUS_CF_PYTHON", ".venv-cf"),
        _ => ("NCIRRUS_CFA_PYTHON", ".venv-cfa"),
    };
    python(variable, folder, &format!("a Python with {program}"))
}

fn python(variable: &str, folder: &str, what: &str) -> Option<PathBuf> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join("bin/python");
    let python = std::env::var_os(variable).map_or(local, PathBuf::from);
    if python.exists() {
        return Some(python);
    }
    left_out(what);
    None
}

/// A program of the netCDF C library (`ncdump`, `ncgen`, `nccopy`) on the path, or `None` (with a note).
///
/// # Panics
/// With `CI=true` in the environment if it is missing.
pub fn program(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file()));
    if found.is_none() {
        left_out(&format!("the program {name}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of entries in a folder's list, counted by a text that occurs once in each.
    fn listed(folder: &str, list: &str, mark: &str) -> Option<usize> {
        let text = std::fs::read_to_string(corpus(folder)?.join(list)).unwrap();
        Some(text.matches(mark).count())
    }

    #[test]
    fn as_many_cases_are_reported_as_there_are() {
        let list = "manifest.json";
        let marks = [
            ("hdf5", "hdf5", list, r#""path": ""#),
            ("hdf5/gen", "hdf5", list, r#""path": "gen/"#),
            ("hdf5/gennc", "hdf5", list, r#""path": "gennc/"#),
            ("nczarr", "nczarr", list, r#""path": ""#),
            ("nczarr/cases", "nczarr", list, r#""path": "cases/"#),
            ("cfa", "cfa", list, r#""id": ""#),
        ];
        for (folder, of, list, mark) in marks {
            let found = listed(of, list, mark);
            assert!(found.is_none() || found == cases(folder), "{folder}: {found:?}");
        }
        // The first line contains the names of the columns.
        let found = listed("realdata", "MANIFEST.tsv", "\n").map(|lines| lines - 1);
        assert!(found.is_none() || found == cases("realdata"), "realdata: {found:?}");
        let golden = corpus("nczarr/cdl-format").map(|folder| folder.read_dir().unwrap().count());
        assert!(golden.is_none() || golden == cases("nczarr/cdl-format"), "cdl-format: {golden:?}");
    }

    #[test]
    fn notes_of_several_tests_are_lines_of_one_file() {
        let file = std::env::temp_dir().join(format!("ncirrus-left-out-{}", std::process::id()));
        note(&file, "288 cases").unwrap();
        note(&file, "a program").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "288 cases\na program\n");
        std::fs::remove_file(&file).unwrap();
    }
}
