//! Multipart uploads with parts in any order.
use super::{CloudStore, path_of};
use crate::fault::{CloudFault, ConditionClash};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_http::{StoreOperation, operation};
use ncirrus_layout::{Error, ErrorKind, LockExt, ObjectId, Result, Tag};
use ncirrus_store::{MultipartUpload, PutCondition};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{MultipartId, ObjectStoreExt, PutPayload};
use reqwest::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::OnceCell;

/// An object that is sent in parts.
struct CloudUpload {
    store: CloudStore,
    parts: Arc<dyn MultipartStore>,
    object: ObjectId,
    path: Path,
    id: OnceCell<MultipartId>,
    sent: Mutex<BTreeMap<usize, PartId>>,
}

impl CloudStore {
    /// A multipart upload of an object by direct requests to the provider; none is sent yet.
    pub(super) fn upload_in_parts(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        let parts = Arc::clone(self.parts.as_ref().filter(|_| self.transfer.sends_parts())?);
        // An unusable key is refused by the fallback that sends the object.
        let path = path_of(object).ok().filter(|_| !object.key().is_empty())?;
        let (store, object) = (self.clone(), object.clone());
        let (id, sent) = (OnceCell::new(), Mutex::default());
        Some(Arc::new(CloudUpload { store, parts, object, path, id, sent }))
    }
}

impl CloudUpload {
    async fn send(&self, index: usize, body: Bytes) -> Result<()> {
        let id = self.id.get_or_try_init(|| self.parts.create_multipart(&self.path)).await;
        let id = id.map_err(|error| CloudFault::from(error).at(&self.object))?;
        let sent = self.parts.put_part(&self.path, id, index, PutPayload::from_bytes(body)).await;
        let part = sent.map_err(|error| failure_of_part(error).at_object(&self.object).by("cloud"))?;
        self.sent().insert(index, part);
        Ok(())
    }

    /// The condition is checked before, because not all providers check it on completion.
    async fn finish(&self, when: PutCondition) -> Result<Tag> {
        let sent = std::mem::take(&mut *self.sent());
        let is_whole = sent.keys().copied().eq(0..sent.len());
        let Some(id) = self.id.get().filter(|_| is_whole) else {
            return Err(Error::internal("an upload lacks a part").at_object(&self.object));
        };
        self.store.check(&self.object, &self.path, &when).await?;
        let count = sent.len();
        StoreOperation::depend(condition(&when));
        let put = self.parts.complete_multipart(&self.path, id, sent.into_values().collect()).await;
        match put.map_err(CloudFault::from) {
            Ok(put) => self.store.tag_of_put(&self.object, &self.path, put).await,
            Err(fault) => {
                let taken_back = async { self.parts.abort_multipart(&self.path, id).await.is_ok() };
                self.store.not_completed((&self.object, &self.path), fault, count, taken_back).await
            }
        }
    }

    async fn take_back(&self) -> Result<()> {
        let Some(id) = self.id.get() else { return Ok(()) };
        match self.parts.abort_multipart(&self.path, id).await.map_err(CloudFault::from) {
            Ok(()) | Err(CloudFault::Absent) => Ok(()),
            Err(fault) => Err(fault.at(&self.object)),
        }
    }

    fn sent(&self) -> MutexGuard<'_, BTreeMap<usize, PartId>> {
        self.sent.guard()
    }
}

impl CloudStore {
    /// The tag of an object whose multipart upload could not be completed: an answer may have been lost, and the
    /// upload be complete.
    pub(super) async fn not_completed(
        &self,
        (object, path): (&ObjectId, &Path),
        fault: CloudFault,
        parts: usize,
        taken_back: impl Future<Output = bool>,
    ) -> Result<Tag> {
        // An upload that still exists made no object.
        let is_there = matches!(fault, CloudFault::Conflict(_)) && taken_back.await;
        let may_be_own =
            matches!(fault, CloudFault::Absent | CloudFault::Conflict(_)) && StoreOperation::is_in_doubt();
        if is_there || !may_be_own {
            return Err(fault.at_put(object));
        }
        let meta = self.objects.head(path).await.map_err(|error| CloudFault::from(error).at(object))?;
        let etag = meta.e_tag.as_deref().unwrap_or_default().trim_matches('"');
        if etag.ends_with(&format!("-{parts}")) {
            return Ok(super::tag_of_meta(&meta));
        }
        Err(CloudFault::Conflict(ConditionClash::Ended).at(object))
    }
}

/// The header of a conditional put.
pub(super) fn condition(when: &PutCondition) -> Option<(HeaderName, HeaderValue)> {
    match when {
        PutCondition::None => None,
        PutCondition::Absent => Some((IF_NONE_MATCH, HeaderValue::from_static("*"))),
        PutCondition::Matches(tag) => {
            Some((IF_MATCH, HeaderValue::from_str(super::version_of(tag).e_tag.as_deref()?).ok()?))
        }
    }
}

impl MultipartUpload for CloudUpload {
    fn part(&self, index: usize, body: Bytes) -> BoxFuture<'_, Result<()>> {
        operation(&self.object, self.send(index, body)).boxed()
    }

    fn complete(&self, when: PutCondition) -> BoxFuture<'_, Result<Tag>> {
        operation(&self.object, self.finish(when)).boxed()
    }

    fn part_size(&self) -> Option<u64> {
        self.store.transfer.part_bytes()
    }

    fn at_once(&self) -> Option<usize> {
        self.store.transfer.at_once()
    }

    fn abort(&self) -> BoxFuture<'_, Result<()>> {
        operation(&self.object, self.take_back()).boxed()
    }
}

impl fmt::Debug for CloudUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({})", self.object)
    }
}

/// The meaning of a failure to send a part.
pub(super) fn failure_of_part(error: object_store::Error) -> Error {
    match CloudFault::from(error) {
        CloudFault::Failed(error) | CloudFault::Other(error) => error,
        CloudFault::Denied(why) => Error::new(ErrorKind::Denied, format!("access denied: {why}")),
        CloudFault::Absent | CloudFault::Conflict(_) => {
            Error::new(ErrorKind::Conflict, "the upload was ended by someone else")
        }
    }
}
