//! The possible chunks of a dataset, and their numbers (docs/spec/hdf5-netcdf4.md E.4).
use crate::address::FieldSizes;
use crate::layout::chunk_size_width;
use crate::write::StoredChunk;
use crate::write::out::ByteSink;
use ncirrus_layout::{Error, Result};

/// The dataset of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexGrid {
    /// Chunk lengths in elements, one per dimension of the dataspace.
    pub(crate) chunk: Vec<u64>,
    /// Bytes of one element.
    pub(crate) element: u64,
    /// Current lengths, and their maximum (`None`: unlimited).
    pub(crate) dims: Vec<u64>,
    pub(crate) max: Vec<Option<u64>>,
    pub(crate) filtered: bool,
    /// Version of the layout message, which determines the width of chunk sizes (3, 4 or 5).
    pub(crate) version: u8,
}

impl IndexGrid {
    pub(super) fn rank(&self) -> usize {
        self.chunk.len()
    }

    /// Bytes of a chunk before filters.
    pub(super) fn chunk_len(&self) -> Result<u64> {
        let len = self.chunk.iter().try_fold(self.element, |len, along| len.checked_mul(*along));
        len.ok_or_else(|| Error::limit(format!("chunks of shape {:?} are too large", self.chunk)))
    }

    /// Number of possible chunks.
    pub(super) fn max_chunks(&self) -> Result<u64> {
        (0..self.rank()).try_fold(1u64, |all, axis| {
            all.checked_mul(self.max_along(axis)?).ok_or_else(|| Error::limit("more than 2^64 chunks"))
        })
    }

    /// Number of possible chunks along an axis.
    fn max_along(&self, axis: usize) -> Result<u64> {
        match (self.max.get(axis), self.chunk.get(axis)) {
            (Some(Some(max)), Some(chunk @ 1..)) => Ok(max.div_ceil(*chunk)),
            _ => Err(Error::invalid(format!("a chunk index that cannot grow along axis {axis}"))),
        }
    }

    /// The only unlimited axis.
    pub(super) fn unlimited(&self) -> Result<usize> {
        let axis = self.max.iter().position(Option::is_none);
        axis.ok_or_else(|| Error::invalid("an index of a growing dataset where nothing grows"))
    }

    /// Number of a chunk among all possible ones, in row-major order; the axis `first` is most significant, and may
    /// be unlimited.
    pub(super) fn number(&self, cell: &[u64], first: Option<usize>) -> Result<u64> {
        if cell.len() != self.rank() {
            return Err(Error::internal(format!("{} coordinates of a chunk", cell.len())));
        }
        let rest = (0..self.rank()).filter(|axis| Some(*axis) != first);
        first.into_iter().chain(rest).try_fold(0u64, |number, axis| {
            let at = cell.get(axis).copied().unwrap_or(0);
            let max = if first == Some(axis) { u64::MAX } else { self.max_along(axis)? };
            if at >= max {
                return Err(Error::invalid("a chunk beyond all that there can be").at_chunk(cell));
            }
            let next = number.checked_mul(if first == Some(axis) { 1 } else { max });
            next.and_then(|next| next.checked_add(at)).ok_or_else(|| Error::limit("more than 2^64 chunks"))
        })
    }

    /// The first element of a chunk along every axis.
    pub(super) fn offsets(&self, cell: &[u64]) -> Result<Vec<u64>> {
        if cell.len() != self.rank() {
            return Err(Error::internal(format!("{} coordinates of a chunk", cell.len())));
        }
        let offset = |(at, chunk): (&u64, &u64)| at.checked_mul(*chunk);
        let offsets = cell.iter().zip(&self.chunk).map(offset).collect::<Option<_>>();
        offsets.ok_or_else(|| Error::limit("a chunk beyond 2^64 elements").at_chunk(cell))
    }

    /// Size of a chunk's size field in indexes of layout version 4 and newer.
    fn size_width(&self, sizes: FieldSizes) -> Result<u8> {
        Ok(if self.version >= 5 { sizes.lengths } else { chunk_size_width(self.chunk_len()?) })
    }

    /// Size of a chunk's entry in those indexes.
    pub(super) fn element_len(&self, sizes: FieldSizes) -> Result<u64> {
        let offsets = u64::from(sizes.offsets);
        Ok(if self.filtered { offsets + u64::from(self.size_width(sizes)?) + 4 } else { offsets })
    }

    /// Appends a chunk's entry in those indexes; `None` for one that was never written.
    pub(super) fn encode(
        &self,
        out: &mut ByteSink,
        stored: Option<&StoredChunk>,
        sizes: FieldSizes,
    ) -> Result<()> {
        out.addr(stored.map(|stored| stored.addr), sizes);
        if self.filtered {
            let width = self.size_width(sizes)?;
            let len = stored.map_or(0, |stored| stored.len);
            if len > crate::cursor::all_ones(width) {
                return Err(Error::limit(format!("a chunk of {len} bytes, written in {width} bytes")));
            }
            out.uint(len, usize::from(width)).u32(stored.map_or(0, |stored| stored.mask));
        }
        Ok(())
    }
}
