//! Tags of datasets, ends of writing, datasets in memory, futures and interrupted waits.
#[path = "../../tests/support/far.rs"]
mod far;

use super::*;
use crate::{Atomic, CreateOptions, DimensionLen, Kind, Selection, Storage, Values, watch};
use bytes::Bytes;
use far::Far;
use ncirrus_layout::{Listing, ObjectBytes, StoreId, Tag, Want};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, StoreAbilities, StoreFacts, Url};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const NUMBERS: [i32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// Defines `v(10)` in chunks of 3 and `w(10)`.
fn define(dataset: &Dataset) {
    let edited = dataset.edit(|model| {
        let root = model.root();
        let n = model.add_dimension(root, "n", DimensionLen::Unlimited(10))?;
        for name in ["v", "w"] {
            let var = model.add_variable(root, name, Atomic::Int.into(), &[n])?;
            if let Some(variable) = model.variable_mut(var) {
                variable.storage = Storage::Chunked(vec![3]);
            }
        }
        Ok(())
    });
    edited.unwrap();
}

fn fill(dataset: &Dataset) {
    define(dataset);
    dataset.variable("v").unwrap().write_all(&NUMBERS).unwrap();
    dataset.variable("w").unwrap().write_all(&NUMBERS.map(|number| -number)).unwrap();
}

fn made(url: &str, kind: Kind, session: &Session) {
    let dataset =
        Dataset::create_with(url, &CreateOptions::new().kind(kind).overwrite(true), session).unwrap();
    fill(&dataset);
    dataset.close().unwrap();
}

fn open(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::open_with(url, &OpenOptions::new(), session)
}

#[test]
fn a_fill_value_outlives_its_attribute_where_the_format_stores_it_apart() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let usual = -2_147_483_647;
    for (kind, name, fill) in
        [(Kind::Nc4, "a.nc", 7), (Kind::Nc3, "c.nc", usual), (Kind::NcZarr, "a.zarr", usual)]
    {
        let url = folder.path().join(name).to_str().unwrap().to_owned();
        let dataset = Dataset::create_with(&url, &CreateOptions::new().kind(kind), &session).unwrap();
        define(&dataset);
        let var = dataset.variable("v").unwrap().id();
        dataset.edit(|model| Ok(model.set_fill(var, Values::Int(vec![7]))?)).unwrap();
        let removed = dataset.edit(|model| {
            let variable = model.variable_mut(var).expect("the variable");
            assert!(variable.attributes.known_mut().remove("_FillValue").is_some());
            Ok(())
        });
        removed.unwrap();
        dataset.close().unwrap();
        let read = open(&url, &session).unwrap().variable("v").unwrap().values(&Selection::slab(&[0], &[10]));
        assert_eq!(read.unwrap(), Values::Int(vec![fill; 10]), "{name}");
    }
}

#[test]
fn a_dataset_is_opened_only_in_the_state_that_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    for (kind, name) in
        [(Kind::Nc4, "a.nc"), (Kind::Nc3, "c.nc"), (Kind::NcZarr, "a.zarr"), (Kind::Zarr3, "b.zip")]
    {
        let url = folder.path().join(name).to_str().unwrap().to_owned();
        made(&url, kind, &session);
        let tag = open(&url, &session).unwrap().tag().unwrap();
        assert_eq!(open(&url, &session).unwrap().tag().as_ref(), Some(&tag), "{name}");
        let expecting = OpenOptions::new().expected_tag(tag.clone());
        Dataset::open_with(&url, &expecting, &session).unwrap();
        // Another length is another state, for a tree as well.
        let update = Dataset::update_with(&url, &expecting, &session).unwrap();
        assert_eq!(update.tag(), None);
        update.variable("v").unwrap().write(&Selection::slab(&[10], &[1]), &[10]).unwrap();
        update.close().unwrap();
        let now = open(&url, &session).unwrap().tag().unwrap();
        for result in
            [Dataset::open_with(&url, &expecting, &session), Dataset::update_with(&url, &expecting, &session)]
        {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Changed, "{name}");
            let text = error.to_string();
            assert!(text.contains(&tag) && text.contains(&now) && text.contains(name), "{text}");
        }
    }
}

