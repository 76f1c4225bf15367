//! Datasets below prefixes, and the objects of stores.
use crate::far::Far;
use crate::support::temp;
use ncirrus::store::{LocalStore, MemoryStore, ObjectPage, PutCondition, Store, StoreFacts, Url};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, ObjectId, Result, Session};
use ncirrus_tools::places::{self, KeysOptions, ListOptions, PlaceKind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn create(url: &str, session: &Session) {
    let dataset = Dataset::create_with(url, &CreateOptions::default(), session).unwrap();
    let is_file = url.contains(".nc");
    let group = if is_file { dataset.root() } else { dataset.root().add_group("inner").unwrap() };
    group.add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    group.add_variable("v", Atomic::Int, &["x"]).unwrap().write_all(&[1, 2, 3, 4]).unwrap();
    dataset.close().unwrap();
}

fn list(url: &str, recursive: bool, all: bool, session: &Session) -> Vec<(String, PlaceKind)> {
    let found = places::list(url, &ListOptions::new().recursive(recursive).all(all), session).unwrap();
    found.map(|found| found.map(|found| (found.path, found.kind)).unwrap()).collect()
}

fn keys(url: &str, prefix: &str, session: &Session) -> Vec<(String, Option<u64>)> {
    let options = KeysOptions::new().prefix(prefix.to_owned()).sizes(true);
    let keys = places::keys(url, &options, session).unwrap();
    keys.map(|key| key.map(|key| (key.key, key.size)).unwrap()).collect()
}

fn owned<const N: usize>(found: [(&str, PlaceKind); N]) -> Vec<(String, PlaceKind)> {
    found.into_iter().map(|(path, kind)| (path.to_owned(), kind)).collect()
}

/// Datasets of several kinds below a directory, and other things.
fn shelf(top: &Path, session: &Session) {
    std::fs::create_dir_all(top.join("2024/empty")).unwrap();
    for name in ["a.nc", "b.zarr", "2024/c.nc4", "2024/d.zip"] {
        create(top.join(name).to_str().unwrap(), session);
    }
    std::fs::rename(top.join("2024/c.nc4"), top.join("2024/without-ending")).unwrap();
    std::fs::write(top.join("notes.txt"), "CDF\u{1}").unwrap();
    std::fs::write(top.join("2024/odd"), "something else").unwrap();
}

#[test]
fn datasets_of_a_directory_are_recognized_by_what_they_are() {
    let ((_folder, temp), session) = (temp(), session());
    shelf(&temp, &session);
    let url = temp.to_str().unwrap();
    assert_eq!(
        list(url, false, false, &session),
        owned([("a.nc", PlaceKind::NetCdf3), ("b.zarr", PlaceKind::Zarr2)])
    );
    let everywhere = [
        ("2024/d.zip", PlaceKind::ZippedZarr2),
        ("2024/without-ending", PlaceKind::Hdf5),
        ("a.nc", PlaceKind::NetCdf3),
        ("b.zarr", PlaceKind::Zarr2),
    ];
    assert_eq!(list(url, true, false, &session), owned(everywhere));
    let all = [
        ("2024", PlaceKind::Prefix),
        ("2024/d.zip", PlaceKind::ZippedZarr2),
        ("2024/empty", PlaceKind::Prefix),
        ("2024/odd", PlaceKind::Object),
        ("2024/without-ending", PlaceKind::Hdf5),
        ("a.nc", PlaceKind::NetCdf3),
        ("b.zarr", PlaceKind::Zarr2),
        ("notes.txt", PlaceKind::Object),
    ];
    assert_eq!(list(url, true, true, &session), owned(all));
}

#[cfg(unix)]
#[test]
fn linked_directories_are_looked_into_once_and_circles_end() {
    use std::os::unix::fs::symlink;
    let ((_folder, temp), session) = (temp(), session());
    std::fs::create_dir_all(temp.join("a/deep")).unwrap();
    for name in ["a/deep/one.nc", "z.zarr"] {
        create(temp.join(name).to_str().unwrap(), &session);
    }
    symlink("..", temp.join("a/deep/up")).unwrap();
    symlink(".", temp.join("a/here")).unwrap();
    symlink("a", temp.join("b")).unwrap();
    symlink("z.zarr", temp.join("latest.zarr")).unwrap();
    let url = temp.to_str().unwrap();
    let found = [
        ("a/deep/one.nc", PlaceKind::NetCdf3),
        ("latest.zarr", PlaceKind::Zarr2),
        ("z.zarr", PlaceKind::Zarr2),
    ];
    assert_eq!(list(url, true, false, &session), owned(found));
    let all: Vec<String> = list(url, true, true, &session).into_iter().map(|(path, _)| path).collect();
    let names = ["a", "a/deep", "a/deep/one.nc", "a/deep/up", "a/here", "b", "latest.zarr", "z.zarr"];
    assert_eq!(all, names);
    // A link cycle is followed once, and an object with two names appears twice.
    let keys = keys(url, "", &session);
    let names: Vec<&str> =
        keys.iter().map(|(key, _)| key.as_str()).filter(|key| key.ends_with(".nc")).collect();
    assert_eq!(names, ["a/deep/one.nc", "b/deep/one.nc"]);
}

#[test]
fn a_dataset_is_listed_as_itself() {
    let ((_folder, temp), session) = (temp(), session());
    shelf(&temp, &session);
    for (name, kind) in
        [("a.nc", PlaceKind::NetCdf3), ("b.zarr", PlaceKind::Zarr2), ("2024/d.zip", PlaceKind::Zarr2)]
    {
        assert_eq!(list(temp.join(name).to_str().unwrap(), true, false, &session), owned([("", kind)]));
    }
    let nothing = places::list(temp.join("none").to_str().unwrap(), &ListOptions::default(), &session);
    assert_eq!(nothing.err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    assert_eq!(list(temp.join("2024/empty").to_str().unwrap(), true, true, &session), []);
}

#[test]
fn objects_with_unspecific_names_are_read_together_and_reported_meanwhile() {
    let far = Arc::new(Far::new(MemoryStore::new("far://place")));
    for number in 0..600 {
        let object = far.inner.root().child(&format!("{number:03}"));
        LocalStore::put(&far.inner, &object, b"CDF\x01 and more", &PutCondition::None).unwrap();
        let note = far.inner.root().child(&format!("{number:03}.txt"));
        LocalStore::put(&far.inner, &note, b"words", &PutCondition::None).unwrap();
    }
    let store = Arc::clone(&far);
    let connect = move |_: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        Ok((Arc::clone(&store) as Arc<dyn Store>, store.inner.root()))
    };
    let session = Session::builder().threads(2).store("far", connect).build().unwrap();
    let mut found = places::list("far://place", &ListOptions::default(), &session).unwrap();
    assert_eq!(found.next().unwrap().unwrap().kind, PlaceKind::NetCdf3);
    assert!(far.requests().len() < 300, "{} requests before the first line", far.requests().len());
    assert_eq!((found.count(), far.requests().len()), (599, 601));
    assert_eq!(far.max_in_flight(), 64);
}

#[test]
fn keys_are_those_of_the_store_whatever_it_is() {
    let ((_folder, temp), session) = (temp(), session());
    let urls = [temp.join("a.zarr"), temp.join("b.zip")].map(|path| path.to_str().unwrap().to_owned());
    for url in urls.into_iter().chain(["memory://m/deep/c.zarr".to_owned()]) {
        create(&url, &session);
        let all = keys(&url, "", &session);
        let names: Vec<&str> = all.iter().map(|(key, _)| key.as_str()).collect();
        for name in [".zgroup", "inner/.zgroup", "inner/v/.zarray", "inner/v/0"] {
            assert!(names.contains(&name), "{url}: {name} in {names:?}");
        }
        assert_eq!(keys(&url, "/inner/v/0", &session), [("inner/v/0".to_owned(), Some(16))], "{url}");
        let below: Vec<String> = keys(&url, "inner/v/", &session).into_iter().map(|(key, _)| key).collect();
        assert!(below.contains(&"inner/v/.zarray".to_owned()) && !below.contains(&".zgroup".to_owned()));
        let mut bytes = Vec::new();
        assert_eq!(places::get(&url, "inner/v/0", &mut bytes, &session).unwrap(), 16);
        assert_eq!(bytes, [1, 2, 3, 4].map(i32::to_ne_bytes).concat());
        let absent = places::keys(&url, &KeysOptions::new().prefix("in").sizes(false), &session);
        assert_eq!(absent.err().map(|error| error.kind()), Some(ErrorKind::NotFound));
    }
    let file = temp.join("one.nc");
    create(file.to_str().unwrap(), &session);
    let len = std::fs::metadata(&file).unwrap().len();
    assert_eq!(keys(file.to_str().unwrap(), "", &session), [(String::new(), Some(len))]);
}

#[test]
fn a_web_server_says_why_it_lists_nothing() {
    let session = session();
    let error = places::list("http://127.0.0.1:1/x/", &ListOptions::default(), &session).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Io { .. } | ErrorKind::Unsupported), "{error}");
    let error = places::keys("http://127.0.0.1:1/x/", &KeysOptions::default(), &session).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("plain HTTP has no directory listings"), "{error}");
}

