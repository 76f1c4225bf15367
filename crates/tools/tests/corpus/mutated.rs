//! Mutilated objects: whatever is cut off, flipped or doubled, opening and printing end with a result or an error,
#![expect(clippy::print_stdout, reason = "counts of what was tried are told")]
//! never with a panic.
use crate::corpus_nczarr::{Case, cases};
use crate::support::{copy_tree, open, session, temp};
use ncirrus::{Dataset, Session};
use ncirrus_tools::{cdl, dump};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a dump: a damaged shape may have any length.
const DUMPED: usize = 1 << 16;

#[test]
fn mutilated_metadata_never_make_a_panic() {
    let Some((tried, opened)) = sweep(rounds(6), &is_metadata) else { return };
    assert!(
        opened > tried / 4 && opened < tried,
        "{opened} of {tried} opened: the mutations do too much or little"
    );
}

#[test]
fn mutilated_chunks_never_make_a_panic() {
    let Some((tried, opened)) = sweep(rounds(3), &|path| !is_metadata(path)) else { return };
    assert!(opened > tried / 4, "{opened} of {tried} opened");
}

/// How often each case is mutated; `NCIRRUS_MUTATIONS` sets another number.
fn rounds(few: u64) -> u64 {
    std::env::var("NCIRRUS_MUTATIONS").map_or(few, |text| text.parse().unwrap())
}

/// Mutates objects of every case `rounds` times; returns how many mutations were tried, and how many of them opened.
fn sweep(rounds: u64, is_chosen: &dyn Fn(&Path) -> bool) -> Option<(u64, u64)> {
    let (cases, session) = (cases()?, session());
    let (mut tried, mut opened, mut panics) = (0, 0, Vec::new());
    for (number, case) in cases.iter().enumerate() {
        let (_folder, folder) = temp();
        let copy = copied(case, &folder);
        let objects = objects(&copy, is_chosen);
        for round in 0..rounds {
            let mut random = Random::new(number as u64 * rounds + round);
            let Some(object) = random.choice(&objects) else { break };
            let original = std::fs::read(object).unwrap();
            std::fs::write(object, mutated(&original, &mut random)).unwrap();
            match catch_unwind(AssertUnwindSafe(|| opens_and_prints(&copy, &session))) {
                Ok(true) => opened += 1,
                Ok(false) => {}
                Err(_) => panics.push(format!("{} round {round}, {}", case.id, object.display())),
            }
            std::fs::write(object, original).unwrap();
            tried += 1;
        }
    }
    println!("{tried} mutilated datasets, {opened} of them opened");
    assert!(panics.is_empty(), "{} panics: {panics:#?}", panics.len());
    Some((tried, opened))
}

fn copied(case: &Case, folder: &Path) -> PathBuf {
    let copy = folder.join(case.path.file_name().unwrap());
    if case.path.is_dir() {
        copy_tree(&case.path, &copy);
    } else {
        std::fs::write(&copy, std::fs::read(&case.path).unwrap()).unwrap();
    }
    copy
}

/// The chosen objects of a tree, or the one file that holds everything.
fn objects(path: &Path, is_chosen: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let of = |path: PathBuf| {
        if path.is_dir() {
            objects(&path, is_chosen)
        } else {
            Some(path).filter(|path| is_chosen(path)).into_iter().collect()
        }
    };
    entries.into_iter().flat_map(of).collect()
}

fn is_metadata(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('.') || name == "zarr.json"
}

/// Whether it opens; whatever can be printed is printed.
fn opens_and_prints(path: &Path, session: &Session) -> bool {
    let Ok(dataset) = open(path, session) else { return false };
    let whole = cdl::PrintOptions::new().name("m");
    let data = cdl::DataChoice::HeaderOnly;
    let storage = whole.clone().special(true).data(data);
    for options in [whole, storage] {
        // The sink ends long dumps with an error.
        _ = dump(&dataset, &mut Sink(DUMPED), &options);
    }
    look_around(&dataset);
    true
}

fn look_around(dataset: &Dataset) {
    _ = (dataset.warnings(), dataset.facts());
    for variable in dataset.variables() {
        _ = (variable.path(), variable.shape());
    }
}

/// Accepts this many bytes.
struct Sink(usize);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("enough was printed"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn choice<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }
}

/// Words that may replace a number or a word.
const WORDS: [&str; 12] = [
    "-1",
    "0",
    "18446744073709551616",
    "4294967296",
    "1e999",
    "null",
    "[]",
    "{}",
    "\"\"",
    "true",
    "[[[[[[[[",
    "\\ud800",
];

fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    if bytes.is_empty() {
        return b"{".to_vec();
    }
    let mut bytes = bytes.to_vec();
    let at = random.below(bytes.len());
    let len = 1 + random.below(8.min(bytes.len() - at));
    match random.below(7) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => _ = bytes.drain(at..at + len),
        3 => {
            let span = bytes[at..at + len].to_vec();
            _ = bytes.splice(at..at, span);
        }
        4 => bytes[at] = b"{}[],:\"0\\-."[random.below(11)],
        // A whole word: from here to where something else begins.
        5 | 6 => {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_\"<>|".contains(byte);
            let start = bytes[at..].iter().position(is_word).map_or(at, |skipped| at + skipped);
            let end =
                bytes[start..].iter().position(|byte| !is_word(byte)).map_or(bytes.len(), |len| start + len);
            let word = WORDS[random.below(WORDS.len())];
            _ = bytes.splice(start..end, word.bytes());
        }
        _ => unreachable!("below 7"),
    }
    bytes
}
