//! Reading unfiltered elements, as an engine would.
use super::super::{StoredDataset, dataset, layout};
use crate::datatypes::fill;
use crate::group::lookup;
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::testing::done;
use ncirrus_layout::{CellList, Extent, Layout, Location, Result, TileSource};
use ncirrus_model::Region;
use ncirrus_testkit::{MemoryView, ObjectView};

/// The object at a path of a file.
pub(super) fn open(view: &MemoryView, key: &str, path: &str) -> Result<ObjectRef> {
    let file = done(load(view, &ObjectView::id(key)))?;
    let root = ObjectRef { addr: file.root, file };
    done(lookup(view, &root, path))
}

/// The coordinates of an element of a shape.
pub(super) fn coords(shape: &[u64], mut number: u64) -> Vec<u64> {
    let mut coords = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        coords[axis] = number % shape[axis];
        number /= shape[axis];
    }
    coords
}

/// The stored bytes of all elements of a region.
pub(super) fn read(view: &MemoryView, object: &ObjectRef, region: &Region) -> Result<Vec<u8>> {
    let dataset = done(dataset(view, object))?;
    let width = usize::try_from(dataset.element.byte_len).unwrap();
    let fill = done(fill(view, object))?.value.map_or(vec![0; width], |value| value[..width].to_vec());
    let total = region.element_count().unwrap();
    let element = |number: u64| -> Vec<u64> {
        let inner = coords(&region.count, number);
        inner.iter().zip(&region.start).map(|(at, start)| at + start).collect()
    };
    let mut bytes: Vec<u8> = fill.repeat(usize::try_from(total).unwrap());
    match done(layout(view, object, &dataset))? {
        Layout::Affine { extents, strides, .. } => {
            for number in 0..total {
                let at = element(number).iter().zip(&strides).map(|(at, stride)| at * stride).sum();
                if let Some(found) = extent_bytes(view, &extents, at, width) {
                    put(&mut bytes, number, &found);
                }
            }
        }
        Layout::Grid { grid, index, .. } => {
            let mut cells = CellList::new(grid.rank());
            for number in 0..total {
                let at = element(number);
                let cell: Vec<u64> =
                    (0..at.len()).map(|axis| grid.cell_at(axis, at[axis]).unwrap()).collect();
                cells.push(&cell);
            }
            let found = done(index.locate(view, &cells))?;
            for (number, chunk) in (0..total).zip(found) {
                let (at, cell) = (element(number), cells.get(usize::try_from(number).unwrap()));
                let span = grid.region(cell).unwrap();
                let inner = at
                    .iter()
                    .enumerate()
                    .fold(0, |inner, (axis, at)| inner * span.count[axis] + (at - span.start[axis]));
                let start = usize::try_from(inner).unwrap() * width;
                match chunk.location {
                    Location::Bytes(object, range) => {
                        let body = view.objects.find(object.key()).unwrap();
                        let start = usize::try_from(range.start).unwrap() + start;
                        put(&mut bytes, number, &body[start..start + width]);
                    }
                    Location::Inline(body) => put(&mut bytes, number, &body[start..start + width]),
                    _ => {}
                }
            }
        }
        Layout::Mosaic { tiles } => {
            let tiles = done(tiles.tiles(view, region))?;
            let covered: u64 = tiles.iter().map(|tile| tile.region.element_count().unwrap()).sum();
            assert_eq!(covered, total, "tiles cover the region once");
            for tile in tiles {
                let TileSource::Variable { variable, region: from } = tile.source else { continue };
                let source = open(view, variable.dataset.unwrap().key(), &variable.path)?;
                let values = read(view, &source, &from)?;
                assert_eq!(from.element_count(), tile.region.element_count());
                for (number, value) in (0..).zip(values.chunks(width)) {
                    let inner = coords(&tile.region.count, number);
                    let at = inner.iter().enumerate().fold(0, |at, (axis, inner)| {
                        at * region.count[axis] + (inner + tile.region.start[axis] - region.start[axis])
                    });
                    put(&mut bytes, at, value);
                }
            }
        }
        Layout::Query { .. } => unreachable!(),
    }
    Ok(bytes)
}

fn put(bytes: &mut [u8], number: u64, value: &[u8]) {
    let start = usize::try_from(number).unwrap() * value.len();
    bytes[start..start + value.len()].copy_from_slice(value);
}

fn extent_bytes(view: &MemoryView, extents: &[Extent], at: u64, width: usize) -> Option<Vec<u8>> {
    let extent = extents.iter().find(|extent| extent.logical.contains(&at))?;
    let start = usize::try_from(extent.offset + at - extent.logical.start).unwrap();
    Some(view.objects.find(extent.object.key())?.get(start..start + width)?.to_vec())
}

/// The chunks of a chunked dataset that were written: offsets of the first element, place, size, mask.
pub(super) type ListedChunks = (Vec<u64>, u64, u64, u32);

/// Every chunk that was written; `None` if there are too many positions to try each.
pub(super) fn chunks(
    view: &MemoryView,
    object: &ObjectRef,
    dataset: &StoredDataset,
    chunk: &[u64],
) -> Result<Option<Vec<ListedChunks>>> {
    let Layout::Grid { grid, index, .. } = done(layout(view, object, dataset))? else { panic!("no chunks") };
    let counts: Vec<u64> = (0..grid.rank()).map(|axis| grid.cells_along(axis, dataset.shape[axis])).collect();
    let total = Region::all(&counts).element_count().filter(|total| *total < 1 << 20);
    let Some(total) = total else { return Ok(None) };
    let mut cells = CellList::new(counts.len());
    for number in 0..total {
        cells.push(&coords(&counts, number));
    }
    let mut listed = Vec::new();
    for (cell, found) in cells.iter().zip(done(index.locate(view, &cells))?) {
        let Location::Bytes(_, range) = found.location else { continue };
        let offsets = cell.iter().zip(chunk).map(|(at, len)| at * len).collect();
        // The library lists edge chunks that went unfiltered as if they were filtered.
        let mask = if found.mask == u32::MAX { 0 } else { found.mask };
        listed.push((offsets, range.start, range.end - range.start, mask));
    }
    Ok(Some(listed))
}
