//! A snapshot as objects of Zarr v3: the document of each node, and its chunks as if each were an object.
use crate::chunk_refs::ShownSnapshot;
use crate::manifest::ChunkPlace;
use bytes::Bytes;
use ncirrus_layout::{
    CellList, ChunkIndex, ChunkRef, Error, Limits, Listing, Location, Memo, ObjectBytes, ObjectId, Result,
    Step, VariableRef, View, Want,
};
use ncirrus_model::{CodecSpec, Selection, Values};
use std::ops::Range;
use std::sync::Arc;

/// The document of a node.
const DOCUMENT: &str = "zarr.json";
/// The document of the root of a repository in which nothing was ever written.
const EMPTY_ROOT: &[u8] = br#"{"zarr_format":3,"node_type":"group"}"#;

/// A view of the objects that a snapshot seems to have, and of all real ones.
pub(crate) struct SnapshotView<'a> {
    pub(crate) view: &'a dyn View,
    pub(crate) shown: &'a ShownSnapshot,
}

impl SnapshotView<'_> {
    fn is_shown(&self, object: &ObjectId) -> bool {
        object.store == self.shown.base.store
    }

    fn document(&self, key: &str) -> Option<Bytes> {
        let path = match key.strip_suffix(DOCUMENT)? {
            "" => "",
            folder => folder.strip_suffix('/')?,
        };
        let is_root = path.is_empty();
        self.shown.snapshot.document(path).or_else(|| is_root.then(|| Bytes::from_static(EMPTY_ROOT)))
    }

    fn place(&self, key: &str) -> Step<Option<ChunkPlace>> {
        Ok(self.shown.places(self.view, std::iter::once(key))?.pop().flatten())
    }

    /// Bytes of a chunk as if it were an object.
    fn chunk(&self, place: ChunkPlace, want: &Want) -> Step<Option<ObjectBytes>> {
        let tag = self.shown.tag.clone();
        let len = match &place {
            ChunkPlace::Native { range, .. } => range.end - range.start,
            ChunkPlace::Inline(bytes) => bytes.len() as u64,
            ChunkPlace::Virtual(place) => place.range.end - place.range.start,
        };
        let part = resolved(want, len);
        let offset = part.start;
        let (object, range) = match self.shown.locator().location(place, Some(part))? {
            Location::Inline(bytes) => return Ok(Some(ObjectBytes { bytes, offset, size: len, tag })),
            Location::Bytes(object, range) => (object, range),
            Location::Object(_) | Location::Absent => return Ok(None),
        };
        if range.is_empty() {
            return Ok(Some(ObjectBytes { bytes: Bytes::new(), offset, size: len, tag }));
        }
        let wanted = range.end - range.start;
        let found = self.view.read(&object, Want::Range(range))?;
        let found = found.ok_or_else(|| Error::not_found("the chunk does not exist").at_object(&object))?;
        if found.bytes.len() as u64 != wanted {
            let message = format!("{} bytes instead of {wanted} of a chunk", found.bytes.len());
            return Err(Error::malformed(message).at_object(&object).into());
        }
        Ok(Some(ObjectBytes { bytes: found.bytes, offset, size: len, tag }))
    }
}

impl View for SnapshotView<'_> {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        if !self.is_shown(object) {
            return self.view.read(object, want);
        }
        if let Some(document) = self.document(object.key()) {
            let size = document.len() as u64;
            let range = resolved(&want, size);
            let at = |place| usize::try_from(place).unwrap_or(usize::MAX);
            let bytes = document.slice(at(range.start)..at(range.end));
            return Ok(Some(ObjectBytes { bytes, offset: range.start, size, tag: self.shown.tag.clone() }));
        }
        match self.place(object.key())? {
            Some(place) => self.chunk(place, &want),
            None => Ok(None),
        }
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        if !self.is_shown(object) {
            return self.view.decoded(object, range, codecs, mask, len);
        }
        let absent = || Error::not_found("no such chunk").at_object(object);
        match self.place(object.key())?.ok_or_else(absent)? {
            ChunkPlace::Inline(_) => {
                Err(Error::unsupported("encoded metadata in a manifest").at_object(object).into())
            }
            place => match self.shown.locator().location(place, Some(range))? {
                Location::Bytes(object, range) => self.view.decoded(&object, range, codecs, mask, len),
                _ => Err(absent().into()),
            },
        }
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        self.view.values(variable, selection)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        if !self.is_shown(prefix) {
            return self.view.list(prefix, page);
        }
        Ok(Listing { entries: self.shown.snapshot.children(prefix.key()), next: None })
    }

    fn release(&self, object: &ObjectId, end: u64) {
        if !self.is_shown(object) {
            self.view.release(object, end);
        }
    }

    fn memo(&self) -> &Memo {
        self.view.memo()
    }

    fn limits(&self) -> &Limits {
        self.view.limits()
    }
}

/// The wanted range of an object of that size.
fn resolved(want: &Want, size: u64) -> Range<u64> {
    match want {
        Want::All | Want::AtMost(_) => 0..size,
        Want::Range(range) | Want::Parse(range) => {
            let start = range.start.min(size);
            start..range.end.clamp(start, size)
        }
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

/// Locates chunks where they really are: what an index of Zarr names is looked up in manifests.
#[derive(Debug)]
pub(crate) struct SnapshotIndex {
    pub(crate) index: Arc<dyn ChunkIndex>,
    pub(crate) shown: Arc<ShownSnapshot>,
}

impl ChunkIndex for SnapshotIndex {
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let located = self.index.locate(&SnapshotView { view, shown: &self.shown }, cells)?;
        let keys = located.iter().filter_map(|chunk| self.key(&chunk.location));
        let mut places = self.shown.places(view, keys)?.into_iter();
        let mut locator = self.shown.locator();
        let real = |chunk: ChunkRef| -> Result<ChunkRef> {
            if self.key(&chunk.location).is_none() {
                return Ok(chunk);
            }
            let part = match &chunk.location {
                Location::Bytes(_, range) => Some(range.clone()),
                _ => None,
            };
            let location = match places.next().flatten() {
                Some(place) => locator.location(place, part)?,
                None => Location::Absent,
            };
            Ok(ChunkRef { location, mask: chunk.mask })
        };
        let located: Result<Vec<ChunkRef>> = located.into_iter().map(real).collect();
        Ok(located?)
    }

    fn codec_name(&self, codec: usize) -> Option<&str> {
        self.index.codec_name(codec)
    }
}

impl SnapshotIndex {
    /// The key of a chunk that is one of the snapshot.
    fn key<'l>(&self, location: &'l Location) -> Option<&'l str> {
        match location {
            Location::Object(object) | Location::Bytes(object, _)
                if object.store == self.shown.base.store =>
            {
                Some(object.key())
            }
            _ => None,
        }
    }
}
