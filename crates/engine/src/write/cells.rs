//! Which chunks a selection touches, and which of their elements.
use ncirrus_layout::grid::{AxisSlab, ChunkIntersections, ElementRun, ElementSizes, ElementWalk, row_major};
use ncirrus_layout::{ChunkGrid, Error, Result};
use ncirrus_model::{AxisSelection, Selection};

/// The chunks that a selection touches, in ascending order, and the elements picked from each.
#[derive(Debug)]
pub(super) struct ChunkSelection {
    cuts: ChunkIntersections,
    grid: ChunkGrid,
    /// Along each axis, the end of the elements that must be covered for a chunk to be whole: none along an axis that
    /// grows. `None` if elements are picked by a list, which covers no chunk.
    ends: Vec<Option<u64>>,
    /// Distances between consecutive elements in the selection.
    source_strides: Vec<u64>,
}

/// One touched chunk.
#[derive(Debug, Clone)]
pub(super) struct ChunkPart {
    /// Its coordinates.
    pub(super) cell: Vec<u64>,
    /// Whether every element of it is picked (except those outside the array along axes that never grow).
    pub(super) whole: bool,
    slabs: Vec<AxisSlab>,
}

/// Elements at equal steps in a chunk and in the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepRun {
    /// First element in the chunk.
    pub(super) inside: usize,
    /// First element in the selection.
    pub(super) source: usize,
    /// Number of elements.
    pub(super) len: usize,
    /// Distance between consecutive elements in the chunk.
    pub(super) inside_step: usize,
    /// Distance between consecutive elements in the selection.
    pub(super) source_step: usize,
}

impl StepRun {
    /// Whether the elements are contiguous on both sides.
    pub(super) fn is_row(&self) -> bool {
        (self.inside_step == 1 && self.source_step == 1) || self.len == 1
    }

    /// The pairs of element indices.
    pub(super) fn pairs(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len).map(move |k| (self.inside + k * self.inside_step, self.source + k * self.source_step))
    }
}

impl From<ElementRun> for StepRun {
    fn from(run: ElementRun) -> Self {
        Self {
            inside: run.source,
            source: run.target,
            len: run.count,
            inside_step: run.source_step,
            source_step: run.target_step,
        }
    }
}

impl ChunkPart {
    /// How many elements are picked.
    pub(super) fn element_count(&self) -> u64 {
        self.slabs.iter().fold(1, |product, slab| product.saturating_mul(slab.count))
    }
}

impl ChunkSelection {
    /// The chunks of an array of that shape that `selection` touches; `growing` marks the axes that may grow.
    ///
    /// # Errors
    /// `Invalid` if an element is outside the grid.
    pub(super) fn new(
        selection: &Selection,
        grid: &ChunkGrid,
        shape: &[u64],
        growing: &[bool],
    ) -> Result<Self> {
        let mut ends = Vec::with_capacity(selection.rank());
        for (at, axis) in selection.axes().iter().enumerate() {
            check_inside(axis, grid, at)?;
            let grows = growing.get(at).copied().unwrap_or(false);
            let end = if grows { u64::MAX } else { shape.get(at).copied().unwrap_or(0) };
            ends.push(matches!(axis, AxisSelection::Slice { .. }).then_some(end));
        }
        let cuts = ChunkIntersections::new(selection, grid, &vec![u64::MAX; selection.rank()]);
        Ok(Self { cuts, grid: grid.clone(), ends, source_strides: row_major(&selection.shape(), 1)? })
    }

    /// The same with the chunks in the order of their shards.
    pub(super) fn by_shards(self, shards: &ChunkGrid) -> Self {
        Self { cuts: self.cuts.by_groups(shards), ..self }
    }

    /// The chunks in ascending order, or in that of their shards.
    pub(super) fn parts(&self) -> impl Iterator<Item = ChunkPart> + '_ {
        let mut cuts = self.cuts.clone();
        std::iter::from_fn(move || self.part(cuts.next_piece()?))
    }

    fn part(&self, slabs: Vec<AxisSlab>) -> Option<ChunkPart> {
        let cell: Vec<u64> = slabs.iter().map(|slab| slab.cell).collect::<Option<_>>()?;
        let axes = slabs.iter().zip(&cell).zip(&self.ends).enumerate();
        let mut whole = true;
        for (axis, ((slab, cell), end)) in axes {
            let span = self.grid.span(axis, *cell)?;
            let covers = |end: u64| {
                (slab.stride == 1 || slab.count == 1)
                    && slab.offset == 0
                    && slab.count >= span.end.min(end).saturating_sub(span.start)
            };
            whole &= end.is_some_and(covers);
        }
        Some(ChunkPart { cell, whole, slabs })
    }

    /// Calls `each` for every run of picked elements of a chunk of that shape.
    ///
    /// # Errors
    /// `Limit` if there are too many elements for this machine.
    pub(super) fn runs(
        &self,
        part: &ChunkPart,
        cell_shape: &[usize],
        each: &mut impl FnMut(StepRun),
    ) -> Result<()> {
        let shape: Vec<u64> = cell_shape.iter().map(|len| *len as u64).collect();
        let one = ElementSizes { stored: 1, native: 1 };
        let walk = ElementWalk::new(&part.slabs, &row_major(&shape, 1)?, &self.source_strides, one);
        let walk = walk.ok_or_else(|| Error::limit("the selection exceeds this machine's addresses"))?;
        walk.for_each_run(|run| each(run.into()));
        Ok(())
    }
}

/// Checks that the elements along an axis are inside the chunk grid.
fn check_inside(selection: &AxisSelection, grid: &ChunkGrid, axis: usize) -> Result<()> {
    let last = match selection.end() {
        Some(0) => return Ok(()),
        Some(end) => end - 1,
        None => return Err(Error::invalid("the last index exceeds 64 bits")),
    };
    match grid.cell_at(axis, last).and_then(|cell| grid.span(axis, cell)) {
        Some(_) => Ok(()),
        None => Err(Error::invalid(format!("index {last} of axis {axis} is outside the grid of chunks"))),
    }
}

/// A position in memory.
pub(super) fn to_index(value: u64) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Error::limit(format!("{value} elements are too many for this machine")))
}
