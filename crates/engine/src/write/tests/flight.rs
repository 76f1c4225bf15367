//! Chunks in flight to a remote store.
use super::*;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Listing, ObjectBytes, StoreId, Tag, Want};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store, StoreFacts};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A store in memory whose puts wait at a gate.
#[derive(Debug)]
struct GatedStore {
    inner: MemoryStore,
    permits: Semaphore,
    /// Number of puts that have begun, that wait, and that were carried out.
    begun: AtomicUsize,
    waiting: AtomicUsize,
    put: AtomicUsize,
    broken: AtomicBool,
}

impl GatedStore {
    fn new(inner: &MemoryStore) -> Arc<Self> {
        Arc::new(Self {
            inner: inner.clone(),
            permits: Semaphore::new(0),
            begun: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            put: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        })
    }

    fn open(&self) {
        self.permits.add_permits(1 << 20);
    }

    /// Waits until `count` puts wait at the gate.
    fn wait_for(&self, count: usize) {
        while self.waiting.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
    }
}

impl Store for GatedStore {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { concurrency: 4, ..LocalStore::facts(&self.inner) }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move { self.inner.read(object, want) })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            if when != PutCondition::None {
                return LocalStore::put(&self.inner, object, &body, &when);
            }
            self.begun.fetch_add(1, Ordering::SeqCst);
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let passed = self.permits.acquire().await;
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            passed.map_err(|error| Error::internal("a closed gate").because(error))?.forget();
            if self.broken.load(Ordering::SeqCst) {
                return Err(Error::new(ErrorKind::Denied, "no more room"));
            }
            self.put.fetch_add(1, Ordering::SeqCst);
            LocalStore::put(&self.inner, object, &body, &when)
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete(&self.inner, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete_tree(&self.inner, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { LocalStore::list(&self.inner, prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn ncirrus_store::StoreAbilities> {
        None
    }
}

fn far() -> (Arc<GatedStore>, WritePlace) {
    let near = place(false);
    let store = GatedStore::new(&near.memory);
    let place = WritePlace { store: Arc::clone(&store) as Arc<dyn Store>, ..near };
    (store, place)
}

/// The selection and values that fill `count` chunks of three rows and three columns.
fn chunks(count: u64) -> (Selection, Values) {
    (slab(&[0, 0], &[3 * count, 3]), Values::Int((0..i32::try_from(9 * count).unwrap()).collect()))
}

/// Chunks of a variable that wait at the gate.
struct SentChunks {
    store: Arc<GatedStore>,
    place: WritePlace,
    writer: DatasetWriter,
    var: VarId,
    selection: Selection,
    values: Values,
}

/// Writes `count` chunks, and waits until as many of them as the store accepts at once are at the gate.
fn sent(count: u64) -> SentChunks {
    let (store, place) = far();
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[3], true);
    let (selection, values) = chunks(count);
    place.run(writer.write(var, &selection, &values)).unwrap();
    store.wait_for(usize::try_from(count).unwrap().min(4));
    SentChunks { store, place, writer, var, selection, values }
}

#[test]
fn chunks_of_one_write_are_on_their_way_while_the_next_is_encoded() {
    let (store, place) = far();
    let writer = place.create();
    let vars = ["a", "b"].map(|name| place.add(&writer, name, Atomic::Int, &[3], true));
    let (selection, values) = chunks(2);
    for var in vars {
        place.run(writer.write(var, &selection, &values)).unwrap();
    }
    store.wait_for(4);
    assert_eq!(store.put.load(Ordering::SeqCst), 0, "both writes returned before anything was there");
    store.open();
    place.run(writer.close()).unwrap();
    for var in vars {
        assert_eq!(place.run(place.open().read(var, &selection)).unwrap(), values);
    }
}

#[test]
fn no_more_are_under_way_than_the_store_takes() {
    let SentChunks { store, place, writer, var, selection, values } = sent(20);
    assert_eq!(store.begun.load(Ordering::SeqCst), 4, "of 20 chunks");
    store.open();
    place.run(writer.close()).unwrap();
    assert_eq!(place.run(place.open().read(var, &selection)).unwrap(), values);
}

#[test]
fn no_more_bytes_are_under_way_than_the_memory_allows() {
    let (store, near) = far();
    // A window, and what may be in flight when it begins, are 32 bytes each; a chunk has 36 before its codec.
    let place = WritePlace { session: session(128), ..near };
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[3], true);
    let (selection, values) = chunks(20);
    std::thread::scope(|scope| {
        let write = scope.spawn(|| place.run(writer.write(var, &selection, &values)));
        store.wait_for(1);
        std::thread::sleep(Duration::from_millis(50));
        assert!(!write.is_finished(), "20 chunks do not fit");
        assert!(store.begun.load(Ordering::SeqCst) <= 2);
        store.open();
        write.join().unwrap().unwrap();
    });
    place.run(writer.close()).unwrap();
    assert_eq!(place.run(place.open().read(var, &selection)).unwrap(), values);
}

#[test]
fn puts_in_flight_are_read_when_they_have_ended() {
    let SentChunks { store, place, writer, var, selection, values } = sent(2);
    std::thread::scope(|scope| {
        let read = scope.spawn(|| place.run(writer.read(var, &selection)));
        store.open();
        assert_eq!(read.join().unwrap().unwrap(), values);
    });
}

#[test]
fn metadata_go_beside_the_last_chunks_and_the_root_after_them() {
    let SentChunks { store, place, writer, var, selection, values } = sent(2);
    let keys = || place.memory.keys();
    std::thread::scope(|scope| {
        let commit = scope.spawn(|| place.run(writer.sync()));
        while keys().is_empty() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(keys(), ["data/v0/meta"], "neither chunks nor the root");
        store.open();
        commit.join().unwrap().unwrap();
    });
    assert_eq!(place.run(place.open().read(var, &selection)).unwrap(), values);
}

#[test]
fn what_makes_a_dataset_known_waits_for_all_chunks() {
    let (store, place) = far();
    let writer = place.create();
    let var = place.add(&writer, "covered", Atomic::Int, &[3], true);
    let (selection, values) = chunks(2);
    place.run(writer.write(var, &selection, &values)).unwrap();
    store.wait_for(2);
    std::thread::scope(|scope| {
        let commit = scope.spawn(|| place.run(writer.sync()));
        while place.memory.keys().is_empty() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(place.memory.keys(), ["data/v0/meta"]);
        store.open();
        commit.join().unwrap().unwrap();
    });
    assert!(place.memory.keys().contains(&"data/cover".to_owned()));
}

#[test]
fn nothing_appears_when_the_chunks_under_a_commit_fail() {
    let SentChunks { store, place, writer, .. } = sent(2);
    store.broken.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let commit = scope.spawn(|| place.run(writer.sync()));
        while place.memory.keys().is_empty() {
            std::thread::yield_now();
        }
        store.open();
        assert_eq!(commit.join().unwrap().unwrap_err().message(), "no more room");
    });
    assert!(place.try_open().is_err());
}

