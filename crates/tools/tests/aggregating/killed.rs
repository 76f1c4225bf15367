//! Splitters that are killed after any change to the store.
use super::files::{Bench, CONVENTIONS, doubles};
use crate::killed_stores::{Far, Unplugged};
use ncirrus::store::{MemoryStore, Store, StoreOptions, Url};
use ncirrus::{Dataset, ErrorKind, OpenOptions, Result, Session};
use ncirrus_tools::aggregate::{
    AggregateOptions, MasterOptions, PreparedAggregation, SplitOptions, aggregate, master_options, split,
};
use std::sync::Arc;

/// A session whose scheme `far` is a store that accepts `allowed` changes.
fn session(memory: &MemoryStore, allowed: usize) -> Session {
    session_with(memory, allowed, StoreOptions::default())
}

/// The same, with other options.
pub(crate) fn session_with(memory: &MemoryStore, allowed: usize, stores: StoreOptions) -> Session {
    let store: Arc<dyn Store> = Arc::new(Far(Unplugged::after(memory, allowed)));
    let root = memory.root();
    let stores = StoreOptions { retries: 0, ..stores };
    let factory = move |url: &Url| Ok((Arc::clone(&store), root.child(url.path().trim_matches('/'))));
    let builder = Session::builder().store("far", factory);
    builder.threads(2).durable(false).local_fragments(true).stores(stores).build().unwrap()
}

fn run(bench: &Bench, source: &str, session: &Session) -> Result<(usize, usize)> {
    let options = SplitOptions::new().shape([("time".to_owned(), 2)].into()).at_once(1);
    let source = bench.open(source);
    let report = split(&source, "far://store/m.nca", &options, &MasterOptions::default(), session)?;
    Ok((report.written, report.kept))
}

#[test]
fn a_splitter_that_is_killed_leaves_no_master_and_is_continued_by_the_next() {
    let bench = Bench::new();
    let source = bench.field("a.nc", 0..5);
    let mut killed = 0;
    loop {
        let memory = MemoryStore::new("memory://split");
        let first = run(&bench, &source, &session(&memory, killed));
        let healthy = session(&memory, usize::MAX);
        let open = || Dataset::open_with("far://store/m.nca", &OpenOptions::default(), &healthy);
        let there = open().map(|_| ());
        if first.is_ok() {
            there.unwrap();
            break;
        }
        if let Err(error) = there {
            assert_eq!(error.kind(), ErrorKind::NotFound, "after {killed} changes: {error}");
            let before = memory.keys().iter().filter(|key| key.ends_with(".nc")).count();
            let (written, kept) = run(&bench, &source, &healthy).unwrap();
            assert_eq!((written, kept), (3 - before, before), "after {killed} changes");
        }
        let values = open().unwrap().variable("tas").unwrap().read::<f64>().unwrap();
        assert_eq!(values, doubles(&(0..5)), "after {killed} changes");
        killed += 1;
    }
    // The marker, three fragments, the master; then the marker is removed.
    assert_eq!(killed, 6);
}

#[test]
fn a_splitting_that_was_begun_otherwise_is_not_continued() {
    let bench = Bench::new();
    let source = bench.field("a.nc", 0..5);
    let memory = MemoryStore::new("memory://split");
    run(&bench, &source, &session(&memory, 2)).unwrap_err();
    let other = bench.field("b.nc", 0..6);
    let error = run(&bench, &other, &session(&memory, usize::MAX)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("an unfinished split"), "{error}");
}

/// Adds the last of the files to a master in a store that accepts `allowed` changes.
fn add(files: &[String], target: &str, session: &Session) -> Result<()> {
    let rest = files.get(2..).unwrap_or_default();
    let prepared = PreparedAggregation::adding(target, rest, &AggregateOptions::default(), session)?;
    let like = master_options(target, session)?.overwrite(true);
    prepared.write(target, &like, session).map(|_| ())
}

#[test]
fn adding_that_is_killed_leaves_the_old_master_or_the_new() {
    let bench = Bench::new();
    let files = [bench.field("a.nc", 0..3), bench.field("b.nc", 3..7), bench.field("c.nc", 7..9)];
    let target = "far://store/m.nca";
    for convention in CONVENTIONS {
        let mut killed = 0;
        loop {
            let memory = MemoryStore::new("memory://add");
            let healthy = session(&memory, usize::MAX);
            let made = MasterOptions::new().convention(convention);
            aggregate(target, &files[..2], &AggregateOptions::default(), &made, &healthy).unwrap();
            let done = add(&files, target, &session(&memory, killed));
            let healthy = session(&memory, usize::MAX);
            let dataset = Dataset::open_with(target, &OpenOptions::default(), &healthy).unwrap();
            let values: Vec<f64> = dataset.variable("tas").unwrap().read().unwrap().into();
            let times: Vec<f64> = dataset.variable("time").unwrap().read().unwrap().into();
            let days = if values.len() == 84 { 0..7 } else { 0..9 };
            assert_eq!(values, doubles(&days), "{convention:?} after {killed} changes");
            assert_eq!(times.len(), days.len(), "{convention:?} after {killed} changes");
            if done.is_ok() {
                assert_eq!(days, 0..9);
                break;
            }
            killed += 1;
        }
        assert!(killed > 0, "{convention:?}");
    }
}

#[test]
fn nothing_is_added_to_a_master_of_many_objects_that_would_be_lost_when_killed() {
    let bench = Bench::new();
    let files = [bench.field("a.nc", 0..3), bench.field("b.nc", 3..7), bench.field("c.nc", 7..9)];
    let memory = MemoryStore::new("memory://add");
    let (target, session) = ("far://store/m.zarr", session(&memory, usize::MAX));
    let (options, made) = (AggregateOptions::default(), MasterOptions::default());
    aggregate(target, &files[..2], &options, &made, &session).unwrap();
    let error = add(&files, target, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("cannot be replaced atomically"), "{error}");
}
