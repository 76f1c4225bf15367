//! Which cells a selection touches, and which of their elements.
use ncirrus_layout::{ChunkGrid, Error, Result};
use ncirrus_model::{AxisSelection, Selection};
use std::collections::BTreeMap;

/// The cells that a selection touches, in ascending order, and what is picked of each.
#[derive(Debug)]
pub(super) struct ChunkSelection {
    axes: Vec<Vec<AxisPart>>,
    /// Lengths of the selection's axes.
    source_shape: Vec<usize>,
}

/// What is picked of the cells that lie at one place along one axis.
#[derive(Debug)]
struct AxisPart {
    cell: u64,
    picks: AxisPicks,
    /// Whether nothing of the cell along this axis is left out, even when the axis grows.
    whole: bool,
}

/// Positions within a cell along one axis, and the positions in the selection that belong to them.
#[derive(Debug, Clone)]
enum AxisPicks {
    /// `len` positions, `step` apart, from `inside` on; in the selection they follow each other from `source` on.
    Even { inside: usize, step: usize, source: usize, len: usize },
    /// Pairs of positions in the cell and in the selection.
    List(Vec<(usize, usize)>),
}

/// One touched cell.
#[derive(Debug, Clone)]
pub(super) struct ChunkPart {
    /// Its coordinates.
    pub(super) cell: Vec<u64>,
    /// Whether every element of it is picked (those outside the array along axes that never grow aside).
    pub(super) whole: bool,
    at: Vec<usize>,
}

/// Elements at equal steps in a cell and in the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepRun {
    /// First element in the cell.
    pub(super) inside: usize,
    /// First element in the selection.
    pub(super) source: usize,
    /// Number of elements.
    pub(super) len: usize,
    /// From one to the next in the cell.
    pub(super) inside_step: usize,
    /// From one to the next in the selection.
    pub(super) source_step: usize,
}

impl StepRun {
    /// Whether the elements lie one after the other on both sides.
    pub(super) fn is_row(&self) -> bool {
        (self.inside_step == 1 && self.source_step == 1) || self.len == 1
    }

    /// The pairs of elements.
    pub(super) fn pairs(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len).map(move |k| (self.inside + k * self.inside_step, self.source + k * self.source_step))
    }
}

impl ChunkSelection {
    /// The cells that `selection` touches of an array of that shape; `growing` marks the axes that may grow.
    ///
    /// # Errors
    /// `Invalid` when an element lies outside the grid.
    pub(super) fn new(
        selection: &Selection,
        grid: &ChunkGrid,
        shape: &[u64],
        growing: &[bool],
    ) -> Result<Self> {
        let axes = selection.axes().iter().enumerate().map(|(at, axis)| {
            let grows = growing.get(at).copied().unwrap_or(false);
            let len = if grows { u64::MAX } else { shape.get(at).copied().unwrap_or(0) };
            axis_parts(axis, grid, at, len)
        });
        let axes = axes.collect::<Result<_>>()?;
        let source_shape = selection.shape().into_iter().map(to_index).collect::<Result<_>>()?;
        Ok(Self { axes, source_shape })
    }

    /// The cells in ascending order.
    pub(super) fn parts(&self) -> impl Iterator<Item = ChunkPart> + '_ {
        let mut at = vec![0usize; self.axes.len()];
        let mut more = self.axes.iter().all(|parts| !parts.is_empty());
        std::iter::from_fn(move || {
            if !more {
                return None;
            }
            let part = self.part(&at);
            more = self.advance(&mut at);
            Some(part)
        })
    }

    fn part(&self, at: &[usize]) -> ChunkPart {
        let parts = || self.axes.iter().zip(at).map(|(parts, at)| &parts[*at]);
        ChunkPart {
            cell: parts().map(|part| part.cell).collect(),
            whole: parts().all(|part| part.whole),
            at: at.to_vec(),
        }
    }

    fn advance(&self, at: &mut [usize]) -> bool {
        for (slot, parts) in at.iter_mut().zip(&self.axes).rev() {
            *slot += 1;
            if *slot < parts.len() {
                return true;
            }
            *slot = 0;
        }
        false
    }

    /// Calls `each` for every run of picked elements of a cell of that shape.
    pub(super) fn runs(&self, part: &ChunkPart, cell_shape: &[usize], each: &mut impl FnMut(StepRun)) {
        let picks = self.axes.iter().zip(&part.at).map(|(parts, at)| &parts[*at].picks);
        let (mut dims, mut inside_stride, mut source_stride) = (Vec::<ChunkAxis<'_>>::new(), 1usize, 1usize);
        let mut start = (0, 0);
        for ((picks, cell_len), source_len) in picks.zip(cell_shape).zip(&self.source_shape).rev() {
            let strides = (inside_stride, source_stride);
            match picks {
                AxisPicks::Even { inside, step, source, len } => {
                    start.0 += inside * inside_stride;
                    start.1 += source * source_stride;
                    push_even(&mut dims, *len, (inside_stride * step, source_stride));
                }
                AxisPicks::List(list) => dims.push(ChunkAxis::List { list, strides }),
            }
            inside_stride = inside_stride.saturating_mul(*cell_len);
            source_stride = source_stride.saturating_mul(*source_len);
        }
        walk(&dims, start, each);
    }
}

