//! References in Parquet: for each array a folder with files of equally many rows, one row for each chunk in the order of
//! C (docs/spec/kerchunk-parquet.md). A file is read when one of its chunks is wanted.
mod cache;
mod numbering;
mod part;

use super::manifest::{ManifestEntry, ReferenceManifest};
use super::targets::ReferenceTargets;
use crate::store::Store;
use bytes::Bytes;
use cache::PartCache;
use ncirrus_layout::{Error, Limits, ObjectBytes, ObjectId, Result, Want};
use numbering::ChunkNumbering;
use part::RecordPart;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The document with the metadata of all nodes.
pub(super) const METADATA: &str = ".zmetadata";

/// Where the chunks of arrays are.
#[derive(Debug)]
pub(super) struct RecordFiles {
    store: Arc<dyn Store>,
    /// The folder of the references.
    folder: ObjectId,
    /// Rows of each file.
    record_size: u64,
    /// By the path of the array.
    arrays: HashMap<String, Result<ChunkNumbering>>,
    parts: PartCache,
    limits: Limits,
}

/// A chunk: its array, the number of its file, and its row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordPlace<'a> {
    pub(super) array: &'a str,
    pub(super) part: u64,
    pub(super) row: usize,
}

/// Whether a document may be that of references in Parquet. Others need not be parsed.
pub(super) fn is_marked(document: &[u8]) -> bool {
    document.windows(MARK.len()).any(|window| window == MARK)
}

const MARK: &[u8] = b"\"record_size\"";

impl RecordFiles {
    /// Parses the document with the metadata, which become entries of the manifest; `None` if it is one of another kind.
    ///
    /// # Errors
    /// `Malformed` for a wrong number of rows, `Limit`.
    pub(super) fn open(
        document: &ObjectBytes,
        store: &Arc<dyn Store>,
        folder: &ObjectId,
        limits: &Limits,
    ) -> Result<Option<(Self, ReferenceManifest)>> {
        let Ok(Value::Object(mut all)) = serde_json::from_slice(&document.bytes) else { return Ok(None) };
        let (Some(size), Some(Value::Object(metadata))) = (all.remove("record_size"), all.remove("metadata"))
        else {
            return Ok(None);
        };
        let record_size = size.as_u64().filter(|size| *size > 0);
        let record_size =
            record_size.ok_or_else(|| Error::malformed(format!("references of record_size {size}")))?;
        limits.count(record_size, "a file of references (record_size)")?;
        limits.count(metadata.len() as u64, METADATA)?;
        let mut arrays = HashMap::new();
        for (key, value) in &metadata {
            if key == "zarr.json" || key.ends_with("/zarr.json") {
                return Err(Error::unsupported("references in Parquet to Zarr v3"));
            }
            if key == ".zarray" || key.ends_with("/.zarray") {
                let path = key.trim_end_matches(".zarray").trim_end_matches('/');
                arrays.insert(path.to_owned(), ChunkNumbering::of(value));
            }
        }
        let manifest = manifest(&metadata, limits);
        let (store, folder, parts) = (Arc::clone(store), folder.clone(), PartCache::new(PARTS_BYTES));
        Ok(Some((Self { store, folder, record_size, arrays, parts, limits: limits.clone() }, manifest)))
    }