/// A remote store that counts requests and the maximum in flight; its listings have pages of a few names.
#[derive(Debug)]
struct Counting {
    inner: MemoryStore,
    lists: AtomicUsize,
    reads: AtomicUsize,
    flat: bool,
    log: Mutex<Vec<String>>,
}

impl Counting {
    fn new(flat: bool) -> Arc<Self> {
        let inner = MemoryStore::new("far://place");
        Arc::new(Self {
            inner,
            lists: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            flat,
            log: Mutex::default(),
        })
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        LocalStore::put(&self.inner, &self.inner.root().child(key), bytes, &PutCondition::None).unwrap();
    }

    fn session(self: &Arc<Self>) -> Session {
        let store = Arc::clone(self);
        let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
            let root = store.inner.root().child(url.path().trim_matches('/'));
            Ok((Arc::clone(&store) as Arc<dyn Store>, root))
        };
        Session::builder().threads(2).store("far", connect).build().unwrap()
    }

    fn counts(&self) -> (usize, usize) {
        (self.lists.swap(0, Ordering::Relaxed), self.reads.swap(0, Ordering::Relaxed))
    }
}

type Answer<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl Store for Counting {
    fn id(&self) -> &ncirrus_layout::StoreId {
        LocalStore::id(&self.inner)
    }

    fn facts(&self) -> StoreFacts {
        LocalStore::facts(&self.inner)
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(
        &'a self,
        object: &'a ObjectId,
        want: &'a ncirrus_layout::Want,
    ) -> Answer<'a, Option<ncirrus_layout::ObjectBytes>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.log.lock().unwrap().push(object.key().to_owned());
        Box::pin(async move { self.inner.read(object, want) })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: bytes::Bytes,
        when: PutCondition,
    ) -> Answer<'a, ncirrus_layout::Tag> {
        Box::pin(async move { self.inner.put_bytes(object, body, &when) })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete(&self.inner, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete_tree(&self.inner, prefix) })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Answer<'a, ncirrus_layout::Listing> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            // Pages of three names.
            let mut listing = LocalStore::list(&self.inner, prefix, page)?;
            if listing.entries.len() > 3 {
                listing.entries.truncate(3);
                listing.next = listing.entries.last().map(|entry| entry.name.clone());
            }
            Ok(listing)
        })
    }

    fn abilities(&self) -> Option<&dyn ncirrus::store::StoreAbilities> {
        Some(self)
    }
}

