//! Intersections of a selection with a grid: which elements of which chunk go where.
use super::ChunkGrid;
use ncirrus_model::{AxisSelection, Selection};
use std::sync::Arc;

/// A selection cut along the chunks of a grid. The pieces are computed one after the other, so that a selection of
/// 10^8 chunks costs no memory; together they hold every selected element once, whatever the selection.
#[derive(Debug, Clone)]
pub struct ChunkIntersections {
    axes: Vec<AxisCuts>,
    current: Vec<(AxisSlab, u64)>,
    state: CutState,
    /// The groups of chunks whose pieces come one after the other.
    groups: Option<Vec<AxisGroup>>,
}

/// Groups of chunks along an axis.
#[derive(Debug, Clone)]
struct AxisGroup {
    axis: usize,
    /// The groups: a grid whose elements are chunks.
    groups: Arc<ChunkGrid>,
    /// The cursor at which the present group begins.
    begin: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum CutState {
    Fresh,
    Running,
    Done,
}

/// The part of one axis' selection that lies in one chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisSlab {
    /// The chunk's index along this axis; `None` outside of what is stored.
    pub cell: Option<u64>,
    /// Position of the first element in the result.
    pub position: u64,
    /// The first element, relative to the start of the chunk.
    pub offset: u64,
    /// Number of elements.
    pub count: u64,
    /// Distance of the elements in the chunk.
    pub stride: u64,
    /// Replaces the four above if the elements are irregular.
    pub picks: Option<Arc<[IndexPair]>>,
}

/// One element of an index list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexPair {
    /// Position in the result.
    pub position: u64,
    /// The element, relative to the start of the chunk.
    pub offset: u64,
}

#[derive(Debug, Clone)]
struct AxisCuts {
    axis: usize,
    extent: u64,
    grid: Arc<ChunkGrid>,
    elements: SlabElements,
}

#[derive(Debug, Clone)]
enum SlabElements {
    Slice { start: u64, count: u64, stride: u64 },
    Segments(Arc<[AxisSlab]>),
}

impl ChunkIntersections {
    /// Cuts a selection, which must fit its variable, along a grid of which only `extent` is stored.
    pub fn new(selection: &Selection, grid: &ChunkGrid, extent: &[u64]) -> Self {
        let grid = Arc::new(grid.clone());
        let axes = selection.axes().iter().enumerate();
        let axes: Vec<AxisCuts> = axes
            .map(|(axis, elements)| {
                let extent = extent.get(axis).copied().unwrap_or(0);
                AxisCuts::new(elements, axis, extent, Arc::clone(&grid))
            })
            .collect();
        Self { axes, current: Vec::new(), state: CutState::Fresh, groups: None }
    }

    /// The same pieces in another order: group by group. The elements of the grid `groups` are chunks.
    pub fn by_groups(mut self, groups: &ChunkGrid) -> Self {
        let all = Arc::new(groups.clone());
        let group = |axis| AxisGroup { axis, groups: Arc::clone(&all), begin: 0 };
        self.groups = (groups.rank() == self.axes.len()).then(|| (0..groups.rank()).map(group).collect());
        self
    }

    /// The next piece: one slab per axis; `None` at the end.
    pub fn next_piece(&mut self) -> Option<Vec<AxisSlab>> {
        let found = match self.state {
            CutState::Fresh => self.start(),
            CutState::Running => self.advance(),
            CutState::Done => false,
        };
        self.state = if found { CutState::Running } else { CutState::Done };
        found.then(|| self.current.iter().map(|(segment, _)| segment.clone()).collect())
    }

    /// Number of chunks that are touched; `None` if it exceeds 64 bits.
    pub fn cell_count(&self) -> Option<u64> {
        self.axes.iter().try_fold(1u64, |product, axis| product.checked_mul(axis.cell_count()))
    }

