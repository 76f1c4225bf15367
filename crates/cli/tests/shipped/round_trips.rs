//! Dump, generate, dump: the same text, for the texts and datasets of the corpora, each in its own kind.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Mutex;

/// Longer texts are passed over, and counted.
const LONGEST: usize = 20_000_000;

/// Attributes that tell who wrote a file, and with what.
const PROVENANCE: [&str; 3] = [":_NCProperties ", ":_SuperblockVersion ", ":_IsNetcdf4 "];

/// A dataset, by its name in the corpus, and the kind that it is generated in; `None`: the one that it has.
struct RoundTrip {
    name: String,
    url: PathBuf,
    kind: Option<&'static str>,
}

/// What became of a dataset.
enum Outcome {
    Same,
    Different(String),
    /// It cannot be dumped without loss, which is a test of its own.
    NotDumped,
    Long,
}

#[test]
fn datasets_of_hdf5_come_back_from_their_text() {
    let Some(folder) = corpus("hdf5") else { return };
    let cases: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let paths = cases.as_array().unwrap().iter().map(|case| case["path"].as_str().unwrap().to_owned());
    let trips = paths.map(|name| RoundTrip { url: folder.join(&name), name, kind: None });
    compare("hdf5", &trips.collect::<Vec<_>>());
}

#[test]
fn datasets_of_nczarr_and_zarr_come_back_from_their_text() {
    let Some(folder) = corpus("nczarr") else { return };
    let cases: Value = serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let trips = cases["cases"].as_array().unwrap().iter().map(|case| {
        let (name, dialect) = (case["path"].as_str().unwrap(), case["dialect"].as_str().unwrap());
        let kind = match (dialect.contains("v3"), dialect.starts_with("pure")) {
            (true, _) => "zarr3",
            (false, true) => "zarr2",
            (false, false) => "nczarr",
        };
        RoundTrip { url: folder.join(name), name: name.to_owned(), kind: Some(kind) }
    });
    compare("nczarr", &trips.collect::<Vec<_>>());
}

#[test]
fn real_datasets_come_back_from_their_text() {
    let Some(folder) = corpus("realdata") else { return };
    let files = sorted(&folder.join("files"));
    let trips = files.into_iter().map(|url| RoundTrip { name: name_of(&url), url, kind: None });
    compare("realdata", &trips.collect::<Vec<_>>());
}

#[test]
fn texts_come_back_from_what_is_made_of_them() {
    let Some(folder) = corpus("nczarr") else { return };
    let made = tempfile::tempdir().unwrap();
    let texts = ["cdl", "cdl-format"].into_iter().flat_map(|part| sorted(&folder.join(part)));
    // Dates instead of numbers, which generating does not take, and NcML.
    let is_data = |text: &PathBuf| {
        let name = name_of(text);
        name.ends_with(".cdl")
            && ![".t.cdl", ".ivtime.cdl", ".xh.cdl"].iter().any(|form| name.ends_with(form))
    };
    let trips = texts.filter(is_data).enumerate().map(|(number, text)| {
        let url = made.path().join(format!("{number}.nc"));
        let output = run(&["generate"], &[&text, &url]);
        assert!(output.status.success(), "{}: {}", text.display(), messages(&output));
        RoundTrip { name: name_of(&text), url, kind: None }
    });
    compare("texts", &trips.collect::<Vec<_>>());
}

