//! Stores that fail, and remote stores.
use super::*;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Listing, ObjectBytes, StoreId, Tag, Want};
use ncirrus_store::{BlockingStore, LocalStore, MemoryStore, PutCondition, Store, StoreFacts};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A store in memory in which every change after the first `allowed` ones fails, as if it had been unplugged.
#[derive(Debug)]
pub(super) struct UnpluggedStore {
    inner: MemoryStore,
    allowed: AtomicUsize,
    /// Addresses of the bytes that were put.
    put_from: Arc<Mutex<Vec<usize>>>,
    /// Offsets and lengths of what was written in place.
    written: WrittenPlaces,
}

/// Offsets and lengths of what was written in place.
pub(super) type WrittenPlaces = Arc<Mutex<Vec<(u64, usize)>>>;

impl UnpluggedStore {
    pub(super) fn after(inner: &MemoryStore, allowed: usize) -> Arc<dyn Store> {
        Self::counted(inner, allowed).0
    }

    /// The same, and where something was written in place.
    pub(super) fn counted(inner: &MemoryStore, allowed: usize) -> (Arc<dyn Store>, WrittenPlaces) {
        let (allowed, put_from) = (AtomicUsize::new(allowed), Arc::default());
        let written = WrittenPlaces::default();
        let store = Self { inner: inner.clone(), allowed, put_from, written: Arc::clone(&written) };
        (Arc::new(BlockingStore(store)), written)
    }

    /// A store that stays plugged in, and the addresses of the bytes that are put.
    pub(super) fn watched(inner: &MemoryStore) -> (Arc<dyn Store>, Arc<Mutex<Vec<usize>>>) {
        let (allowed, put_from) = (AtomicUsize::new(usize::MAX), Arc::<Mutex<Vec<usize>>>::default());
        let written = WrittenPlaces::default();
        let store = Self { inner: inner.clone(), allowed, put_from: Arc::clone(&put_from), written };
        (Arc::new(BlockingStore(store)), put_from)
    }

    fn spend(&self) -> Result<()> {
        let left = self.allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Io { retryable: false }, "unplugged")),
        }
    }
}

impl LocalStore for UnpluggedStore {
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
        self.put_from.guard().push(body.as_ptr().addr());
        LocalStore::put(&self.inner, object, body, when)
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        self.spend()?;
        self.written.guard().push((offset, body.len()));
        self.inner.write_at(object, offset, body)
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        self.spend()?;
        self.inner.resize(object, len)
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        self.spend()?;
        LocalStore::delete(&self.inner, object)
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        self.spend()?;
        self.inner.delete_tree(prefix)
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.spend()?;
        self.inner.rename(from, to)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        LocalStore::list(&self.inner, prefix, page)
    }

    fn barrier(&self) -> Result<()> {
        self.inner.barrier()
    }

    fn facts(&self) -> StoreFacts {
        LocalStore::facts(&self.inner)
    }
}

/// A store in memory that answers with a delay, as over a network.
#[derive(Debug)]
pub(super) struct DistantStore(pub(super) MemoryStore);

impl Store for DistantStore {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.0)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { latency: Duration::from_micros(100), concurrency: 8, ..LocalStore::facts(&self.0) }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_micros(100)).await;
            self.0.read(object, want)
        })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_micros(100)).await;
            LocalStore::put(&self.0, object, &body, &when)
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete(&self.0, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete_tree(&self.0, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { LocalStore::list(&self.0, prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn ncirrus_store::StoreAbilities> {
        None
    }
}
