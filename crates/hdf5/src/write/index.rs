//! Building and changing chunk indexes (docs/spec/hdf5-netcdf4.md E.3 to E.6, I.4, J.3, J.4).
//!
//! A change is made in two steps: the structures it touches are read, which may stall; then new structures are
//! allocated.
mod array;
mod btree1;
pub(crate) mod btree2;
mod extensible;
mod fixed;
mod grid;

pub(crate) use grid::IndexGrid;

use super::space::SpaceAllocator;
use super::{FilePatch, StoredChunk, StructureChange};
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::all_ones;
use crate::file::Hdf5File;
use crate::layout::IndexKind;
use ncirrus_layout::{Error, Result, Step, View};
use std::collections::BTreeMap;

/// Chunks by their coordinates in the grid.
pub(crate) type ChunkMap = BTreeMap<Vec<u64>, StoredChunk>;

/// A finished index: its structures with their addresses, and its entry in the layout message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuiltIndex {
    pub(crate) patches: Vec<FilePatch>,
    /// Address in the layout message.
    pub(crate) addr: Option<FileAddress>,
    pub(crate) kind: IndexKind,
}

/// A change of an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct UpdatedIndex {
    pub(crate) change: StructureChange,
    /// The new contents of the layout message, written after the change; `None`: unchanged.
    pub(crate) layout: Option<(IndexKind, FileAddress)>,
}

/// The index for a grid: v1 B-tree or, for HDF5 1.10 and newer, single, fixed array, extensible array, v2 B-tree.
pub(crate) fn choose(grid: &IndexGrid, newer: bool) -> IndexKind {
    if !newer {
        return IndexKind::BTree1;
    }
    let is_single =
        grid.chunk == grid.dims && grid.max.iter().zip(&grid.dims).all(|(max, len)| *max == Some(*len));
    match grid.max.iter().filter(|max| max.is_none()).count() {
        0 if is_single => IndexKind::Single { filtered: None },
        // Every possible chunk has a fixed address there.
        0 if grid.max_chunks().is_ok_and(|count| (1..=MAX_IN_ARRAY).contains(&count)) => {
            IndexKind::FixedArray { page_bits: fixed::PAGE_BITS }
        }
        1 => extensible::KIND,
        _ => IndexKind::BTree2,
    }
}

/// Maximum size of the index of `chunks` chunks of the grid, each structure at a multiple of 8: known before any
/// chunk is.
pub(crate) fn byte_len(kind: IndexKind, grid: &IndexGrid, chunks: u64, sizes: FieldSizes) -> u64 {
    match kind {
        IndexKind::BTree1 => btree1::byte_len(grid, chunks, sizes),
        IndexKind::BTree2 => btree2::byte_len(grid, chunks, sizes),
        IndexKind::FixedArray { page_bits } => fixed::byte_len(grid, page_bits, sizes),
        IndexKind::ExtensibleArray { .. } => extensible::byte_len(kind, grid, chunks, sizes),
        IndexKind::Single { .. } | IndexKind::Implicit => 0,
    }
}

