//! A manifest: where the chunks of arrays are (docs/spec/icechunk-format.md, "Manifest"). References stay in the buffer and are
//! found by binary search, so that many million of them cost no more than the file.
use crate::envelope::{self, FileBody, FileKind};
use crate::flat::{FlatTable, FlatVector};
use crate::id::{NodeName, ObjectName};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, LockExt, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use zstd_safe::{DCtx, DDict};

/// A parsed manifest.
pub(crate) struct Manifest {
    body: FileBody,
    /// For the addresses of virtual chunks.
    dictionary: Option<DDict<'static>>,
}

/// Where the bytes of a chunk are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChunkPlace {
    /// In an object of the repository.
    Native { id: ObjectName, range: Range<u64> },
    /// In the manifest.
    Inline(Bytes),
    /// In an object outside.
    Virtual(VirtualPlace),
}

/// Where the bytes of a virtual chunk are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VirtualPlace {
    /// An address, or `vcc://NAME/path`.
    pub(crate) location: String,
    pub(crate) range: Range<u64>,
    pub(crate) etag: Option<String>,
    /// Seconds since 1970.
    pub(crate) unmodified_since: Option<u64>,
}

/// Maximum length of an address that was not compressed, and of an ETag: every chunk of a manifest may refer to the same one.
const MAX_TEXT: usize = 8 << 10;
/// Maximum length of an address that was compressed (docs/spec/icechunk-format.md, "compressed_location").
const MAX_LOCATION: usize = 1024;

impl Manifest {
    /// Parses a file of `manifests`.
    ///
    /// # Errors
    /// As [`envelope::open`]; `Malformed` for an offset that leads out of the file.
    pub(crate) fn parse(bytes: &Bytes, limits: &Limits) -> Result<Self> {
        Self::of_body(envelope::open_any(bytes, FileKind::Manifest, limits)?)
    }

    /// The manifest in a file that was opened.
    ///
    /// # Errors
    /// `Malformed` for an offset that leads out of the file.
    pub(crate) fn of_body(body: FileBody) -> Result<Self> {
        let table = FlatTable::root_of(body.flat())?;
        table.vector(1, 4)?;
        let dictionary = table.any_bytes(2)?.filter(|dictionary| !dictionary.is_empty());
        let dictionary = dictionary.map(|dictionary| DDict::create(&dictionary));
        Ok(Self { body, dictionary })
    }

    /// The references of an array; `None` if it has none here.
    ///
    /// # Errors
    /// `Malformed` for an offset that leads out of the file.
    pub(crate) fn array(&self, node: NodeName) -> Result<Option<ArrayRefs<'_>>> {
        let arrays = FlatTable::root_of(self.body.flat())?.vector(1, 4)?;
        let found = search(arrays, 0, |table| {
            let id = table.inline(0)?.map(NodeName::of_bytes);
            Ok(id.ok_or_else(|| Error::malformed("an array without an id"))?.cmp(&node))
        })?;
        let Some((_, table)) = found else { return Ok(None) };
        Ok(Some(ArrayRefs { manifest: self, refs: table.vector(1, 4)?, next: 0 }))
    }

    /// The same manifest in pages.
    #[cfg(test)]
    pub(crate) fn in_pages(self) -> Self {
        let mut maker = crate::pages::PageMaker::new(usize::MAX);
        if let FileBody::Whole(body) = &self.body {
            maker.add(body).unwrap();
        }
        Self { body: FileBody::Paged(maker.finish().unwrap()), ..self }
    }

    /// All places, array by array.
    #[cfg(test)]
    pub(crate) fn places(&self) -> Result<Vec<ChunkPlace>> {
        let arrays = FlatTable::root_of(self.body.flat())?.vector(1, 4)?;
        let mut places = Vec::new();
        for table in arrays.tables() {
            for reference in table?.vector(1, 4)?.tables() {
                places.push(self.place(reference?)?);
            }
        }
        Ok(places)
    }

    /// For fuzzing: looks at the references of all arrays and returns their number.
    pub(crate) fn inspect(&self) -> usize {
        let arrays = FlatTable::root_of(self.body.flat()).and_then(|table| table.vector(1, 4));
        let mut count = 0;
        for table in arrays.into_iter().flat_map(FlatVector::tables).flatten().take(1000) {
            let Ok(refs) = table.vector(1, 4) else { continue };
            for reference in refs.tables().flatten().take(1000) {
                count += usize::from(self.place(reference).is_ok());
            }
        }
        count
    }

    fn place(&self, table: FlatTable<'_>) -> Result<ChunkPlace> {
        let (offset, len) = (table.u64(2)?, table.u64(3)?);
        let range = || {
            let end = offset.checked_add(len);
            let huge = || Error::malformed(format!("a chunk of {len} bytes at {offset} ends beyond 2^64"));
            end.map(|end| offset..end).ok_or_else(huge)
        };
        if let Some(id) = table.inline(4)?.map(ObjectName::of_bytes) {
            return Ok(ChunkPlace::Native { id, range: range()? });
        }
        let location = match (table.any_bytes(8)?, table.any_text(5, MAX_TEXT)?) {
            (Some(compressed), _) => self.location(&compressed)?,
            (None, Some(location)) => location,
            (None, None) => {
                let inline = table.any_bytes(1)?;
                let inline = inline.ok_or_else(|| Error::malformed("a chunk reference to nothing"))?;
                return Ok(ChunkPlace::Inline(match (&self.body, inline) {
                    (FileBody::Whole(body), Cow::Borrowed(inline)) => body.slice_ref(inline),
                    (_, inline) => Bytes::from(inline.into_owned()),
                }));
            }
        };
        let since = u64::from(table.u32(7)?);
        Ok(ChunkPlace::Virtual(VirtualPlace {
            location,
            range: range()?,
            etag: table.any_text(6, MAX_TEXT)?.filter(|etag| !etag.is_empty()),
            unmodified_since: (since != 0).then_some(since),
        }))
    }

    /// An address that is compressed with the dictionary of the manifest.
    fn location(&self, compressed: &[u8]) -> Result<String> {
        let mut text = [0u8; MAX_LOCATION];
        let mut decoder = DCtx::create();
        let len = match &self.dictionary {
            Some(dictionary) => decoder.decompress_using_ddict(&mut text[..], compressed, dictionary),
            None => decoder.decompress(&mut text[..], compressed),
        };
        let len = len.map_err(|code| {
            let reason = zstd_safe::get_error_name(code).to_lowercase();
            Error::malformed(format!("the address of a chunk cannot be decompressed: {reason}"))
        })?;
        let text = text.get(..len).and_then(|text| std::str::from_utf8(text).ok());
        text.map(str::to_owned).ok_or_else(|| Error::malformed("the address of a chunk is not UTF-8"))
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifest({} bytes)", self.body.held())
    }
}

