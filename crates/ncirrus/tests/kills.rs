//! Writers that are killed after any change to the store: what remains is a dataset, the old one or the new one.
#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may panic")]

pub(crate) mod states;
pub(crate) mod stores;

use ncirrus_classic::{ClassicDriver, ClassicWriter, FormatVersion};
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::{Consolidated, Driver, ObjectId, OpenOptions, Result, Writing};
use ncirrus_store::{BlockingStore, MemoryStore, Store};
use ncirrus_zarr::{Dialect, ZarrDriver, ZarrWriter};
use states::{Change, State, apply, build, same_cells, state_of};
use std::sync::Arc;
use stores::{Far, Unplugged, copy_of};

/// A format and its abilities.
struct Format {
    name: String,
    writing: Arc<dyn Writing>,
    grows: bool,
    far: bool,
    /// Whether chunks share objects.
    shards: bool,
}

fn formats() -> Vec<Format> {
    let mut all = Vec::new();
    let dialects = [Dialect::Attributes, Dialect::LowerCase, Dialect::Xarray, Dialect::V3, Dialect::Nczarr3];
    for dialect in dialects {
        for (consolidated, far) in [(true, false), (false, false), (true, true), (false, true)] {
            let grows = matches!(dialect, Dialect::Attributes | Dialect::Nczarr3);
            let writing = Arc::new(ZarrWriter::new(dialect).consolidated(consolidated));
            let name = format!("{dialect} consolidated {consolidated} far {far}");
            all.push(Format { name, writing, grows, far, shards: false });
        }
    }
    for (consolidated, far) in [(true, false), (false, false), (true, true), (false, true)] {
        let writing = Arc::new(ZarrWriter::new(Dialect::Nczarr3).consolidated(consolidated));
        let name = format!("shards consolidated {consolidated} far {far}");
        all.push(Format { name, writing, grows: true, far, shards: true });
    }
    for version in [FormatVersion::Classic, FormatVersion::Data64] {
        for header_pad in [0, 4096] {
            let writing = Arc::new(ClassicWriter { header_pad, ..ClassicWriter::new(version) });
            let name = format!("{version:?} pad {header_pad}");
            all.push(Format { name, writing, grows: true, far: false, shards: false });
        }
    }
    all
}

/// The environment of a test.
struct Bench {
    session: Session,
    format: Format,
}

impl Bench {
    fn all() -> Vec<Self> {
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        formats().into_iter().map(|format| Self { session: session.clone(), format }).collect()
    }

    fn run<F: Future>(&self, future: F) -> F::Output {
        self.session.block_on(future)
    }

    /// The store of a writer that dies after `allowed` changes.
    fn dying(&self, memory: &MemoryStore, allowed: usize) -> Arc<dyn Store> {
        let store = Unplugged::after(memory, allowed);
        if self.format.far { Arc::new(Far(store)) } else { Arc::new(BlockingStore(store)) }
    }

    fn open(&self, store: Arc<dyn Store>, root: ObjectId) -> Result<Dataset> {
        self.open_with(store, root, Consolidated::Auto)
    }

    fn open_with(
        &self,
        store: Arc<dyn Store>,
        root: ObjectId,
        consolidated: Consolidated,
    ) -> Result<Dataset> {
        let drivers: [Arc<dyn Driver>; 2] = [Arc::new(ClassicDriver), Arc::new(ZarrDriver)];
        let options = OpenOptions::new().consolidated(consolidated);
        self.run(self.session.open(store, root, &drivers, &options))
    }

    /// The state for readers that do not use consolidated metadata.
    fn single_state(&self, memory: &MemoryStore) -> Result<State> {
        let dataset = self.open_with(memory.shared(), root(memory), Consolidated::Never)?;
        self.run(state_of(&dataset))
    }

    fn state(&self, memory: &MemoryStore) -> Result<State> {
        let dataset = self.open(memory.shared(), root(memory))?;
        self.run(state_of(&dataset))
    }

    fn create(&self, memory: &MemoryStore, store: Arc<dyn Store>) -> Result<()> {
        let writing = Arc::clone(&self.format.writing);
        self.run(async {
            let writer = self.session.create(store, root(memory), writing).await?;
            build(&writer, self.format.grows, self.format.shards).await?;
            writer.close().await
        })
    }

    fn update(&self, memory: &MemoryStore, store: Arc<dyn Store>, changes: &[Change]) -> Result<()> {
        let dataset = self.open(store, root(memory))?;
        self.run(async {
            let writer = self.session.update(&dataset).await?;
            for change in changes {
                apply(&writer, *change).await?;
            }
            writer.close().await
        })
    }
}

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

fn empty() -> MemoryStore {
    MemoryStore::new("memory://kills")
}

/// More changes than any of these writers makes.
const MAX_CHANGES: usize = 400;

#[test]
fn a_creation_that_is_killed_is_absent_or_whole() {
    for bench in Bench::all() {
        let name = &bench.format.name;
        let whole = empty();
        bench
            .create(&whole, bench.dying(&whole, MAX_CHANGES))
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let whole = bench.state(&whole).unwrap();
        let mut killed = 0;
        loop {
            let memory = empty();
            let outcome = bench.create(&memory, bench.dying(&memory, killed));
            match (bench.state(&memory), &outcome) {
                (Ok(state), _) => assert_eq!(state, whole, "{name}: after {killed} changes"),
                (Err(error), Ok(())) => panic!("{name}: after {killed} changes: {error:?}"),
                (Err(_), Err(_)) => {}
            }
            if outcome.is_ok() {
                break;
            }
            killed += 1;
        }
        assert!((3..MAX_CHANGES).contains(&killed), "{name}: {killed} changes");
    }
}

