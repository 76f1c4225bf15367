//! Objects of Amazon S3, Google Cloud Storage, Azure Blob Storage, and compatible stores.
mod fetch;
mod leftovers;
mod listing;
mod multipart;
mod removing;
#[cfg(test)]
mod tests;
mod upload;

use crate::asking::BucketClient;
use crate::build::{self, AT_ONCE};
use crate::fault::CloudFault;
use crate::identity::CloudContext;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_config::TransferSettings;
use ncirrus_http::{StoreOperation, operation, read_operation};
use ncirrus_layout::{
    Error, ErrorKind, ListEntry, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want,
};
use ncirrus_store::{
    BucketUrl, LocalStore, MultipartUpload, ObjectPage, PutCondition, Store, StoreAbilities, StoreFacts,
    UrlFragment, key, want,
};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult,
    UpdateVersion,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The objects of one bucket or container.
#[derive(Clone)]
pub struct CloudStore {
    id: StoreId,
    /// The server, if known.
    server: Option<String>,
    objects: Arc<dyn ObjectStore>,
    /// Lists pages by direct requests to the provider.
    pages: Option<Arc<dyn PaginatedListStore>>,
    /// Uploads parts in any order by direct requests to the provider.
    parts: Option<Arc<dyn MultipartStore>>,
    /// For requests to S3-compatible stores that the client does not support.
    other: Option<Arc<BucketClient>>,
    /// Keys that cannot be addressed.
    odd: Arc<listing::OddKeys>,
    /// The host's settings from the configuration.
    transfer: Arc<TransferSettings>,
    /// The object that is read in an old version, and which version.
    version: Option<Arc<(String, String)>>,
}

impl CloudStore {
    /// The objects of a bucket, with the credentials of the context. No request is sent yet.
    ///
    /// # Errors
    /// `Invalid` for settings that contradict each other.
    pub fn connect(bucket: &BucketUrl, fragment: &UrlFragment, context: &CloudContext) -> Result<Self> {
        let built =
            build::connect(bucket, fragment, context).map_err(|error| error.at_object(bucket.address()))?;
        let id = StoreId::new(bucket.address());
        Ok(Self {
            id: built.who.map_or(id.clone(), |who| id.marked(who)),
            server: Some(built.server),
            objects: built.objects,
            pages: Some(built.pages),
            parts: Some(built.parts),
            other: built.asking.map(Arc::new),
            odd: Arc::default(),
            transfer: Arc::new(built.transfer),
            version: None,
        })
    }

    /// The same bucket, with one object in an old version; nothing can be changed then.
    pub(crate) fn at_version(mut self, key: &str, version: &str) -> Self {
        self.id = self.id.at(format!("{}?versionId={version}", self.id.as_str()));
        self.version = Some(Arc::new((key.to_owned(), version.to_owned())));
        self
    }

    /// The objects of an existing store.
    pub fn new(address: &str, objects: Arc<dyn ObjectStore>) -> Self {
        Self {
            id: StoreId::new(address),
            server: None,
            objects,
            pages: None,
            parts: None,
            other: None,
            odd: Arc::default(),
            transfer: Arc::default(),
            version: None,
        }
    }

