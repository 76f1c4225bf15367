//! How an array is divided into chunks, and how selections intersect them: which elements of which chunk go where.
//!
//! All index arithmetic of reading, writing and aggregating is here: [`ChunkIntersections`] cuts a selection along a
//! [`ChunkGrid`], [`SelectionPiece`] along boxes of any kind, [`AxisBlocks`] computes the blocks of one axis, and
//! [`ElementWalk`] the runs of elements. Nothing costs memory for each element, except irregular index lists.
mod blocks;
mod growth;
mod intersections;
mod piece;
mod points;
mod walk;

pub use blocks::{AxisBlock, AxisBlocks};
pub use intersections::{AxisSlab, ChunkIntersections, IndexPair};
pub use piece::{PieceAxis, SelectionPiece};
pub use points::{CellPoints, PointIntersections};
pub use walk::{ElementRun, ElementSizes, ElementWalk};

use crate::{Error, Result};
use ncirrus_model::Region;
use std::ops::Range;
use std::sync::Arc;

/// How an array is divided into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkGrid {
    /// Chunks of one shape, one length (at least 1) per axis.
    Regular(Vec<u64>),
    /// Chunks of different lengths: per axis the ascending offsets at which chunks end (Zarr v3 "rectilinear").
    Rectilinear(Vec<Arc<[u64]>>),
}

/// The contents of a stored edge chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeChunks {
    /// A whole chunk; elements outside the array are undefined.
    Full,
    /// Only the elements inside the array.
    Clipped,
}

impl ChunkGrid {
    /// A regular grid.
    ///
    /// # Errors
    /// `Invalid` if a length is 0.
    pub fn regular(shape: Vec<u64>) -> Result<Self> {
        match shape.iter().position(|len| *len == 0) {
            Some(axis) => Err(Error::invalid(format!("chunk length of axis {axis} is 0"))),
            None => Ok(Self::Regular(shape)),
        }
    }

    /// A rectilinear grid from the lengths of the chunks, per axis.
    ///
    /// # Errors
    /// `Invalid` if a length is 0, an axis has no chunk, or the sum overflows.
    pub fn rectilinear(lengths: &[Vec<u64>]) -> Result<Self> {
        let axis_ends = |(axis, lengths): (usize, &Vec<u64>)| {
            let mut end = 0u64;
            let ends: Option<Arc<[u64]>> = lengths
                .iter()
                .map(|&len| {
                    end = end.checked_add(len).filter(|_| len > 0)?;
                    Some(end)
                })
                .collect();
            ends.filter(|ends| !ends.is_empty()).ok_or_else(|| {
                Error::invalid(format!("axis {axis}: chunk lengths are empty, 0 or too large"))
            })
        };
        Ok(Self::Rectilinear(lengths.iter().enumerate().map(axis_ends).collect::<Result<_>>()?))
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        match self {
            Self::Regular(shape) => shape.len(),
            Self::Rectilinear(ends) => ends.len(),
        }
    }

    /// The index of the chunk along one axis that holds an element; `None` past the end of a rectilinear grid.
    pub fn cell_at(&self, axis: usize, element: u64) -> Option<u64> {
        match self {
            Self::Regular(shape) => element.checked_div(*shape.get(axis)?),
            Self::Rectilinear(ends) => {
                let ends = ends.get(axis)?;
                let cell = ends.partition_point(|end| *end <= element);
                (cell < ends.len()).then_some(cell as u64)
            }
        }
    }

    /// The elements of a chunk along one axis, not clipped by the array; `None` if there is no such chunk.
    pub fn span(&self, axis: usize, cell: u64) -> Option<Range<u64>> {
        match self {
            Self::Regular(shape) => {
                let len = *shape.get(axis)?;
                let start = cell.checked_mul(len)?;
                Some(start..start.checked_add(len)?)
            }
            Self::Rectilinear(ends) => {
                let ends = ends.get(axis)?;
                let cell = usize::try_from(cell).ok()?;
                let start = if cell == 0 { 0 } else { *ends.get(cell - 1)? };
                Some(start..*ends.get(cell)?)
            }
        }
    }

    /// Number of chunks along one axis of an array of that length.
    pub fn cells_along(&self, axis: usize, len: u64) -> u64 {
        match len.checked_sub(1) {
            None => 0,
            Some(last) => match self.cell_at(axis, last) {
                Some(cell) => cell.saturating_add(1),
                None => match self {
                    Self::Regular(_) => 0,
                    Self::Rectilinear(ends) => ends.get(axis).map_or(0, |ends| ends.len() as u64),
                },
            },
        }
    }

