//! Nothing is lost without a word: of a dataset of which a part is cut off all is shown, or what is not is told. Of one
//! with a changed byte as much is shown as before, or it is told.
//!
//! Some of the corpora at some places; `NCIRRUS_SILENCE=all` tries all of them, each at 40 lengths and with 200 changed
//! bytes. Not all changed bytes are told of yet, so these are tried only then.

use crate::support::{cdl_of, copy_tree, open, temp};
use ncirrus::{Limits, Session, cdl};
use ncirrus_testkit::corpus::corpus;
use std::path::{Path, PathBuf};

/// How much is tried.
struct Effort {
    /// Every how many-th file.
    every: usize,
    largest: u64,
    cuts: usize,
    flips: usize,
}

fn effort() -> Effort {
    match std::env::var("NCIRRUS_SILENCE").is_ok_and(|value| value == "all") {
        true => Effort { every: 1, largest: 4 << 20, cuts: 40, flips: 200 },
        false => Effort { every: 7, largest: 64 << 10, cuts: 5, flips: 0 },
    }
}

fn session() -> Session {
    let limits = Limits { metadata_bytes: 1 << 26, chunk_bytes: 1 << 26, ..Limits::default() };
    Session::builder().threads(1).memory(64 << 20).limits(limits).durable(false).build().unwrap()
}

/// What is shown of a dataset, and whether that is said to be all; `None` when it ends with an error.
fn seen(path: &Path, session: &Session) -> Option<(String, bool)> {
    let dataset = open(path, session).ok()?;
    cdl_of(&dataset, "x", |_| ()).ok()
}

/// The same without values: a changed byte makes arrays of any length.
fn seen_header(path: &Path, session: &Session) -> Option<(String, bool)> {
    let dataset = open(path, session).ok()?;
    cdl_of(&dataset, "x", |options| options.data = cdl::DataChoice::HeaderOnly).ok()
}

/// Definitions and attributes.
fn count(text: &str) -> usize {
    let header = text.split_once("\ndata:").map_or(text, |(header, _)| header);
    header.lines().filter(|line| line.contains(" ;") || line.contains("group: ")).count()
}

/// Files below a folder that are one dataset each.
fn files(folder: &str, effort: &Effort) -> Vec<PathBuf> {
    let Some(root) = corpus(folder) else { return Vec::new() };
    let mut all = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => all.push(entry.path()),
            }
        }
    }
    let is_dataset = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ["nc", "h5", "nc4", "hdf5", "cdf", "he5"].contains(&ending))
            && path.metadata().unwrap().len() <= effort.largest
    };
    all.retain(is_dataset);
    all.sort();
    all.into_iter().step_by(effort.every).collect()
}

/// Numbers that look random and are always the same.
fn numbers(seed: usize) -> impl Iterator<Item = usize> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 11).unwrap()
    })
}

/// Why a file with other bytes is shown as less than it is, without a word.
fn silent(path: &Path, bytes: &[u8], whole: &str, is_cut: bool, session: &Session) -> Option<String> {
    std::fs::write(path, bytes).unwrap();
    let (text, says_whole) = if is_cut { seen(path, session)? } else { seen_header(path, session)? };
    let is_less = match is_cut {
        true => text != whole,
        false => count(&text) < count(whole),
    };
    (says_whole && is_less).then(|| crate::support::difference(whole, &text).err().unwrap_or_default())
}

#[test]
fn what_is_lost_of_damaged_files_is_told() {
    let (effort, session, (_folder, temp)) = (effort(), session(), temp());
    let (mut tried, mut failures) = (0, Vec::new());
    for file in files("hdf5", &effort).into_iter().chain(files("realdata", &effort)) {
        // Links to other files are followed from where it lies.
        let bytes = std::fs::read(&file).unwrap();
        let copy = temp.join(file.file_name().unwrap());
        std::fs::write(&copy, &bytes).unwrap();
        let Some((whole, true)) = seen(&copy, &session) else { continue };
        let cuts = (0..effort.cuts).map(|at| bytes.len() * at / effort.cuts);
        for len in cuts {
            tried += 1;
            if let Some(reason) = silent(&copy, &bytes[..len], &whole, true, &session) {
                failures.push(format!("{} cut at {len} of {}: {reason}", file.display(), bytes.len()));
            }
        }
        let mut numbers = numbers(bytes.len());
        for _ in 0..effort.flips {
            let (mut changed, at) = (bytes.clone(), numbers.next().unwrap() % bytes.len());
            changed[at] ^= 1 << (numbers.next().unwrap() % 8);
            tried += 1;
            if let Some(reason) = silent(&copy, &changed, &whole, false, &session) {
                failures.push(format!("{} with byte {at} changed: {reason}", file.display()));
            }
        }
        std::fs::remove_file(&copy).unwrap();
    }
    println!("{tried} damaged files");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

/// Documents that are damaged without a word until that is mended: dimensions of variables by netCDF-C 4.8.0, and
/// consolidated metadata, which are read as if they were not there.
fn is_known(object: &Path) -> bool {
    object.file_name().is_some_and(|name| name == ".nczvar" || name == ".zmetadata")
}

#[test]
fn what_is_lost_of_damaged_stores_is_told() {
    let (effort, session) = (effort(), session());
    let Some(cases) = crate::corpus_nczarr::cases() else { return };
    let (mut tried, mut failures) = (0, Vec::new());
    for case in cases.iter().step_by(effort.every).filter(|case| case.path.is_dir()) {
        let (_folder, temp) = temp();
        let copy = temp.join(case.path.file_name().unwrap());
        copy_tree(&case.path, &copy);
        let Some((whole, true)) = seen(&copy, &session) else { continue };
        let mut objects = vec![copy.clone()];
        let mut documents = Vec::new();
        while let Some(folder) = objects.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() { objects.push(entry) } else { documents.push(entry) }
            }
        }
        documents.sort();
        for object in documents.into_iter().filter(|object| !is_known(object)) {
            let bytes = std::fs::read(&object).unwrap();
            for cut in 0..effort.cuts.min(4) {
                // Nothing at all, and white space left out at the end, are other things than a part.
                let len = (bytes.trim_ascii_end().len() * cut / 4).max(1);
                if len >= bytes.trim_ascii_end().len() {
                    continue;
                }
                tried += 1;
                std::fs::write(&object, &bytes[..len]).unwrap();
                if let Some((text, true)) = seen(&copy, &session).filter(|(text, _)| *text != whole) {
                    let reason = crate::support::difference(&whole, &text).err().unwrap_or_default();
                    failures.push(format!("{}, {} cut at {len}: {reason}", case.id, object.display()));
                }
            }
            std::fs::write(&object, bytes).unwrap();
        }
    }
    println!("{tried} damaged stores");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}
