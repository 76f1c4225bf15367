//! Mutilated metadata: whatever is cut off, flipped or doubled, opening and printing end with a result or an error,
//! never with a panic.
use crate::support::{copy_tree, open, session, temp};
use crate::{Case, cases};
use ncirrus::{Dataset, Session, cdl, dump};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Mutations of each case.
const ROUNDS: u64 = 20;
/// As much of a dump as is made: a damaged shape may have any length.
const DUMPED: usize = 1 << 16;

#[test]
fn mutilated_metadata_never_make_a_panic() {
    let Some(cases) = cases() else { return };
    let session = session();
    let (mut tried, mut opened, mut panics) = (0u64, 0u64, Vec::new());
    for (number, case) in cases.iter().enumerate() {
        let (_folder, folder) = temp();
        let copy = copied(case, &folder);
        let objects = metadata(&copy);
        for round in 0..ROUNDS {
            let mut random = Random::new(number as u64 * ROUNDS + round);
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
    assert!(
        opened > tried / 4 && opened < tried,
        "{opened} of {tried} opened: the mutations are not what they were"
    );
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

/// The metadata objects of a tree, or the one file that holds everything.
fn metadata(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_metadata = |path: &Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with('.') || name == "zarr.json")
    };
    let of = |path: PathBuf| match path.is_dir() {
        true => metadata(&path),
        false => Some(path).filter(|path| is_metadata(path)).into_iter().collect(),
    };
    entries.into_iter().flat_map(of).collect()
}

/// Whether it opens; what can be printed is printed.
fn opens_and_prints(path: &Path, session: &Session) -> bool {
    let Ok(dataset) = open(path, session) else { return false };
    for special in [false, true] {
        let options = cdl::Options { name: "m".to_owned(), special, ..cdl::Options::default() };
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

/// Takes so many bytes.
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

/// Numbers that look random and are the same in every run.
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

/// Words that may stand where a number or a word stood.
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
