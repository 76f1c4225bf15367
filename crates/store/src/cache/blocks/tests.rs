use super::*;
use crate::MemoryStore;
use futures_util::FutureExt;
use ncirrus_layout::Error;
use proptest::prelude::*;

/// A remote store that counts requests and bytes.
#[derive(Debug)]
struct RemoteTestStore {
    inner: MemoryStore,
    requests: AtomicU64,
    bytes: AtomicU64,
    server: Option<&'static str>,
}

impl RemoteTestStore {
    fn new() -> Arc<Self> {
        Self::on(None)
    }

    fn on(server: Option<&'static str>) -> Arc<Self> {
        let inner = MemoryStore::new("far://place");
        Arc::new(Self { inner, requests: AtomicU64::new(0), bytes: AtomicU64::new(0), server })
    }

    fn object(&self, key: &str) -> ObjectId {
        self.inner.root().child(key)
    }

    fn put(&self, key: &str, body: &[u8]) {
        LocalStore::put(&self.inner, &self.object(key), body, &PutCondition::None).unwrap();
    }

    /// One opening of the dataset of that key.
    fn open(self: &Arc<Self>, cache: &BlockCache, root: &str) -> Arc<dyn Store> {
        cache.before(Arc::clone(self) as Arc<dyn Store>, &self.object(root))
    }

    fn counts(&self) -> (u64, u64) {
        (self.requests.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

impl Store for RemoteTestStore {
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
        Box::pin(async move {
            let blob = self.inner.read(object, want)?;
            self.requests.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(blob.as_ref().map_or(0, |blob| blob.bytes.len() as u64), Ordering::Relaxed);
            // A strong tag: a hash of the bytes.
            let whole = self.inner.read(object, &Want::All)?;
            let tag = whole.map(|whole| Tag::new(format!("\"{:x}\"", crc32fast::hash(&whole.bytes))));
            Ok(blob.zip(tag).map(|(blob, tag)| ObjectBytes { tag, ..blob }))
        })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move { self.inner.put_bytes(object, body, &when) })
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

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        Some(self)
    }
}

impl StoreAbilities for RemoteTestStore {
    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        None
    }

    fn upload<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a Path,
        _: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>> {
        None
    }

    fn multipart(&self, _: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        self.server
    }

    fn longest_key(&self) -> usize {
        usize::MAX
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn holds<'a>(&'a self, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(&'a self, _: &'a ObjectId, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn delete_many<'a>(&'a self, _: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn objects<'a>(
        &'a self,
        _: &'a ObjectId,
        _: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        None
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

fn get(store: &Arc<dyn Store>, object: &ObjectId, want: &Want) -> Option<ObjectBytes> {
    store.get(object, want).now_or_never().unwrap().unwrap()
}

/// Bytes that differ everywhere.
fn pattern(len: usize, seed: u32) -> Vec<u8> {
    let mixed = |at: u32| at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13;
    (0..).take(len).map(|at| mixed(at).to_le_bytes()[0]).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_second_opening_asks_for_one_byte() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let bytes = pattern(2_000_000, 1);
    far.put("a.nc", &bytes);
    let object = far.object("a.nc");
    let wants = [Want::Parse(0..4096), Want::Range(700_000..1_900_000), Want::Range(100..200)];
    let cache = BlockCache::new(folder.path(), 1 << 30);
    let first = far.open(&cache, "a.nc");
    let read = |store: &Arc<dyn Store>| wants.clone().map(|want| get(store, &object, &want).unwrap());
    let blobs = read(&first);
    assert_eq!(far.counts().0, 2, "the third is in the first");
    // Another process.
    let second = far.open(&BlockCache::new(folder.path(), 1 << 30), "a.nc");
    assert_eq!(read(&second), blobs);
    assert_eq!(far.counts(), (1, 1));
    assert_eq!(get(&second, &object, &Want::Suffix(200_000)).unwrap().bytes, bytes[1_800_000..]);
    assert_eq!(far.counts(), (1, 100_000), "only what is not there");
    assert_eq!(get(&second, &object, &Want::All).unwrap().bytes, bytes);
    assert_eq!(far.counts(), (1, 700_000 - 4096));
}

#[test]
fn an_object_that_changed_is_fetched_anew() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let cache = BlockCache::new(folder.path(), 1 << 30);
    let object = far.object("a.nc");
    for (seed, len) in [(1, 5000), (2, 5000), (3, 9000)] {
        far.put("a.nc", &pattern(len, seed));
        for want in [Want::Range(10..4000), Want::Range(3000..4500), Want::All] {
            let store = far.open(&cache, "a.nc");
            let direct = get(&(Arc::clone(&far) as Arc<dyn Store>), &object, &want);
            assert_eq!(get(&store, &object, &want), direct, "{seed} {want:?}");
        }
    }
    LocalStore::delete(&far.inner, &object).unwrap();
    assert_eq!(get(&far.open(&cache, "a.nc"), &object, &Want::All), None);
}

#[test]
fn damaged_files_are_ignored_and_replaced() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let cache = BlockCache::new(folder.path(), 1 << 30);
    let (object, bytes) = (far.object("a.nc"), pattern(1_000_000, 1));
    far.put("a.nc", &bytes);
    get(&far.open(&cache, "a.nc"), &object, &Want::All);
    far.counts();
    for damage in [0, 1] {
        for file in files(folder.path()) {
            let mut content = std::fs::read(&file).unwrap();
            let middle = content.len() / 2;
            if damage == 0 {
                content[middle] ^= 4;
            } else {
                content.truncate(middle);
            }
            std::fs::write(file, content).unwrap();
        }
        let read = get(&far.open(&cache, "a.nc"), &object, &Want::All).unwrap();
        assert!(read.bytes == bytes);
        assert_eq!(far.counts(), (1, 1_000_000));
        get(&far.open(&cache, "a.nc"), &object, &Want::All).unwrap();
        assert_eq!(far.counts(), (1, 1), "they were replaced");
    }
}

#[test]
fn the_files_stay_within_the_bound() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let cache = BlockCache::new(folder.path(), 4 << 20);
    far.put("a.nc", &pattern(12 << 20, 1));
    let (store, object) = (far.open(&cache, "a.nc"), far.object("a.nc"));
    for at in 0..24 {
        get(&store, &object, &Want::Range(at << 19..(at + 1) << 19));
        let kept: u64 = files(folder.path()).iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
        assert!(kept <= (4 << 20) + (4 << 20) / COUNTED + (1 << 19) + 200, "{kept} after {at}");
    }
    far.counts();
    get(&store, &object, &Want::Range(23 << 19..24 << 19));
    assert_eq!(far.counts().0, 0, "what was read last is there");
    get(&store, &object, &Want::Range(0..1 << 19));
    assert_eq!(far.counts().0, 1, "what was read first is not");
}

