//! Serialised selections (docs/spec/hdf5-netcdf4.md E.7).
mod axis;
mod set;
mod text;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use axis::{AxisIndices, IndexRun};
pub(crate) use set::{ElementRow, ElementSet};

use crate::cursor::{ByteCursor, all_ones};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Region;

/// Maximum number of dimensions in HDF5.
const MAX_RANK: u32 = 32;

/// Elements of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HyperslabSelection {
    /// None at all.
    None,
    /// The whole dataset, whatever its shape.
    All,
    /// Every combination of the indices of each axis, in row-major order.
    Regular(Vec<BlockProgression>),
    /// All elements of these boxes, in row-major order whatever the order of the boxes.
    Boxes { rank: usize, list: Vec<Region> },
    /// These elements, in this order.
    Points { rank: usize, coords: Vec<u64> },
}

/// Blocks of indices at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockProgression {
    pub(crate) start: u64,
    pub(crate) stride: u64,
    /// Number of blocks; `None` for unlimited.
    pub(crate) count: Option<u64>,
    /// Indices of a block; `None` for unlimited.
    pub(crate) block: Option<u64>,
}

impl BlockProgression {
    /// Whether it extends to the end of the dataset.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.count.is_none() || self.block.is_none()
    }

    /// Number of indices below a length.
    pub(crate) fn count_below(&self, len: u64) -> u64 {
        let Some(room) = len.checked_sub(self.start) else { return 0 };
        let Some(block) = self.block else { return room };
        let stride = self.stride.max(block).max(1);
        let count = (room / stride).saturating_mul(block).saturating_add((room % stride).min(block));
        self.count.map_or(count, |blocks| count.min(blocks.saturating_mul(block)))
    }

    /// The length that has that many indices below it.
    pub(crate) fn end_of(&self, count: u64) -> u64 {
        let last = count.checked_sub(1).map(|last| match self.block {
            Some(block) => {
                (last / block.max(1)).saturating_mul(self.stride).saturating_add(last % block.max(1))
            }
            None => last,
        });
        last.map_or(0, |last| self.start.saturating_add(last).saturating_add(1))
    }

    fn check(self) -> Result<Self> {
        let is_repeated = self.count != Some(1) && self.count != Some(0);
        if is_repeated && self.block.is_none_or(|block| self.stride < block.max(1)) {
            return Err(Error::malformed(format!("a selection of blocks that overlap: {self:?}")));
        }
        let span = self.count.unwrap_or(1).saturating_sub(1).checked_mul(self.stride);
        let end = span.and_then(|span| span.checked_add(self.block.unwrap_or(1))?.checked_add(self.start));
        end.map(|_| self).ok_or_else(|| Error::malformed(format!("a selection beyond 2^64: {self:?}")))
    }
}

impl HyperslabSelection {
    /// Parses a selection.
    pub(crate) fn parse(cursor: &mut ByteCursor<'_>, limits: &Limits) -> Result<Self> {
        let (kind, version) = (cursor.u32()?, cursor.u32()?);
        match (kind, version) {
            (0 | 3, 1) => {
                // A reserved word and the length of the rest, which is not needed (docs/spec/hdf5-netcdf4.md E.7).
                cursor.skip(8)?;
                Ok(if kind == 0 { Self::None } else { Self::All })
            }
            (1, 1) => {
                cursor.skip(8)?;
                points(cursor, 4, limits)
            }
            (1, 2) => {
                let width = usize::from(cursor.u8()?);
                points(cursor, width, limits)
            }
            (2, 1) => {
                cursor.skip(8)?;
                let rank = rank(cursor)?;
                boxes(cursor, rank, 4, limits)
            }
            (2, 2) => {
                let is_regular = cursor.u8()? & 1 != 0;
                cursor.skip(4)?;
                hyperslab(cursor, is_regular, 8, limits)
            }
            (2, 3) => {
                let is_regular = cursor.u8()? & 1 != 0;
                let width = cursor.u8()?;
                hyperslab(cursor, is_regular, width, limits)
            }
            _ => Err(Error::unsupported(format!("a selection of type {kind} and version {version}"))),
        }
    }

