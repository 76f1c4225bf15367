//! Nothing is lost silently: of a truncated dataset, or one in which a byte was changed, everything is shown, or what
//! is not is reported: a command ends with 0 only if `reads_without_faults` says so.
//!
//! A changed byte that no checksum covers can turn a text into another text, and a number into another number: see
//! `Cover`. Some of the corpora are tried at some positions; `NCIRRUS_SILENCE=all` tries all of them, each at 40
//! lengths and with 200 changed bytes.

use crate::support::{cdl_of, copy_tree, open, temp};
use ncirrus::{Dataset, Limits, Session};
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::cdl;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How much is tried.
struct Effort {
    /// One in this many files is tried.
    every: usize,
    largest: u64,
    cuts: usize,
    flips: usize,
}

fn effort() -> Effort {
    if std::env::var("NCIRRUS_SILENCE").is_ok_and(|value| value == "all") {
        Effort { every: 1, largest: 4 << 20, cuts: 40, flips: 200 }
    } else {
        Effort { every: 7, largest: 64 << 10, cuts: 5, flips: 20 }
    }
}

fn session() -> Session {
    let limits = Limits { metadata_bytes: 1 << 26, chunk_bytes: 1 << 26, ..Limits::default() };
    Session::builder().threads(1).memory(64 << 20).limits(limits).durable(false).build().unwrap()
}

/// What is shown of a dataset, and whether that is reported to be everything; `None` if it ends with an error.
fn seen(path: &Path, session: &Session, data: cdl::DataChoice) -> Option<(String, bool)> {
    let dataset = open(path, session).ok()?;
    let (text, without_faults) = cdl_of(&dataset, "x", |options| options.data = data).ok()?;
    Some((text, without_faults && reads_without_faults(&dataset)))
}

/// Whether the commands end with 0.
fn reads_without_faults(dataset: &Dataset) -> bool {
    dataset.left_out().is_ok_and(|left_out| left_out.is_empty())
}

/// Number of variables, groups and attributes. Dimensions without names are derived from the lengths of variables.
fn count(text: &str) -> usize {
    let is_definition = |line: &&str| line.contains(" ;") && !line.trim_start().starts_with("phony_dim_");
    text.lines().filter(|line| is_definition(line) || line.contains("group: ")).count()
}

/// Whether a changed byte can be noticed.
#[derive(Debug, PartialEq, Eq)]
enum Cover {
    /// A checksum covers the structure that contains it: what is shown without a report is true.
    Checksum,
    /// None does: classic files, and the structures of HDF5 before version 2. Texts and numbers may differ.
    Nothing,
}

/// The cover of a byte, determined by the structure that begins before it.
fn cover(bytes: &[u8], at: usize) -> Cover {
    let superblock = bytes.windows(8).position(|window| window == b"\x89HDF\r\n\x1a\n");
    let has_checksums =
        superblock.is_some_and(|start| bytes.get(start + 8).is_some_and(|version| *version >= 2));
    let unsummed: [&[u8; 4]; 4] = [b"GCOL", b"TREE", b"SNOD", b"HEAP"];
    let summed: [&[u8; 4]; 9] =
        [b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF", b"BTIN", b"SMTB"];
    let last = |signatures: &[&[u8; 4]]| {
        let up_to = &bytes[..(at + 4).min(bytes.len())];
        up_to.windows(4).rposition(|window| signatures.iter().any(|known| known.as_slice() == window))
    };
    if has_checksums && last(&summed) >= last(&unsummed) { Cover::Checksum } else { Cover::Nothing }
}

/// Files below a folder that are one dataset each.
fn files(folder: &str, effort: &Effort) -> Vec<PathBuf> {
    let Some(root) = corpus(folder) else { return Vec::new() };
    let mut all = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                all.push(entry.path());
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

/// Pseudorandom numbers, the same in every run.
fn numbers(seed: usize) -> impl Iterator<Item = usize> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 11).unwrap()
    })
}

/// What is shown differently, without a report, from what was shown of the whole dataset.
fn silent(path: &Path, whole: &str, data: cdl::DataChoice, session: &Session) -> Option<String> {
    seen(path, session, data).filter(|(text, says_whole)| *says_whole && text != whole).map(|(text, _)| text)
}

fn difference(whole: &str, text: &str) -> String {
    crate::support::difference(whole, text).err().unwrap_or_default()
}

