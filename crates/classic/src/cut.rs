//! How a variable is divided into chunks, each one run of bytes in the file.
use crate::definition::VariableDefinition;
use ncirrus_layout::{ChunkGrid, Error, Result};

/// The division of one variable: leading axes one by one, one axis in pieces, the axes after it whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellCut {
    /// Length of a chunk along each axis, without the record axis.
    lens: Vec<u64>,
    shape: Vec<u64>,
    strides: Vec<u64>,
    element: u64,
    /// Records per chunk, for a record variable.
    rows: Option<u64>,
}

/// The bytes of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellSpan {
    /// Its first record; 0 for a fixed variable.
    pub(crate) row: u64,
    /// Its number among the chunks of one record.
    pub(crate) cell: u64,
    /// Bytes from the beginning of the slab.
    pub(crate) offset: u64,
    /// Bytes in one record.
    pub(crate) len: u64,
}

impl CellCut {
    /// Divides a variable into chunks of at most `cell_bytes`, unless a single element is larger. Contiguous records
    /// may share a chunk of a sixteenth of that: appending one rewrites its chunk.
    pub(crate) fn new(var: &VariableDefinition, cell_bytes: u64, records_adjoin: bool) -> Self {
        let element = var.ty.byte_len().unwrap_or(1) as u64;
        let mut lens = vec![1; var.shape.len()];
        let mut inner = element;
        for (slot, len) in lens.iter_mut().zip(&var.shape).rev() {
            let fits = (cell_bytes / inner.max(1)).clamp(1, (*len).max(1));
            *slot = fits;
            if fits < *len {
                break;
            }
            inner = inner.saturating_mul(*len);
        }
        let rows = var.is_record.then(|| {
            let fit = (cell_bytes / 16).checked_div(var.slab.byte_len).unwrap_or(1).max(1);
            if records_adjoin { fit } else { 1 }
        });
        Self { lens, shape: var.shape.clone(), strides: var.slab.strides.clone(), element, rows }
    }

    /// The grid of chunks.
    pub(crate) fn grid(&self) -> Result<ChunkGrid> {
        ChunkGrid::regular(self.rows.iter().chain(&self.lens).copied().collect())
    }

    /// Records per chunk; 1 for a fixed variable.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.unwrap_or(1)
    }

    /// Number of chunks of one record, or of a fixed variable.
    pub(crate) fn cells(&self) -> u64 {
        self.counts().fold(1, u64::saturating_mul)
    }

    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.shape.iter().zip(&self.lens).map(|(len, cell)| len.div_ceil((*cell).max(1)))
    }

    /// The bytes of a chunk.
    ///
    /// # Errors
    /// `Invalid` if there is no such chunk.
    pub(crate) fn span(&self, cell: &[u64]) -> Result<CellSpan> {
        self.checked_span(cell).ok_or_else(|| Error::invalid("there is no such cell").at_chunk(cell))
    }

    /// Where the chunk of that number begins in the slab.
    pub(crate) fn offset_of(&self, cell: u64) -> Option<u64> {
        let counts: Vec<u64> = self.counts().collect();
        let mut left = cell;
        let mut offset = 0u64;
        for ((count, len), stride) in counts.iter().zip(&self.lens).zip(&self.strides).rev() {
            let at = left.checked_rem(*count)?;
            left /= count;
            offset = offset.checked_add(at.checked_mul(*len)?.checked_mul(*stride)?)?;
        }
        Some(offset)
    }

    fn checked_span(&self, cell: &[u64]) -> Option<CellSpan> {
        let (row, inner) = match self.rows {
            Some(rows) => (cell.first()?.checked_mul(rows)?, cell.get(1..)?),
            None => (0, cell),
        };
        if inner.len() != self.lens.len() {
            return None;
        }
        let mut span = CellSpan { row, cell: 0, offset: 0, len: self.element };
        let axes = self.lens.iter().zip(&self.shape).zip(&self.strides);
        for ((at, count), ((cell_len, len), stride)) in inner.iter().zip(self.counts()).zip(axes) {
            let start = at.checked_mul(*cell_len).filter(|start| start < len)?;
            span.cell = span.cell.checked_mul(count)?.checked_add(*at)?;
            span.offset = span.offset.checked_add(start.checked_mul(*stride)?)?;
            span.len = span.len.checked_mul((*cell_len).min(len - start))?;
        }
        Some(span)
    }
}

#[cfg(test)]
mod tests;