    fn start(&mut self) -> bool {
        let first: Option<Vec<_>> = self.axes.iter().map(|axis| axis.at(0)).collect();
        first.is_some_and(|first| {
            self.current = first;
            true
        })
    }

    /// Moves to the next slab of the last axis that has one, and restarts the axes after it.
    fn advance(&mut self) -> bool {
        let Some(mut groups) = self.groups.take() else { return self.advance_axes() };
        let has_next = self.advance_in_group(&groups) || self.advance_group(&mut groups);
        self.groups = Some(groups);
        has_next
    }

    /// As [`advance`](Self::advance), inside of the present groups.
    fn advance_in_group(&mut self, groups: &[AxisGroup]) -> bool {
        for ((axis, current), group) in self.axes.iter().zip(&mut self.current).zip(groups).rev() {
            let number = group.number(&current.0);
            if let Some(next) = axis.at(current.1).filter(|next| group.number(&next.0) == number) {
                *current = next;
                return true;
            }
            let Some(first) = axis.at(group.begin) else { return false };
            *current = first;
        }
        false
    }

    /// Moves to the next group of the last axis that has one, and to the first groups of the axes after it.
    fn advance_group(&mut self, groups: &mut [AxisGroup]) -> bool {
        for ((axis, current), group) in self.axes.iter().zip(&mut self.current).zip(groups).rev() {
            let number = group.number(&current.0);
            let mut next = axis.at(current.1);
            while let Some((slab, after)) = &next
                && group.number(slab) == number
            {
                *current = (slab.clone(), *after);
                next = axis.at(*after);
            }
            if let Some(next) = next {
                group.begin = current.1;
                *current = next;
                return true;
            }
            group.begin = 0;
            let Some(first) = axis.at(0) else { return false };
            *current = first;
        }
        false
    }

    fn advance_axes(&mut self) -> bool {
        for (axis, current) in self.axes.iter().zip(&mut self.current).rev() {
            if let Some(next) = axis.at(current.1) {
                *current = next;
                return true;
            }
            let Some(first) = axis.at(0) else { return false };
            *current = first;
        }
        false
    }
}

impl AxisGroup {
    /// The group of a piece; chunks behind the last group are one together.
    fn number(&self, slab: &AxisSlab) -> Option<u64> {
        slab.cell.map(|cell| self.groups.cell_at(self.axis, cell).unwrap_or(u64::MAX))
    }
}

impl AxisCuts {
    fn new(elements: &AxisSelection, axis: usize, extent: u64, grid: Arc<ChunkGrid>) -> Self {
        let mut cuts = Self { axis, extent, grid, elements: SlabElements::Segments(Arc::from([])) };
        cuts.elements = match elements {
            AxisSelection::Slice { start, count, stride } => {
                SlabElements::Slice { start: *start, count: *count, stride: *stride }
            }
            AxisSelection::Indices(indices) => SlabElements::Segments(cuts.sort(indices)),
        };
        cuts
    }

    /// The slab at a cursor, and the cursor of the next one. Cursors start at 0.
    fn at(&self, cursor: u64) -> Option<(AxisSlab, u64)> {
        match &self.elements {
            SlabElements::Slice { start, count, stride } => {
                let segment = self.slice_from(*start, *count, *stride, cursor)?;
                let next = cursor + segment.count;
                Some((segment, next))
            }
            SlabElements::Segments(segments) => {
                let segment = segments.get(usize::try_from(cursor).ok()?)?;
                Some((segment.clone(), cursor + 1))
            }
        }
    }

    /// The longest slab of a slice that starts at a position of the result.
    fn slice_from(&self, start: u64, count: u64, stride: u64, position: u64) -> Option<AxisSlab> {
        let left = count.checked_sub(position).filter(|left| *left > 0)?;
        let index = start + position * stride;
        let (cell, first, end) = self.span_of(index);
        let inside = (end - 1 - index).checked_div(stride).map_or(1, |steps| steps.saturating_add(1));
        Some(AxisSlab { cell, position, offset: index - first, count: inside.min(left), stride, picks: None })
    }

