//! What killed writers leave behind on remote stores.
use crate::store::Store;
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result};
use std::time::SystemTime;

/// A store in which killed writers may leave something behind.
pub trait StoreUpkeep: Store {
    /// All objects below a prefix, and when each was last modified.
    fn dated_below<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<Vec<(ObjectId, SystemTime)>>>;

    /// Multipart uploads below (and at) a prefix that were not completed; `None` if they cannot be listed.
    fn unfinished<'a>(&'a self, prefix: &'a ObjectId)
    -> BoxFuture<'a, Result<Option<Vec<UnfinishedUpload>>>>;

    /// Aborts an upload; fine if it no longer exists.
    fn abandon<'a>(&'a self, upload: &'a UnfinishedUpload) -> BoxFuture<'a, Result<()>>;
}

/// A multipart upload that was begun and not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedUpload {
    /// The object that it was to become.
    pub object: ObjectId,
    /// The provider's identifier.
    pub id: String,
    /// When it was begun.
    pub since: SystemTime,
}