#[test]
fn what_is_lost_of_files_that_are_cut_off_is_reported() {
    let (effort, session, (_folder, temp)) = (effort(), session(), temp());
    let (mut tried, mut failures) = (0, Vec::new());
    for file in files("hdf5", &effort).into_iter().chain(files("realdata", &effort)) {
        // Links to other files are resolved relative to its location.
        let bytes = std::fs::read(&file).unwrap();
        let copy = temp.join(file.file_name().unwrap());
        std::fs::write(&copy, &bytes).unwrap();
        let Some((whole, true)) = seen(&copy, &session, cdl::DataChoice::All) else { continue };
        for len in (0..effort.cuts).map(|at| bytes.len() * at / effort.cuts) {
            tried += 1;
            std::fs::write(&copy, &bytes[..len]).unwrap();
            if let Some(text) = silent(&copy, &whole, cdl::DataChoice::All, &session) {
                let reason = difference(&whole, &text);
                failures.push(format!("{} cut at {len} of {}: {reason}", file.display(), bytes.len()));
            }
        }
        std::fs::remove_file(&copy).unwrap();
    }
    println!("{tried} files that are cut off");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

/// Values are not examined: a changed length can make arrays of any size.
#[test]
fn changed_bytes_are_reported_where_a_checksum_covers_them() {
    let effort = effort();
    let (session, (_folder, temp)) = (session(), temp());
    let (mut tried, mut others, mut fewer, mut failures) = (0, 0, 0, Vec::new());
    for file in files("hdf5", &effort).into_iter().chain(files("realdata", &effort)) {
        let bytes = std::fs::read(&file).unwrap();
        let copy = temp.join(file.file_name().unwrap());
        std::fs::write(&copy, &bytes).unwrap();
        let Some((whole, true)) = seen(&copy, &session, cdl::DataChoice::HeaderOnly) else { continue };
        let mut numbers = numbers(bytes.len());
        for _ in 0..effort.flips {
            let (mut changed, at) = (bytes.clone(), numbers.next().unwrap() % bytes.len());
            changed[at] ^= 1 << (numbers.next().unwrap() % 8);
            tried += 1;
            std::fs::write(&copy, &changed).unwrap();
            let Some(text) = silent(&copy, &whole, cdl::DataChoice::HeaderOnly, &session) else { continue };
            match cover(&bytes, at) {
                Cover::Checksum => {
                    let reason = difference(&whole, &text);
                    failures.push(format!("{} with byte {at} changed: {reason}", file.display()));
                }
                Cover::Nothing => {
                    others += 1;
                    fewer += usize::from(count(&text) < count(&whole));
                }
            }
        }
        std::fs::remove_file(&copy).unwrap();
    }
    println!("{tried} changed bytes; not covered and shown otherwise: {others}, of these less: {fewer}");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
    assert!(fewer * 500 <= tried, "{fewer} of {tried} changed bytes hid a definition");
}

#[test]
fn what_is_lost_of_damaged_stores_is_reported() {
    let (effort, session) = (effort(), session());
    let Some(cases) = crate::corpus_nczarr::cases() else { return };
    let (mut tried, mut failures) = (0, Vec::new());
    let is_tried = |(at, case): &(usize, &crate::corpus_nczarr::Case)| {
        case.path.is_dir() && (at % effort.every == 0 || case.path.join(".zmetadata").exists())
    };
    for (_, case) in cases.iter().enumerate().filter(is_tried) {
        let (_folder, temp) = temp();
        let copy = temp.join(case.path.file_name().unwrap());
        copy_tree(&case.path, &copy);
        let Some((whole, true)) = seen(&copy, &session, cdl::DataChoice::All) else { continue };
        let mut objects = vec![copy.clone()];
        let mut documents = Vec::new();
        while let Some(folder) = objects.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() { objects.push(entry) } else { documents.push(entry) }
            }
        }
        documents.sort();
        for object in documents {
            let bytes = std::fs::read(&object).unwrap();
            // Missing trailing white space is not a loss.
            let max = bytes.trim_ascii_end().len();
            for len in
                BTreeSet::from([0, 1, max / 4, max / 2, max * 3 / 4]).into_iter().filter(|len| *len < max)
            {
                tried += 1;
                std::fs::write(&object, &bytes[..len]).unwrap();
                if let Some(text) = silent(&copy, &whole, cdl::DataChoice::All, &session) {
                    let reason = difference(&whole, &text);
                    failures.push(format!("{}, {} cut at {len}: {reason}", case.id, object.display()));
                }
            }
            std::fs::write(&object, bytes).unwrap();
        }
    }
    println!("{tried} damaged stores");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}
