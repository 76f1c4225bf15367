//! The cost of reading an aggregation does not depend on parts that are not read.
use super::made::{Made, value};
use crate::support::{open, session, temp, values};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Values};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_step_opens_the_fragment_that_has_it_and_no_other() {
    let (_folder, root) = temp();
    // None of the other fragments exists: accessing one would be an error.
    let made = Made::master_only(&root, 20_000, 3, &session());
    made.fragment(12_345, &session());
    let dataset = open(&made.path(), &session()).unwrap();
    let step = 12_345 * 3 + 1;
    let read = dataset.variable("v").unwrap().values(&Selection::slab(&[step], &[1])).unwrap();
    assert_eq!(read, Values::Double(vec![value(step)]));
    assert!(dataset.warnings().is_empty(), "{:?}", dataset.warnings());
}

/// Bytes that opening and reading one step takes.
fn bytes_of_a_step(count: u64) -> u64 {
    let (_folder, root) = temp();
    let made = Made::master_only(&root, count, 1, &session());
    let number = count / 2;
    made.fragment(number, &session());
    let session = session();
    let dataset = open(&made.path(), &session).unwrap();
    let read = dataset.variable("v").unwrap().values(&Selection::slab(&[number], &[1])).unwrap();
    assert_eq!(read, Values::Double(vec![value(number)]));
    session.statistics().bytes_fetched
}

#[test]
fn a_step_of_a_million_fragments_takes_little_more_than_the_map() {
    let (few, many) = (bytes_of_a_step(10), bytes_of_a_step(1_000_000));
    let map = 4 * 1_000_000;
    assert!(many < few + map + (4 << 20), "{few} and {many} bytes");
}

#[test]
fn very_many_fragments_are_listed_some_at_a_time_and_their_entries_fetched_once() {
    const COUNT: u64 = 100_000;
    let (_folder, root) = temp();
    let made = Made::master_only(&root, COUNT, 2, &session());
    let session = session();
    let dataset = open(&made.path(), &session).unwrap();
    let listed = dataset.variable("v").unwrap().fragments(&Selection::all(&[2 * COUNT])).unwrap();
    assert_eq!(listed.len() as u64, COUNT);
    let steps = listed.iter().map(|fragment| (fragment.index[0], fragment.region.start[0]));
    assert!(steps.eq((0..COUNT).map(|number| (number, 2 * number))));
    let (bytes, size) = (session.statistics().bytes_fetched, std::fs::metadata(made.path()).unwrap().len());
    assert!(bytes < 2 * size, "{bytes} bytes of a file of {size}");
}

/// A file of `v(time)` in a format.
fn fragment(path: &Path, kind: Kind, numbers: &[f64]) {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session()).unwrap();
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Fixed(numbers.len() as u64)).unwrap();
    root.add_variable("v", Atomic::Double, &["time"]).unwrap().write_all(numbers).unwrap();
    dataset.close().unwrap();
}

/// File reads for opening an aggregation of `count` fragments and reading all of it.
fn reads_of_all(kind: Kind, count: u64) -> u64 {
    let (_folder, root) = temp();
    let made = Made::master_only(&root, count, 4, &session());
    for (number, numbers) in made.due().chunks(4).enumerate() {
        fragment(&made.fragment_path(number as u64), kind, numbers);
    }
    let session = session();
    let dataset = open(&made.path(), &session).unwrap();
    assert_eq!(values(&dataset.variable("v").unwrap()).unwrap(), Values::Double(made.due()));
    session.statistics().requests
}

#[test]
fn a_small_fragment_is_read_once_metadata_and_values_together() {
    for kind in [Kind::Nc3, Kind::Nc4] {
        assert_eq!(reads_of_all(kind, 60) - reads_of_all(kind, 30), 30, "{kind:?}");
    }
}

fn open_files(folder: &Path) -> Option<usize> {
    let links = std::fs::read_dir("/proc/self/fd").ok()?;
    Some(
        links
            .flatten()
            .filter_map(|link| std::fs::read_link(link.path()).ok())
            .filter(|it| it.starts_with(folder))
            .count(),
    )
}

#[test]
fn a_thousand_fragments_are_read_with_twenty_handles() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 1000, 4, &session());
    let session = Session::builder().handles(20).build().unwrap();
    let dataset = open(&made.path(), &session).unwrap();
    let (done, max) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                max.fetch_max(open_files(&root).unwrap_or(0), Ordering::Relaxed);
                std::thread::yield_now();
            }
        });
        let read = values(&dataset.variable("v").unwrap());
        done.store(true, Ordering::Relaxed);
        assert_eq!(read.unwrap(), Values::Double(made.due()));
    });
    assert!(max.load(Ordering::Relaxed) <= 20, "{} handles", max.load(Ordering::Relaxed));
    assert!(open_files(&root).is_none_or(|now| now <= 20));
}

/// The file in which a separate run of this binary stores its measurement.
const MEASURED: &str = "NCIRRUS_TEST_MEASURED";
/// Steps of a fragment: half a mebibyte.
const STEPS: u64 = 1 << 16;
/// Fragments that are read in one go.
const TOGETHER: u64 = 25;
const FRAGMENTS: u64 = 1000;
const MEMORY: usize = 64 << 20;
/// Memory for code, threads and the allocator.
const BESIDES: u64 = 24 << 20;

/// The peak memory of this process.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[test]
fn a_thousand_fragments_are_read_within_the_memory_that_is_allowed() {
    if peak().is_none() {
        return;
    }
    let (_folder, root) = temp();
    let made = Made::master_only(&root, FRAGMENTS, STEPS, &session());
    made.fragment(0, &session());
    for number in 1..FRAGMENTS {
        std::fs::hard_link(made.fragment_path(0), made.fragment_path(number)).unwrap();
    }
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "aggregations::cost::reading_in_a_process_of_its_own"])
        .env(MEASURED, &root)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let grown: u64 = std::fs::read_to_string(root.join("grown")).unwrap().parse().unwrap();
    let buffer = TOGETHER * STEPS * 8;
    assert!(grown < MEMORY as u64 + buffer + BESIDES, "{} KiB", grown >> 10);
}

/// Part of the test above.
#[test]
fn reading_in_a_process_of_its_own() {
    let Some(root) = std::env::var_os(MEASURED) else { return };
    let root = Path::new(&root);
    let part: Vec<f64> = (0..STEPS).map(value).collect();
    let before = peak().unwrap();
    let session = Session::builder().handles(20).memory(MEMORY).threads(4).build().unwrap();
    let dataset = open(&root.join("m.nca"), &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    for first in (0..FRAGMENTS).step_by(usize::try_from(TOGETHER).unwrap()) {
        let read = variable.values(&Selection::slab(&[first * STEPS], &[TOGETHER * STEPS])).unwrap();
        let Values::Double(read) = read else { panic!("values of another type") };
        assert_eq!(read.len() as u64, TOGETHER * STEPS);
        assert!(read.chunks(part.len()).all(|read| read == part), "other values from {first} on");
    }
    std::fs::write(root.join("grown"), (peak().unwrap() - before).to_string()).unwrap();
}
