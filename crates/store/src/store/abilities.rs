//! Optional operations of stores.
use super::{MultipartUpload, ObjectPage, PutCondition};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result, Tag};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Operations that some stores have, or do better than the emulation. They are called by
/// [`StoreExt`](super::StoreExt), which emulates them for stores without abilities.
///
/// None of these has a default: a store that wraps another passes on each, or says why not.
pub trait StoreAbilities: Send + Sync {
    /// The object that another one is a range of, and the range, if it can be read itself: objects that lie close
    /// together in it are requested together.
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)>;

    /// Several of them at once, for stores that have to read where their objects are; `None` where
    /// [`within`](Self::within) knows.
    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>>;

    /// As a put, with the bytes of a local file; `None` if the file is read and put whole.
    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>>;

    /// A multipart upload with parts in any order; `None` if objects are only put whole. No request is sent yet.
    fn multipart(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>>;

    /// The server of the objects, if the store's identity does not include it: cached objects with the same name on
    /// several servers are kept apart.
    fn server(&self) -> Option<&str>;

    /// Maximum length of a key in bytes.
    fn longest_key(&self) -> usize;

    /// Warnings from reading objects, for the user's information.
    fn warnings(&self) -> Vec<String>;

    /// Whether an object exists; `None` if a byte of it has to be requested.
    fn holds<'a>(&'a self, object: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>>;

    /// Copies an object within the store; `None` if it has to be fetched and put.
    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>>;

    /// Removes objects, many with one request; absent ones are fine. `None` if they have to be removed one by one.
    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>>;

    /// One page of all objects below a prefix, at any depth, with their sizes; `None` if only names are listed, level
    /// by level.
    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>>;

    /// Passes on an answer that the store computes, while it arrives; false if there is none. `None` if objects are
    /// bytes that are there, which are read by [`Store::get`](super::Store::get).
    fn answer<'a>(
        &'a self,
        object: &'a ObjectId,
        receiver: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>>;
}

/// An object, and the range of it that another object is.
pub type ObjectRange = (ObjectId, Range<u64>);

/// Receives an answer while it arrives.
pub trait AnswerReceiver: Send {
    /// Takes the next part.
    ///
    /// # Errors
    /// Ends the answer.
    fn receive(&mut self, part: AnswerPart) -> BoxFuture<'_, Result<()>>;
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPart {
    /// The answer begins; what came before was interrupted and is void.
    Begin,
    /// The next bytes.
    Bytes(Bytes),
}