    /// The chunk that holds an element (`None` outside of what is stored), its first element and its end.
    fn span_of(&self, index: u64) -> (Option<u64>, u64, u64) {
        if index >= self.extent {
            return (None, self.extent, u64::MAX);
        }
        let cell = self.grid.cell_at(self.axis, index);
        let span = cell.and_then(|cell| self.grid.span(self.axis, cell));
        match (cell, span) {
            (Some(cell), Some(span)) => (Some(cell), span.start, span.end.min(self.extent)),
            _ => (None, 0, u64::MAX),
        }
    }

    /// Sorts an index list by chunk.
    fn sort(&self, indices: &[u64]) -> Arc<[AxisSlab]> {
        let mut sorted: Vec<(u64, u64)> = indices.iter().copied().zip(0u64..).collect();
        sorted.sort_unstable();
        let mut segments = Vec::new();
        let mut rest = sorted.as_slice();
        while let Some((index, _)) = rest.first() {
            let (cell, first, end) = self.span_of(*index);
            let (here, after) = rest.split_at(rest.partition_point(|(index, _)| *index < end));
            let picks =
                here.iter().map(|(index, position)| IndexPair { position: *position, offset: index - first });
            segments.push(AxisSlab::of_picks(cell, picks.collect()));
            rest = after;
        }
        segments.into()
    }

    fn cell_count(&self) -> u64 {
        match &self.elements {
            SlabElements::Segments(segments) => {
                segments.iter().filter(|segment| segment.cell.is_some()).count() as u64
            }
            SlabElements::Slice { start, count, stride } => self.slice_cells(*start, *count, *stride),
        }
    }

    fn slice_cells(&self, start: u64, count: u64, stride: u64) -> u64 {
        let Some(room) = self.extent.checked_sub(start).filter(|room| *room > 0) else { return 0 };
        let stored = count.min((room - 1).checked_div(stride).map_or(1, |steps| steps + 1));
        if stored == 0 {
            return 0;
        }
        let last = start + (stored - 1) * stride;
        match self.grid.as_ref() {
            // A stride longer than a chunk touches every chunk at most once.
            ChunkGrid::Regular(shape) if shape.get(self.axis).is_some_and(|len| stride > *len) => stored,
            ChunkGrid::Regular(_) => self.grid.cells_along(self.axis, last + 1) - self.cells_before(start),
            ChunkGrid::Rectilinear(_) => {
                let mut cells = 0;
                let mut cursor = 0;
                while let Some((segment, next)) = self.at(cursor) {
                    cells += u64::from(segment.cell.is_some());
                    cursor = next;
                }
                cells
            }
        }
    }

    fn cells_before(&self, element: u64) -> u64 {
        self.grid.cell_at(self.axis, element).unwrap_or(0)
    }
}

impl AxisSlab {
    /// `count` consecutive elements from `offset` on, which are the first of the result.
    pub fn first(offset: u64, count: u64) -> Self {
        Self { cell: None, position: 0, offset, count, stride: 1, picks: None }
    }

    /// A slab of index-list elements, which are sorted by offset; a regular one is recognised.
    fn of_picks(cell: Option<u64>, picks: Vec<IndexPair>) -> Self {
        let count = picks.len() as u64;
        let first = picks.first().copied().unwrap_or(IndexPair { position: 0, offset: 0 });
        let stride = picks.get(1).map_or(1, |second| second.offset - first.offset);
        let regular = |(pick, step): (&IndexPair, u64)| {
            pick.position == first.position + step && pick.offset == first.offset + step * stride
        };
        let is_regular = stride > 0 && picks.iter().zip(0u64..).all(regular);
        let picks = (!is_regular).then(|| picks.into());
        Self { cell, position: first.position, offset: first.offset, count, stride, picks }
    }
}

#[cfg(test)]
mod tests;