    /// Sends large objects in parts, in any order, through `parts`: the same store with that interface.
    #[must_use]
    pub fn in_parts(self, parts: Arc<dyn MultipartStore>) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// The root of the bucket: what [`ObjectId::child`] starts from.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let path = self.path_at_version(object)?;
        if object.key().is_empty() {
            return Ok(None);
        }
        let range = match want {
            Want::All | Want::AtMost(_) => None,
            Want::Range(range) | Want::Parse(range) => Some(GetRange::Bounded(range.clone())),
            Want::Suffix(len) => Some(GetRange::Suffix(*len)),
        };
        let is_empty = match &range {
            Some(GetRange::Bounded(range)) => range.is_empty(),
            Some(GetRange::Suffix(len)) => *len == 0,
            _ => false,
        };
        if is_empty {
            return self.by_size(object, &path, want).await;
        }
        match self.fetch(&path, range).await {
            Ok(blob) => Ok(Some(blob)),
            Err(CloudFault::Absent) => Ok(None),
            // The range starts behind the end, or the provider does not support suffix ranges.
            Err(CloudFault::Other(_)) if !want.is_whole() => self.by_size(object, &path, want).await,
            Err(CloudFault::Failed(error)) if is_odd_suffix(&error, want) => {
                self.by_size(object, &path, want).await
            }
            Err(fault) => Err(fault.at(object)),
        }
    }

    /// Requests the size first, then bytes that exist.
    async fn by_size(&self, object: &ObjectId, path: &Path, want: &Want) -> Result<Option<ObjectBytes>> {
        let meta = match self.head(path).await {
            Ok(meta) => meta,
            Err(CloudFault::Absent) => return Ok(None),
            Err(fault) => return Err(fault.at(object)),
        };
        let range = want::resolve(want, meta.size);
        if range.is_empty() {
            let (offset, size, tag) = (range.start, meta.size, tag_of_meta(&meta));
            return Ok(Some(ObjectBytes { bytes: Bytes::new(), offset, size, tag }));
        }
        self.fetch(path, Some(GetRange::Bounded(range))).await.map(Some).map_err(|fault| fault.at(object))
    }

    async fn write(&self, object: &ObjectId, body: Bytes, when: PutCondition) -> Result<Tag> {
        let path = path_of(object)?;
        self.check_len(object)?;
        // A put can be conditional only if it is sent in one piece.
        let max = if when == PutCondition::None { self.one_piece() } else { LARGEST_PUT };
        if body.len() as u64 > max {
            return self.send_body(object, body, when).await;
        }
        let mode = match when {
            PutCondition::None => PutMode::Overwrite,
            PutCondition::Absent => PutMode::Create,
            PutCondition::Matches(tag) => PutMode::Update(version_of(&tag)),
        };
        let is_conditional = mode != PutMode::Overwrite;
        let payload = PutPayload::from_bytes(body.clone());
        let fault = match self.objects.put_opts(&path, payload, PutOptions::from(mode)).await {
            Ok(put) => return self.tag_of_put(object, &path, put).await,
            Err(error) => CloudFault::from(error),
        };
        // An answer was lost: this writer's own put may have succeeded.
        if is_conditional
            && matches!(fault, CloudFault::Absent | CloudFault::Conflict(_))
            && StoreOperation::is_in_doubt()
        {
            let there = self.fetch(&path, None).await.ok();
            if let Some(own) = there.filter(|there| there.bytes == body) {
                return Ok(own.tag);
            }
        }
        Err(fault.at_put(object))
    }

    /// Few stores do not return the tag of a put; it is requested.
    async fn tag_of_put(&self, object: &ObjectId, path: &Path, put: PutResult) -> Result<Tag> {
        match put.e_tag {
            Some(etag) => Ok(tag(&etag, put.version.as_deref())),
            None => {
                let meta =
                    self.objects.head(path).await.map_err(|error| CloudFault::from(error).at(object))?;
                Ok(tag_of_meta(&meta))
            }
        }
    }

    fn check_len(&self, object: &ObjectId) -> Result<()> {
        match object.key().len() {
            0 => Err(Error::invalid("a bucket without a key: no object can be put there").at_object(object)),
            len if len > LONGEST_KEY => {
                let message = format!("a key of {len} bytes: object stores take at most {LONGEST_KEY}");
                Err(Error::invalid(message).at_object(object))
            }
            _ => Ok(()),
        }
    }

    async fn is_there(&self, object: &ObjectId) -> Result<bool> {
        match self.head(&self.path_at_version(object)?).await {
            Ok(_) => Ok(true),
            Err(CloudFault::Absent) => Ok(false),
            Err(fault) => Err(fault.at(object)),
        }
    }

    async fn copy_within(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        match self.objects.copy(&path_of(from)?, &path_of(to)?).await.map_err(CloudFault::from) {
            // The server does not copy, or not objects of this size.
            Err(CloudFault::Other(_)) => ncirrus_store::implement::copy_by_hand(self, from, to).await,
            copied => copied.map_err(|fault| fault.at(to)),
        }
    }

    async fn names(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let path = path_of(prefix)?;
        self.check_no_version(prefix)?;
        if let Some(asking) = &self.other {
            return self.names_listed(asking, prefix, page).await;
        }
        let failed = |error| CloudFault::from(error).at(prefix);
        let (found, next) = match &self.pages {
            Some(pages) => {
                let folder = key::folder(prefix.key());
                let options = PaginatedListOptions {
                    delimiter: Some("/".into()),
                    page_token: page.map(str::to_owned),
                    ..PaginatedListOptions::default()
                };
                let found = pages.list_paginated(Some(&folder), options).await.map_err(failed)?;
                (found.result, found.page_token)
            }
            None => (self.objects.list_with_delimiter(Some(&path)).await.map_err(failed)?, None),
        };
        let objects = found.objects.iter().map(|meta| (meta.location.as_ref(), false));
        let prefixes = found.common_prefixes.iter().map(|path| (path.as_ref(), true));
        Ok(Listing { entries: entries(&key::folder(prefix.key()), prefixes.chain(objects)), next })
    }

    async fn objects_below(
        &self,
        pages: &dyn PaginatedListStore,
        prefix: &ObjectId,
        page: Option<&str>,
    ) -> Result<ObjectPage> {
        let folder = key::folder(key::check(prefix)?);
        self.check_no_version(prefix)?;
        if let Some(asking) = &self.other {
            return self.objects_listed(asking, prefix, page).await;
        }
        let options = PaginatedListOptions { page_token: page.map(str::to_owned), ..Default::default() };
        let found = pages.list_paginated(Some(&folder), options).await;
        let found = found.map_err(|error| CloudFault::from(error).at(prefix))?;
        let object = |meta: &ObjectMeta| (ObjectId::new(self.id.clone(), meta.location.as_ref()), meta.size);
        let objects = found.result.objects.iter().filter(|meta| meta.location.as_ref() != prefix.key());
        Ok(ObjectPage {
            objects: objects.map(object).collect(),
            next: found.page_token,
            ..ObjectPage::default()
        })
    }
}

