//! Extensible arrays of chunks (docs/spec/hdf5-netcdf4.md E.6, I.4, J.3).
mod array;

use super::array::{CHECKSUM_LEN, ChecksummedBlock};
use super::{ChunkMap, IndexGrid, UpdatedIndex};
use crate::address::{FieldSizes, FileAddress};
use crate::file::Hdf5File;
use crate::layout::{ArrayShape, ElementHome, IndexKind};
use crate::write::{FilePatch, StoredChunk};
use array::{ExtensibleArray, LoadedBlocks};
use ncirrus_layout::{Error, Result, Step, View};
use std::collections::BTreeMap;

/// The parameters of new arrays: those of HDF5.
pub(super) const KIND: IndexKind = IndexKind::ExtensibleArray {
    max_bits: 32,
    in_index: 4,
    min_pointers: 4,
    min_elements: 16,
    page_bits: 10,
};

/// Chunks by the run of elements that contains them, and their positions there.
type ChunksByRun<'a> = BTreeMap<ElementHome, Vec<(usize, &'a StoredChunk)>>;

/// Size of all structures for that many chunks.
pub(super) fn byte_len(kind: IndexKind, grid: &IndexGrid, chunks: u64, sizes: FieldSizes) -> u64 {
    let array =
        ArrayShape::of(kind).and_then(|shape| ExtensibleArray::new(FileAddress(0), shape, grid, sizes));
    array.map_or(0, |array| array.byte_len(chunks))
}

/// Builds the array; returns the address of its header.
pub(super) fn build(
    kind: IndexKind,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    sizes: FieldSizes,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<(Vec<FilePatch>, FileAddress)> {
    let shape = ArrayShape::of(kind)?;
    let array = ExtensibleArray::new(FileAddress(0), shape, grid, sizes)?;
    let header = place(array.header_len());
    let array = array.at(header);
    let (runs, end) = runs(&array, grid, chunks)?;
    let loaded = LoadedBlocks::default();
    let change = array.change(grid, loaded, &runs, end, place)?;
    Ok((change.fresh.into_iter().chain(change.then).collect(), header))
}

/// Rewrites blocks in place: data blocks, then those that point to them, and the header last.
pub(super) fn update(
    view: &dyn View,
    file: &Hdf5File,
    addr: FileAddress,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Step<UpdatedIndex> {
    let (array, statistics, index) = ExtensibleArray::read(view, file, addr, grid)?;
    let (runs, end) = runs(&array, grid, chunks)?;
    let loaded = array.load(view, file, (statistics, index), &runs)?;
    Ok(UpdatedIndex { change: array.change(grid, loaded, &runs, end, place)?, layout: None })
}

/// The positions of chunks, and one more than the number of the last.
fn runs<'a>(
    array: &ExtensibleArray,
    grid: &IndexGrid,
    chunks: &'a ChunkMap,
) -> Result<(ChunksByRun<'a>, u64)> {
    let first = grid.unlimited()?;
    let (mut runs, mut end) = (ChunksByRun::new(), 0);
    for (cell, stored) in chunks {
        let number = grid.number(cell, Some(first))?;
        let home = array.shape.home(number);
        let (home, at) =
            home.ok_or_else(|| Error::limit("more chunks than the index has room for").at_chunk(cell))?;
        runs.entry(home).or_default().push((at, stored));
        end = end.max(number.saturating_add(1));
    }
    Ok((runs, end))
}