#[test]
fn the_last_phase_is_not_begun_when_the_request_before_it_fails() {
    let SentChunks { store, place, writer, .. } = sent(2);
    store.open();
    let requested = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requested);
    let request = Box::pin(async move {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(Error::new(ErrorKind::Conflict, "somebody else's"))
    });
    let error = place.run(writer.sync_checked(request)).unwrap_err();
    assert_eq!((error.message(), requested.load(Ordering::SeqCst)), ("somebody else's", 1));
    assert!(place.try_open().is_err());
}

#[test]
fn a_chunk_that_did_not_arrive_is_reported_once_as_it_is_and_nothing_is_committed() {
    let SentChunks { store, place, writer, var, selection, values } = sent(20);
    store.broken.store(true, Ordering::SeqCst);
    store.open();
    let error = place.run(writer.sync()).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Denied, "no more room"));
    assert!(error.place().object.is_some(), "{error:?}");
    assert_eq!(error.place().path.as_deref(), Some("/v"));
    assert_eq!(store.begun.load(Ordering::SeqCst), 4, "nothing more is begun after a failure");
    let again = place.run(writer.write(var, &selection, &values)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Denied);
    assert!(again.message().contains("can no longer be used"), "{again:?}");
    drop(writer);
    assert!(place.try_open().is_err());
}

#[test]
fn a_writer_that_is_dropped_begins_no_more_and_waits_for_what_has_begun() {
    let SentChunks { store, place: _place, writer, .. } = sent(20);
    writer.uploads.detached.end();
    std::thread::scope(|scope| {
        let dropped = scope.spawn(|| drop(writer));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!dropped.is_finished(), "4 are still to arrive");
        store.open();
        dropped.join().unwrap();
    });
    assert_eq!((store.begun.load(Ordering::SeqCst), store.put.load(Ordering::SeqCst)), (4, 4));
}
