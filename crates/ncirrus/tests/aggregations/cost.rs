//! What reading aggregations costs does not depend on what is not read.
use super::made::{Made, value};
use crate::support::{open, session, temp, values};
use ncirrus::{Selection, Session, Values};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_step_opens_the_fragment_that_has_it_and_no_other() {
    let (_folder, root) = temp();
    // Of the others not even one is there: to look at one would be an error.
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
    let session = Session::builder().handles(20).memory(64 << 20).build().unwrap();
    let dataset = open(&made.path(), &session).unwrap();
    let (done, most) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(open_files(&root).unwrap_or(0), Ordering::Relaxed);
                std::thread::yield_now();
            }
        });
        let read = values(&dataset.variable("v").unwrap());
        done.store(true, Ordering::Relaxed);
        assert_eq!(read.unwrap(), Values::Double(made.due()));
    });
    assert!(most.load(Ordering::Relaxed) <= 20, "{} handles", most.load(Ordering::Relaxed));
    assert!(open_files(&root).is_none_or(|now| now <= 20));
}
