//! The data stored of a variable so far.
use super::form::{ChunkArrangement, StorageForm};
use crate::address::FileAddress;
use crate::write::StoredChunk;
use crate::write::objects::own_records;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Model, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The data stored of a variable so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeldElements {
    /// Nothing, or all of it.
    Compact(Option<Bytes>),
    /// Where the run begins once it has data, and the written chunks.
    Run { addr: Option<FileAddress>, cells: BTreeSet<Vec<u64>> },
    /// Chunks by their coordinates.
    Chunks(BTreeMap<Vec<u64>, StoredChunk>),
}

impl HeldElements {
    /// Nothing.
    pub(crate) fn nothing(arranged: ChunkArrangement) -> Self {
        match arranged {
            ChunkArrangement::Compact => Self::Compact(None),
            ChunkArrangement::Contiguous => Self::Run { addr: None, cells: BTreeSet::new() },
            ChunkArrangement::Chunked => Self::Chunks(BTreeMap::new()),
        }
    }

    /// How many records a variable with these data has, where that is not its dimension's length ([`own_records`]).
    pub(crate) fn records(
        &self,
        model: &Model,
        var: VarId,
        chunk: &[u64],
        reaches_end: impl Fn(VarId) -> bool,
    ) -> Option<u64> {
        match self {
            Self::Chunks(chunks) => own_records(model, var, chunks.keys().next_back(), chunk, reaches_end),
            Self::Compact(_) | Self::Run { .. } => None,
        }
    }

    /// Whether a variable has a chunk with its last record.
    pub(crate) fn reaches_end(&self, model: &Model, var: VarId, chunk: &[u64]) -> bool {
        let Self::Chunks(chunks) = self else { return true };
        let last = chunks.keys().next_back().and_then(|cell| cell.first());
        let rows = chunk.first().copied().unwrap_or(1);
        let end = last.map(|at| at.saturating_add(1).saturating_mul(rows));
        end.zip(model.shape(var).first()).is_some_and(|(end, len)| end >= *len)
    }
}

/// The bytes of a chunk of contiguous data, from the first element of an array of that shape.
///
/// # Errors
/// `Invalid` if there is no such chunk.
pub(crate) fn run_of(form: &StorageForm, shape: &[u64], cell: &[u64]) -> Result<Range<u64>> {
    let region = form.encoding.grid.clipped_region(cell, shape);
    let range = region.and_then(|region| {
        let (mut start, mut stride) = (0u64, form.datatype.byte_len);
        for (at, len) in region.start.iter().zip(shape).rev() {
            start = start.checked_add(at.checked_mul(stride)?)?;
            stride = stride.checked_mul(*len)?;
        }
        let len = region.count.iter().try_fold(form.datatype.byte_len, |len, count| len.checked_mul(*count));
        Some(start..start.checked_add(len?)?)
    });
    range.ok_or_else(|| Error::invalid("there is no such cell").at_chunk(cell))
}