#[test]
fn what_is_aborted_does_not_appear() {
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    for (kind, name) in [(Kind::Nc4, "a.nc"), (Kind::NcZarr, "a.zarr"), (Kind::Zarr2, "a.zip")] {
        let url = folder.path().join(name).to_str().unwrap().to_owned();
        let dataset = Dataset::create_with(&url, &CreateOptions::new().kind(kind), &session).unwrap();
        fill(&dataset);
        let (other, variable) = (dataset.clone(), dataset.variable("v").unwrap());
        dataset.abort().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}: nothing is left");
        let later = [
            variable.write_all(&NUMBERS),
            other.sync(),
            other.edit(|_| Ok(())),
            other.clone().close(),
            variable.values(&Selection::all(&[10])).map(|_| ()),
        ];
        for error in later.map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("was abandoned"), "{error}");
        }
        other.abort().unwrap();
    }
    // For a dataset that is updated, what was synced remains.
    let url = folder.path().join("b.nc").to_str().unwrap().to_owned();
    made(&url, Kind::Nc4, &session);
    let dataset = Dataset::update_with(&url, &OpenOptions::new(), &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    variable.write(&Selection::slab(&[10], &[1]), &[10]).unwrap();
    dataset.sync().unwrap();
    variable.write(&Selection::slab(&[11], &[1]), &[11]).unwrap();
    dataset.abort().unwrap();
    let dataset = open(&url, &session).unwrap();
    assert_eq!(dataset.variable("v").unwrap().shape(), [11]);
    dataset.abort().unwrap();
}

#[test]
fn bytes_are_changed_and_returned() {
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc5, Kind::Nc4] {
        let dataset = Dataset::create_bytes(&CreateOptions::new().kind(kind), &session).unwrap();
        fill(&dataset);
        let before = dataset.finish_bytes().unwrap();
        let dataset = Dataset::update_bytes(before.clone(), &OpenOptions::new(), &session).unwrap();
        dataset.variable("v").unwrap().write(&Selection::slab(&[0], &[1]), &[77]).unwrap();
        let after = dataset.finish_bytes().unwrap();
        assert_ne!(before, after, "{kind:?}");
        let dataset = Dataset::open_bytes(after, &OpenOptions::new(), &session).unwrap();
        let numbers = dataset.variable("v").unwrap().read::<i32>().unwrap();
        assert_eq!((numbers[0], &numbers[1..]), (77, &NUMBERS[1..]), "{kind:?}");
    }
}

#[test]
fn what_lies_behind_the_end_of_an_hdf5_file_in_memory_is_room() {
    let session = session();
    let dataset = Dataset::create_bytes(&CreateOptions::new().kind(Kind::Nc4), &session).unwrap();
    fill(&dataset);
    let mut bytes = dataset.finish_bytes().unwrap().to_vec();
    bytes.resize(bytes.len() + (1 << 20), 0xa5);
    let dataset = Dataset::update_bytes(bytes, &OpenOptions::new(), &session).unwrap();
    dataset.variable("v").unwrap().write(&Selection::slab(&[10], &[1]), &[10]).unwrap();
    let after = dataset.finish_bytes().unwrap();
    assert!(after.len() < 1 << 17, "{}", after.len());
    let dataset = Dataset::open_bytes(after, &OpenOptions::new(), &session).unwrap();
    let numbers = dataset.variable("v").unwrap().read::<i32>().unwrap();
    assert_eq!((&numbers[..10], numbers[10]), (&NUMBERS[..], 10));
}

#[test]
fn bytes_that_are_lent_are_copied_by_the_first_change() {
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc5, Kind::Nc4] {
        let dataset = Dataset::create_bytes(&CreateOptions::new().kind(kind), &session).unwrap();
        fill(&dataset);
        let memory = Arc::new(dataset.finish_bytes().unwrap().to_vec());
        for changes in [false, true] {
            let lent = Bytes::from_owner(Lent(Arc::clone(&memory)));
            let dataset = Dataset::update_bytes(lent, &OpenOptions::new(), &session).unwrap();
            if changes {
                dataset.variable("v").unwrap().write(&Selection::slab(&[0], &[1]), &[77]).unwrap();
            }
            let after = dataset.finish_bytes().unwrap();
            assert_eq!(after.as_ptr() == memory.as_ptr(), !changes, "{kind:?}");
            drop(after);
            assert_eq!(Arc::strong_count(&memory), 1, "{kind:?}");
        }
        let dataset = Dataset::open_bytes(memory.to_vec(), &OpenOptions::new(), &session).unwrap();
        assert_eq!(dataset.variable("v").unwrap().read::<i32>().unwrap(), NUMBERS, "{kind:?}");
    }
}

