//! A disk cache for blocks of remote objects: data as well as metadata.
//!
//! A [`CachedStore`] wraps another store. What was fetched is kept in files of one block each; the first time that an
//! object is used after opening, one byte of it is requested to find out whether it is unchanged.
mod recall;
#[cfg(test)]
mod tests;

use super::folder::CacheFolder;
use crate::marker;
use crate::store::MultipartUpload;
use crate::store::{
    AnswerReceiver, LocalStore, ObjectPage, ObjectRange, PutCondition, Store, StoreAbilities, StoreExt,
    StoreFacts,
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex as AsyncMutex;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use recall::CachedRanges;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// A disk cache for blocks of remote objects; clones share it, and several processes may, too.
#[derive(Debug, Clone)]
pub struct BlockCache {
    folder: Arc<CacheFolder>,
    shared: Arc<SharedBlocks>,
    immutable: bool,
}

#[derive(Debug)]
struct SharedBlocks {
    max: u64,
    /// Bytes written since the files were last counted.
    written: AtomicU64,
}

/// The files are counted each time this fraction of the limit was written.
const COUNTED: u64 = 16;
/// Maximum number of objects whose tags are remembered.
const REMEMBERED: usize = 4096;

impl BlockCache {
    /// A cache in a folder, which is created if need be; its files take up about `max` bytes in total.
    pub fn new(folder: impl Into<PathBuf>, max: u64) -> Self {
        let folder = Arc::new(CacheFolder::of_blocks(folder.into(), max));
        Self { folder, shared: Arc::new(SharedBlocks { max, written: AtomicU64::new(0) }), immutable: false }
    }

    /// Whether chunks of trees never change under their keys: cached ones are then not revalidated, only the metadata
    /// are. When these have changed, everything cached of the dataset is discarded.
    #[must_use]
    pub fn immutable(self, immutable: bool) -> Self {
        Self { immutable, ..self }
    }

    /// Why nothing is cached, if so.
    pub fn warning(&self) -> Option<&str> {
        self.folder.warning()
    }

    /// The same store with this cache in front; a local one is returned unchanged.
    pub fn before(&self, store: Arc<dyn Store>, root: &ObjectId) -> Arc<dyn Store> {
        if store.local().is_some() {
            return store;
        }
        let dataset = with_server(store.as_ref(), root);
        self.wrap(store, Some(CachedDataset { root: root.clone(), name: dataset }))
    }

    /// As [`before`](Self::before), for objects that are each a dataset of their own.
    pub(crate) fn before_many(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        if store.local().is_some() { store } else { self.wrap(store, None) }
    }

    fn wrap(&self, inner: Arc<dyn Store>, dataset: Option<CachedDataset>) -> Arc<dyn Store> {
        Arc::new(CachedStore {
            inner,
            dataset,
            cache: self.clone(),
            states: Mutex::default(),
            requested: Mutex::default(),
            is_changed: AtomicBool::new(false),
        })
    }

    /// Counts what was written, and from time to time removes the least recently used files.
    fn wrote(&self, bytes: u64) {
        let written = self.shared.written.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if written >= self.shared.max / COUNTED {
            self.shared.written.store(0, Ordering::Relaxed);
            self.folder.shrink();
        }
    }
}

/// The name of a dataset, with the server if it has one.
fn with_server(store: &dyn Store, root: &ObjectId) -> ObjectId {
    match store.server() {
        Some(server) => {
            ObjectId::new(root.store.at(format!("{} at {server}", root.store.as_str())), root.key())
        }
        None => root.clone(),
    }
}

/// A store with a cache in front, for one opening of a dataset, or of several.
#[derive(Debug)]
struct CachedStore {
    inner: Arc<dyn Store>,
    /// The dataset whose objects are read; `None` if each is its own.
    dataset: Option<CachedDataset>,
    cache: BlockCache,
    /// Objects whose tags were requested in this opening.
    states: Mutex<HashMap<ObjectId, (Tag, u64)>>,
    /// Objects whose tags are being requested: several tasks wait for one answer.
    requested: Mutex<HashMap<ObjectId, Weak<AsyncMutex<()>>>>,
    /// Whether something was written through this store: then nothing is cached any more.
    is_changed: AtomicBool,
}

#[derive(Debug)]
struct CachedDataset {
    root: ObjectId,
    /// The name under which it is cached: its root, with the server.
    name: ObjectId,
}

impl CachedStore {
    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        if self.is_changed.load(Ordering::Relaxed) || !self.cache.folder.takes(object) {
            return self.inner.get(object, want).await;
        }
        let known = self.known(object);
        let Some(recalled) = self.recall(object, want, known.as_ref()) else {
            return self.fetch(object, want, None).await;
        };
        match recalled.rest() {
            None if known.is_some() || self.is_trusted(object) => return Ok(Some(recalled.into_blob())),
            None => {
                let request_lock = self.request_lock(object);
                let _one = request_lock.lock().await;
                if self.known(object).is_some_and(|known| known == recalled.state()) {
                    return Ok(Some(recalled.into_blob()));
                }
                let head = self.inner.get(object, &Want::Range(0..1)).await?;
                if head.as_ref().is_some_and(|head| recalled.is_of(head)) {
                    self.remember(object, recalled.state());
                    return Ok(Some(recalled.into_blob()));
                }
            }
            Some(rest) => {
                let part = self.fetch(object, &Want::Range(rest), Some(&recalled)).await?;
                if let Some(part) = part.filter(|part| recalled.is_of(part)) {
                    return Ok(recalled.completed(&part));
                }
            }
        }
        // It has changed.
        self.fetch(object, want, Some(&recalled)).await
    }

    /// The tag of an object, if it was requested in this opening.
    fn known(&self, object: &ObjectId) -> Option<(Tag, u64)> {
        self.states.guard().get(object).cloned()
    }

    /// The lock held by the task that requests the tag of an object.
    fn request_lock(&self, object: &ObjectId) -> Arc<AsyncMutex<()>> {
        let mut requested = self.requested.guard();
        if let Some(request_lock) = requested.get(object).and_then(Weak::upgrade) {
            return request_lock;
        }
        requested.retain(|_, request_lock| request_lock.strong_count() > 0);
        let request_lock = Arc::default();
        requested.insert(object.clone(), Arc::downgrade(&request_lock));
        request_lock
    }

    /// The name under which an object is cached.
    fn dataset(&self, object: &ObjectId) -> Cow<'_, ObjectId> {
        match &self.dataset {
            Some(dataset) => Cow::Borrowed(&dataset.name),
            None => Cow::Owned(with_server(self.inner.as_ref(), object)),
        }
    }

    /// Fetches and keeps.
    async fn fetch(
        &self,
        object: &ObjectId,
        want: &Want,
        old: Option<&CachedRanges>,
    ) -> Result<Option<ObjectBytes>> {
        let blob = self.inner.get(object, want).await?;
        let is_other = old.is_some_and(|old| blob.as_ref().is_none_or(|blob| !old.is_of(blob)));
        if is_other && self.cache.immutable && !self.may_be_trusted(object) {
            self.cache.folder.forget_dataset(&self.dataset(object));
        }
        if let Some(blob) = &blob {
            self.remember(object, (blob.tag.clone(), blob.size));
            self.keep(object, blob);
        }
        Ok(blob)
    }

    /// Whether cached bytes of an object are valid without revalidation.
    fn is_trusted(&self, object: &ObjectId) -> bool {
        self.cache.immutable && self.may_be_trusted(object)
    }

    /// Whether an object is a chunk of a tree, and not metadata or a dataset of its own.
    fn may_be_trusted(&self, object: &ObjectId) -> bool {
        let is_below = self.dataset.as_ref().is_some_and(|dataset| *object != dataset.root);
        is_below && !marker::NAMES.contains(&object.name())
    }

    /// Records the tag of an object; of a limited number, so that a large dataset takes no more memory than a small
    /// one.
    fn remember(&self, object: &ObjectId, state: (Tag, u64)) {
        let mut states = self.states.guard();
        if states.len() >= REMEMBERED {
            states.clear();
        }
        states.insert(object.clone(), state);
    }

    fn recall(&self, object: &ObjectId, want: &Want, known: Option<&(Tag, u64)>) -> Option<CachedRanges> {
        recall::recall(&self.cache.folder, &self.dataset(object), object, want, known)
    }

    fn keep(&self, object: &ObjectId, blob: &ObjectBytes) {
        let written = recall::keep(&self.cache.folder, &self.dataset(object), object, blob);
        if written > 0 {
            self.cache.wrote(written);
        }
    }

    /// Discards everything before a change. Objects that are each a dataset are not changed.
    fn change(&self) {
        if !self.is_changed.swap(true, Ordering::Relaxed)
            && let Some(dataset) = &self.dataset
        {
            self.cache.folder.forget_dataset(&dataset.name);
        }
    }
}

