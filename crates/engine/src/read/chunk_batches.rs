//! The chunks of a selection, a bounded number at a time, with a task for each.
use super::VariableRead;
use super::chunk_task::{ChunkSource, ChunkTarget, ChunkTask};
use super::ranges::as_ranges;
use crate::bound_source::{IndexedChunks, StorageLayout, StridedRows};
use crate::scatter::{OutputBuffer, ScatterPiece};
use ncirrus_layout::grid::row_major;
use ncirrus_layout::{CellList, ChunkRef, Error, Location, Result};
use std::sync::Arc;

/// Chunks that are held at once: requests for several of them become one.
pub(super) const WINDOW: usize = 1 << 15;
/// Chunks of a local store that are held at once. Their tasks stay in the processor's cache, and the next ones take the same
/// memory.
const LOCAL_WINDOW: usize = 1 << 11;

/// The chunks of a selection.
pub(super) struct ChunkBatches<'out, 'p> {
    output: OutputBuffer<'out, 'p>,
    marks: Option<OutputBuffer<'out, 'p>>,
}

/// A piece of the result, and the piece of the marks that belongs to it.
struct ResultPieces<'out> {
    piece: ScatterPiece<'out>,
    marks: Option<ScatterPiece<'out>>,
}

impl<'out, 'p> ChunkBatches<'out, 'p> {
    /// All chunks of the selection to which the output belongs.
    pub(super) fn new(output: OutputBuffer<'out, 'p>, marks: Option<OutputBuffer<'out, 'p>>) -> Self {
        Self { output, marks }
    }

    /// The tasks for the next chunks; `None` at the end.
    pub(super) async fn next_jobs(
        &mut self,
        reading: &VariableRead<'_>,
    ) -> Result<Option<Vec<ChunkTask<'out>>>> {
        let mut jobs = Vec::new();
        let (mut stored, mut cells) = (Vec::new(), None);
        let is_local = reading.context.snapshot.store().local().is_some();
        let window = if is_local { LOCAL_WINDOW } else { WINDOW };
        for _ in 0..window {
            let Some(piece) = self.output.next_piece() else { break };
            let marks = self.marks.as_mut().and_then(OutputBuffer::next_piece);
            let pieces = ResultPieces { piece, marks };
            match pieces.piece.cell() {
                Some(cell) => {
                    cells.get_or_insert_with(|| CellList::new(cell.len())).push(&cell);
                    stored.push(pieces);
                }
                None => jobs.push(ChunkTask::fill(pieces.unplaced()?)),
            }
        }
        let Some(cells) = cells else { return Ok((!jobs.is_empty()).then_some(jobs)) };
        let located = reading.locate(&cells).await?;
        jobs.reserve_exact(stored.len());
        for ((pieces, cell), (work, strides)) in stored.into_iter().zip(cells.iter()).zip(located) {
            let target = match work {
                ChunkSource::Fill => pieces.unplaced()?,
                _ => pieces.place(&strides)?,
            };
            jobs.push(ChunkTask { cell: cell.into(), target, work, keep: None });
        }
        Ok(Some(jobs))
    }
}

impl<'out> ResultPieces<'out> {
    fn unplaced(self) -> Result<ChunkTarget<'out>> {
        let marks = self.marks.map(ScatterPiece::unplaced).transpose()?;
        Ok(ChunkTarget { part: self.piece.unplaced()?, marks })
    }

    fn place(self, strides: &[u64]) -> Result<ChunkTarget<'out>> {
        // Marks are split as their elements are: they need the same strides.
        let marks = self.marks.map(|marks| marks.place(strides)).transpose()?;
        Ok(ChunkTarget { part: self.piece.place(strides)?, marks })
    }
}

impl VariableRead<'_> {
    /// Where the elements of chunks are stored, and their strides there in bytes. Chunks that were never written are
    /// noted.
    pub(super) async fn locate(&self, cells: &CellList) -> Result<Vec<(ChunkSource, Vec<u64>)>> {
        let chunks = match &self.bound.layout {
            StorageLayout::Chunks(chunks) => chunks,
            StorageLayout::Rows(rows) => return cells.iter().map(|cell| of_rows(rows, cell)).collect(),
            StorageLayout::Mosaic(_) | StorageLayout::Query(..) => {
                return Err(Error::internal("a variable that is not stored in cells has none"));
            }
        };
        let located = self.context.drive(|view| chunks.index.locate(view, cells)).await?;
        if located.len() != cells.len() {
            return Err(Error::internal("an index answered for another number of cells"));
        }
        let located = as_ranges(&self.context, located).await?;
        let work = |(cell, located)| {
            self.of_chunk(chunks, cell, located).map_err(|error: Error| error.at_chunk(cell))
        };
        cells.iter().zip(located).map(work).collect()
    }

    fn of_chunk(
        &self,
        chunks: &IndexedChunks,
        cell: &[u64],
        located: ChunkRef,
    ) -> Result<(ChunkSource, Vec<u64>)> {
        if located.location == Location::Absent {
            self.note_missing(cell)?;
            return Ok((ChunkSource::Fill, Vec::new()));
        }
        let elements = self.elements;
        let shape = chunks.shape(cell, &self.bound.source.extent)?;
        let count = shape.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
        let count = count.ok_or_else(|| Error::limit("a chunk has more than 2^64 elements"))?;
        let len = count.saturating_mul(elements.sizes().stored as u64);
        let len = self.context.shared.limits.chunk_len(len, "a chunk")?;
        let chain = chunks.chain(&shape)?;
        let is_plain = chain.is_identity() && elements.stored_len().is_some();
        let work = match located.location {
            Location::Bytes(object, range) if is_plain => {
                let have = range.end.saturating_sub(range.start);
                ChunkSource::Plain { object, start: range.start, have: Some(have), len }
            }
            Location::Object(object) if is_plain => ChunkSource::Plain { object, start: 0, have: None, len },
            location => ChunkSource::Encoded { location, mask: located.mask, chain, len, count },
        };
        Ok((work, row_major(&shape, elements.sizes().stored as u64)?))
    }
}

fn of_rows(rows: &StridedRows, cell: &[u64]) -> Result<(ChunkSource, Vec<u64>)> {
    let work = ChunkSource::Rows { extents: Arc::clone(&rows.extents), origin: rows.origin(cell)? };
    Ok((work, rows.strides.clone()))
}
