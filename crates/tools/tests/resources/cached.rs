//! The cache of blocks on disk, as a session uses it.
use crate::support::temp;
use ncirrus::store::implement::{BoxFuture, Bytes, Listing, ObjectBytes, StoreId, Tag, Want};
use ncirrus::store::{LocalStore, MemoryStore, PutCondition, Store, StoreFacts, Url};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, ObjectId, OpenOptions, Result, Session};
use ncirrus_tools::{ReferenceOptions, write_references};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A remote store that counts requests of more than a byte, and those that only check the state of an object.
#[derive(Debug)]
struct Far {
    inner: MemoryStore,
    fetched: AtomicU64,
    requested: AtomicU64,
}

impl Far {
    fn new() -> Arc<Self> {
        let inner = MemoryStore::new("far://place");
        Arc::new(Self { inner, fetched: AtomicU64::new(0), requested: AtomicU64::new(0) })
    }

    fn session(self: &Arc<Self>, folder: &Path, immutable: bool) -> Session {
        let store = Arc::clone(self);
        let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
            let root = store.inner.root().child(url.path().trim_matches('/'));
            Ok((Arc::clone(&store) as Arc<dyn Store>, root))
        };
        let builder = Session::builder().threads(2).chunk_cache(0).store("far", connect);
        builder.block_cache(folder, 1 << 30).immutable_chunks(immutable).build().unwrap()
    }

    /// Requests that fetched, and requests that checked.
    fn counts(&self) -> (u64, u64) {
        (self.fetched.swap(0, Ordering::Relaxed), self.requested.swap(0, Ordering::Relaxed))
    }

    /// Strong tags, like those of object stores.
    fn strong(tag: &Tag) -> Tag {
        Tag::new(format!("\"{}\"", tag.as_str().replace(['-', '"'], "")))
    }
}

impl Store for Far {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }

    fn facts(&self) -> StoreFacts {
        LocalStore::facts(&self.inner)
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        let counter = if *want == Want::Range(0..1) { &self.requested } else { &self.fetched };
        counter.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let blob = self.inner.read(object, want)?;
            Ok(blob.map(|blob| ObjectBytes { tag: Self::strong(&blob.tag), ..blob }))
        })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            let stored = self.inner.read(object, &Want::All)?.map(|blob| blob.tag);
            let when = match (when, stored) {
                (PutCondition::Matches(tag), Some(stored)) if tag == Self::strong(&stored) => {
                    PutCondition::Matches(stored)
                }
                (when, _) => when,
            };
            self.inner.put_bytes(object, body, &when).map(|tag| Self::strong(&tag))
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

fn create(url: &str, kind: Kind, session: &Session) {
    create_from(url, kind, 0, session);
}

/// 100,000 numbers starting with `first`.
fn create_from(url: &str, kind: Kind, first: i32, session: &Session) {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(100_000)).unwrap();
    let variable = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
    if !kind.is_classic() {
        variable.set_storage(ncirrus::Storage::Chunked(vec![10_000]), Vec::new()).unwrap();
    }
    variable.write_all(&(first..first + 100_000).collect::<Vec<i32>>()).unwrap();
    dataset.close().unwrap();
}

fn read(url: &str, session: &Session) -> Vec<i32> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    dataset.variable("v").unwrap().read().unwrap().into_vec()
}

#[test]
fn a_dataset_that_was_read_is_read_again_with_one_request() {
    let ((_folder, folder), far) = (temp(), Far::new());
    for (name, kind) in [("a.nc", Kind::Nc3), ("b.nc", Kind::Nc4)] {
        let url = format!("far://place/{name}");
        create(&url, kind, &far.session(&folder, false));
        let first = read(&url, &far.session(&folder, false));
        assert!(first.iter().copied().eq(0..100_000));
        assert!(far.counts().0 > 0);
        assert_eq!(read(&url, &far.session(&folder, false)), first);
        assert_eq!(far.counts(), (0, 1), "{name}: whether it is as it was");
    }
}

#[test]
fn chunks_of_a_tree_are_checked_one_by_one_or_not_at_all() {
    let ((_folder, folder), far) = (temp(), Far::new());
    let url = "far://place/c.zarr";
    create(url, Kind::Zarr2, &far.session(&folder, false));
    let first = read(url, &far.session(&folder, false));
    let (all, _) = far.counts();
    assert_eq!(read(url, &far.session(&folder, false)), first);
    let (absent, requested) = far.counts();
    assert!(
        requested >= 10 && absent + requested <= all,
        "{requested} states and {absent} others instead of {all}"
    );
    assert_eq!(read(url, &far.session(&folder, true)), first);
    let (still_absent, metadata) = far.counts();
    assert_eq!((still_absent, metadata), (absent, requested - 10), "no chunk is asked about");
}

#[test]
fn objects_that_a_reference_file_names_are_kept_and_checked_once_each() {
    let ((_folder, folder), (_files, files), far) = (temp(), temp(), Far::new());
    let (source, refs) = (files.join("a.nc"), files.join("refs.json"));
    // Several threads put chunks in the order in which they are encoded: two files would differ in their offsets.
    let local = Session::builder().threads(1).durable(false).build().unwrap();
    create(source.to_str().unwrap(), Kind::Nc4, &local);
    let mut options = ReferenceOptions::default();
    (options.inline_threshold, options.relative) = (0, true);
    let sources = [source.to_str().unwrap().to_owned()];
    write_references(&sources, refs.to_str().unwrap(), &options, &local).unwrap();
    for path in [&source, &refs] {
        let object = far.inner.root().child(path.file_name().unwrap().to_str().unwrap());
        LocalStore::put(&far.inner, &object, &std::fs::read(path).unwrap(), &PutCondition::None).unwrap();
    }
    let url = "far://place/refs.json";
    let first = read(url, &far.session(&folder, false));
    assert!(first.iter().copied().eq(0..100_000));
    assert!(far.counts().0 >= 2, "the reference file and the chunks");
    for immutable in [false, true] {
        assert_eq!(read(url, &far.session(&folder, immutable)), first);
        assert_eq!(
            far.counts(),
            (0, 2),
            "whether the reference file and the file that it names are as they were"
        );
    }
    // The file itself is read: its cached chunks are used there, too.
    assert_eq!(read("far://place/a.nc", &far.session(&folder, false)), first);
    let (metadata, _) = far.counts();
    assert_eq!(read(url, &far.session(&folder, false)), first);
    assert_eq!(far.counts(), (0, 2), "after {metadata} requests for metadata");
    // Another file with that name is fetched anew.
    std::fs::remove_file(&source).unwrap();
    create_from(source.to_str().unwrap(), Kind::Nc4, 1, &local);
    let object = far.inner.root().child("a.nc");
    LocalStore::put(&far.inner, &object, &std::fs::read(&source).unwrap(), &PutCondition::None).unwrap();
    assert!(read(url, &far.session(&folder, true)).into_iter().eq(1..100_001));
}

#[test]
fn two_sessions_that_share_a_folder_read_what_is_there() {
    let ((_folder, folder), far) = (temp(), Far::new());
    let url = "far://place/a.nc";
    create(url, Kind::Nc3, &far.session(&folder, false));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert!(read(url, &far.session(&folder, false)).into_iter().eq(0..100_000));
                }
            });
        }
    });
    for file in std::fs::read_dir(&folder).unwrap() {
        std::fs::write(file.unwrap().path(), "damage").unwrap();
    }
    assert!(read(url, &far.session(&folder, false)).into_iter().eq(0..100_000));
}
