//! What some stores do besides.
use super::{MultipartUpload, ObjectPage, PutCondition};
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result, Tag};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What some stores do besides, or better than it is done by hand. It is called by [`StoreExt`](super::StoreExt), which knows
/// what to do where a store has no abilities.
///
/// None of these has a default: a store that stands before another passes on each, or says why not.
pub trait StoreAbilities: Send + Sync {
    /// The object that another one is a range of, and the range, where it can be read itself: of what lies close together
    /// in it several are asked for at once.
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)>;

    /// As a put, with the bytes of a local file; `None` where the file is read and put whole.
    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>>;

    /// An upload of an object in parts that may come in any order; `None` where objects are only put whole. Nothing is
    /// sent yet.
    fn multipart(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>>;

    /// The server that the objects lie on, where the store's identity does not tell it: what is kept on disk of namesakes on
    /// several servers is kept apart.
    fn server(&self) -> Option<&str>;

    /// Bytes that a key may have.
    fn longest_key(&self) -> usize;

    /// What was found out while objects were read, for the user to see.
    fn warnings(&self) -> Vec<String>;

    /// Whether there is an object; `None` where a byte of it is asked for.
    fn holds<'a>(&'a self, object: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>>;

    /// Makes an object that is the same as another one, within the store; `None` where it is fetched and put.
    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>>;

    /// Removes objects, many with one request; absent ones are fine. `None` where they are removed one by one.
    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>>;

    /// One page of all objects below a prefix, however deep, with their sizes; `None` where only names are listed, level
    /// by level.
    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>>;
}