/// Parsed manifests, the most recently parsed ones: reads of a few values do not decompress one each time.
#[derive(Debug, Default)]
pub(crate) struct KeptManifests(Mutex<Vec<(ObjectName, Arc<Manifest>)>>);

/// Maximum size of the manifests that a dataset keeps; those that a read needs are kept in any case.
const MAX_KEPT: usize = 128 << 20;

impl KeptManifests {
    pub(crate) fn find(&self, id: ObjectName) -> Option<Arc<Manifest>> {
        let kept = self.0.guard();
        kept.iter().find(|(other, _)| *other == id).map(|(_, manifest)| Arc::clone(manifest))
    }

    /// Keeps a manifest. Those that are `wanted` are not dropped: a step that needs all of them would never end.
    pub(crate) fn keep(&self, id: ObjectName, manifest: Manifest, wanted: &[ObjectName]) -> Arc<Manifest> {
        let manifest = Arc::new(manifest);
        let mut kept = self.0.guard();
        kept.retain(|(other, _)| *other != id);
        kept.push((id, Arc::clone(&manifest)));
        let mut held: usize = kept.iter().map(|(_, manifest)| manifest.body.held()).sum();
        while held > MAX_KEPT
            && let Some(oldest) = kept.iter().position(|(other, _)| *other != id && !wanted.contains(other))
        {
            held -= kept.remove(oldest).1.body.held();
        }
        manifest
    }
}

/// The references of an array in a manifest.
#[derive(Clone, Copy)]
pub(crate) struct ArrayRefs<'a> {
    manifest: &'a Manifest,
    refs: FlatVector<'a>,
    /// The number of the reference after the last one that was found: chunks are mostly wanted in their order.
    next: usize,
}

impl ArrayRefs<'_> {
    /// Where the chunk with these indexes is; `None` if it was never written.
    ///
    /// # Errors
    /// `Malformed` for an offset that leads out of the file, or a reference to nothing.
    pub(crate) fn find(&mut self, indexes: &[u32]) -> Result<Option<ChunkPlace>> {
        let found = search(self.refs, self.next, |table| compare(table.vector(0, 4)?, indexes))?;
        let Some((number, table)) = found else { return Ok(None) };
        self.next = number + 1;
        self.manifest.place(table).map(Some)
    }
}

/// The order of the indexes of a reference and other ones.
fn compare(index: FlatVector<'_>, other: &[u32]) -> Result<Ordering> {
    if index.len() != other.len() {
        let message = format!("a chunk reference has {} indexes for {} dimensions", index.len(), other.len());
        return Err(Error::malformed(message));
    }
    for (axis, other) in other.iter().enumerate() {
        let order = u32::from_le_bytes(index.element(axis)?).cmp(other);
        if order.is_ne() {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// The table that is equal, and its number: the one with the number that is expected, or by binary search.
fn search<'a>(
    list: FlatVector<'a>,
    expected: usize,
    mut order: impl FnMut(&FlatTable<'a>) -> Result<Ordering>,
) -> Result<Option<(usize, FlatTable<'a>)>> {
    let (mut low, mut high) = (0, list.len());
    if expected < high {
        let table = list.table(expected)?;
        match order(&table)? {
            Ordering::Less => low = expected + 1,
            Ordering::Greater => high = expected,
            Ordering::Equal => return Ok(Some((expected, table))),
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        let table = list.table(middle)?;
        match order(&table)? {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(Some((middle, table))),
        }
    }
    Ok(None)
}
