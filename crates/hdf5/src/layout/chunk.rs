//! Chunk indexes of every kind (docs/spec/hdf5-netcdf4.md E.4 to E.6).
mod array;
mod btree1;
mod btree2;
mod descend;
mod extensible;
mod fixed;

#[cfg(test)]
mod tests;

pub(crate) use extensible::{ArrayShape, ElementHome};

use super::{ElementLayout, IndexKind, StoredDataset};
use crate::address::FileAddress;
use crate::datatypes::Dataspace;
use crate::file::Hdf5File;
use ncirrus_layout::{CellList, ChunkIndex, ChunkRef, Error, Location, Result, Step, View};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The chunks of a dataset, found by its chunk index.
#[derive(Debug)]
pub(super) struct ChunkLookup {
    file: Arc<Hdf5File>,
    /// Current lengths of the dataspace, and their maximum.
    dims: Vec<u64>,
    max: Vec<Option<u64>>,
    /// Shape of a chunk.
    shape: Vec<u64>,
    /// Size of a decoded chunk.
    byte_len: u64,
    is_filtered: bool,
    /// Common names of the filters.
    filter_names: Vec<String>,
    edges_unfiltered: bool,
    /// Size of a chunk's size field in the newer indexes.
    size_width: u8,
    kind: IndexKind,
    addr: Option<FileAddress>,
    /// One more than the largest address of a structure that was visited; 0 before the first.
    visited: AtomicU64,
}

/// The index entry of a chunk that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChunkRecord {
    addr: FileAddress,
    /// Size in the file; `None` if the index omits it: that of a decoded chunk.
    byte_len: Option<u64>,
    mask: u32,
}

impl ChunkIndex for ChunkLookup {
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let found = match self.addr {
            Some(addr) => self.find(view, addr, cells)?,
            None => vec![None; cells.len()],
        };
        let places = cells.iter().zip(found).map(|(cell, stored)| self.place(cell, stored));
        Ok(places.collect::<Result<_>>()?)
    }

    fn codec_name(&self, codec: usize) -> Option<&str> {
        self.filter_names.get(codec).map(String::as_str).filter(|name| !name.is_empty())
    }

    fn last_structure(&self) -> Option<u64> {
        let addr = self.visited.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.file.base.saturating_add(addr))
    }
}

impl ChunkLookup {
    /// The chunks of a chunked dataset.
    pub(super) fn new(file: &Arc<Hdf5File>, dataset: &StoredDataset) -> Result<Self> {
        let ElementLayout::Chunked { shape, index, addr, edges_unfiltered, version } = &dataset.arrangement
        else {
            return Err(Error::internal("chunks of a dataset that has none"));
        };
        let (dims, max) = bounds(&dataset.space);
        if shape.len() != dims.len() {
            return Err(Error::malformed(format!(
                "chunks of rank {} in a dataset of rank {}",
                shape.len(),
                dims.len()
            )));
        }
        let is_larger = dims.iter().zip(shape).any(|(dim, chunk)| dim > chunk);
        if is_larger && matches!(index, IndexKind::Single { .. }) {
            return Err(Error::malformed(format!("a single chunk of {shape:?} in a dataset of {dims:?}")));
        }
        let byte_len = shape.iter().try_fold(dataset.datatype.byte_len, |len, along| len.checked_mul(*along));
        let byte_len =
            byte_len.ok_or_else(|| Error::limit(format!("chunks of shape {shape:?} are too large")))?;
        // docs/spec/hdf5-netcdf4.md E.4, width of the chunk size.
        let size_width = if *version >= 5 { file.sizes.lengths } else { size_width(byte_len) };
        Ok(Self {
            file: Arc::clone(file),
            dims,
            max,
            shape: shape.clone(),
            byte_len,
            is_filtered: !dataset.filters.is_empty(),
            filter_names: dataset.filter_names.clone(),
            edges_unfiltered: *edges_unfiltered,
            size_width,
            kind: *index,
            addr: *addr,
            visited: AtomicU64::new(0),
        })
    }

    /// Records that a structure of the index is at that address.
    fn visit(&self, addr: FileAddress) {
        self.visited.fetch_max(addr.0.saturating_add(1), Ordering::Relaxed);
    }

    fn find(&self, view: &dyn View, addr: FileAddress, cells: &CellList) -> Step<Vec<Option<ChunkRecord>>> {
        match self.kind {
            IndexKind::BTree1 => btree1::find(view, self, addr, cells),
            IndexKind::BTree2 => btree2::find(view, self, addr, cells),
            IndexKind::FixedArray { .. } => fixed::find(view, self, addr, cells),
            IndexKind::ExtensibleArray { .. } => extensible::find(view, self, addr, cells),
            IndexKind::Single { filtered } => {
                Ok(cells.iter().map(|_| Some(single(addr, filtered))).collect())
            }
            IndexKind::Implicit => {
                Ok(cells.iter().map(|cell| self.implicit(addr, cell)).collect::<Result<_>>()?)
            }
        }
    }