#[test]
fn chunks_are_checked_unless_they_never_change() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let requested = BlockCache::new(folder.path(), 1 << 30);
    let trusted = requested.clone().immutable(true);
    let (meta, chunk) = (far.object("a.zarr/.zgroup"), far.object("a.zarr/v/0.0"));
    far.put("a.zarr/.zgroup", b"{}");
    far.put("a.zarr/v/0.0", &pattern(50_000, 1));
    let read = |cache: &BlockCache| {
        let store = far.open(cache, "a.zarr");
        get(&store, &meta, &Want::All);
        let chunk = get(&store, &chunk, &Want::All).unwrap().bytes;
        (chunk, far.counts())
    };
    assert_eq!(read(&requested), (pattern(50_000, 1).into(), (2, 50_002)));
    assert_eq!(read(&requested), (pattern(50_000, 1).into(), (2, 2)));
    assert_eq!(read(&trusted), (pattern(50_000, 1).into(), (1, 1)));
    far.put("a.zarr/v/0.0", &pattern(50_000, 2));
    assert_eq!(read(&trusted).0, pattern(50_000, 1), "a promise was broken");
    assert_eq!(read(&requested).0, pattern(50_000, 2));
    far.put("a.zarr/v/0.0", &pattern(50_000, 3));
    far.put("a.zarr/.zgroup", b"{ }");
    assert_eq!(read(&trusted).0, pattern(50_000, 3), "with the metadata everything is forgotten");
}

#[test]
fn namesakes_on_other_servers_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let cache = BlockCache::new(folder.path(), 1 << 30).immutable(true);
    for (turn, server) in ["https://one.org", "https://two.org", "https://one.org"].into_iter().enumerate() {
        let far = RemoteTestStore::on(Some(server));
        far.put("a.zarr/v/0.0", server.as_bytes());
        let chunk = get(&far.open(&cache, "a.zarr"), &far.object("a.zarr/v/0.0"), &Want::All).unwrap();
        assert_eq!(chunk.bytes, server.as_bytes());
        assert_eq!(far.counts().0, u64::from(turn < 2), "what was read before is not asked for again");
    }
}

