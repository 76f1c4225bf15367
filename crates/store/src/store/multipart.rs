//! Sending one object in parts.
use super::PutCondition;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Result, Tag};
use std::fmt::Debug;

/// One object that is sent in parts, in any order and several at once. Nothing is there for others before it is
/// completed.
pub trait MultipartUpload: Debug + Send + Sync {
    /// Sends a part; the first one begins the upload.
    fn part(&self, index: usize, body: Bytes) -> BoxFuture<'_, Result<()>>;

    /// Makes the object of all parts from 0 on; none may be missing.
    fn complete(&self, when: PutCondition) -> BoxFuture<'_, Result<Tag>>;

    /// Bytes of the first parts, where the server wants others than usual.
    fn part_size(&self) -> Option<u64> {
        None
    }

    /// Parts that are sent at once, where the server wants others than usual.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// Takes back what was sent; fine when nothing was.
    fn abort(&self) -> BoxFuture<'_, Result<()>>;
}
