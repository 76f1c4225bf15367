//! Datasets as maps from keys to bytes (docs/spec/nczarr.md 1.3 and 10), over every store.
//!
//! Keys look like `/a/b/c`; the leading slash may be omitted, and the root is `/`. A key is an object, which has
//! content, or a prefix, which is only a parent.
//!
//! ```
//! use ncirrus_store::kv::BlockingMap;
//! use ncirrus_store::MemoryStore;
//! let store = MemoryStore::new("memory://example");
//! let map = BlockingMap::new(store.shared(), store.root())?;
//! map.set("/v/.zarray", b"{}")?;
//! assert_eq!(map.search("/")?, ["v"]);
//! assert_eq!(map.get("/v").unwrap_err().code(), -139);
//! assert_eq!(map.remove("/v/.zarray")?, "{}");
//! assert_eq!(map.get("/v/.zarray").unwrap_err().code(), -141);
//! # Ok::<(), ncirrus_store::kv::KvFailure>(())
//! ```
mod blocking;
mod failure;
#[cfg(test)]
mod tests;

pub use blocking::BlockingMap;
pub use failure::{KeyPresence, KvFailure};

use crate::store::{PutCondition, Store};
use crate::{OverwritePolicy, StoreContext, key};
use bytes::Bytes;
use failure::Result;
use futures_util::future::try_join_all;
use ncirrus_layout::{ErrorKind, Limits, ListEntry, ObjectId, Want};
use std::ops::Range;
use std::sync::Arc;

/// The objects below a prefix of a store. Changes are visible at once.
#[derive(Debug, Clone)]
pub struct ObjectMap {
    store: Arc<dyn Store>,
    root: ObjectId,
    limits: Limits,
}

/// Prefixes listed at once.
const AT_ONCE: usize = 32;

impl ObjectMap {
    /// The objects below `root`.
    pub fn new(store: Arc<dyn Store>, root: ObjectId) -> Self {
        Self { store, root, limits: Limits::default() }
    }

    /// The objects of the dataset at an address. Those of a zip file or a web server can only be read.
    ///
    /// # Errors
    /// As [`open`](crate::open()).
    pub async fn open(address: &str, context: &StoreContext) -> Result<Self> {
        let opened = crate::open(address, context).await.map_err(KvFailure::of)?;
        Ok(Self { store: opened.store, root: opened.root, limits: context.options.limits.clone() })
    }

    /// An empty map below `root`.
    ///
    /// # Errors
    /// [`KvFailure::InTheWay`] if there is something already and it must not be replaced.
    pub async fn create(store: Arc<dyn Store>, root: ObjectId, clobber: OverwritePolicy) -> Result<Self> {
        let map = Self::new(store, root);
        match (map.presence("/").await?, clobber) {
            (KeyPresence::Absent, _) => {}
            (_, OverwritePolicy::Never) => return Err(KvFailure::InTheWay(map.root)),
            (_, OverwritePolicy::Replace) => map.clear().await?,
        }
        Ok(map)
    }

    /// Whether a key is an object, a prefix, or neither.
    ///
    /// # Errors
    /// [`KvFailure::Denied`] and other errors of the store.
    pub async fn presence(&self, key: &str) -> Result<KeyPresence> {
        let object = self.object(key);
        if self.size(&object).await?.is_some() {
            return Ok(KeyPresence::Object);
        }
        let listing = self.store.list(&object, None).await.map_err(KvFailure::of)?;
        Ok(if listing.entries.is_empty() { KeyPresence::Absent } else { KeyPresence::Prefix })
    }

    /// Whether there is an object of that key.
    ///
    /// # Errors
    /// [`KvFailure::Denied`] and other errors of the store.
    pub async fn exists(&self, key: &str) -> Result<bool> {
        Ok(self.size(&self.object(key)).await?.is_some())
    }

    /// Size of an object in bytes.
    ///
    /// # Errors
    /// [`KvFailure::NoObject`], [`KvFailure::Empty`], [`KvFailure::Denied`] and other errors of the store.
    pub async fn length(&self, key: &str) -> Result<u64> {
        let object = self.object(key);
        match self.size(&object).await? {
            Some(size) => Ok(size),
            None => Err(self.absence(key, object).await),
        }
    }

    /// The content of an object.
    ///
    /// # Errors
    /// As [`length`](Self::length).
    pub async fn get(&self, key: &str) -> Result<Bytes> {
        self.read(key, &Want::All).await
    }

    /// A part of the content of an object; shorter at its end.
    ///
    /// # Errors
    /// As [`length`](Self::length).
    pub async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes> {
        self.read(key, &Want::Range(range)).await
    }

    /// Replaces the whole content of an object, which need not exist.
    ///
    /// # Errors
    /// [`KvFailure::InTheWay`] when the key is a prefix or a part of it is an object; [`KvFailure::Denied`].
    pub async fn set(&self, key: &str, content: impl Into<Bytes>) -> Result<()> {
        let object = self.object(key);
        if self.store.local().is_none() {
            self.check_room(&object).await?;
        }
        let put = self.store.put(&object, content.into(), PutCondition::None).await;
        put.map(|_| ()).map_err(KvFailure::of)
    }

    /// Removes an object and returns its content.
    ///
    /// # Errors
    /// As [`length`](Self::length).
    pub async fn remove(&self, key: &str) -> Result<Bytes> {
        let content = self.get(key).await?;
        self.store.delete(&self.object(key)).await.map_err(KvFailure::of)?;
        Ok(content)
    }