    /// The index behind the last along an axis, if it does not depend on the dataset.
    pub(crate) fn end_along(&self, axis: usize) -> Option<u64> {
        match self {
            Self::None | Self::All => None,
            Self::Regular(axes) => {
                let progression = axes.get(axis)?;
                Some(progression.end_of(progression.count?.checked_mul(progression.block?)?))
            }
            Self::Boxes { list, .. } => list
                .iter()
                .filter_map(|found| found.start.get(axis)?.checked_add(*found.count.get(axis)?))
                .max(),
            Self::Points { rank, coords } => {
                coords.iter().skip(axis).step_by((*rank).max(1)).max()?.checked_add(1)
            }
        }
    }

    /// The axis along which it is unlimited.
    pub(crate) fn unlimited(&self) -> Option<(usize, BlockProgression)> {
        let Self::Regular(axes) = self else { return None };
        let axis = axes.iter().position(BlockProgression::is_unlimited)?;
        axes.get(axis).map(|progression| (axis, *progression))
    }
}

fn rank(cursor: &mut ByteCursor<'_>) -> Result<usize> {
    match cursor.u32()? {
        rank @ 1..=MAX_RANK => Ok(rank as usize),
        rank => Err(Error::malformed(format!("a selection of rank {rank}"))),
    }
}

fn hyperslab(
    cursor: &mut ByteCursor<'_>,
    is_regular: bool,
    width: u8,
    limits: &Limits,
) -> Result<HyperslabSelection> {
    let rank = rank(cursor)?;
    if !is_regular {
        return boxes(cursor, rank, usize::from(width), limits);
    }
    let unlimited = all_ones(width);
    let mut number = || cursor.uint(usize::from(width));
    let mut axis = |_| {
        let (start, stride) = (number()?, number()?);
        let (count, block) = (number()?, number()?);
        let limited = |number: u64| (number != unlimited).then_some(number);
        BlockProgression { start, stride, count: limited(count), block: limited(block) }.check()
    };
    Ok(HyperslabSelection::Regular((0..rank).map(&mut axis).collect::<Result<_>>()?))
}

fn boxes(
    cursor: &mut ByteCursor<'_>,
    rank: usize,
    width: usize,
    limits: &Limits,
) -> Result<HyperslabSelection> {
    let count = limits.count(cursor.uint(width)?, "a selection")?;
    let mut corner = || (0..rank).map(|_| cursor.uint(width)).collect::<Result<Vec<u64>>>();
    let mut list = Vec::new();
    for _ in 0..count {
        let (start, last) = (corner()?, corner()?);
        let lengths = start.iter().zip(&last).map(|(start, last)| last.checked_sub(*start)?.checked_add(1));
        let lengths: Option<Vec<u64>> = lengths.collect();
        let count = lengths
            .filter(|lengths| !last.contains(&u64::MAX) && product(lengths).is_some())
            .ok_or_else(|| Error::malformed(format!("a selection of a box from {start:?} to {last:?}")))?;
        list.push(Region { start, count });
    }
    Ok(HyperslabSelection::Boxes { rank, list })
}

fn points(cursor: &mut ByteCursor<'_>, width: usize, limits: &Limits) -> Result<HyperslabSelection> {
    let rank = rank(cursor)?;
    let count = limits.count(cursor.uint(width)?, "a selection")?;
    let mut coords = Vec::new();
    for _ in 0..count.saturating_mul(rank) {
        coords.push(cursor.uint(width)?);
    }
    if coords.contains(&u64::MAX) {
        return Err(Error::malformed("a selection of a point beyond 2^64"));
    }
    Ok(HyperslabSelection::Points { rank, coords })
}

/// Number of elements of a shape, if it fits 64 bits.
fn product(lengths: &[u64]) -> Option<u64> {
    lengths.iter().try_fold(1u64, |product, len| product.checked_mul(*len))
}