    /// The chunk of an implicit index: they are consecutive.
    fn implicit(&self, first: FileAddress, cell: &[u64]) -> Result<Option<ChunkRecord>> {
        let Some(number) = self.number(cell)? else { return Ok(None) };
        let addr = number.checked_mul(self.byte_len).and_then(|offset| offset.checked_add(first.0));
        let addr = addr.ok_or_else(|| Error::malformed("a chunk beyond 2^64 bytes").at_chunk(cell))?;
        Ok(Some(ChunkRecord { addr: FileAddress(addr), byte_len: None, mask: 0 }))
    }

    /// Number of a chunk among all possible ones, in row-major order of the maximum extents
    /// (docs/spec/hdf5-netcdf4.md E.4); `None` outside of the current ones.
    fn number(&self, cell: &[u64]) -> Result<Option<u64>> {
        self.number_along(0..self.shape.len(), cell)
    }

    /// As [`number`](Self::number), with the axes in that order; the first of them may be unlimited.
    fn number_along(&self, axes: impl IntoIterator<Item = usize>, cell: &[u64]) -> Result<Option<u64>> {
        let mut number = 0u64;
        for (position, axis) in axes.into_iter().enumerate() {
            let at = cell.get(axis).copied().unwrap_or(0);
            if !self.is_inside(axis, at) {
                return Ok(None);
            }
            let count = if position == 0 { 0 } else { self.max_along(axis)? };
            let next = number.checked_mul(count).and_then(|number| number.checked_add(at));
            number = next.ok_or_else(|| Error::malformed("more than 2^64 chunks"))?;
        }
        Ok(Some(number))
    }

    /// Number of possible chunks along an axis.
    fn max_along(&self, axis: usize) -> Result<u64> {
        match (self.max.get(axis), self.shape.get(axis)) {
            (Some(Some(max)), Some(chunk)) => Ok(max.div_ceil(*chunk)),
            _ => Err(Error::malformed(format!(
                "a chunk index that cannot grow along the unlimited axis {axis}"
            ))),
        }
    }

    fn is_inside(&self, axis: usize, at: u64) -> bool {
        let start = self.shape.get(axis).and_then(|chunk| chunk.checked_mul(at));
        start.zip(self.dims.get(axis)).is_some_and(|(start, dim)| start < *dim)
    }

    /// Whether a chunk extends beyond the current extent.
    fn is_partial(&self, cell: &[u64]) -> bool {
        let ends =
            cell.iter().zip(&self.shape).map(|(at, chunk)| (at.saturating_add(1)).saturating_mul(*chunk));
        ends.zip(&self.dims).any(|(end, dim)| end > *dim)
    }

    /// Checks an index entry, and converts it to the engine's form.
    fn place(&self, cell: &[u64], stored: Option<ChunkRecord>) -> Result<ChunkRef> {
        let is_inside =
            (0..self.shape.len()).all(|axis| self.is_inside(axis, cell.get(axis).copied().unwrap_or(0)));
        let Some(stored) = stored.filter(|_| is_inside) else {
            return Ok(ChunkRef::new(Location::Absent));
        };
        let at = |error: Error| self.file.at(stored.addr, error).at_chunk(cell);
        let is_plain = !self.is_filtered || (self.edges_unfiltered && self.is_partial(cell));
        let (len, mask) = match stored.byte_len {
            _ if stored.addr == FileAddress(0) => return Err(at(Error::malformed("a chunk at address 0"))),
            Some(len) if !self.is_filtered && len < self.byte_len => {
                let need = self.byte_len;
                return Err(at(Error::malformed(format!("a chunk of {len} bytes instead of {need}"))));
            }
            Some(len) if !is_plain => (len, stored.mask),
            None if !is_plain => (self.byte_len, stored.mask),
            _ => (self.byte_len, if self.is_filtered { u32::MAX } else { 0 }),
        };
        if len == 0 {
            return Err(at(Error::malformed("a chunk of 0 bytes")));
        }
        let (start, end) = self.file.span(stored.addr, len).map_err(at)?;
        Ok(ChunkRef { location: Location::Bytes(self.file.object.clone(), start..end), mask })
    }
}

fn bounds(space: &Dataspace) -> (Vec<u64>, Vec<Option<u64>>) {
    match space {
        Dataspace::Simple { dims, max } => (dims.clone(), max.clone()),
        Dataspace::Null | Dataspace::Scalar => Default::default(),
    }
}

fn single(addr: FileAddress, filtered: Option<(u64, u32)>) -> ChunkRecord {
    ChunkRecord { addr, byte_len: filtered.map(|(len, _)| len), mask: filtered.map_or(0, |(_, mask)| mask) }
}

/// Size of a chunk's size field before version 5 of the layout: one byte more than the decoded size needs.
pub(crate) fn size_width(byte_len: u64) -> u8 {
    let bits = byte_len.checked_ilog2().unwrap_or(0);
    u8::try_from(1 + (bits + 8) / 8).map_or(8, |width| width.min(8))
}
