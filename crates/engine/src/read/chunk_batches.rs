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
    /// Pieces of chunks that are being located. Empty afterwards: the memory is used again.
    stored: Vec<ResultPieces<'out>>,
}

/// A piece of the result, and the piece of the marks that belongs to it.
struct ResultPieces<'out> {
    piece: ScatterPiece<'out>,
    marks: Option<ScatterPiece<'out>>,
}

impl<'out, 'p> ChunkBatches<'out, 'p> {
    /// All chunks of the selection to which the output belongs.
    pub(super) fn new(output: OutputBuffer<'out, 'p>, marks: Option<OutputBuffer<'out, 'p>>) -> Self {
        Self { output, marks, stored: Vec::new() }
    }

    /// The tasks for the next chunks; `None` at the end.
    pub(super) async fn next_jobs(
        &mut self,
        reading: &VariableRead<'_>,
    ) -> Result<Option<Vec<ChunkTask<'out>>>> {
        let mut jobs = Vec::new();
        let (mut cell, mut cells) = (Vec::new(), None);
        let is_local = reading.context.snapshot.store().local().is_some();
        let window = if is_local { LOCAL_WINDOW } else { WINDOW };
        for _ in 0..window {
            let Some(piece) = self.output.next_piece() else { break };
            let marks = self.marks.as_mut().and_then(OutputBuffer::next_piece);
            let pieces = ResultPieces { piece, marks };
            if pieces.piece.copy_cell(&mut cell) {
                cells.get_or_insert_with(|| CellList::new(cell.len())).push(&cell);
                self.stored.push(pieces);
            } else {
                jobs.push(ChunkTask::fill(pieces.unplaced()?));
            }
        }
        let Some(cells) = cells else { return Ok((!jobs.is_empty()).then_some(jobs)) };
        let mut located = reading.locate(&cells).await?;
        jobs.reserve_exact(self.stored.len());
        for (pieces, cell) in self.stored.drain(..).zip(cells.iter()) {
            let work = located.next_source(reading, cell)?;
            let target = match work {
                ChunkSource::Fill => pieces.unplaced()?,
                _ => pieces.place(located.strides())?,
            };
            jobs.push(ChunkTask { cell: cell.into(), target, work, keep: None });
        }
        Ok(Some(jobs))
    }
}

impl<'out> ResultPieces<'out> {
    fn unplaced(self) -> Result<ChunkTarget<'out>> {
        let marks = self.marks.map(|marks| marks.unplaced().map(Box::new)).transpose()?;
        Ok(ChunkTarget { part: self.piece.unplaced()?, marks })
    }

    fn place(self, strides: &[u64]) -> Result<ChunkTarget<'out>> {
        // Marks are split as their elements are: they need the same strides.
        let marks = self.marks.map(|marks| marks.place(strides).map(Box::new)).transpose()?;
        Ok(ChunkTarget { part: self.piece.place(strides)?, marks })
    }
}

/// Where the elements of several chunks are stored.
pub(super) struct LocatedChunks<'a> {
    places: ChunkPlaces<'a>,
    /// The shape of the chunk before, in an index: most chunks have the same one. At first that of a scalar.
    shape: Vec<u64>,
    /// The strides in bytes of that chunk's elements.
    strides: Vec<u64>,
}

enum ChunkPlaces<'a> {
    /// By an index.
    Indexed(&'a IndexedChunks, std::vec::IntoIter<ChunkRef>),
    /// In rows at fixed strides.
    Rows(&'a StridedRows),
}

impl<'a> VariableRead<'a> {
    /// Where the elements of chunks are stored.
    pub(super) async fn locate(&self, cells: &CellList) -> Result<LocatedChunks<'a>> {
        let chunks = match &self.bound.layout {
            StorageLayout::Chunks(chunks) => chunks,
            StorageLayout::Rows(rows) => {
                let strides = rows.strides.clone();
                return Ok(LocatedChunks { places: ChunkPlaces::Rows(rows), shape: Vec::new(), strides });
            }
            StorageLayout::Mosaic(_) | StorageLayout::Query(..) => {
                return Err(Error::internal("a variable that is not stored in cells has none"));
            }
        };
        let located = self.context.drive(|view| chunks.index.locate(view, cells)).await?;
        if located.len() != cells.len() {
            return Err(Error::internal("an index answered for another number of cells"));
        }
        let located = as_ranges(&self.context, located).await?.into_iter();
        let places = ChunkPlaces::Indexed(chunks, located);
        Ok(LocatedChunks { places, shape: Vec::new(), strides: Vec::new() })
    }
}

impl LocatedChunks<'_> {
    /// Where the elements of the next chunk are stored. A chunk that was never written is noted.
    pub(super) fn next_source(&mut self, reading: &VariableRead<'_>, cell: &[u64]) -> Result<ChunkSource> {
        self.source(reading, cell).map_err(|error| error.at_chunk(cell))
    }

    /// The strides in bytes of the elements of the chunk whose source was returned last, unless it was never written.
    pub(super) fn strides(&self) -> &[u64] {
        &self.strides
    }

    fn source(&mut self, reading: &VariableRead<'_>, cell: &[u64]) -> Result<ChunkSource> {
        let (chunks, located) = match &mut self.places {
            ChunkPlaces::Rows(rows) => {
                return Ok(ChunkSource::Rows {
                    extents: Arc::clone(&rows.extents),
                    origin: rows.origin(cell)?,
                });
            }
            ChunkPlaces::Indexed(chunks, located) => (*chunks, located.next()),
        };
        let located = located.ok_or_else(|| Error::internal("fewer chunks were located than cells"))?;
        if located.location == Location::Absent {
            reading.note_missing(cell)?;
            return Ok(ChunkSource::Fill);
        }
        let elements = reading.elements;
        let shape = chunks.shape(cell, &reading.bound.source.extent)?;
        let count = shape.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
        let count = count.ok_or_else(|| Error::limit("a chunk has more than 2^64 elements"))?;
        let len = count.saturating_mul(elements.sizes().stored as u64);
        let len = reading.context.shared.limits.chunk_len(len, "a chunk")?;
        let chain = chunks.chain(&shape)?;
        let is_plain = chain.is_identity() && elements.stored_len().is_some();
        if self.shape != shape {
            self.strides = row_major(&shape, elements.sizes().stored as u64)?;
            self.shape = shape;
        }
        Ok(match located.location {
            Location::Bytes(object, range) if is_plain => {
                let have = range.end.saturating_sub(range.start);
                ChunkSource::Plain { object, start: range.start, have: Some(have), len }
            }
            Location::Object(object) if is_plain => ChunkSource::Plain { object, start: 0, have: None, len },
            location => ChunkSource::Encoded { location, mask: located.mask, chain, len, count },
        })
    }
}
