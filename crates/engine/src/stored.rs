//! How many bytes a variable takes where it is stored.
use crate::dataset::Dataset;
use ncirrus_layout::{Cells, ChunkGrid, ChunkRef, Layout, Location, Result};
use ncirrus_model::VarId;
use ncirrus_store::LocalStore;

/// Chunks that are looked at; the size of a variable with more is not told.
const COUNTED: u64 = 1 << 18;
/// Chunks that are located together.
const BATCH: usize = 1 << 12;

impl Dataset {
    /// Bytes that the variable's values take as they are stored; `None` where telling would cost a request per chunk
    /// (chunks that are objects of their own, on another machine), or there are very many chunks.
    ///
    /// # Errors
    /// Why the variable is inaccessible, or the damage of an index.
    pub async fn stored_bytes(&self, variable: VarId) -> Result<Option<u64>> {
        let source = self.source(variable).await?;
        let Layout::Grid { grid, index, .. } = &source.layout else {
            let elements = source.extent.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
            return Ok(elements
                .zip(source.stored.byte_len())
                .and_then(|(count, one)| count.checked_mul(one)));
        };
        let counts: Vec<u64> =
            source.extent.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len)).collect();
        let total = counts.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        let Some(total) = total.filter(|total| *total <= COUNTED) else { return Ok(None) };
        let store = self.store();
        let mut sum = 0u64;
        let mut next = 0;
        while next < total {
            let cells = batch(grid, &counts, next, total);
            next += cells.len() as u64;
            for chunk in self.context(0).drive(|view| index.locate(view, &cells)).await? {
                match byte_len(&chunk, store.local())? {
                    Some(len) => sum = sum.saturating_add(len),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(sum))
    }
}

/// Some cells, from the `first` on in row-major order.
fn batch(grid: &ChunkGrid, counts: &[u64], first: u64, total: u64) -> Cells {
    let mut cells = Cells::new(grid.rank());
    let mut cell = vec![0; counts.len()];
    for number in (first..total).take(BATCH) {
        let mut rest = number;
        for (at, count) in cell.iter_mut().zip(counts).rev() {
            *at = rest % (*count).max(1);
            rest /= (*count).max(1);
        }
        cells.push(&cell);
    }
    cells
}

fn byte_len(chunk: &ChunkRef, local: Option<&dyn LocalStore>) -> Result<Option<u64>> {
    Ok(match &chunk.location {
        Location::Bytes(_, range) => Some(range.end.saturating_sub(range.start)),
        Location::Inline(bytes) => Some(bytes.len() as u64),
        Location::Absent => Some(0),
        Location::Object(object) => match local {
            Some(local) => Some(local.stat(object)?.map_or(0, |(len, _)| len)),
            None => None,
        },
    })
}