#[test]
fn changed_attributes_are_old_or_new() {
    each_update(&[Change::Attributes]);
}

#[test]
fn overwritten_chunks_are_old_or_new() {
    each_update(&[Change::Overwrite]);
}

#[test]
fn appended_records_are_there_for_all_variables_or_for_none() {
    each_update(&[Change::Append]);
}

#[test]
fn a_renamed_variable_has_one_name_and_its_values() {
    each_update(&[Change::Rename]);
}

#[test]
fn a_removed_variable_is_whole_or_gone() {
    each_update(&[Change::Remove]);
}

#[test]
fn everything_at_once_is_old_or_new() {
    each_update(&[Change::Attributes, Change::Overwrite, Change::Append, Change::Rename, Change::Remove]);
}

/// Kills the update after every possible number of changes.
fn each_update(changes: &[Change]) {
    for bench in Bench::all() {
        let changes: Vec<Change> = changes
            .iter()
            .copied()
            .filter(|change| bench.format.grows || *change != Change::Append)
            .collect();
        if !changes.is_empty() {
            kill_everywhere(&bench, &changes);
        }
    }
}

fn kill_everywhere(bench: &Bench, changes: &[Change]) {
    let name = format!("{} {changes:?}", bench.format.name);
    let base = empty();
    bench.create(&base, base.shared()).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let old = bench.state(&base).unwrap();
    let done = copy_of(&base);
    bench
        .update(&done, bench.dying(&done, MAX_CHANGES), changes)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let new = bench.state(&done).unwrap();
    let mut killed = 0;
    loop {
        let memory = copy_of(&base);
        let outcome = bench.update(&memory, bench.dying(&memory, killed), changes);
        let at = format!("{name}: after {killed} changes");
        let state = bench.state(&memory).unwrap_or_else(|error| panic!("{at}: {error:?}"));
        let is_new = state.definitions == new.definitions;
        let reported = if is_new { &new } else { &old };
        assert_eq!(state.definitions, reported.definitions, "{at}");
        same_cells(&state, &old, &new, is_new).unwrap_or_else(|reason| panic!("{at}: {reason}"));
        if outcome.is_ok() {
            assert_eq!(state, new, "{at}");
            break;
        }
        recovers(bench, &memory, changes, &new, &at);
        killed += 1;
    }
    assert!((1..MAX_CHANGES).contains(&killed), "{name}: {killed} changes");
}

/// What a killed writer left does not stop the next writer.
fn recovers(bench: &Bench, memory: &MemoryStore, changes: &[Change], new: &State, at: &str) {
    if bench.state(memory).is_ok_and(|state| state.definitions == new.definitions) {
        return;
    }
    let again = bench.update(memory, bench.dying(memory, MAX_CHANGES), changes);
    again.unwrap_or_else(|error| panic!("{at}: the next writer fails: {error:?}"));
    let state = bench.state(memory).unwrap_or_else(|error| panic!("{at}: after the next writer: {error:?}"));
    assert_eq!(&state, new, "{at}: the next writer's work");
}

/// Readers without consolidated metadata see the same as others after another writer has committed.
#[test]
fn the_next_change_leaves_no_object_ahead_of_the_others() {
    let changes = [Change::Attributes, Change::Append];
    for bench in Bench::all().into_iter().filter(|bench| bench.format.grows && !bench.format.far) {
        let base = empty();
        bench.create(&base, base.shared()).unwrap();
        for killed in 0..MAX_CHANGES {
            let memory = copy_of(&base);
            let outcome = bench.update(&memory, bench.dying(&memory, killed), &changes);
            let before = bench.state(&memory).unwrap();
            bench.update(&memory, memory.shared(), &[Change::Note]).unwrap();
            let (state, single) = (bench.state(&memory).unwrap(), bench.single_state(&memory).unwrap());
            let at = format!("{}: after {killed} changes", bench.format.name);
            assert_eq!(single, state, "{at}");
            assert_ne!(state.definitions, before.definitions, "{at}: the next change is there");
            assert_eq!(
                state.definitions.contains("Unlimited(6)"),
                before.definitions.contains("Unlimited(6)"),
                "{at}"
            );
            if outcome.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn a_new_dataset_waits_for_the_disk_once_before_its_root_is_there() {
    let session = Session::builder().threads(2).build().unwrap();
    let near = |format: &Format| !format.far && format.name.contains("consolidated true");
    for format in formats().into_iter().filter(near) {
        let (memory, name) = (empty(), format.name.clone());
        let bench = Bench { session: session.clone(), format };
        let store = Arc::new(BlockingStore(Unplugged::after(&memory, usize::MAX)));
        bench.create(&memory, Arc::clone(&store) as Arc<dyn Store>).unwrap();
        let mut durable: Vec<Vec<String>> = store.0.at_barriers().iter().map(MemoryStore::keys).collect();
        durable.dedup();
        let is_of_root = |key: &&String| key.matches('/').count() == 1;
        let first = durable.first().unwrap();
        assert_eq!(first.iter().filter(is_of_root).count(), 0, "{name}: {first:?}");
        let whole = durable.last().unwrap();
        assert!(
            whole.iter().filter(|key| !first.contains(key)).all(|key| is_of_root(&key)),
            "{name}: {first:?}"
        );
    }
}