/// Builds an index of these chunks; `place` allocates its structures one after the other, given their lengths.
///
/// # Errors
/// If a chunk has no position in the index.
pub(crate) fn build(
    kind: IndexKind,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    sizes: FieldSizes,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<BuiltIndex> {
    if chunks.is_empty() {
        return Ok(BuiltIndex { patches: Vec::new(), addr: None, kind });
    }
    let (patches, addr) = match kind {
        IndexKind::BTree1 => btree1::build(grid, chunks, sizes, btree1::RANK, place)?,
        IndexKind::BTree2 => btree2::build(grid, chunks, sizes, place)?,
        IndexKind::FixedArray { page_bits } => fixed::build(grid, page_bits, chunks, sizes, place)?,
        IndexKind::ExtensibleArray { .. } => extensible::build(kind, grid, chunks, sizes, place)?,
        IndexKind::Single { .. } => {
            let (kind, addr) = single(grid, chunks)?;
            return Ok(BuiltIndex { patches: Vec::new(), addr: Some(addr), kind });
        }
        IndexKind::Implicit => (Vec::new(), first_of_implicit(grid, chunks)?),
    };
    Ok(BuiltIndex { patches, addr: Some(addr), kind })
}

/// Changes an existing index: `chunks` are new or replace others. Patches to put after the new structures may be put
/// in any order: each of these writes leaves the index valid. Nothing is allocated from `space` before everything is
/// read.
pub(crate) fn update(
    view: &dyn View,
    file: &Hdf5File,
    (kind, addr): (IndexKind, Option<FileAddress>),
    grid: &IndexGrid,
    chunks: &ChunkMap,
    space: &mut SpaceAllocator,
) -> Step<UpdatedIndex> {
    let place = &mut |len| space.take(len, 8);
    let updated = match (kind, addr) {
        _ if chunks.is_empty() => UpdatedIndex::default(),
        (IndexKind::Single { .. }, _) => {
            UpdatedIndex { layout: Some(single(grid, chunks)?), ..UpdatedIndex::default() }
        }
        (_, None) => begin(file, kind, grid, chunks, place)?,
        (IndexKind::BTree1, Some(addr)) => btree1::update(view, file, addr, grid, chunks, place)?,
        (IndexKind::BTree2, Some(addr)) => btree2::update(view, file, addr, grid, chunks, place)?,
        (IndexKind::FixedArray { .. }, Some(addr)) => fixed::update(view, file, addr, grid, chunks, place)?,
        (IndexKind::ExtensibleArray { .. }, Some(addr)) => {
            extensible::update(view, file, addr, grid, chunks, place)?
        }
        (IndexKind::Implicit, Some(addr)) => stays_implicit(addr, grid, chunks)?,
    };
    Ok(updated.fitting(chunks, file.sizes)?)
}

impl UpdatedIndex {
    /// Refuses addresses beyond the range of the file's addresses.
    fn fitting(self, chunks: &ChunkMap, sizes: FieldSizes) -> Result<Self> {
        let new = self.change.fresh.iter().map(|patch| patch.addr);
        let last = new.chain(chunks.values().map(|stored| stored.addr)).max();
        match last {
            Some(last) if last.0 >= all_ones(sizes.offsets) => Err(Error::limit(format!(
                "address {} in a file with addresses of {} bytes",
                last.0, sizes.offsets
            ))),
            _ => Ok(self),
        }
    }
}

/// The first index of a dataset that had no chunks.
fn begin(
    file: &Hdf5File,
    kind: IndexKind,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<UpdatedIndex> {
    let built = match kind {
        IndexKind::BTree1 => {
            let (patches, addr) = btree1::build(grid, chunks, file.sizes, file.ranks.chunk, place)?;
            BuiltIndex { patches, addr: Some(addr), kind }
        }
        _ => build(kind, grid, chunks, file.sizes, place)?,
    };
    let change = StructureChange { fresh: built.patches, ..StructureChange::default() };
    Ok(UpdatedIndex { change, layout: built.addr.map(|addr| (built.kind, addr)) })
}

/// The layout message's entry of the only chunk.
fn single(grid: &IndexGrid, chunks: &ChunkMap) -> Result<(IndexKind, FileAddress)> {
    let mut all = chunks.iter();
    match (all.next(), all.next()) {
        (Some((cell, stored)), None) if cell.iter().all(|at| *at == 0) => {
            let filtered = grid.filtered.then_some((stored.len, stored.mask));
            Ok((IndexKind::Single { filtered }, stored.addr))
        }
        _ => Err(Error::invalid(format!("{} chunks where there is one alone", chunks.len()))),
    }
}

/// The address of the first of all possible chunks, if they are consecutive.
fn first_of_implicit(grid: &IndexGrid, chunks: &ChunkMap) -> Result<FileAddress> {
    let first = chunks.values().next().map_or(FileAddress(0), |stored| stored.addr);
    if chunks.len() as u64 != grid.max_chunks()? {
        return Err(Error::invalid("an index without records needs all chunks"));
    }
    stays_implicit(first, grid, chunks).map(|_| first)
}

/// Chunks at the addresses implied by an index without records need no change of it.
fn stays_implicit(first: FileAddress, grid: &IndexGrid, chunks: &ChunkMap) -> Result<UpdatedIndex> {
    for (cell, stored) in chunks {
        let offset = grid.number(cell, None)?.checked_mul(grid.chunk_len()?);
        if offset.and_then(|offset| offset.checked_add(first.0)) != Some(stored.addr.0) {
            let text = format!("a chunk at {} that does not belong there in its index", stored.addr.0);
            return Err(Error::invalid(text).at_chunk(cell));
        }
    }
    Ok(UpdatedIndex::default())
}

/// Arrays with space for more chunks than this would be mostly empty.
const MAX_IN_ARRAY: u64 = 1 << 20;

#[cfg(test)]
mod tests;
