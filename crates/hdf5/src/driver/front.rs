//! How much of the front of a file holds all its metadata, if it is arranged that way (docs/spec/hdf5-netcdf4.md
//! I.3).
use crate::address::FileAddress;
use crate::datatypes::DatatypeClass;
use crate::file::Hdf5File;
use crate::layout::{ElementLayout, IndexKind};
use crate::netcdf::{DatasetFacts, FileObjects, MemberFacts};
use crate::object::{ObjectRef, header};
use crate::write::{IndexGrid, index_len};
use ncirrus_layout::View;

/// Maximum size that is reported: what readers can reasonably fetch at once.
const MAX_FRONT_BYTES: u64 = 64 << 20;
/// Minimum size of a heap collection.
const COLLECTION: u64 = 4096;

/// First address behind all metadata of a file made by ncirrus; `None` if data lie between them.
pub(super) fn metadata_end(view: &dyn View, objects: &FileObjects) -> Option<u64> {
    let header_end = |object: &ObjectRef| Some(header(view, object).ok()?.end);
    let file = objects.file.as_ref();
    let (mut end, mut data) = (0, u64::MAX);
    for (group, members) in objects.groups() {
        end = end.max(header_end(group)?);
        for (object, facts) in members {
            end = end.max(header_end(object)?);
            let MemberFacts::Dataset(facts) = facts else { continue };
            end = end.max(heap_end(facts, file)).max(index_end(facts, file)?);
            if let ElementLayout::Contiguous { addr: Some(addr), .. } =
                &facts.dataset.as_ref().ok()?.arrangement
            {
                data = data.min(addr.0);
            }
        }
    }
    (end <= data && end <= MAX_FRONT_BYTES).then_some(end)
}

/// First offset behind the headers of all objects; `None` if one cannot be read.
pub(super) fn headers_end(view: &dyn View, objects: &FileObjects) -> Option<u64> {
    let mut end = 0;
    for (group, members) in objects.groups() {
        for object in std::iter::once(group).chain(members.into_iter().map(|(object, _)| object)) {
            end = end.max(header(view, object).ok()?.end);
        }
    }
    objects.file.base.checked_add(end)
}

/// First address behind the chunk index.
fn index_end(facts: &DatasetFacts, file: &Hdf5File) -> Option<u64> {
    let dataset = facts.dataset.as_ref().ok()?;
    let ElementLayout::Chunked { shape, index, addr: Some(addr), version, .. } = &dataset.arrangement else {
        return Some(0);
    };
    let dims = dataset.space.dims().to_vec();
    let grid = IndexGrid {
        chunk: shape.clone(),
        element: dataset.element.byte_len,
        max: dims.iter().map(|len| Some(*len)).collect(),
        filtered: !dataset.filters.is_empty(),
        version: *version,
        dims,
    };
    let chunks = grid.dims.iter().zip(shape).map(|(len, chunk)| len.div_ceil((*chunk).max(1)));
    let len = match index {
        // The chunk itself.
        IndexKind::Single { .. } | IndexKind::Implicit => return Some(0),
        // The root is the last of the nodes.
        IndexKind::BTree1 => index_len(*index, &grid, 1, file.sizes),
        _ => index_len(*index, &grid, chunks.fold(1, u64::saturating_mul), file.sizes),
    };
    addr.0.checked_add(len)
}

/// First address behind the collections that attributes refer to.
fn heap_end(facts: &DatasetFacts, file: &Hdf5File) -> u64 {
    let attributes = facts.attributes.as_deref().map_or(&[][..], Vec::as_slice);
    let heaped = attributes
        .iter()
        .flatten()
        .filter(|raw| matches!(raw.datatype.class, DatatypeClass::Vlen(_) | DatatypeClass::VlenText(_)));
    let collections = heaped.flat_map(|raw| raw.data.chunks_exact(8 + usize::from(file.sizes.offsets)));
    let addr = |element: &[u8]| {
        let bytes = element.get(4..12).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes).filter(|addr| *addr != 0 && *addr != u64::MAX)
    };
    collections.filter_map(addr).max().map_or(0, |addr| FileAddress(addr).0.saturating_add(COLLECTION))
}