/// Whether a server may have failed because the suffix range is longer than the object.
fn is_odd_suffix(error: &Error, want: &Want) -> bool {
    matches!(want, Want::Suffix(_)) && matches!(error.kind(), ErrorKind::Io { .. })
}

/// Names directly below a folder, in byte order, of keys and prefixes; prefixes may end with a slash.
fn entries<'a>(folder: &str, found: impl Iterator<Item = (&'a str, bool)>) -> Vec<ListEntry> {
    let name = |key: &str| Some(key.strip_prefix(folder)?.trim_end_matches('/').to_owned());
    let named = found.filter_map(|(key, is_prefix)| Some(ListEntry { name: name(key)?, is_prefix }));
    let mut entries: Vec<ListEntry> = named.filter(|entry| key::is_name(&entry.name)).collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.dedup_by(|one, other| one.name == other.name);
    entries
}

/// The exact key: nothing is escaped.
fn path_of(object: &ObjectId) -> Result<Path> {
    let key = key::check(object)?;
    Path::parse(key).map_err(|_| Error::invalid(format!("key {key:?} cannot be used")).at_object(object))
}

/// A tag: ETag, and version if there is one (Google requires it when an object is replaced).
fn tag(etag: &str, version: Option<&str>) -> Tag {
    match version {
        Some(version) => Tag::new(format!("{etag}\n{version}")),
        None => Tag::new(etag),
    }
}

fn tag_of_meta(meta: &ObjectMeta) -> Tag {
    let found = match &meta.e_tag {
        Some(etag) => tag(etag, meta.version.as_deref()),
        None => Tag::new(format!("{}-{}", meta.last_modified, meta.size)),
    };
    found.modified_at(u64::try_from(meta.last_modified.timestamp()).ok())
}

fn version_of(tag: &Tag) -> UpdateVersion {
    let (etag, version) = tag.as_str().split_once('\n').unzip();
    let etag = etag.unwrap_or(tag.as_str());
    UpdateVersion { e_tag: Some(etag.to_owned()), version: version.map(str::to_owned) }
}

impl Store for CloudStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(30),
            concurrency: AT_ONCE,
            merge_gap: 1 << 20,
            range_cap: 16 << 20,
            isolated: false,
            lists: true,
            writable: self.version.is_none(),
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        read_operation(object, want, self.read(object, want)).boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        operation(object, self.write(object, body, when)).boxed()
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        operation(object, self.remove(object)).boxed()
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        operation(prefix, self.remove_tree(prefix)).boxed()
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        operation(prefix, self.names(prefix, page)).boxed()
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        Some(self)
    }
}

impl StoreAbilities for CloudStore {
    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ncirrus_store::ObjectRange>>>>> {
        None
    }

    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a std::path::Path,
        when: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>> {
        Some(operation(object, self.send(object, file, when)).boxed())
    }

    fn multipart(&self, object: &ObjectId) -> Option<Arc<dyn MultipartUpload>> {
        self.upload_in_parts(object)
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn longest_key(&self) -> usize {
        LONGEST_KEY
    }

    fn warnings(&self) -> Vec<String> {
        self.odd.reported()
    }

    fn holds<'a>(&'a self, object: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        Some(operation(object, self.is_there(object)).boxed())
    }

    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        Some(operation(to, self.copy_within(from, to)).boxed())
    }

    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        Some(match objects.first() {
            Some(first) => operation(first, self.remove_many(objects)).boxed(),
            None => Box::pin(async { Ok(()) }),
        })
    }

    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        let pages = self.pages.as_deref()?;
        Some(operation(prefix, self.objects_below(pages, prefix, page)).boxed())
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn ncirrus_store::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

/// Maximum key length: in bytes (Amazon, Google), in characters of a blob's name (Azure).
const LONGEST_KEY: usize = 1024;
/// Maximum size that Amazon accepts in one piece.
const LARGEST_PUT: u64 = 5 << 30;

/// Without the settings: they may hold secrets.
impl fmt::Debug for CloudStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CloudStore({})", self.id.as_str())
    }
}
