//! What killed writers leave on other machines, as the stores there tell of it.
use crate::store::Store;
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result};
use std::time::SystemTime;

/// A store in which writers that were killed leave something behind.
pub trait StoreUpkeep: Store {
    /// All objects below a prefix, and when each was changed last.
    fn dated_below<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<Vec<(ObjectId, SystemTime)>>>;

    /// Uploads in parts below (and at) a prefix that were not ended; `None` where they cannot be asked for.
    fn unfinished<'a>(&'a self, prefix: &'a ObjectId)
    -> BoxFuture<'a, Result<Option<Vec<UnfinishedUpload>>>>;

    /// Ends an upload without an object; one that is gone is fine.
    fn abandon<'a>(&'a self, upload: &'a UnfinishedUpload) -> BoxFuture<'a, Result<()>>;
}

/// An upload in parts that was begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedUpload {
    /// The object that it was to become.
    pub object: ObjectId,
    /// What the provider calls it.
    pub id: String,
    /// When it was begun.
    pub since: SystemTime,
}
