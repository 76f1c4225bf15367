//! A store that counts writes.
use ncirrus_layout::{Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, StoreFacts};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes and their bytes.
#[derive(Debug, Default)]
pub(crate) struct Count {
    writes: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    /// Number of writes and bytes so far.
    pub(crate) fn so_far(&self) -> [u64; 2] {
        [self.writes.load(Ordering::SeqCst), self.bytes.load(Ordering::SeqCst)]
    }

    fn add(&self, bytes: usize) {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.bytes.fetch_add(bytes as u64, Ordering::SeqCst);
    }
}

/// A store in memory, with its counts.
#[derive(Debug)]
pub(crate) struct Counting {
    pub(crate) inner: MemoryStore,
    pub(crate) count: Arc<Count>,
}

impl LocalStore for Counting {
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
        self.count.add(body.len());
        LocalStore::put(&self.inner, object, body, when)
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        self.count.add(body.len());
        self.inner.write_at(object, offset, body)
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        self.count.add(0);
        self.inner.resize(object, len)
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        LocalStore::delete(&self.inner, object)
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        LocalStore::delete_tree(&self.inner, prefix)
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.inner.rename(from, to)
    }

    fn replace(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.inner.replace(from, to)
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
