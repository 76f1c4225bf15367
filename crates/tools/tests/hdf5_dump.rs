//! Dumps of the HDF5 corpus and of real files equal those of `ncdump`, byte for byte, or the table of exceptions gives
//! the reason.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{Exceptions, Tally, cdl_of, difference, json, open, session};
use ncirrus::{Dataset, Session};
use ncirrus_testkit::corpus::{corpus, program};
use ncirrus_tools::cdl::DataChoice;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name in the table of exceptions, and the file.
type Case = (String, PathBuf);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    if let Some(root) = corpus("hdf5") {
        let manifest = json(&root.join("manifest.json"));
        let paths = manifest.as_array().unwrap().iter().map(|case| case["path"].as_str().unwrap());
        cases.extend(paths.map(|path| (path.to_owned(), root.join(path))));
    }
    if let Some(root) = corpus("realdata") {
        let files = std::fs::read_dir(root.join("files")).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.is_file());
        cases.extend(files.map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (format!("realdata/{name}"), path.clone())
        }));
    }
    cases.sort();
    cases
}

#[test]
fn dumps_are_those_of_ncdump() {
    let Some(ncdump) = program("ncdump") else { return };
    let exceptions = Exceptions::load("hdf5_dump_exceptions.tsv");
    let (session, mut tally, mut refused) = (session(), Tally::default(), Vec::new());
    for (name, path) in cases() {
        let whole = reference(&ncdump, &path, true).map(|text| ("cdl", text));
        let printed = whole.or_else(|| reference(&ncdump, &path, false).map(|text| ("header", text)));
        let Some((check, expected)) = printed else {
            refused.push(name);
            continue;
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| same(&path, check == "cdl", &expected, &session)));
        tally.record(&exceptions, &name, check, outcome.unwrap_or_else(|_| Err("it panicked".to_owned())));
    }
    println!("ncdump refuses {}: {refused:?}", refused.len());
    tally.finish("dumps", &exceptions);
}

/// What the reference prints; `None` if it fails.
fn reference(ncdump: &Path, path: &Path, with_data: bool) -> Option<String> {
    let mut command = Command::new(ncdump);
    if !with_data {
        command.arg("-h");
    }
    let output = command.arg(path).output().unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn same(path: &Path, with_data: bool, expected: &str, session: &Session) -> Result<(), String> {
    let dataset = open(path, session).map_err(|error| format!("cannot be opened: {error}"))?;
    let got = dump(&dataset, with_data).map_err(|error| error.to_string())?;
    difference(expected, &got)
}

fn dump(dataset: &Dataset, with_data: bool) -> ncirrus::Result<String> {
    let change = |options: &mut ncirrus_tools::cdl::PrintOptions| {
        if !with_data {
            options.data = DataChoice::HeaderOnly;
        }
    };
    Ok(cdl_of(dataset, dataset.name(), change)?.0)
}

#[test]
fn headers_with_storage_are_those_of_ncdump() {
    let Some(ncdump) = program("ncdump") else { return };
    let Some(root) = corpus("realdata") else { return };
    let session = session();
    let mut compared = 0;
    for entry in std::fs::read_dir(root.join("truth")).unwrap() {
        let truth: Value = json(&entry.unwrap().path());
        if !truth["format"].as_str().unwrap().starts_with("NETCDF4") {
            continue;
        }
        let path = root.join("files").join(truth["file"].as_str().unwrap());
        let output = Command::new(&ncdump).args(["-h", "-s"]).arg(&path).output().unwrap();
        let expected = String::from_utf8_lossy(&output.stdout).into_owned();
        let dataset = open(&path, &session).unwrap();
        let special = |options: &mut ncirrus_tools::cdl::PrintOptions| {
            options.special = true;
            options.data = DataChoice::HeaderOnly;
        };
        let (got, _) = cdl_of(&dataset, dataset.name(), special).unwrap();
        difference(&expected, &got).unwrap_or_else(|reason| unreachable!("{}: {reason}", path.display()));
        compared += 1;
    }
    assert!(compared >= 9, "{compared} files");
}
