//! Where a variable's chunks are stored, for tools that build their own references.
use crate::drive::DriveContext;
use ncirrus_layout::ObjectId;
use ncirrus_layout::grid::ChunkIntersections;
use ncirrus_layout::{
    CellList, ChunkGrid, ChunkIndex, ChunkRef, Error, Extent, Layout, Location, Result, Source,
};
use ncirrus_model::Selection;

/// A chunk as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Indices of its first element, one per dimension of the variable.
    pub start: Vec<u64>,
    /// The location of its bytes, and which of the codecs were skipped for it.
    pub stored: ChunkRef,
}

/// Where the stored elements of a variable and the structures of its index are in the dataset's object. Offsets in other
/// objects do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoragePlacement {
    /// Chunks that are stored; 0 for a variable that is not chunked.
    pub chunks: u64,
    /// Offset of the first stored element.
    pub first_data: Option<u64>,
    /// Offset of the last structure of the chunk index.
    pub last_index: Option<u64>,
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
    while let Some(cells) = window(&mut cuts, grid) {
        found.extend(located(context, grid, index.as_ref(), &cells).await?);
    }
    Ok(found)
}

/// The next chunks that are located together.
fn window(cuts: &mut ChunkIntersections, grid: &ChunkGrid) -> Option<CellList> {
    let mut cells = CellList::new(grid.rank());
    let mut any = false;
    while cells.len() < WINDOW
        && let Some(piece) = cuts.next_piece()
    {
        any = true;
        let cell: Option<Vec<u64>> = piece.iter().map(|segment| segment.cell).collect();
        cell.iter().for_each(|cell| cells.push(cell));
    }
    any.then_some(cells)
}

/// Where a variable's elements and its index are in the object `root`, in bounded memory for any number of chunks.
///
/// # Errors
/// A damaged index.
pub(crate) async fn placement(
    context: &DriveContext,
    source: &Source,
    root: &ObjectId,
) -> Result<StoragePlacement> {
    let mut placement = StoragePlacement::default();
    match &source.layout {
        Layout::Grid { grid, index, .. } => {
            let whole = Selection::all(&source.extent);
            let mut cuts = ChunkIntersections::new(&whole, grid, &source.extent);
            while let Some(cells) = window(&mut cuts, grid) {
                for chunk in located(context, grid, index.as_ref(), &cells).await? {
                    placement.chunks += 1;
                    if let Location::Bytes(object, range) = &chunk.stored.location
                        && object == root
                    {
                        placement.note(range.start);
                    }
                }
            }
            placement.last_index = index.last_structure();
        }
        Layout::Affine { extents, .. } => {
            let own = extents.iter().filter(|extent| extent.object == *root);
            own.for_each(|Extent { offset, .. }| placement.note(*offset));
        }
        Layout::Mosaic { .. } | Layout::Query { .. } => {}
    }
    Ok(placement)
}

impl StoragePlacement {
    fn note(&mut self, offset: u64) {
        self.first_data = Some(self.first_data.map_or(offset, |first| first.min(offset)));
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
