//! Multipart uploads.
use super::PutCondition;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Result, Tag};
use std::fmt::Debug;

/// One object that is sent in parts, in any order and several at once. Others see nothing before it is completed.
pub trait MultipartUpload: Debug + Send + Sync {
    /// Sends a part; the first one begins the upload.
    fn part(&self, index: usize, body: Bytes) -> BoxFuture<'_, Result<()>>;

    /// Creates the object from all parts from 0 on; none may be missing.
    fn complete(&self, when: PutCondition) -> BoxFuture<'_, Result<Tag>>;

    /// Size of the first parts, if the server needs a different one.
    fn part_size(&self) -> Option<u64> {
        None
    }

    /// Parts in flight, if the server needs a different number.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// Aborts the upload; fine if nothing was sent.
    fn abort(&self) -> BoxFuture<'_, Result<()>>;
}
