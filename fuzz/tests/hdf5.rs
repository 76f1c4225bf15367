//! All HDF5 targets over mutations of the corpus' small files: no panic, no more reads than the budget, no more memory
//! than the limits. `NCIRRUS_FUZZ_ROUNDS` sets the number of mutations of each file; a few by default.
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::law::RandomSource;
use peak_alloc::PeakAlloc;
use std::path::{Path, PathBuf};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The limits of the targets, plus a margin for what they keep.
const MAX_BYTES: usize = 128 << 20;
/// Files above this size are skipped: a run must be quick.
const SMALL: u64 = 20 << 10;
const ROUNDS: u64 = 50;
/// A name and the function that is run.
type Target = (&'static str, fn(&[u8]));
/// The last one takes as long as many rounds of the others.
const TARGETS: [Target; 3] = [
    ("structures", ncirrus_fuzz::hdf5_structures),
    ("read", ncirrus_fuzz::hdf5_read),
    ("update", ncirrus_fuzz::update),
];

fn samples() -> Vec<PathBuf> {
    let Some(root) = corpus("hdf5") else { return Vec::new() };
    let mut samples = Vec::new();
    for folder in ["gen", "gennc", "ext/netcdf-c", "ext/pyfive", "ext/h5py"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        samples.extend(files.filter(|path| is_small_hdf5(path)));
    }
    samples.sort();
    assert!(samples.len() > 60, "{} files", samples.len());
    samples
}

fn is_small_hdf5(path: &Path) -> bool {
    let is_hdf5 = std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x89HDF"));
    is_hdf5 && path.metadata().unwrap().len() <= SMALL
}

#[test]
fn mutated_files_cost_neither_panics_nor_reads_nor_memory_without_bounds() {
    let rounds = std::env::var("NCIRRUS_FUZZ_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    for (number, path) in samples().iter().enumerate() {
        let sample = std::fs::read(path).unwrap();
        let structures = ncirrus_fuzz::checked(&sample);
        run(&TARGETS, &sample, &path.display());
        for round in 0..rounds {
            let mut random = RandomSource(number as u64 * 1_000_003 + round);
            let mut bytes = sample.clone();
            for _ in 0..1 + random.below(4) {
                change(&mut bytes, &mut random);
            }
            if random.below(4) > 0 {
                ncirrus_fuzz::mend(&mut bytes, &structures);
            }
            let targets = if round % 8 == 0 { &TARGETS[..] } else { &TARGETS[..2] };
            run(targets, &bytes, &format_args!("{} round {round}", path.display()));
        }
    }
}

fn run(targets: &[Target], bytes: &[u8], what: &dyn std::fmt::Display) {
    for (name, target) in targets {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let outcome = std::panic::catch_unwind(|| target(bytes));
        assert!(outcome.is_ok(), "{name} of {what} panicked");
        let peak = MEMORY.peak_usage().saturating_sub(before);
        assert!(peak <= MAX_BYTES, "{name} of {what} took {peak} bytes");
    }
}

/// One change, as damage and attackers make them: bytes, bits, whole numbers, parts moved around.
fn change(bytes: &mut Vec<u8>, random: &mut RandomSource) {
    let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
    let value = random.next_u64().to_le_bytes();
    match random.below(8) {
        0 => bytes[at] = value[0],
        1 => bytes[at] ^= 1 << (value[0] % 8),
        2 => put(bytes, at, &[0xff; 8][..usize::from(1 + value[0] % 8)]),
        3 => put(bytes, at, &[0; 8][..usize::from(1 + value[0] % 8)]),
        4 => {
            let place = random.below(bytes.len() as u64);
            put(bytes, at, &place.to_le_bytes());
        }
        5 => put(bytes, at, &value),
        6 => {
            let from = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            let part = bytes[from..bytes.len().min(from + 64)].to_vec();
            put(bytes, at, &part);
        }
        _ => bytes.truncate(at.max(bytes.len() / 2)),
    }
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    let end = bytes.len().min(at + part.len());
    bytes[at..end].copy_from_slice(&part[..end - at]);
}
