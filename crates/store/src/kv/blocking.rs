//! The same map for callers that may block: local stores never wait.
use super::failure::Result;
use super::{KeyPresence, KvFailure, ObjectMap};
use crate::store::Store;
use crate::{OverwritePolicy, StoreContext};
use bytes::Bytes;
use futures_util::FutureExt;
use ncirrus_layout::{Error, ObjectId};
use std::ops::Range;
use std::sync::Arc;

/// An [`ObjectMap`] over a local store.
#[derive(Debug, Clone)]
pub struct BlockingMap(ObjectMap);

impl BlockingMap {
    /// As [`ObjectMap::new`].
    ///
    /// # Errors
    /// `Unsupported` if the store is remote.
    pub fn new(store: Arc<dyn Store>, root: ObjectId) -> Result<Self> {
        Self::of(ObjectMap::new(store, root))
    }

    /// As [`ObjectMap::open`].
    ///
    /// # Errors
    /// As [`ObjectMap::open`], `Unsupported` if the address is remote.
    pub fn open(address: &str, context: &StoreContext) -> Result<Self> {
        Self::of(ready(ObjectMap::open(address, context))?)
    }

    /// As [`ObjectMap::create`].
    ///
    /// # Errors
    /// As [`ObjectMap::create`], `Unsupported` if the store is remote.
    pub fn create(store: Arc<dyn Store>, root: ObjectId, clobber: OverwritePolicy) -> Result<Self> {
        let map = Self::new(store, root)?.0;
        ready(ObjectMap::create(map.store, map.root, clobber)).map(Self)
    }

    /// As [`ObjectMap::presence`].
    ///
    /// # Errors
    /// As there.
    pub fn presence(&self, key: &str) -> Result<KeyPresence> {
        ready(self.0.presence(key))
    }

    /// As [`ObjectMap::exists`].
    ///
    /// # Errors
    /// As there.
    pub fn exists(&self, key: &str) -> Result<bool> {
        ready(self.0.exists(key))
    }

    /// As [`ObjectMap::length`].
    ///
    /// # Errors
    /// As there.
    pub fn length(&self, key: &str) -> Result<u64> {
        ready(self.0.length(key))
    }

    /// As [`ObjectMap::get`].
    ///
    /// # Errors
    /// As there.
    pub fn get(&self, key: &str) -> Result<Bytes> {
        ready(self.0.get(key))
    }

    /// As [`ObjectMap::get_range`].
    ///
    /// # Errors
    /// As there.
    pub fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes> {
        ready(self.0.get_range(key, range))
    }

    /// As [`ObjectMap::set`].
    ///
    /// # Errors
    /// As there.
    pub fn set(&self, key: &str, content: &[u8]) -> Result<()> {
        ready(self.0.set(key, Bytes::copy_from_slice(content)))
    }

    /// As [`ObjectMap::remove`].
    ///
    /// # Errors
    /// As there.
    pub fn remove(&self, key: &str) -> Result<Bytes> {
        ready(self.0.remove(key))
    }

    /// As [`ObjectMap::search`].
    ///
    /// # Errors
    /// As there.
    pub fn search(&self, prefix: &str) -> Result<Vec<String>> {
        ready(self.0.search(prefix))
    }

    /// As [`ObjectMap::keys`].
    ///
    /// # Errors
    /// As there.
    pub fn keys(&self) -> Result<Vec<String>> {
        ready(self.0.keys())
    }

    /// As [`ObjectMap::len`].
    ///
    /// # Errors
    /// As there.
    pub fn len(&self) -> Result<usize> {
        ready(self.0.len())
    }

    /// As [`ObjectMap::is_empty`].
    ///
    /// # Errors
    /// As there.
    pub fn is_empty(&self) -> Result<bool> {
        ready(self.0.is_empty())
    }

    /// As [`ObjectMap::ith`].
    ///
    /// # Errors
    /// As there.
    pub fn ith(&self, place: usize) -> Result<Option<String>> {
        ready(self.0.ith(place))
    }

    /// As [`ObjectMap::clear`].
    ///
    /// # Errors
    /// As there.
    pub fn clear(&self) -> Result<()> {
        ready(self.0.clear())
    }

    fn of(map: ObjectMap) -> Result<Self> {
        match map.store.local() {
            Some(_) => Ok(Self(map)),
            None => Err(elsewhere()),
        }
    }
}

/// Runs a future that never waits.
fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    future.now_or_never().unwrap_or_else(|| Err(elsewhere()))
}

fn elsewhere() -> KvFailure {
    KvFailure::Other(Error::unsupported("blocking access to a remote store"))
}