#[test]
fn writing_forgets_what_was_kept() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let cache = BlockCache::new(folder.path(), 1 << 30).immutable(true);
    let chunk = far.object("a.zarr/v/0.0");
    far.put("a.zarr/v/0.0", b"old");
    far.put("b.zarr/0", b"other");
    get(&far.open(&cache, "b.zarr"), &far.object("b.zarr/0"), &Want::All);
    let store = far.open(&cache, "a.zarr");
    assert_eq!(get(&store, &chunk, &Want::All).unwrap().bytes, "old");
    assert_eq!(files(folder.path()).len(), 2);
    store.put(&chunk, "new".into(), PutCondition::None).now_or_never().unwrap().unwrap();
    assert_eq!(files(folder.path()).len(), 1, "what is kept of other datasets stays");
    for store in [store, far.open(&cache, "a.zarr")] {
        assert_eq!(get(&store, &chunk, &Want::All).unwrap().bytes, "new");
    }
}

#[test]
fn addresses_with_secrets_and_tags_that_do_not_last_are_not_kept() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let cache = BlockCache::new(folder.path(), 1 << 30);
    far.put("a.nc", b"bytes");
    let plain: Arc<dyn Store> = Arc::new(WeakTagStore(MemoryStore::new("far://weak")));
    let object = ObjectId::new(plain.id().clone(), "a");
    let store = cache.before(plain, &object);
    assert!(get(&store, &object, &Want::All).is_some());
    let secret = far.object("a.nc").with_query("token=secret");
    _ = far.open(&cache, "a.nc").get(&secret, &Want::All).now_or_never();
    assert_eq!(files(folder.path()), [] as [PathBuf; 0]);
}

/// A store whose tags say only when an object was changed.
#[derive(Debug)]
struct WeakTagStore(MemoryStore);

impl Store for WeakTagStore {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.0)
    }

    fn facts(&self) -> StoreFacts {
        LocalStore::facts(&self.0)
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, _: &'a ObjectId, _: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        let blob = ObjectBytes { bytes: "x".into(), offset: 0, size: 1, tag: Tag::new("W/\"1\"") };
        Box::pin(async { Ok(Some(blob)) })
    }

    fn put<'a>(&'a self, object: &'a ObjectId, _: Bytes, _: PutCondition) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move { Err(Error::unsupported("putting").at_object(object)) })
    }

    fn delete<'a>(&'a self, _: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn delete_tree<'a>(&'a self, _: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn list<'a>(&'a self, _: &'a ObjectId, _: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async { Ok(Listing::default()) })
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}

#[test]
fn several_processes_share_a_folder() {
    let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
    let bytes = pattern(3_000_000, 5);
    far.put("a.nc", &bytes);
    let object = far.object("a.nc");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (far, object, bytes, folder) = (&far, &object, &bytes, folder.path());
            scope.spawn(move || {
                // A small bound: files are removed while others read them.
                let cache = BlockCache::new(folder, 1 << 20);
                for round in 0..60 {
                    let store = far.open(&cache, "a.nc");
                    let start = (worker * 77_777 + round * 191_919) % 2_900_000;
                    let end = (start + 1 + (round * 7919) % 100_000).min(bytes.len());
                    let blob = get(&store, object, &Want::Range(start as u64..end as u64)).unwrap();
                    assert!(blob.bytes == bytes[start..end]);
                }
            });
        }
    });
    assert!(files(folder.path()).iter().all(|file| file.extension().is_some_and(|end| end == "ncblock")));
}

fn want() -> impl Strategy<Value = Want> {
    let range = || (0u64..1_300_000, 0u64..600_000).prop_map(|(start, len)| start..start + len);
    prop_oneof![
        Just(Want::All),
        range().prop_map(Want::Range),
        range().prop_map(Want::Parse),
        (0u64..1_300_000).prop_map(Want::Suffix)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_comes_is_what_is_there(wants in prop::collection::vec((want(), 0u8..6), 1..12)) {
        let (folder, far) = (tempfile::tempdir().unwrap(), RemoteTestStore::new());
        let cache = BlockCache::new(folder.path(), 1 << 30);
        let object = far.object("a.nc");
        far.put("a.nc", &pattern(1_200_000, 0));
        let direct = Arc::clone(&far) as Arc<dyn Store>;
        let mut store = far.open(&cache, "a.nc");
        for (at, (want, event)) in (0..).zip(wants) {
            match event {
                0 => store = far.open(&cache, "a.nc"),
                1 => {
                    far.put("a.nc", &pattern(1_200_000, at));
                    store = far.open(&cache, "a.nc");
                }
                _ => {}
            }
            let (got, there) = (get(&store, &object, &want).unwrap(), get(&direct, &object, &want).unwrap());
            prop_assert!(got == there, "{:?}", want);
        }
    }
}