impl Drop for CachedStore {
    fn drop(&mut self) {
        if self.cache.shared.written.swap(0, Ordering::Relaxed) > 0 {
            self.cache.folder.shrink();
        }
    }
}

impl Store for CachedStore {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(self.read(object, want))
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        self.change();
        self.inner.put(object, body, when)
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        self.change();
        self.inner.delete(object)
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        self.change();
        self.inner.delete_tree(prefix)
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        self.inner.list(prefix, page)
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        Some(self)
    }
}

impl StoreAbilities for CachedStore {
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        self.inner.within(object)
    }

    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        self.inner.abilities()?.within_many(objects)
    }

    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>> {
        self.change();
        Some(self.inner.upload(object, file, when))
    }

    fn multipart(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        self.change();
        self.inner.multipart(object)
    }

    fn server(&self) -> Option<&str> {
        self.inner.server()
    }

    fn longest_key(&self) -> usize {
        self.inner.longest_key()
    }

    fn warnings(&self) -> Vec<String> {
        let own = self.cache.warning().map(str::to_owned);
        self.inner.warnings().into_iter().chain(own).collect()
    }

    /// What the cache knows of an object need not be requested: it is read through the cache.
    fn holds<'a>(&'a self, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        self.change();
        Some(self.inner.copy(from, to))
    }

    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        self.change();
        Some(self.inner.delete_many(objects))
    }

    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        self.inner.objects(prefix, page)
    }

    /// Answers have no state that a cache could compare.
    fn answer<'a>(
        &'a self,
        object: &'a ObjectId,
        receiver: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        self.inner.abilities()?.answer(object, receiver)
    }
}
