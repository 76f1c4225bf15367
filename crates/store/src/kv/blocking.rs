//! The same map for callers that may block: stores that are on this machine never wait.
use super::failure::Result;
use super::{Failure, Map, Presence};
use crate::store::Store;
use crate::{Clobber, StoreOptions};
use bytes::Bytes;
use futures_util::FutureExt;
use ncirrus_layout::{Error, ObjectId};
use std::ops::Range;
use std::sync::Arc;

/// A [`Map`] over a store on this machine.
#[derive(Debug, Clone)]
pub struct BlockingMap(Map);

impl BlockingMap {
    /// As [`Map::new`].
    ///
    /// # Errors
    /// `Unsupported` when the store is on another machine.
    pub fn new(store: Arc<dyn Store>, root: ObjectId) -> Result<Self> {
        Self::of(Map::new(store, root))
    }

    /// As [`Map::open`].
    ///
    /// # Errors
    /// As [`Map::open`], `Unsupported` when the address is on another machine.
    pub fn open(address: &str, options: &StoreOptions) -> Result<Self> {
        Self::of(ready(Map::open(address, options))?)
    }

    /// As [`Map::create`].
    ///
    /// # Errors
    /// As [`Map::create`], `Unsupported` when the store is on another machine.
    pub fn create(store: Arc<dyn Store>, root: ObjectId, clobber: Clobber) -> Result<Self> {
        let map = Self::new(store, root)?.0;
        ready(Map::create(map.store, map.root, clobber)).map(Self)
    }

    /// As [`Map::presence`].
    ///
    /// # Errors
    /// As there.
    pub fn presence(&self, key: &str) -> Result<Presence> {
        ready(self.0.presence(key))
    }

    /// As [`Map::exists`].
    ///
    /// # Errors
    /// As there.
    pub fn exists(&self, key: &str) -> Result<bool> {
        ready(self.0.exists(key))
    }

    /// As [`Map::length`].
    ///
    /// # Errors
    /// As there.
    pub fn length(&self, key: &str) -> Result<u64> {
        ready(self.0.length(key))
    }

    /// As [`Map::get`].
    ///
    /// # Errors
    /// As there.
    pub fn get(&self, key: &str) -> Result<Bytes> {
        ready(self.0.get(key))
    }

    /// As [`Map::get_range`].
    ///
    /// # Errors
    /// As there.
    pub fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes> {
        ready(self.0.get_range(key, range))
    }

    /// As [`Map::set`].
    ///
    /// # Errors
    /// As there.
    pub fn set(&self, key: &str, content: &[u8]) -> Result<()> {
        ready(self.0.set(key, Bytes::copy_from_slice(content)))
    }

    /// As [`Map::remove`].
    ///
    /// # Errors
    /// As there.
    pub fn remove(&self, key: &str) -> Result<Bytes> {
        ready(self.0.remove(key))
    }

    /// As [`Map::search`].
    ///
    /// # Errors
    /// As there.
    pub fn search(&self, prefix: &str) -> Result<Vec<String>> {
        ready(self.0.search(prefix))
    }

    /// As [`Map::keys`].
    ///
    /// # Errors
    /// As there.
    pub fn keys(&self) -> Result<Vec<String>> {
        ready(self.0.keys())
    }

    /// As [`Map::len`].
    ///
    /// # Errors
    /// As there.
    pub fn len(&self) -> Result<usize> {
        ready(self.0.len())
    }

    /// As [`Map::is_empty`].
    ///
    /// # Errors
    /// As there.
    pub fn is_empty(&self) -> Result<bool> {
        ready(self.0.is_empty())
    }

    /// As [`Map::ith`].
    ///
    /// # Errors
    /// As there.
    pub fn ith(&self, place: usize) -> Result<Option<String>> {
        ready(self.0.ith(place))
    }

    /// As [`Map::clear`].
    ///
    /// # Errors
    /// As there.
    pub fn clear(&self) -> Result<()> {
        ready(self.0.clear())
    }

    fn of(map: Map) -> Result<Self> {
        match map.store.local() {
            Some(_) => Ok(Self(map)),
            None => Err(elsewhere()),
        }
    }
}

/// Runs what never waits.
fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    future.now_or_never().unwrap_or_else(|| Err(elsewhere()))
}

fn elsewhere() -> Failure {
    Failure::Other(Error::unsupported("blocking access to a store on another machine"))
}
