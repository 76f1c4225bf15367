//! Reference files: JSON that maps each key to byte ranges of objects, as kerchunk writes them and fsspec reads them.
//! Their content is a Zarr dataset whose chunks are in other files.
mod manifest;
mod targets;
mod template;

use crate::opened::Opened;
use crate::store::{LocalStore, ReadOnlyStore, Store, StoreFacts};
use crate::targets::cut_short;
use crate::{StoreContext, key, want};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use manifest::{ManifestEntry, ReferenceManifest};
use ncirrus_layout::{Error, Limits, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::ops::Range;
use std::sync::Arc;
use targets::ReferenceTargets;

/// The dataset in a reference file. The file is read once; the objects that it names are opened on demand.
#[derive(Debug)]
pub struct ReferenceStore {
    id: StoreId,
    tag: Tag,
    manifest: ReferenceManifest,
    targets: ReferenceTargets,
    facts: StoreFacts,
}

/// Whether a name may be that of a reference file.
pub(crate) fn is_reference_name(path: &str) -> bool {
    path.trim_end_matches('/').to_ascii_lowercase().ends_with(".json")
}

impl ReferenceStore {
    /// Opens a reference file; `None` if it is JSON of another kind. Nothing else is opened yet.
    ///
    /// # Errors
    /// `NotFound`, `Limit` for a file that is too large, `Malformed` for invalid JSON, `Unsupported` for templates
    /// that are not supported.
    pub async fn open(file: &Opened, context: &StoreContext) -> Result<Option<Self>> {
        let (store, object) = (file.store.as_ref(), &file.root);
        // The first read shows how large it is.
        let first = fetch(store, object, &Want::Parse(0..FIRST)).await?;
        context
            .options
            .limits
            .metadata_len(first.size, "reference file")
            .map_err(|error| error.at_object(object))?;
        let whole = first.bytes.len() as u64 >= first.size;
        let blob = if whole { first } else { fetch(store, object, &Want::All).await? };
        if blob.bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Ok(None);
        }
        let parsed = ReferenceManifest::parse(&blob.bytes, &context.options.limits);
        let Some(manifest) = parsed.map_err(|error| error.at_object(object).by("reference"))? else {
            return Ok(None);
        };
        let id = object.store.at(object.to_string());
        let targets = ReferenceTargets::new(&manifest.targets, file, context);
        let nearest = targets.facts().unwrap_or_else(|| store.facts());
        let facts = StoreFacts { lists: true, writable: false, ..nearest };
        Ok(Some(Self { id, tag: blob.tag, manifest, targets, facts }))
    }

    /// The dataset in it.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), self.manifest.root_prefix())
    }

    /// Entries that were skipped, and why.
    pub fn warnings(&self) -> &[String] {
        &self.manifest.warnings
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.manifest.entries.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let Some(target) = self.targets.number(object) else { return self.read_entry(object, want).await };
        let read = self.target(target, want).await.and_then(|found| match want {
            Want::Range(range) if found.size < range.end => Err(self.cut_short(target, found.size, range)),
            _ => Ok(found),
        });
        read.map(Some).map_err(|error| error.at_object(self.targets.name(target)).by("reference"))
    }

    async fn read_entry(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let Some(entry) = self.manifest.entries.get(key::check(object)?) else { return Ok(None) };
        let read = match entry {
            ManifestEntry::Inline(body) => Ok(want::blob(body, want, self.tag.clone())),
            ManifestEntry::Whole(target) => self.target(*target, want).await,
            ManifestEntry::Range { target, offset, len } => self.range(*target, (*offset, *len), want).await,
            ManifestEntry::Damaged(reason) => Err(Error::malformed(reason.clone())),
        };
        read.map(Some).map_err(|error| error.at_object(object).by("reference"))
    }

    async fn range(&self, target: u32, (offset, len): (u64, u64), want: &Want) -> Result<ObjectBytes> {
        want::check_size(want, len)?;
        let range = want::resolve(want, len);
        if range.is_empty() {
            return Ok(ObjectBytes {
                bytes: Bytes::new(),
                offset: range.start,
                size: len,
                tag: self.tag.clone(),
            });
        }
        let (start, end) = (offset.saturating_add(range.start), offset.saturating_add(range.end));
        let found = self.target(target, &Want::Range(start..end)).await?;
        if found.bytes.len() as u64 != range.end - range.start {
            return Err(self.cut_short(target, found.size, &(offset..offset.saturating_add(len))));
        }
        let tag = Tag::new(format!("{}-{offset:x}", found.tag.as_str()));
        Ok(ObjectBytes { bytes: found.bytes, offset: range.start, size: len, tag })
    }

    fn cut_short(&self, target: u32, size: u64, range: &Range<u64>) -> Error {
        cut_short(&self.targets.name(target), size, range)
    }

    /// Bytes of a referenced object. A missing one is an error, unlike a chunk that was never written.
    async fn target(&self, target: u32, want: &Want) -> Result<ObjectBytes> {
        let (store, object) = self.targets.get(target)?;
        fetch(store.as_ref(), &object, want).await
    }
}

pub(crate) async fn fetch(store: &dyn Store, object: &ObjectId, want: &Want) -> Result<ObjectBytes> {
    let blob = match store.local() {
        Some(local) => local.read(object, want)?,
        None => store.get(object, want).await?,
    };
    blob.ok_or_else(|| Error::not_found(format!("no such object: {object}")))
}

impl ReadOnlyStore for ReferenceStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        self.facts
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        self.read(object, want).boxed()
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { Ok(self.manifest.entries.list(key::check(prefix)?, page)) })
    }

    fn rejection(&self) -> Error {
        Error::unsupported("writing to data that a reference file points to")
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        match self.manifest.entries.get(object.key())? {
            ManifestEntry::Range { target, offset, len } if *len > 0 => {
                Some((self.targets.object(*target, &self.id)?, *offset..offset.checked_add(*len)?))
            }
            _ => None,
        }
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

/// Opens a reference file, if the dataset is one by its name and its content.
pub(crate) async fn look_into(opened: Opened, context: &StoreContext) -> Result<Opened> {
    let is_named = opened.container.is_none()
        && (is_reference_name(opened.root.key()) || opened.url.fragment().modes().contains("reference"));
    if !is_named {
        return Ok(opened);
    }
    match ReferenceStore::open(&opened, context).await {
        Ok(Some(store)) => {
            let (root, warnings) = (store.root(), store.warnings().to_vec());
            Ok(Opened { store: Arc::new(store), root, warnings, ..opened })
        }
        // A directory, or nothing: the caller's opening reports it.
        Err(error)
            if matches!(
                error.kind(),
                ncirrus_layout::ErrorKind::NotFound | ncirrus_layout::ErrorKind::Invalid
            ) =>
        {
            Ok(opened)
        }
        Ok(None) => Ok(opened),
        Err(error) => Err(error),
    }
}

/// For fuzzing: reads a reference file and inspects every entry.
#[doc(hidden)]
pub fn parse_references(text: &[u8], limits: &Limits) -> Result<Option<usize>> {
    Ok(ReferenceManifest::parse(text, limits)?.map(|manifest| manifest.entries.len()))
}

/// Number of bytes read first: enough for small files.
const FIRST: u64 = 1 << 20;

#[cfg(test)]
mod tests;
