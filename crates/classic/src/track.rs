//! The state of one variable while its file is written.
use crate::arrangement::VariablePosition;
use crate::cut::{CellCut, CellSpan};
use crate::definition::VariableDefinition;
use crate::written::NumberRuns;
use ncirrus_layout::{EdgeChunks, Encoding, Error, Result};
use std::sync::Arc;

/// A variable's chunks: how it is divided, and which chunks are in the file.
#[derive(Debug)]
pub(crate) struct VariableTrack {
    pub(crate) cut: CellCut,
    pub(crate) encoding: Arc<Encoding>,
    /// Chunks whose bytes are in the file: numbered record by record, and within a record in row-major order.
    pub(crate) written: NumberRuns,
}

/// A chunk in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedCell {
    /// Number of the chunk, or of its first record's.
    pub(crate) index: u64,
    pub(crate) span: CellSpan,
}

impl VariableTrack {
    /// A variable without anything in the file. `records_adjoin`: its records are contiguous, so that several may
    /// share a chunk.
    ///
    /// # Errors
    /// If it has an axis without elements.
    pub(crate) fn new(var: &VariableDefinition, cell_bytes: u64, records_adjoin: bool) -> Result<Self> {
        let cut = CellCut::new(var, cell_bytes, records_adjoin);
        let encoding = Encoding {
            grid: cut.grid()?,
            edge: EdgeChunks::Clipped,
            stored: var.stored.clone(),
            codecs: Arc::from([]),
            fill: var.fill.clone(),
        };
        Ok(Self { cut, encoding: Arc::new(encoding), written: NumberRuns::default() })
    }

    /// The number of a chunk.
    ///
    /// # Errors
    /// `Invalid` if there is no such chunk.
    pub(crate) fn piece(&self, cell: &[u64]) -> Result<PlacedCell> {
        let span = self.cut.span(cell)?;
        let index = span.row.checked_mul(self.cut.cells()).and_then(|index| index.checked_add(span.cell));
        let index = index.ok_or_else(|| Error::limit("too many cells").at_chunk(cell))?;
        Ok(PlacedCell { index, span })
    }

    /// How many records a body for that chunk contains.
    ///
    /// # Errors
    /// `Internal` if the body has the wrong size.
    pub(crate) fn records_of(&self, piece: &PlacedCell, body_len: u64) -> Result<u64> {
        let len = piece.span.len.max(1);
        let count = body_len / len;
        if body_len == 0 || !body_len.is_multiple_of(len) || count > self.cut.rows() {
            let message = format!("a body of {body_len} bytes for a cell of {len} bytes per record");
            return Err(Error::internal(message));
        }
        Ok(count)
    }

    /// The records from `end` to the end of their chunk, or of the variable; `None` if there are none. A chunk of
    /// several records that was written when there were fewer lacks them.
    pub(crate) fn rest_of_cell(&self, end: u64, records: u64) -> Option<std::ops::Range<u64>> {
        let rows = self.cut.rows();
        let cell_end = end.checked_next_multiple_of(rows)?;
        (rows > 1 && end < cell_end.min(records)).then(|| end..cell_end.min(records))
    }

    /// The bytes of `count` chunks from `piece` on in the file; `None` if they do not fit 64 bits.
    pub(crate) fn range(
        piece: &PlacedCell,
        position: &VariablePosition,
        count: u64,
    ) -> Option<std::ops::Range<u64>> {
        let start = position.offset(piece.span.row, piece.span.offset)?;
        Some(start..start.checked_add(piece.span.len.checked_mul(count)?)?)
    }
}
