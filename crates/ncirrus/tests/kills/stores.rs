//! Stores of writers that die.
use bytes::Bytes;
use ncirrus_layout::{Error, ErrorKind, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store, StoreFacts};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store in memory in which every change after the first `allowed` ones fails.
#[derive(Debug)]
pub(crate) struct Unplugged {
    inner: MemoryStore,
    allowed: AtomicUsize,
    /// Copies as of each barrier.
    at_barriers: Mutex<Vec<MemoryStore>>,
}

impl Unplugged {
    pub(crate) fn after(inner: &MemoryStore, allowed: usize) -> Self {
        Self { inner: inner.clone(), allowed: AtomicUsize::new(allowed), at_barriers: Mutex::default() }
    }

    /// What the store held at each barrier.
    pub(crate) fn at_barriers(&self) -> Vec<MemoryStore> {
        std::mem::take(&mut self.at_barriers.lock().unwrap())
    }

    fn spend(&self) -> Result<()> {
        let spent = self.allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        spent.map(|_| ()).map_err(|_| Error::new(ErrorKind::Io { retryable: false }, "unplugged"))
    }
}

/// Another store with the same objects.
pub(crate) fn copy_of(store: &MemoryStore) -> MemoryStore {
    let copy = MemoryStore::new(LocalStore::id(store).as_str());
    for key in store.keys() {
        let object = store.root().child(&key);
        let blob = store.read(&object, &Want::All).unwrap().unwrap();
        LocalStore::put(&copy, &object, &blob.bytes, &PutCondition::None).unwrap();
    }
    copy
}

impl LocalStore for Unplugged {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        self.inner.read(object, want)
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.inner.read_into(object, offset, buffer)
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        self.inner.read_whole(object, limit, buffer)
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        self.inner.stat(object)
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        self.spend()?;
        LocalStore::put(&self.inner, object, body, when)
    }

    /// What makes a file longer is there in two halves.
    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        let len = self.inner.stat(object)?.map_or(0, |(len, _)| len);
        let piece = if offset >= len { body.len().div_ceil(2) } else { body.len() }.max(1);
        body.chunks(piece).zip((offset..).step_by(piece)).try_for_each(|(piece, offset)| {
            self.spend()?;
            self.inner.write_at(object, offset, piece)
        })
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        self.spend()?;
        self.inner.resize(object, len)
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        self.spend()?;
        LocalStore::delete(&self.inner, object)
    }

    /// Objects are removed one by one, in any order.
    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        let below = format!("{}/", prefix.key());
        let keys = self.inner.keys().into_iter();
        for key in keys.filter(|key| key == prefix.key() || key.starts_with(&below)).rev() {
            self.spend()?;
            LocalStore::delete(&self.inner, &self.inner.root().child(&key))?;
        }
        Ok(())
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.spend()?;
        self.inner.rename(from, to)
    }

    /// A file replaces another atomically.
    fn replace(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.spend()?;
        self.inner.replace(from, to)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        LocalStore::list(&self.inner, prefix, page)
    }

    fn barrier(&self) -> Result<()> {
        self.at_barriers.lock().unwrap().push(copy_of(&self.inner));
        self.inner.barrier()
    }

    fn facts(&self) -> StoreFacts {
        LocalStore::facts(&self.inner)
    }
}

/// The same as a remote store: only whole objects can be changed.
#[derive(Debug)]
pub(crate) struct Far(pub(crate) Unplugged);

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl Store for Far {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.0)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { concurrency: 4, ..LocalStore::facts(&self.0) }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> Answer<'a, Option<ObjectBytes>> {
        Box::pin(async move { self.0.read(object, want) })
    }

    fn put<'a>(&'a self, object: &'a ObjectId, body: Bytes, when: PutCondition) -> Answer<'a, Tag> {
        Box::pin(async move { LocalStore::put(&self.0, object, &body, &when) })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete(&self.0, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move { LocalStore::delete_tree(&self.0, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> Answer<'a, Listing> {
        Box::pin(async move { LocalStore::list(&self.0, prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn ncirrus_store::StoreAbilities> {
        None
    }
}