#[test]
fn a_file_that_was_changed_since_it_was_opened_is_reported_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc4] {
        let path = folder.path().join(format!("{kind:?}.nc"));
        // Small files are read whole when they are opened.
        let create = CreateOptions::new().kind(kind);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &create, &session).unwrap();
        let edited = dataset.edit(|model| {
            let root = model.root();
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(1 << 20))?;
            Ok(model.add_variable(root, "v", Atomic::Double.into(), &[x])?)
        });
        edited.unwrap();
        dataset.variable("v").unwrap().write_all(&vec![1.5; 1 << 20]).unwrap();
        dataset.close().unwrap();
        let dataset = open(path.to_str().unwrap(), &session).unwrap();
        let last = Selection::slab(&[(1 << 20) - 10], &[10]);
        assert_eq!(dataset.variable("v").unwrap().read_selection::<f64>(&last).unwrap(), [1.5; 10]);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        let error = dataset.variable("v").unwrap().read_selection::<f64>(&last).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{kind:?}: {error}");
    }
}

struct Lent(Arc<Vec<u8>>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[test]
fn a_dataset_is_bytes_in_memory() {
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc5, Kind::Nc4, Kind::NcZarr, Kind::Zarr3] {
        let dataset = Dataset::create_bytes(&CreateOptions::new().kind(kind), &session).unwrap();
        fill(&dataset);
        let bytes = dataset.finish_bytes().unwrap();
        // The owner of the memory lends it, and gets it back.
        let memory = Arc::new(bytes.to_vec());
        let lent = Bytes::from_owner(Lent(Arc::clone(&memory)));
        let dataset = Dataset::open_bytes(lent, &OpenOptions::new(), &session).unwrap();
        assert_eq!(dataset.variable("v").unwrap().read::<i32>().unwrap(), NUMBERS, "{kind:?}");
        assert_eq!(Arc::strong_count(&memory), 2, "{kind:?}: it is not copied");
        drop(dataset);
        assert_eq!(Arc::strong_count(&memory), 1, "{kind:?}");
    }
    let error = Dataset::create_bytes(&CreateOptions::new(), &session).unwrap_err();
    assert!(error.to_string().contains("kind"), "{error}");
    let error = Dataset::open_bytes(&b"<html></html>"[..], &OpenOptions::new(), &session).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Unsupported), "{error:?}");
    let dataset = Dataset::create_with("memory://bytes/a.nc", &CreateOptions::new(), &session).unwrap();
    assert_eq!(dataset.finish_bytes().unwrap_err().kind(), ErrorKind::Invalid);
}

/// A remote store that can stop answering.
#[derive(Debug)]
struct Stalling {
    inner: MemoryStore,
    stalls: AtomicBool,
    waiting: AtomicUsize,
}