    /// The names directly below a prefix, in byte order. None lie below an object.
    ///
    /// # Errors
    /// [`KvFailure::NoObject`] when there is nothing of that key; [`KvFailure::Denied`].
    pub async fn search(&self, prefix: &str) -> Result<Vec<String>> {
        let object = self.object(prefix);
        let mut names: Vec<String> =
            self.entries(&object).await?.into_iter().map(|entry| entry.name).collect();
        if names.is_empty() && object != self.root && self.size(&object).await?.is_none() {
            return Err(KvFailure::NoObject(object));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The keys of all objects, in byte order, with a leading slash.
    ///
    /// # Errors
    /// [`KvFailure::Denied`] and other errors of the store; `Limit` if there are too many.
    pub async fn keys(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut prefixes = vec![String::new()];
        while !prefixes.is_empty() {
            let batch = prefixes.split_off(prefixes.len().saturating_sub(AT_ONCE));
            let listed = try_join_all(batch.iter().map(|prefix| self.below(prefix))).await?;
            for (key, is_prefix) in listed.into_iter().flatten() {
                if is_prefix { prefixes.push(key) } else { found.push(key) }
            }
            let count = (found.len() + prefixes.len()) as u64;
            self.limits
                .count(count, "key-value map")
                .map_err(|error| KvFailure::of(error.at_object(&self.root)))?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Number of objects.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub async fn len(&self) -> Result<usize> {
        self.keys().await.map(|keys| keys.len())
    }

    /// Whether there are no objects.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub async fn is_empty(&self) -> Result<bool> {
        self.entries(&self.root).await.map(|entries| entries.is_empty())
    }

    /// The key at an index in byte order; `None` behind the last.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub async fn ith(&self, place: usize) -> Result<Option<String>> {
        self.keys().await.map(|keys| keys.into_iter().nth(place))
    }

    /// Removes all objects.
    ///
    /// # Errors
    /// [`KvFailure::Denied`] and other errors of the store.
    pub async fn clear(&self) -> Result<()> {
        for entry in self.entries(&self.root).await? {
            self.store.delete_tree(&self.root.child(&entry.name)).await.map_err(KvFailure::of)?;
        }
        if self.root.key().is_empty() {
            Ok(())
        } else {
            self.store.delete(&self.root).await.map_err(KvFailure::of)
        }
    }

    fn object(&self, key: &str) -> ObjectId {
        self.root.child(key.strip_prefix('/').unwrap_or(key))
    }

    async fn size(&self, object: &ObjectId) -> Result<Option<u64>> {
        if let Some(local) = self.store.local() {
            return local.stat(object).map(|state| state.map(|(size, _)| size)).map_err(KvFailure::of);
        }
        let blob = self.store.get(object, &Want::Range(0..0)).await;
        blob.map(|blob| blob.map(|blob| blob.size)).map_err(KvFailure::of)
    }

    async fn read(&self, key: &str, want: &Want) -> Result<Bytes> {
        let object = self.object(key);
        match self.store.get(&object, want).await.map_err(KvFailure::of)? {
            Some(blob) => Ok(blob.bytes),
            None => Err(self.absence(key, object).await),
        }
    }

    /// Why there is no object of that key. Without listings a prefix cannot be distinguished from an absent key.
    async fn absence(&self, key: &str, object: ObjectId) -> KvFailure {
        match self.presence(key).await {
            Ok(KeyPresence::Prefix) => KvFailure::Empty(object),
            Ok(_) => KvFailure::NoObject(object),
            Err(KvFailure::Other(error)) if error.kind() == ErrorKind::Unsupported => {
                KvFailure::NoObject(object)
            }
            Err(failure) => failure,
        }
    }

    /// Object stores allow objects to have children; a map does not.
    async fn check_room(&self, object: &ObjectId) -> Result<()> {
        let above = key::ancestors(object.key()).map(|key| ObjectId::new(object.store.clone(), key));
        let above: Vec<ObjectId> = above.filter(|above| above.key().len() > self.root.key().len()).collect();
        let sizes = try_join_all(above.iter().map(|above| self.size(above))).await?;
        let is_prefix = self.store.list(object, None).await.map_err(KvFailure::of)?.entries.is_empty();
        if sizes.iter().all(Option::is_none) && is_prefix {
            Ok(())
        } else {
            Err(KvFailure::InTheWay(object.clone()))
        }
    }

    /// Keys directly below a key, and whether they are prefixes.
    async fn below(&self, prefix: &str) -> Result<Vec<(String, bool)>> {
        let entries = self.entries(&self.object(prefix)).await?;
        Ok(entries.into_iter().map(|entry| (format!("{prefix}/{}", entry.name), entry.is_prefix)).collect())
    }

    async fn entries(&self, prefix: &ObjectId) -> Result<Vec<ListEntry>> {
        let mut entries = Vec::new();
        let mut page = None;
        loop {
            let listing = self.store.list(prefix, page.as_deref()).await.map_err(KvFailure::of)?;
            entries.extend(listing.entries);
            self.limits
                .count(entries.len() as u64, "key-value map")
                .map_err(|error| KvFailure::of(error.at_object(prefix)))?;
            page = listing.next;
            if page.is_none() {
                return Ok(entries);
            }
        }
    }
}
