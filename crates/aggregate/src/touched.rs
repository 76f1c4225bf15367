//! The blocks of a grid that a region touches.
use crate::cuts::{AxisCells, AxisPart};
use ncirrus_layout::{Limits, Result, Tile, TileSource, split_region};
use ncirrus_model::Region;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// The blocks of a grid that a region touches: a box of blocks, and how the region is composed of them.
#[derive(Debug)]
pub(crate) struct TouchedCells {
    axes: Vec<Vec<AxisPart>>,
    /// First block, one index per axis.
    pub(crate) start: Vec<u64>,
    /// Blocks along each axis.
    pub(crate) count: Vec<u64>,
}

impl TouchedCells {
    /// The blocks that a region touches.
    ///
    /// # Errors
    /// `Limit` if there are too many.
    pub(crate) fn new(cuts: &[AxisCells], region: &Region, limits: &Limits) -> Result<Self> {
        let (mut axes, mut start, mut count, mut tiles) = (Vec::new(), Vec::new(), Vec::new(), 1u64);
        let ranges = region.start.iter().zip(&region.count);
        for (cuts, (first, len)) in cuts.iter().zip(ranges) {
            let range = *first..first.saturating_add(*len);
            let cells = cuts.touched(&range);
            tiles = tiles.saturating_mul((cells.end - cells.start).saturating_add(1));
            limits.count(tiles, "the fragments that a selection touches")?;
            start.push(cells.start);
            count.push(cells.end - cells.start);
            axes.push(if range.is_empty() { Vec::new() } else { cuts.parts(&range) });
        }
        Ok(Self { axes, start, count })
    }

    /// Whether no block is touched.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// The tiles: the result of `source` for each block, given its index and its position in the box; elements in no
    /// block are missing.
    ///
    /// # Errors
    /// Errors of `source`.
    pub(crate) fn tiles(
        &self,
        mut source: impl FnMut(&[u64], usize, &Region) -> Result<TileSource>,
    ) -> Result<Vec<Tile>> {
        let mut tiles = Vec::new();
        let mut at = vec![0; self.axes.len()];
        if self.axes.iter().any(Vec::is_empty) {
            return Ok(tiles);
        }
        loop {
            let parts: Vec<&AxisPart> =
                self.axes.iter().zip(&at).filter_map(|(parts, at)| parts.get(*at)).collect();
            let region = region_of(parts.iter().map(|part| &part.range));
            let cell: Option<Vec<u64>> = parts.iter().map(|part| part.cell).collect();
            let source = match cell {
                Some(cell) => source(&cell, self.entry(&cell), &region)?,
                None => TileSource::Missing,
            };
            tiles.push(Tile { region, source });
            if !self.advance(&mut at) {
                return Ok(tiles);
            }
        }
    }

    /// The position of a block in the box, in row-major order.
    fn entry(&self, cell: &[u64]) -> usize {
        let axes = cell.iter().zip(&self.start).zip(&self.count);
        let entry = axes.fold(0, |entry: u64, ((cell, start), count)| entry * count + (cell - start));
        usize::try_from(entry).unwrap_or(usize::MAX)
    }

    /// The next index in row-major order; false after the last one.
    fn advance(&self, at: &mut [usize]) -> bool {
        for (at, parts) in at.iter_mut().zip(&self.axes).rev() {
            *at += 1;
            if *at < parts.len() {
                return true;
            }
            *at = 0;
        }
        false
    }
}

/// The halves of a region that may touch more than this many parts, cut where a block begins: along the slowest
/// possible axis, so that each reads adjacent entries.
pub(crate) fn halves(cuts: &[AxisCells], region: &Region, max: u64) -> Option<[Region; 2]> {
    let ranges = region.start.iter().zip(&region.count);
    let ranges = ranges.map(|(start, count)| *start..start.saturating_add(*count));
    let axes: Vec<(&AxisCells, Range<u64>)> = cuts.iter().zip(ranges).collect();
    let parts = axes.iter().fold(1, |parts: u64, (cuts, range)| parts.saturating_mul(cuts.max_parts(range)));
    if parts <= max {
        return None;
    }
    let cut = |(axis, (cuts, range)): (usize, &(&AxisCells, Range<u64>))| Some((axis, cuts.middle(range)?));
    let (axis, at) = axes.iter().enumerate().find_map(cut)?;
    split_region(region, axis, at)
}

fn region_of<'a>(ranges: impl Iterator<Item = &'a Range<u64>>) -> Region {
    let (start, count) = ranges.map(|range| (range.start, range.end - range.start)).unzip();
    Region { start, count }
}