    /// Number of chunks along each axis of an array of that shape.
    pub fn counts(&self, shape: &[u64]) -> Vec<u64> {
        shape.iter().enumerate().map(|(axis, len)| self.cells_along(axis, *len)).collect()
    }

    /// The box of a chunk, not clipped; `None` if there is no such chunk.
    pub fn region(&self, cell: &[u64]) -> Option<Region> {
        let mut region =
            Region { start: Vec::with_capacity(cell.len()), count: Vec::with_capacity(cell.len()) };
        for (axis, &at) in cell.iter().enumerate() {
            let span = self.span(axis, at)?;
            region.start.push(span.start);
            region.count.push(span.end - span.start);
        }
        (cell.len() == self.rank()).then_some(region)
    }

    /// The box of a chunk, clipped to an array of that shape; `None` if nothing of it is inside.
    pub fn clipped_region(&self, cell: &[u64], shape: &[u64]) -> Option<Region> {
        self.region(cell)?
            .intersect(&Region::all(shape))
            .or_else(|| cell.is_empty().then(|| Region::all(&[])))
    }

    /// The shape of a chunk, not clipped; `None` if there is no such chunk.
    pub fn cell_shape(&self, cell: &[u64]) -> Option<Vec<u64>> {
        let mut shape = Vec::with_capacity(cell.len());
        for (axis, &at) in cell.iter().enumerate() {
            let span = self.span(axis, at)?;
            shape.push(span.end - span.start);
        }
        (cell.len() == self.rank()).then_some(shape)
    }
}

/// Bytes from one element of `element` bytes to the next along each axis of an array in row-major order.
///
/// # Errors
/// `Limit` if the array has more than 2^64 bytes.
pub fn row_major(shape: &[u64], element: u64) -> Result<Vec<u64>> {
    let mut strides = vec![0; shape.len()];
    let mut step = element;
    for (stride, len) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step
            .checked_mul((*len).max(1))
            .ok_or_else(|| Error::limit(format!("an array of shape {shape:?} exceeds 64 bits")))?;
    }
    Ok(strides)
}

/// The index along each axis of an element, or of a block, with that number in row-major order.
///
/// ```
/// use ncirrus_layout::grid::row_major_index;
/// assert_eq!(row_major_index(5, &[2, 3]), [1, 2]);
/// ```
pub fn row_major_index(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, len) in index.iter_mut().zip(shape).rev() {
        *at = number % len.max(&1);
        number /= len.max(&1);
    }
    index
}

/// The same for chunks of an array, whose counts along each axis are given: they may be more than memory has elements.
///
/// ```
/// use ncirrus_layout::grid::row_major_cell;
/// assert_eq!(row_major_cell(1 << 40, &[2, 1 << 40]), [1, 0]);
/// ```
pub fn row_major_cell(mut number: u64, counts: &[u64]) -> Vec<u64> {
    let mut cell = vec![0; counts.len()];
    for (at, count) in cell.iter_mut().zip(counts).rev() {
        *at = number % (*count).max(1);
        number /= (*count).max(1);
    }
    cell
}

/// The first element of each of the blocks into which an axis is divided, given their lengths.
///
/// ```
/// use ncirrus_layout::grid::block_starts;
/// assert_eq!(block_starts(&[3, 1, 2]), [0, 3, 4]);
/// ```
pub fn block_starts(lens: &[u64]) -> Vec<u64> {
    let mut next = 0u64;
    let start = |len: &u64| {
        let start = next;
        next = start.saturating_add(*len);
        start
    };
    lens.iter().map(start).collect()
}

/// Coordinates of several chunks, in one allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellList {
    rank: usize,
    len: usize,
    coords: Vec<u64>,
}

impl CellList {
    /// No chunks, of that rank.
    pub fn new(rank: usize) -> Self {
        Self { rank, len: 0, coords: Vec::new() }
    }

    /// One chunk.
    pub fn one(cell: &[u64]) -> Self {
        Self { rank: cell.len(), len: 1, coords: cell.to_vec() }
    }

    /// Adds a chunk; coordinates beyond the rank are dropped, missing ones are 0.
    pub fn push(&mut self, cell: &[u64]) {
        debug_assert_eq!(cell.len(), self.rank, "a cell has one coordinate per axis");
        self.len += 1;
        self.coords.extend(cell.iter().take(self.rank));
        self.coords.resize(self.len * self.rank, 0);
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Coordinates per chunk.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The coordinates of one chunk; empty for a scalar or past the end.
    pub fn get(&self, index: usize) -> &[u64] {
        self.coords.get(index * self.rank..(index + 1) * self.rank).unwrap_or_default()
    }

    /// The chunks in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> + '_ {
        (0..self.len).map(|index| self.get(index))
    }
}
