//! Operations on any store: by its abilities, else emulated.
use super::{MultipartUpload, ObjectPage, ObjectRange, PutCondition, Store};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus_layout::{Error, ObjectId, Result, Tag, Want};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Removals in flight at once.
const AT_ONCE: usize = 16;

/// Operations on any store: by its [abilities](Store::abilities), else emulated. Do not implement it.
pub trait StoreExt: Store {
    /// The object that another one is a range of, and the range, if it can be read itself: objects that lie close
    /// together in it are requested together.
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        self.abilities()?.within(object)
    }

    /// Whether [`within_many`](Self::within_many) reads where objects are, so that it needs a network.
    fn reads_where_objects_are(&self) -> bool {
        self.abilities().is_some_and(|store| store.within_many(&[]).is_some())
    }

    /// Several of them, in the order of the objects; a store that has to read where its objects are does it once.
    fn within_many<'a>(&'a self, objects: &'a [ObjectId]) -> BoxFuture<'a, Result<Vec<Option<ObjectRange>>>> {
        let found = self.abilities().and_then(|store| store.within_many(objects));
        found.unwrap_or_else(|| {
            Box::pin(async move { Ok(objects.iter().map(|object| self.within(object)).collect()) })
        })
    }

    /// As [`put`](Store::put), with the bytes of a local file.
    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        let sent = self.abilities().and_then(|store| store.upload(object, file, when.clone()));
        sent.unwrap_or_else(|| {
            Box::pin(async move {
                let body = std::fs::read(file).map_err(|error| crate::fault::of_io(error, file.display()))?;
                self.put(object, Bytes::from(body), when).await
            })
        })
    }

    /// A multipart upload with parts in any order; `None` if objects are only put whole. No request is sent yet.
    fn multipart(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        self.abilities()?.multipart(object)
    }

    /// The server of the objects, if the store's identity does not include it.
    fn server(&self) -> Option<&str> {
        self.abilities()?.server()
    }

    /// Maximum length of a key in bytes.
    fn longest_key(&self) -> usize {
        self.abilities().map_or(usize::MAX, |store| store.longest_key())
    }

    /// Warnings from reading objects, for the user's information.
    fn warnings(&self) -> Vec<String> {
        self.abilities().map(|store| store.warnings()).unwrap_or_default()
    }

    /// Whether there is an object.
    fn holds<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<bool>> {
        let found = self.abilities().and_then(|store| store.holds(object));
        found.unwrap_or_else(|| {
            Box::pin(async move { Ok(self.get(object, &Want::Range(0..1)).await?.is_some()) })
        })
    }

    /// Copies an object, within the store if it can.
    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        let copied = self.abilities().and_then(|store| store.copy(from, to));
        copied.unwrap_or_else(|| Box::pin(copy_by_hand(self, from, to)))
    }

    /// Removes objects, many with one request if the store can; absent ones are fine.
    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> BoxFuture<'a, Result<()>> {
        let removed = self.abilities().and_then(|store| store.delete_many(objects));
        removed.unwrap_or_else(|| {
            Box::pin(async move {
                let removals: Vec<BoxFuture<'_, Result<()>>> =
                    objects.iter().map(|object| self.delete(object)).collect();
                iter(removals).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.map(|_| ())
            })
        })
    }

    /// One page of all objects below a prefix, at any depth, with their sizes; `None` if only names are listed, level
    /// by level.
    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        self.abilities()?.objects(prefix, page)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// Fetches an object, and puts it elsewhere.
///
/// # Errors
/// `NotFound` if there is no such object, otherwise errors of fetching and putting.
pub async fn copy_by_hand<S: Store + ?Sized>(store: &S, from: &ObjectId, to: &ObjectId) -> Result<()> {
    let found = store.get(from, &Want::All).await?;
    let found = found.ok_or_else(|| Error::not_found("no such object").at_object(from))?;
    store.put(to, found.bytes, PutCondition::None).await.map(|_| ())
}
