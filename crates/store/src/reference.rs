//! References: each key of a Zarr dataset is mapped to a byte range of another object, as kerchunk writes them and fsspec
//! reads them. They are stored as JSON, which is read whole, or as Parquet, which is read as needed.
mod entries;
mod formats;
mod json;
mod keys;
mod manifest;
mod records;
mod targets;
mod template;
mod text;

pub use entries::{Reference, open_references};

use crate::opened::Opened;
use crate::store::{LocalStore, ObjectRange, ReadOnlyStore, Store, StoreFacts};
use crate::targets::cut_short;
use crate::url::Scheme;
use crate::{StoreContext, key, want};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use futures_util::{FutureExt, StreamExt};
use manifest::{ManifestEntry, ReferenceManifest};
use ncirrus_layout::{Error, ErrorKind, Limits, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use records::{RecordFiles, RecordPlace};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use targets::ReferenceTargets;
use text::{ReferenceText, TextCompression};

/// The dataset in references. A JSON file is read once, files of Parquet when one of their references is needed; the
/// objects that they name are opened on demand.
#[derive(Debug)]
pub struct ReferenceStore {
    id: StoreId,
    tag: Tag,
    manifest: ReferenceManifest,
    /// Where the chunks are if the references are stored in Parquet. The manifest has only the metadata then.
    records: Option<RecordFiles>,
    targets: ReferenceTargets,
    facts: StoreFacts,
}

/// Whether a name may be that of a reference file.
pub(crate) fn is_reference_name(path: &str) -> bool {
    ends_with_any(path, &[".json", ".json.gz", ".json.zst", ".json.zstd"])
}

/// Whether a name is usual for a folder of references in Parquet.
fn is_folder_name(path: &str) -> bool {
    ends_with_any(path, &[".parq", ".parquet"])
}

fn ends_with_any(path: &str, endings: &[&str]) -> bool {
    let name = path.trim_end_matches('/').to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
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
        if let Some((translate, stem)) = context.formats.find(object.key()) {
            let limits = &context.options.limits;
            let is_whole = first.bytes.len() as u64 >= first.size;
            let document = if is_whole { first } else { fetch(store, object, &Want::All).await? };
            let translated = translate(&document.bytes, limits);
            let manifest = translated.and_then(|translated| formats::manifest(translated, stem, limits));
            let manifest = manifest.map_err(|error| error.at_object(object).by("reference"))?;
            return Ok(Some(Self::new(file, document.tag, manifest, None, context)));
        }
        let compression = TextCompression::of(&first.bytes);
        let is_plain = compression == TextCompression::None;
        if is_plain && first.bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Ok(None);
        }
        let is_whole = first.bytes.len() as u64 >= first.size;
        let tag = first.tag.clone();
        let text = match store.local() {
            _ if is_whole => ReferenceText::Bytes(first.bytes),
            Some(local) => ReferenceText::File(local, object),
            None => ReferenceText::Bytes(fetch(store, object, &Want::All).await?.bytes),
        };
        let parsed = ReferenceManifest::parse(&text, compression, &context.options.limits);
        let Some(manifest) = parsed.map_err(|error| error.at_object(object).by("reference"))? else {
            return Ok(None);
        };
        Ok(Some(Self::new(file, tag, manifest, None, context)))
    }

    /// Opens a folder of references in Parquet; `None` if it is another kind of folder. Only its metadata are read.
    ///
    /// # Errors
    /// `Malformed` for metadata that are damaged, `Limit`, errors of reading them.
    pub async fn open_folder(folder: &Opened, context: &StoreContext) -> Result<Option<Self>> {
        let (store, limits) = (folder.store.as_ref(), &context.options.limits);
        let document = folder.root.child(records::METADATA);
        let want = Want::AtMost(limits.metadata_bytes);
        let found = match store.local() {
            Some(local) => local.read(&document, &want)?,
            None => store.get(&document, &want).await?,
        };
        let Some(found) = found.filter(|found| records::is_marked(&found.bytes)) else { return Ok(None) };
        let opened = RecordFiles::open(&found, &folder.store, &folder.root, limits);
        let opened = opened.map_err(|error| error.at_object(&document).by("reference"))?;
        Ok(opened.map(|(records, manifest)| Self::new(folder, found.tag, manifest, Some(records), context)))
    }

    fn new(
        file: &Opened,
        tag: Tag,
        manifest: ReferenceManifest,
        records: Option<RecordFiles>,
        context: &StoreContext,
    ) -> Self {
        let id = file.root.store.at(file.root.to_string());
        let targets = ReferenceTargets::new(&manifest.targets, &file.url, context);
        let nearest = targets.facts().unwrap_or_else(|| file.store.facts());
        let facts = StoreFacts { lists: true, writable: false, ..nearest };
        Self { id, tag, manifest, records, targets, facts }
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
        let key = key::check(object)?;
        let at_object = |error: Error| error.at_object(object).by("reference");
        if let Some(entry) = self.manifest.entries.get(key) {
            return self.entry(entry, &self.tag, want).await.map(Some).map_err(at_object);
        }
        let Some(records) = &self.records else { return Ok(None) };
        let Some(place) = records.place(key).map_err(at_object)? else { return Ok(None) };
        let Some(part) = records.part(place, &self.targets).await? else { return Ok(None) };
        match part.entry(place.row).map_err(at_object)? {
            Some(entry) => self.entry(entry, &part.tag, want).await.map(Some).map_err(at_object),
            None => Ok(None),
        }
    }

    async fn entry(&self, entry: &ManifestEntry, tag: &Tag, want: &Want) -> Result<ObjectBytes> {
        match entry {
            ManifestEntry::Inline(body) => Ok(want::blob(body, want, tag.clone())),
            ManifestEntry::Whole(target) => self.target(*target, want).await,
            ManifestEntry::Range { target, offset, len } => self.range(*target, (*offset, *len), want).await,
            ManifestEntry::Damaged(reason) => Err(Error::malformed(reason.to_string())),
        }
    }

    /// Looks up many objects: each file of records is read once.
    async fn locate(&self, records: &RecordFiles, objects: &[ObjectId]) -> Result<Vec<Option<ObjectRange>>> {
        let mut found: Vec<Option<ObjectRange>> =
            objects.iter().map(|object| self.range_of(object)).collect();
        let mut parts: HashMap<(&str, u64), Vec<(usize, RecordPlace<'_>)>> = HashMap::new();
        for (at, object) in objects.iter().enumerate() {
            // What is wrong with a key, or a file, is reported when the object is read.
            if let Ok(Some(place)) = records.place(object.key()) {
                parts.entry((place.array, place.part)).or_default().push((at, place));
            }
        }
        let at_once = self.facts.concurrency.clamp(1, PARTS_AT_ONCE);
        let lookups: Vec<_> =
            parts.into_values().map(|wanted| self.locate_in_part(records, wanted)).collect();
        let mut ranges = stream::iter(lookups).buffer_unordered(at_once);
        while let Some(ranges) = ranges.next().await {
            for (at, range) in ranges? {
                if let Some(slot) = found.get_mut(at) {
                    *slot = Some(range);
                }
            }
        }
        drop(ranges);
        Ok(found)
    }

    /// Looks up objects whose references are in the same file.
    async fn locate_in_part(
        &self,
        records: &RecordFiles,
        wanted: Vec<(usize, RecordPlace<'_>)>,
    ) -> Result<Vec<(usize, ObjectRange)>> {
        let Some((_, first)) = wanted.first() else { return Ok(Vec::new()) };
        let Some(part) = records.part(*first, &self.targets).await? else { return Ok(Vec::new()) };
        let range = |(at, place): (usize, RecordPlace<'_>)| {
            let entry = part.entry(place.row).ok().flatten()?;
            Some((at, self.range_of_entry(entry)?))
        };
        Ok(wanted.into_iter().filter_map(range).collect())
    }

    /// Where an object is a range of another, as far as that is known without reading.
    fn range_of(&self, object: &ObjectId) -> Option<ObjectRange> {
        self.range_of_entry(self.manifest.entries.get(object.key())?)
    }

    fn range_of_entry(&self, entry: &ManifestEntry) -> Option<ObjectRange> {
        match entry {
            ManifestEntry::Range { target, offset, len } if *len > 0 => {
                Some((self.targets.object(*target, &self.id)?, *offset..offset.checked_add(*len)?))
            }
            _ => None,
        }
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
        // Which objects are named, and on which store, is known when the first file of records was read.
        let nearest = self.records.as_ref().and_then(|_| self.targets.facts()).unwrap_or(self.facts);
        StoreFacts { lists: true, writable: false, ..nearest }
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
        Error::unsupported("writing to data that references point to")
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        self.range_of(object)
    }

    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        self.records.as_ref().map(|records| self.locate(records, objects).boxed())
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

/// Opens references, if the dataset is one by its content. A local folder is looked into; elsewhere that would be a request
/// more for every dataset, so the name decides what is looked into.
pub(crate) async fn look_into(opened: Opened, context: &StoreContext) -> Result<Opened> {
    if opened.container.is_some() {
        return Ok(opened);
    }
    let Some(store) = look_for(&opened, context).await? else { return Ok(opened) };
    let (root, warnings) = (store.root(), store.warnings().to_vec());
    Ok(Opened { store: Arc::new(store), root, warnings, ..opened })
}

/// The references that are there.
async fn look_for(opened: &Opened, context: &StoreContext) -> Result<Option<ReferenceStore>> {
    let key = opened.root.key();
    let is_meant = opened.url.fragment().modes().contains("reference");
    let is_local_folder =
        opened.store.local().is_some() && (key.is_empty() || opened.url.scheme() == Scheme::Memory);
    let is_named = is_reference_name(key) || context.formats.find(key).is_some();
    if is_named || (is_meant && !is_local_folder) {
        match ReferenceStore::open(opened, context).await {
            Ok(Some(store)) => return Ok(Some(store)),
            // A directory, or nothing: the caller's opening reports it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Invalid) => {}
            Err(error) => return Err(error),
            Ok(None) => {}
        }
    }
    if is_local_folder || is_meant || is_folder_name(opened.url.path()) {
        return ReferenceStore::open_folder(opened, context).await;
    }
    Ok(None)
}

/// For fuzzing: reads a reference file and inspects every entry.
#[doc(hidden)]
pub fn parse_references(text: &[u8], limits: &Limits) -> Result<Option<usize>> {
    let bytes = ReferenceText::Bytes(Bytes::copy_from_slice(text));
    let parsed = ReferenceManifest::parse(&bytes, TextCompression::of(text), limits)?;
    Ok(parsed.map(|manifest| manifest.entries.len()))
}

/// For fuzzing: reads a file of references in Parquet.
#[doc(hidden)]
pub fn parse_records(file: &[u8], limits: &Limits) -> Result<usize> {
    records::parse(file, limits)
}

/// Files of references that are read at once.
const PARTS_AT_ONCE: usize = 16;

/// Number of bytes read first: enough for small files.
const FIRST: u64 = 1 << 20;

#[cfg(test)]
mod tests;