/// Makes all round trips on a few threads, prints how many there are, and compares with the exceptions.
#[expect(clippy::print_stdout, reason = "tells how many there are")]
fn compare(corpus: &str, trips: &[RoundTrip]) {
    let folder = tempfile::tempdir().unwrap();
    let exceptions = exceptions(corpus);
    let found = Mutex::new(BTreeMap::new());
    let next = Mutex::new(trips.iter().enumerate());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((number, trip)) = next.lock().unwrap().next() else { break };
                    let outcome = around(trip, &folder.path().join(number.to_string()));
                    found.lock().unwrap().insert(trip.name.as_str(), outcome);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let count = |which: fn(&Outcome) -> bool| found.values().filter(|outcome| which(outcome)).count();
    println!(
        "round trips, {corpus}: {} of {} texts are the same; {} differ as round_trips/exceptions.tsv says, {} cannot be \
         dumped, {} are longer than {LONGEST} bytes",
        count(|outcome| matches!(outcome, Outcome::Same)),
        found.len(),
        exceptions.len(),
        count(|outcome| matches!(outcome, Outcome::NotDumped)),
        count(|outcome| matches!(outcome, Outcome::Long)),
    );
    let failures: Vec<String> = found
        .iter()
        .filter(|(name, _)| !exceptions.contains_key(**name))
        .filter_map(|(name, outcome)| match outcome {
            Outcome::Different(how) => Some(format!("{name}: {how}")),
            _ => None,
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let is_different = |name: &String| matches!(found.get(name.as_str()), Some(Outcome::Different(_)));
    let unused: Vec<_> = exceptions.keys().filter(|name| !is_different(name)).collect();
    assert!(unused.is_empty(), "exceptions without a difference: {unused:?}");
}

/// Dumps a dataset, generates another from the text, and dumps that.
fn around(trip: &RoundTrip, scratch: &Path) -> Outcome {
    let first = dump(&trip.url);
    if !first.status.success() {
        return Outcome::NotDumped;
    }
    if first.stdout.len() > LONGEST {
        return Outcome::Long;
    }
    let kind = trip.kind.map_or_else(|| kind_of(&trip.url), str::to_owned);
    let ending = if kind.contains("zarr") { "zarr" } else { "nc" };
    let (text, target) = (scratch.with_extension("cdl"), scratch.with_extension(ending));
    std::fs::write(&text, &first.stdout).unwrap();
    let generated = run(&["generate", "-k", &kind], &[&text, &target]);
    if !generated.status.success() {
        return Outcome::Different(format!("generating {kind}: {}", messages(&generated)));
    }
    let second = dump(&target);
    if !second.status.success() {
        return Outcome::Different(format!("dumping again: {}", messages(&second)));
    }
    let (first, second) = (lines(&first.stdout), lines(&second.stdout));
    match first.iter().zip(&second).find(|(one, other)| one != other) {
        Some((one, other)) => Outcome::Different(format!("{one:?} is {other:?}")),
        None if first.len() == second.len() => Outcome::Same,
        None => Outcome::Different(format!("{} lines are {}", first.len(), second.len())),
    }
}

fn dump(url: &Path) -> Output {
    run(&["dump", "-s", "-p", "9,17", "-n", "x"], &[url])
}

/// The lines of a text but those on who wrote the file.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let is_reported = |line: &&str| {
        let attribute = line.trim_start();
        !PROVENANCE.iter().any(|name| attribute.starts_with(name))
    };
    text.lines().filter(is_reported).map(str::to_owned).collect()
}

fn kind_of(url: &Path) -> String {
    let output = run(&["dump", "-k"], &[url]);
    let kind = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let kinds = [
        ("classic", "nc3"),
        ("64-bit offset", "nc6"),
        ("cdf5", "nc5"),
        ("netCDF-4 classic model", "nc4c"),
        ("netCDF-4", "nc4"),
    ];
    kinds.into_iter().find(|(name, _)| *name == kind).map_or(kind.clone(), |(_, short)| short.to_owned())
}

fn run(words: &[&str], paths: &[&Path]) -> Output {
    crate::program::command().args(words).args(paths).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().display().to_string()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What differs in a corpus, by the dataset's name, and why.
fn exceptions(corpus: &str) -> BTreeMap<String, String> {
    let lines = include_str!("round_trips/exceptions.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields[0] == corpus)
        .map(|fields| (fields[1].to_owned(), fields[2].to_owned()))
        .collect()
}