    /// The place of a chunk by its key; `None` if it is not the key of a chunk.
    ///
    /// # Errors
    /// `Malformed` for an array whose metadata do not say how it is divided.
    pub(super) fn place<'a>(&self, key: &'a str) -> Result<Option<RecordPlace<'a>>> {
        let cuts = key.rmatch_indices('/').map(|(at, _)| (key.get(..at), key.get(at + 1..)));
        for (array, cell) in cuts.chain(std::iter::once((Some(""), Some(key)))) {
            let (Some(array), Some(cell)) = (array, cell) else { continue };
            let Some(numbering) = self.arrays.get(array) else { continue };
            let number = numbering.as_ref().map_err(|error| error.clone().at_path(array))?.number(cell);
            let place = |number: u64| RecordPlace {
                array,
                part: number / self.record_size,
                row: usize::try_from(number % self.record_size).unwrap_or(usize::MAX),
            };
            return Ok(number.map(place));
        }
        Ok(None)
    }

    /// The file with a place; `None` if no chunk of it was ever written.
    ///
    /// # Errors
    /// `Malformed` for a damaged file, errors of reading it.
    pub(super) async fn part(
        &self,
        place: RecordPlace<'_>,
        targets: &ReferenceTargets,
    ) -> Result<Option<Arc<RecordPart>>> {
        self.parts.get((place.array, place.part), self.load(place, targets)).await
    }

    async fn load(&self, place: RecordPlace<'_>, targets: &ReferenceTargets) -> Result<Option<RecordPart>> {
        let slash = if place.array.is_empty() { "" } else { "/" };
        let object = self.folder.child(&format!("{}{slash}refs.{}.parq", place.array, place.part));
        let want = Want::AtMost(self.limits.metadata_bytes);
        let found = match self.store.local() {
            Some(local) => local.read(&object, &want),
            None => self.store.get(&object, &want).await,
        };
        let failed = |error: Error| error.at_object(&object).by("reference");
        let Some(blob) = found.map_err(failed)? else { return Ok(None) };
        let part = RecordPart::read(&blob, self.record_size, targets, &self.limits);
        part.map(Some).map_err(failed)
    }

    /// Rows of each file.
    pub(super) fn record_size(&self) -> u64 {
        self.record_size
    }

    /// The arrays, and for each file of them a place, in the order of the chunks.
    ///
    /// # Errors
    /// `Malformed` for an array whose metadata do not say how it is divided; `Limit` for too many files.
    pub(super) fn places(&self) -> Result<Vec<RecordPlace<'_>>> {
        let mut places = Vec::new();
        for (array, numbering) in &self.arrays {
            let numbering = numbering.as_ref().map_err(|error| error.clone().at_path(array))?;
            let parts = numbering.count().div_ceil(self.record_size);
            self.limits.count(parts.saturating_add(places.len() as u64), "files of references")?;
            places.extend((0..parts).map(|part| RecordPlace { array, part, row: 0 }));
        }
        Ok(places)
    }

    /// The key of the chunk in a row of a file; `None` behind the last chunk.
    pub(super) fn key(&self, place: RecordPlace<'_>) -> Option<String> {
        let numbering = self.arrays.get(place.array)?.as_ref().ok()?;
        let row = u64::try_from(place.row).ok()?;
        let cell = numbering.cell(place.part.checked_mul(self.record_size)?.checked_add(row)?)?;
        Some(if place.array.is_empty() { cell } else { format!("{}/{cell}", place.array) })
    }
}

/// The metadata as objects of a Zarr dataset with consolidated metadata.
fn manifest(metadata: &Map<String, Value>, limits: &Limits) -> ReferenceManifest {
    let mut manifest = ReferenceManifest::new(limits);
    for (key, value) in metadata {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        manifest.insert(key, ManifestEntry::Inline(Box::new(text.into())));
    }
    let consolidated = json!({"metadata": metadata, "zarr_consolidated_format": 1}).to_string();
    manifest.insert(METADATA, ManifestEntry::Inline(Box::new(consolidated.into())));
    manifest.finished()
}

/// Reads a file, and inspects every row.
///
/// # Errors
/// As for references that are opened.
pub(super) fn parse(file: &[u8], limits: &Limits) -> Result<usize> {
    let base = crate::Url::parse("memory://references/records.parq")?;
    let targets = ReferenceTargets::new(&[], &base, &crate::StoreContext::default());
    let tag = ncirrus_layout::Tag::new("parsed");
    let blob = ObjectBytes { bytes: Bytes::copy_from_slice(file), offset: 0, size: file.len() as u64, tag };
    let part = RecordPart::read(&blob, limits.count, &targets, limits)?;
    Ok((0..).map_while(|row| part.entry(row).ok()).flatten().count())
}

/// Bytes of the files that are kept in memory.
const PARTS_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests;