impl ncirrus::store::StoreAbilities for Counting {
    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<Vec<Option<ncirrus::store::ObjectRange>>>>>
    {
        None
    }

    fn upload<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a Path,
        _: PutCondition,
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<ncirrus_layout::Tag>>> {
        None
    }

    fn multipart(&self, _: &ObjectId) -> Option<Arc<dyn ncirrus::store::MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        None
    }

    fn longest_key(&self) -> usize {
        usize::MAX
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn holds<'a>(
        &'a self,
        _: &'a ObjectId,
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a ObjectId,
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<()>>> {
        None
    }

    fn delete_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<()>>> {
        None
    }

    fn objects<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> Option<Answer<'a, ObjectPage>> {
        self.flat.then(|| -> Answer<'a, ObjectPage> {
            self.lists.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move {
                let from: usize = page.map_or(0, |page| page.parse().unwrap());
                let object = |at: usize| (prefix.child(&format!("k/{at:04}")), at as u64);
                let next = (from + 100 < 1000).then(|| (from + 100).to_string());
                Ok(ObjectPage {
                    objects: (from..from + 100).map(object).collect(),
                    next,
                    ..ObjectPage::default()
                })
            })
        })
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn ncirrus::store::AnswerReceiver,
    ) -> Option<ncirrus::store::implement::BoxFuture<'a, Result<bool>>> {
        None
    }
}

#[test]
fn each_level_is_listed_once_and_each_object_read_once() {
    let far = Counting::new(false);
    for number in 0..5 {
        far.put(&format!("top/{number}.zarr/.zgroup"), b"{}");
        far.put(&format!("top/{number}.zarr/inner/v/.zarray"), b"{}");
        far.put(&format!("top/file{number}"), b"CDF\x01____");
    }
    far.put("top/readme.txt", b"text");
    let session = far.session();
    let found = list("far://place/top", true, false, &session);
    assert_eq!(found.len(), 10);
    assert_eq!(found.iter().filter(|(_, kind)| *kind == PlaceKind::Zarr2).count(), 5);
    let (lists, reads) = far.counts();
    assert_eq!(
        (lists, reads),
        (4 + 5, 5),
        "four pages at the top, one of each dataset; the text file is not asked for"
    );
    assert_eq!(list("far://place/top/3.zarr", true, false, &session), owned([("", PlaceKind::Zarr2)]));
    assert_eq!(far.counts(), (1, 0));
}

#[test]
fn pages_are_listed_as_they_are_needed() {
    let far = Counting::new(false);
    for number in 0..1000 {
        far.put(&format!("k/{number:04}"), b"x");
    }
    let session = far.session();
    let mut keys = places::keys("far://place/k", &KeysOptions::default(), &session).unwrap();
    assert_eq!(keys.next().unwrap().unwrap().key, "0000");
    assert!(far.counts().0 < 100, "a part of the pages at first");
    assert_eq!(keys.count(), 999);
}

#[test]
fn a_store_that_lists_all_at_once_is_listed_so() {
    let far = Counting::new(true);
    let session = far.session();
    let mut keys = places::keys("far://place/a", &KeysOptions::new().sizes(true), &session).unwrap();
    let first = keys.next().unwrap().unwrap();
    assert_eq!((first.key.as_str(), first.size), ("k/0000", Some(0)));
    assert_eq!(far.counts(), (1, 1), "one page, and a look at the prefix itself");
    assert_eq!(keys.count(), 999);
    assert_eq!(far.counts(), (9, 0));
}