/// A request that waits; counted until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Stalling {
    async fn turn(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        while self.stalls.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

type Answer<'a, T> = BoxFuture<'a, Result<T>>;

impl Store for Stalling {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(50),
            range_cap: 16 << 20,
            isolated: false,
            ..LocalStore::facts(&self.inner)
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> Answer<'a, Option<ObjectBytes>> {
        Box::pin(async move {
            self.turn().await;
            self.inner.read(object, want)
        })
    }

    fn put<'a>(&'a self, object: &'a ObjectId, body: Bytes, when: PutCondition) -> Answer<'a, Tag> {
        Box::pin(async move {
            self.turn().await;
            LocalStore::put(&self.inner, object, &body, &when)
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete(&self.inner, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete_tree(&self.inner, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> Answer<'a, Listing> {
        Box::pin(async move { LocalStore::list(&self.inner, prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}

/// A session in which `far://x/...` is in such a store.
fn stalling() -> (Arc<Stalling>, Session) {
    let inner = MemoryStore::new("far://x");
    let store = Arc::new(Stalling { inner, stalls: AtomicBool::new(false), waiting: AtomicUsize::new(0) });
    let given = Arc::clone(&store);
    let connect = move |url: &Url| {
        let root = given.inner.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(&given) as Arc<dyn Store>, root))
    };
    let builder = Session::builder().threads(2).durable(false).chunk_cache(0);
    (store, builder.store("far", connect).build().unwrap())
}

/// Runs something while the store does not answer; the watch ends the waiting request at the third call.
fn interrupted<T: fmt::Debug>(store: &Arc<Stalling>, body: impl FnOnce() -> Result<T>) -> Error {
    store.stalls.store(true, Ordering::SeqCst);
    let requested = Rc::new(Cell::new(0));
    let (counted, seen) = (Rc::clone(&requested), Arc::clone(store));
    let stops = move || {
        counted.set(counted.get() + usize::from(seen.waiting.load(Ordering::SeqCst) > 0));
        counted.get() >= 3
    };
    let result = watch(Duration::from_millis(10), stops, body);
    store.stalls.store(false, Ordering::SeqCst);
    // It may be asked again while the request ends, on a machine that is busy.
    assert!(requested.get() >= 3, "{}", requested.get());
    result.unwrap_err()
}

/// Waits until no requests are in flight.
fn settle(store: &Stalling) {
    while store.waiting.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_interrupted_read_leaves_the_dataset_as_it_was() {
    let (store, session) = stalling();
    made("far://x/a.zarr", Kind::NcZarr, &session);
    let dataset = open("far://x/a.zarr", &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    let error = interrupted(&store, || variable.read::<i32>());
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    settle(&store);
    assert_eq!(variable.read::<i32>().unwrap(), NUMBERS);
    assert_eq!(interrupted(&store, || open("far://x/a.zarr", &session)).kind(), ErrorKind::Interrupted);
}

#[test]
fn an_interrupted_writer_is_abandoned_and_leaves_nothing_half_true() {
    let (store, session) = stalling();
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with("far://x/b.zarr", &options, &session).unwrap();
    fill(&dataset);
    let other = dataset.clone();
    assert_eq!(interrupted(&store, || dataset.close()).kind(), ErrorKind::Interrupted);
    settle(&store);
    // Either it can continue, or it reports that it cannot; nothing exists before a close that succeeds.
    assert!(open("far://x/b.zarr", &session).is_err());
    match other.clone().close() {
        Ok(()) => {
            let dataset = open("far://x/b.zarr", &session).unwrap();
            assert_eq!(dataset.variable("v").unwrap().read::<i32>().unwrap(), NUMBERS);
        }
        Err(error) => {
            assert!(error.to_string().contains("can no longer be used"), "{error}");
            other.abort().unwrap();
            assert!(open("far://x/b.zarr", &session).is_err());
        }
    }
}

#[test]
fn a_long_local_computation_is_ended_between_its_parts() {
    let session = Session::builder().threads(1).durable(false).build().unwrap();
    made("memory://long/a.zarr", Kind::NcZarr, &session);
    let dataset = open("memory://long/a.zarr", &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    let ended = watch(Duration::ZERO, || true, || variable.read::<i32>());
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(variable.read::<i32>().unwrap(), NUMBERS);
    let update = Dataset::update_with("memory://long/a.zarr", &OpenOptions::new(), &session).unwrap();
    let ended = watch(Duration::ZERO, || true, || update.variable("v")?.write_all(&[7; 10]));
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
    update.variable("v").unwrap().write_all(&[8; 10]).unwrap();
    update.close().unwrap();
    assert_eq!(
        open("memory://long/a.zarr", &session).unwrap().variable("v").unwrap().read::<i32>().unwrap(),
        [8; 10]
    );
}

#[test]
fn futures_read_and_dropping_them_cancels_their_requests() {
    let (store, session) = stalling();
    made("far://x/a.zarr", Kind::NcZarr, &session);
    // Any executor will do: another runtime, or the session's own threads.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dataset =
        runtime.block_on(Dataset::open_async("far://x/a.zarr", OpenOptions::new(), &session)).unwrap();
    let variable = dataset.variable("v").unwrap();
    let all = Selection::all(&[10]);
    let bytes = runtime.block_on(variable.read_bytes_async(all.clone())).unwrap();
    assert!(bytes.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).eq(NUMBERS));
    let buffer = runtime.block_on(variable.read_bytes_owned(all.clone(), vec![0u8; 40])).unwrap();
    assert_eq!(buffer, bytes);
    let short = runtime.block_on(variable.read_bytes_owned(all.clone(), vec![0u8; 39]));
    assert_eq!(short.unwrap_err().kind(), ErrorKind::Invalid);
    let values = runtime.block_on(session.spawn(variable.values_async(all.clone())).unwrap()).unwrap();
    assert_eq!(values, Values::Int(NUMBERS.to_vec()));
    // Five hundred at once, all dropped while they wait.
    store.stalls.store(true, Ordering::SeqCst);
    let tasks: Vec<_> =
        (0..500).map(|_| session.spawn(variable.read_bytes_async(all.clone())).unwrap()).collect();
    while store.waiting.load(Ordering::SeqCst) < 500 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(tasks);
    settle(&store);
    store.stalls.store(false, Ordering::SeqCst);
    assert_eq!(variable.read::<i32>().unwrap(), NUMBERS);
}

#[test]
fn bytes_are_written_by_the_threads_of_the_session_and_an_error_names_the_variable() {
    let session = Session::builder().threads(1).durable(false).build().unwrap();
    made("memory://behind/a.zarr", Kind::NcZarr, &session);
    let update = Dataset::update_with("memory://behind/a.zarr", &OpenOptions::new(), &session).unwrap();
    let variable = update.variable("v").unwrap();
    let half = |start| Selection::slab(&[start], &[5]);
    let bytes = |number: i32| [number.to_ne_bytes(); 5].concat();
    let tasks = [0, 5].map(|at| {
        session.spawn(variable.write_bytes_owned(half(at), bytes(i32::try_from(at).unwrap() + 70))).unwrap()
    });
    tasks.into_iter().for_each(|task| session.wait_for(task).unwrap());
    let short = session.spawn(variable.write_bytes_owned(half(0), vec![0u8; 19])).unwrap();
    let error = session.wait_for(short).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("/v")), (ErrorKind::Invalid, true), "{error}");
    update.close().unwrap();
    let written = open("memory://behind/a.zarr", &session).unwrap().variable("v").unwrap().read::<i32>();
    assert_eq!(written.unwrap(), [[70; 5], [75; 5]].concat());
}

#[test]
fn several_variables_are_fetched_in_as_many_rounds_as_one() {
    let (store, session) = stalling();
    made("far://x/a.zarr", Kind::NcZarr, &session);
    let far = Arc::new(Far::new(store.inner.clone()));
    let given = Arc::clone(&far);
    let connect = move |url: &Url| {
        let root = given.inner.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(&given) as Arc<dyn Store>, root))
    };
    let session = Session::builder().threads(2).chunk_cache(0).store("count", connect).build().unwrap();
    let all = Selection::all(&[10]);
    let rounds = |names: &[&str]| {
        let dataset = open("count://x/a.zarr", &session).unwrap();
        let wanted: Vec<_> =
            names.iter().map(|name| (dataset.variable(name).unwrap().id(), all.clone())).collect();
        let before = far.rounds();
        let values = dataset.read_many(&wanted).unwrap();
        assert_eq!(values.len(), names.len());
        assert!(
            values
                .iter()
                .zip(names)
                .all(|(values, name)| values.integer(9) == Some(if *name == "v" { 9 } else { -9 }))
        );
        far.rounds() - before
    };
    let one = rounds(&["v"]);
    assert!(one > 0);
    assert_eq!(rounds(&["v", "w", "v"]), one);
    let dataset = open("count://x/a.zarr", &session).unwrap();
    let wrong = (dataset.variable("w").unwrap().id(), Selection::all(&[11]));
    let error = dataset.read_many(&[wrong]).unwrap_err();
    assert_eq!(error.place().path.as_deref(), Some("/w"));
}