/// One or more axes of a cell, fastest first.
enum ChunkAxis<'a> {
    Even { len: usize, steps: (usize, usize) },
    List { list: &'a [(usize, usize)], strides: (usize, usize) },
}

/// Adds an axis; it is joined with the faster one before it when together they are one row.
fn push_even(dims: &mut Vec<ChunkAxis<'_>>, count: usize, outer: (usize, usize)) {
    if count == 1 && !dims.is_empty() {
        return;
    }
    if let Some(ChunkAxis::Even { len, steps }) = dims.last_mut() {
        if *len == 1 {
            (*len, *steps) = (count, outer);
            return;
        }
        if outer.0 == steps.0 * *len && outer.1 == steps.1 * *len {
            *len *= count;
            return;
        }
    }
    dims.push(ChunkAxis::Even { len: count, steps: outer });
}

fn walk(dims: &[ChunkAxis<'_>], (inside, source): (usize, usize), each: &mut impl FnMut(StepRun)) {
    match dims.split_last() {
        None => each(StepRun { inside, source, len: 1, inside_step: 1, source_step: 1 }),
        Some((ChunkAxis::Even { len, steps }, [])) => {
            each(StepRun { inside, source, len: *len, inside_step: steps.0, source_step: steps.1 });
        }
        Some((ChunkAxis::Even { len, steps }, faster)) => {
            for k in 0..*len {
                walk(faster, (inside + k * steps.0, source + k * steps.1), each);
            }
        }
        Some((ChunkAxis::List { list, strides }, faster)) => {
            for (at, from) in *list {
                walk(faster, (inside + at * strides.0, source + from * strides.1), each);
            }
        }
    }
}

fn axis_parts(selection: &AxisSelection, grid: &ChunkGrid, axis: usize, len: u64) -> Result<Vec<AxisPart>> {
    match selection {
        AxisSelection::Slice { start, count, stride } => {
            slice_parts((*start, *count, *stride), grid, axis, len)
        }
        AxisSelection::Indices(indices) => {
            let mut cells: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
            for (source, index) in indices.iter().enumerate() {
                let (cell, span) = cell_of(grid, axis, *index)?;
                cells.entry(cell).or_default().push((to_index(index - span.start)?, source));
            }
            let part = |(cell, list)| AxisPart { cell, picks: AxisPicks::List(list), whole: false };
            Ok(cells.into_iter().map(part).collect())
        }
    }
}

fn slice_parts(
    (start, count, stride): (u64, u64, u64),
    grid: &ChunkGrid,
    axis: usize,
    len: u64,
) -> Result<Vec<AxisPart>> {
    let (mut parts, mut done) = (Vec::new(), 0);
    while done < count {
        let index = done.checked_mul(stride).and_then(|offset| offset.checked_add(start));
        let index = index.ok_or_else(|| Error::invalid("the last index exceeds 64 bits"))?;
        let (cell, span) = cell_of(grid, axis, index)?;
        let here = ((span.end - 1 - index) / stride.max(1) + 1).min(count - done);
        let end = span.end.min(len);
        parts.push(AxisPart {
            cell,
            picks: AxisPicks::Even {
                inside: to_index(index - span.start)?,
                step: to_index(stride)?,
                source: to_index(done)?,
                len: to_index(here)?,
            },
            whole: (stride == 1 || here == 1) && index == span.start && index + here >= end,
        });
        done += here;
    }
    Ok(parts)
}

fn cell_of(grid: &ChunkGrid, axis: usize, index: u64) -> Result<(u64, std::ops::Range<u64>)> {
    let cell = grid.cell_at(axis, index);
    let found = cell.and_then(|cell| Some((cell, grid.span(axis, cell)?)));
    found.ok_or_else(|| Error::invalid(format!("index {index} of axis {axis} is outside the grid of chunks")))
}

/// A position in memory.
pub(super) fn to_index(value: u64) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Error::limit(format!("{value} elements are too many for this machine")))
}
