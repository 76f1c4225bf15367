//! Stores that are only read.
use super::{
    AnswerReceiver, LocalStore, MultipartUpload, ObjectPage, ObjectRange, PutCondition, Store,
    StoreAbilities, StoreFacts,
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A store that is only read: every such type is a [`Store`] that rejects changes and has none of the abilities that
/// change objects. Not for stores that wrap any other store, whose abilities they would hide.
pub trait ReadOnlyStore: Debug + Send + Sync {
    /// As [`Store::id`].
    fn id(&self) -> &StoreId;

    /// As [`Store::facts`]; never writable.
    fn facts(&self) -> StoreFacts;

    /// As [`Store::local`].
    fn local(&self) -> Option<&dyn LocalStore>;

    /// As [`Store::get`].
    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>>;

    /// As [`Store::list`].
    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>>;

    /// The error of a change, without its place.
    fn rejection(&self) -> Error;

    /// As [`StoreAbilities::warnings`].
    fn warnings(&self) -> Vec<String>;

    /// As [`StoreAbilities::within`].
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)>;

    /// As [`StoreAbilities::within_many`].
    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>>;

    /// As [`StoreAbilities::answer`].
    fn answer<'a>(
        &'a self,
        object: &'a ObjectId,
        receiver: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>>;
}

/// The result of changing an object of a store that is only read.
fn rejected<'a, T: Send + 'a>(store: &impl ReadOnlyStore, object: &ObjectId) -> BoxFuture<'a, Result<T>> {
    let error = store.rejection().at_object(object);
    Box::pin(async move { Err(error) })
}

impl<S: ReadOnlyStore> Store for S {
    fn id(&self) -> &StoreId {
        ReadOnlyStore::id(self)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { writable: false, ..ReadOnlyStore::facts(self) }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        ReadOnlyStore::local(self)
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        ReadOnlyStore::get(self, object, want)
    }

    fn put<'a>(&'a self, object: &'a ObjectId, _: Bytes, _: PutCondition) -> BoxFuture<'a, Result<Tag>> {
        rejected(self, object)
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        rejected(self, object)
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        rejected(self, prefix)
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        ReadOnlyStore::list(self, prefix, page)
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        Some(self)
    }
}

impl<S: ReadOnlyStore> StoreAbilities for S {
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        ReadOnlyStore::within(self, object)
    }

    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        ReadOnlyStore::within_many(self, objects)
    }

    fn upload<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a Path,
        _: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>> {
        None
    }

    fn multipart(&self, _: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        None
    }

    fn longest_key(&self) -> usize {
        usize::MAX
    }

    fn warnings(&self) -> Vec<String> {
        ReadOnlyStore::warnings(self)
    }

    fn holds<'a>(&'a self, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(&'a self, _: &'a ObjectId, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn delete_many<'a>(&'a self, _: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn objects<'a>(
        &'a self,
        _: &'a ObjectId,
        _: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        None
    }

    fn answer<'a>(
        &'a self,
        object: &'a ObjectId,
        receiver: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        ReadOnlyStore::answer(self, object, receiver)
    }
}
