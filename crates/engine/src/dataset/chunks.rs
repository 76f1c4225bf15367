//! Where a variable's chunks are stored, for tools that build their own references.
use crate::drive::DriveContext;
use ncirrus_layout::grid::ChunkIntersections;
use ncirrus_layout::{CellList, ChunkGrid, ChunkIndex, ChunkRef, Error, Layout, Location, Result, Source};
use ncirrus_model::Selection;

/// A chunk as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Indices of its first element, one per dimension of the variable.
    pub start: Vec<u64>,
    /// The location of its bytes, and which of the codecs were skipped for it.
    pub stored: ChunkRef,
}

/// Chunks that are located together.
const WINDOW: usize = 1 << 15;

/// The chunks of a chunked layout that a selection touches, in row-major order; those that are known never to have been
/// written are left out. Other layouts have none.
///
/// # Errors
/// `Limit` if the selection touches more chunks than the limits allow; a damaged index.
pub(crate) async fn chunks(
    context: &DriveContext,
    source: &Source,
    selection: &Selection,
) -> Result<Vec<StoredChunk>> {
    let Layout::Grid { grid, index, .. } = &source.layout else { return Ok(Vec::new()) };
    let mut cuts = ChunkIntersections::new(selection, grid, &source.extent);
    let count = cuts.cell_count().unwrap_or(u64::MAX);
    context.shared.limits.count(count, "a list of chunks")?;
    let mut found = Vec::new();
    loop {
        let mut cells = CellList::new(grid.rank());
        let mut any = false;
        while cells.len() < WINDOW
            && let Some(piece) = cuts.next_piece()
        {
            any = true;
            let cell: Option<Vec<u64>> = piece.iter().map(|segment| segment.cell).collect();
            cell.iter().for_each(|cell| cells.push(cell));
        }
        if !any {
            return Ok(found);
        }
        found.extend(located(context, grid, index.as_ref(), &cells).await?);
    }
}

async fn located(
    context: &DriveContext,
    grid: &ChunkGrid,
    index: &dyn ChunkIndex,
    cells: &CellList,
) -> Result<Vec<StoredChunk>> {
    let places = context.drive(|view| index.locate(view, cells)).await?;
    let written = cells.iter().zip(places).filter(|(_, place)| place.location != Location::Absent);
    let stored = written.map(|(cell, stored)| {
        let region = grid.region(cell).ok_or_else(|| Error::internal("a cell outside of the grid"))?;
        Ok(StoredChunk { start: region.start, stored })
    });
    stored.collect()
}
