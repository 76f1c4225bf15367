//! The bytes of a chunk, as a reader of the dataset finds them.
use crate::ObjectView;
use bytes::Bytes;
use ncirrus_layout::{CellList, ChunkRef, Extent, Layout, Location, Source, Step, View};
use ncirrus_model::Region;

/// The bytes at a location; `None` if nothing was written.
pub(super) fn bytes(objects: &ObjectView, found: &ChunkRef) -> Option<Bytes> {
    match &found.location {
        Location::Bytes(object, range) => {
            let body = objects.find(object.key())?;
            let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(body.len());
            Some(body.slice(index(range.start)..index(range.end)))
        }
        Location::Object(object) => objects.find(object.key()).cloned(),
        Location::Inline(body) => Some(body.clone()),
        Location::Absent => None,
    }
}

/// Whether what is stored begins with what was placed. It may be longer than the chunk.
pub(super) fn begins(stored: Option<&Bytes>, placed: Option<&Bytes>) -> bool {
    match (stored, placed) {
        (Some(stored), Some(placed)) => stored.starts_with(placed),
        (None, None) => true,
        // Fill that the format stores on its own.
        (Some(_), None) => true,
        (None, Some(_)) => false,
    }
}

/// The bytes of a chunk by the source of its variable.
pub(super) fn read(
    view: &dyn View,
    objects: &ObjectView,
    source: &Source,
    region: Option<&Region>,
    cell: &[u64],
    shape: &[u64],
) -> Step<Option<Bytes>> {
    match &source.layout {
        Layout::Grid { grid, index, .. } => {
            assert_eq!(grid.region(cell).as_ref(), region, "writers and readers cut the array alike");
            let found = index.locate(view, &CellList::one(cell))?;
            Ok(found.first().and_then(|found| bytes(objects, found)))
        }
        Layout::Affine { extents, base, strides } => {
            let start = region.map(|region| region.start.clone()).unwrap_or_default();
            let width = usize::try_from(source.stored.byte_len().unwrap_or(0)).unwrap_or(usize::MAX);
            let elements: u64 = shape.iter().product();
            let mut all = Vec::new();
            for number in 0..elements {
                let at = logical(number, &start, shape, strides) + base;
                match element(objects, extents, at, width) {
                    Some(found) => all.extend_from_slice(found),
                    None => return Ok(None),
                }
            }
            Ok(Some(all.into()))
        }
        other => Err(ncirrus_layout::Error::internal(format!("no placer makes {other:?}")).into()),
    }
}

/// Offset of an element of a box from the first element of the array.
fn logical(number: u64, start: &[u64], shape: &[u64], strides: &[u64]) -> u64 {
    let (mut rest, mut offset) = (number, 0);
    for ((start, len), stride) in start.iter().zip(shape).zip(strides).rev() {
        offset += (start + rest % len) * stride;
        rest /= len;
    }
    offset
}

fn element<'a>(objects: &'a ObjectView, extents: &[Extent], at: u64, width: usize) -> Option<&'a [u8]> {
    let extent = extents.iter().find(|extent| extent.logical.contains(&at))?;
    let start = usize::try_from(extent.offset + (at - extent.logical.start)).ok()?;
    objects.find(extent.object.key())?.get(start..start + width)
}
