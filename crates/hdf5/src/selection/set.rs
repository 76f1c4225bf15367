//! The elements of a selection in a dataset of known shape, in order.
use super::axis::{AxisIndices, check_count};
use super::{BlockProgression, HyperslabSelection};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Region;
use std::ops::Range;

/// Elements in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElementSet {
    /// Every combination of the indices of each axis, in row-major order.
    Product(Vec<AxisIndices>),
    /// These rows, in order.
    Rows(Vec<ElementRow>),
}

/// Consecutive elements along the last axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementRow {
    /// The first element.
    pub(crate) start: Vec<u64>,
    pub(crate) len: u64,
    /// How many elements of the set precede it.
    pub(crate) position: u64,
}

impl ElementSet {
    /// The elements of a selection in a dataset of that shape; along an unlimited axis as many indices as
    /// `unlimited`.
    pub(crate) fn new(
        selection: &HyperslabSelection,
        shape: &[u64],
        unlimited: u64,
        limits: &Limits,
    ) -> Result<Self> {
        let rank = match selection {
            HyperslabSelection::None | HyperslabSelection::All => shape.len(),
            HyperslabSelection::Regular(axes) => axes.len(),
            HyperslabSelection::Boxes { rank, .. } | HyperslabSelection::Points { rank, .. } => *rank,
        };
        if rank != shape.len() {
            return Err(Error::malformed(format!(
                "a selection of rank {rank} in a dataset of rank {}",
                shape.len()
            )));
        }
        match selection {
            HyperslabSelection::None => Ok(Self::Rows(Vec::new())),
            HyperslabSelection::All => {
                Ok(Self::Product(shape.iter().map(|len| AxisIndices::all(*len)).collect()))
            }
            HyperslabSelection::Regular(axes) => {
                let axis = |axis: &BlockProgression| {
                    let all = axis.count.zip(axis.block).map(|(count, block)| count.checked_mul(block));
                    match all {
                        Some(Some(len)) => Ok(AxisIndices::first(*axis, len)),
                        Some(None) => Err(Error::malformed(format!("a selection beyond 2^64: {axis:?}"))),
                        None => Ok(AxisIndices::first(*axis, unlimited)),
                    }
                };
                Ok(Self::Product(axes.iter().map(axis).collect::<Result<_>>()?))
            }
            // Boxes that form a grid need memory for each axis only, others for each row.
            HyperslabSelection::Boxes { rank, list } => match product(*rank, list) {
                Some(axes) => Ok(Self::Product(axes)),
                None => rows_of_boxes(list, limits),
            },
            HyperslabSelection::Points { rank, coords } => Ok(rows_of_points(*rank, coords)),
        }
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> Result<u64> {
        let len = match self {
            Self::Product(axes) => axes.iter().try_fold(1u64, |len, axis| len.checked_mul(axis.len())),
            Self::Rows(rows) => rows.last().map_or(Some(0), |row| row.position.checked_add(row.len)),
        };
        len.ok_or_else(|| Error::malformed("a selection of more than 2^64 elements"))
    }

    /// The bounding box of all elements, as ranges.
    pub(crate) fn bounds(&self, rank: usize) -> Vec<Range<u64>> {
        match self {
            Self::Product(axes) => axes.iter().map(AxisIndices::bounds).collect(),
            Self::Rows(rows) => (0..rank)
                .map(|axis| {
                    let last = axis + 1 == rank;
                    let ends = rows.iter().filter_map(|row| {
                        let start = *row.start.get(axis)?;
                        Some((start, start.saturating_add(if last { row.len } else { 1 })))
                    });
                    ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).map_or(0..0, |(start, end)| start..end)
                })
                .collect(),
        }
    }

    /// The elements in a region.
    pub(crate) fn within(&self, region: &Region, limits: &Limits) -> Result<Vec<ElementRow>> {
        match self {
            Self::Product(axes) => product_rows(axes, region, limits),
            Self::Rows(rows) => Ok(rows.iter().filter_map(|row| row.clipped(region)).collect()),
        }
    }

    /// Number of boxes of the elements in a region, for a product, otherwise number of rows.
    pub(crate) fn runs_within(&self, region: &Region) -> u64 {
        let range = |(start, count): (&u64, &u64)| *start..start.saturating_add(*count);
        match self {
            Self::Product(axes) => {
                let ranges = region.start.iter().zip(&region.count).map(range);
                let runs = axes.iter().zip(ranges).map(|(axis, range)| axis.runs_within(&range));
                runs.fold(1, u64::saturating_mul)
            }
            Self::Rows(rows) => rows.iter().filter(|row| row.clipped(region).is_some()).count() as u64,
        }
    }

    /// The elements at these positions.
    pub(crate) fn select(&self, positions: Range<u64>, limits: &Limits) -> Result<Vec<ElementRow>> {
        match self {
            Self::Product(axes) => product_select(axes, positions, limits),
            Self::Rows(rows) => {
                let first = rows.partition_point(|row| row.position + row.len <= positions.start);
                let end = rows.partition_point(|row| row.position < positions.end);
                let found = rows.get(first..end).unwrap_or_default();
                Ok(found.iter().map(|row| row.at(&positions)).collect())
            }
        }
    }
}

impl ElementRow {
    /// The part in a region, if any.
    fn clipped(&self, region: &Region) -> Option<Self> {
        let (first, outer) = self.start.split_last()?;
        let mut ranges = region.start.iter().zip(&region.count);
        let is_inside = outer.iter().all(|at| {
            ranges.next().is_some_and(|(start, count)| at.checked_sub(*start).is_some_and(|at| at < *count))
        });
        let (from, count) = ranges.next().filter(|_| is_inside)?;
        let (start, end) = ((*first).max(*from), (first + self.len).min(from.saturating_add(*count)));
        (start < end).then(|| self.at(&(self.position + (start - first)..self.position + (end - first))))
    }

    /// The part at these positions; it is not empty.
    fn at(&self, positions: &Range<u64>) -> Self {
        let before = positions.start.saturating_sub(self.position);
        let end = self.len.min(positions.end.saturating_sub(self.position));
        let mut start = self.start.clone();
        if let Some(first) = start.last_mut() {
            *first += before;
        }
        Self { start, len: end.saturating_sub(before), position: self.position + before }
    }
}

/// The rows of a product that lie in a region.
fn product_rows(axes: &[AxisIndices], region: &Region, limits: &Limits) -> Result<Vec<ElementRow>> {
    let mut rows = vec![ElementRow { start: Vec::new(), len: 1, position: 0 }];
    for (number, axis) in axes.iter().enumerate() {
        let range = region.start.get(number).zip(region.count.get(number));
        let range = range.map_or(0..0, |(start, count)| *start..start.saturating_add(*count));
        let runs = axis.within(&range, limits)?;
        let is_last = number + 1 == axes.len();
        let parts: u64 = runs.iter().map(|run| if is_last { 1 } else { run.len }).sum();
        check_count(parts.saturating_mul(rows.len() as u64), limits)?;
        let mut next = Vec::new();
        for row in &rows {
            for run in &runs {
                let singles = if is_last { 1 } else { run.len };
                for more in 0..singles {
                    let mut start = row.start.clone();
                    start.push(run.index + more);
                    let position = row.position * axis.len() + run.position + more;
                    next.push(ElementRow { start, len: if is_last { run.len } else { 1 }, position });
                }
            }
        }
        rows = next;
    }
    Ok(rows)
}

/// The rows of a product at these positions.
fn product_select(axes: &[AxisIndices], positions: Range<u64>, limits: &Limits) -> Result<Vec<ElementRow>> {
    let Some((last, leading)) = axes.split_last() else {
        return Ok(vec![ElementRow { start: Vec::new(), len: 1, position: 0 }]);
    };
    let width = last.len();
    let mut rows = Vec::new();
    let mut at = positions.start;
    while at < positions.end && width > 0 {
        let (line, first) = (at / width, at % width);
        let count = (width - first).min(positions.end - at);
        let outer = coordinates(leading, line, limits)?;
        for run in last.select(first..first + count, limits)? {
            let mut start = outer.clone();
            start.push(run.index);
            rows.push(ElementRow { start, len: run.len, position: line * width + run.position });
        }
        check_count(rows.len() as u64, limits)?;
        at += count;
    }
    Ok(rows)
}

/// The indices of the element at a position of a product.
fn coordinates(axes: &[AxisIndices], mut position: u64, limits: &Limits) -> Result<Vec<u64>> {
    let mut coords = vec![0; axes.len()];
    for (slot, axis) in coords.iter_mut().zip(axes).rev() {
        let at = position.checked_rem(axis.len()).unwrap_or(0);
        position = position.checked_div(axis.len()).unwrap_or(0);
        *slot = axis.select(at..at + 1, limits)?.first().map_or(0, |run| run.index);
    }
    Ok(coords)
}

/// Converts boxes to a product, if they are all combinations of runs along each axis.
fn product(rank: usize, list: &[Region]) -> Option<Vec<AxisIndices>> {
    let mut combinations = 1usize;
    let mut axes = Vec::with_capacity(rank);
    for axis in 0..rank {
        let run = |region: &Region| Some((*region.start.get(axis)?, *region.count.get(axis)?));
        let mut runs: Vec<(u64, u64)> = list.iter().map(run).collect::<Option<_>>()?;
        runs.sort_unstable();
        runs.dedup();
        let overlap =
            runs.iter().zip(runs.iter().skip(1)).any(|((start, len), (next, _))| start + len > *next);
        if overlap {
            return None;
        }
        combinations = combinations.checked_mul(runs.len())?;
        axes.push(AxisIndices::runs(runs));
    }
    let mut starts: Vec<&[u64]> = list.iter().map(|region| region.start.as_slice()).collect();
    starts.sort_unstable();
    starts.dedup();
    (combinations == list.len() && starts.len() == list.len()).then_some(axes)
}

/// The rows of any boxes, in row-major order; overlapping elements count once.
fn rows_of_boxes(list: &[Region], limits: &Limits) -> Result<ElementSet> {
    let mut rows: Vec<(Vec<u64>, u64)> = Vec::new();
    for region in list {
        let axes: Vec<AxisIndices> = region
            .count
            .iter()
            .zip(&region.start)
            .map(|(len, start)| AxisIndices::runs([(*start, *len)]))
            .collect();
        let found = product_rows(&axes, region, limits)?;
        check_count((rows.len() + found.len()) as u64, limits)?;
        rows.extend(found.into_iter().map(|row| (row.start, row.len)));
    }
    // Elements are counted in row-major order, whatever the order of the boxes: rows that touch or overlap become
    // one.
    rows.sort_unstable();
    let mut merged: Vec<ElementRow> = Vec::new();
    for (start, len) in rows {
        match merged.last_mut().filter(|last| reaches(last, &start)) {
            Some(last) => {
                let end = start.last().map_or(0, |first| first + len);
                let first = last.start.last().copied().unwrap_or(0);
                last.len = last.len.max(end - first);
            }
            None => {
                let position = merged.last().map_or(0, |last| last.position.saturating_add(last.len));
                merged.push(ElementRow { start, len, position });
            }
        }
    }
    Ok(ElementSet::Rows(merged))
}

/// Elements in list order.
fn rows_of_points(rank: usize, coords: &[u64]) -> ElementSet {
    let mut rows: Vec<ElementRow> = Vec::new();
    for start in coords.chunks_exact(rank.max(1)) {
        let follows = |last: &&mut ElementRow| reaches(last, start) && start.last() == last.end().as_ref();
        match rows.last_mut().filter(follows) {
            Some(last) => last.len += 1,
            None => {
                let position = rows.last().map_or(0, |last| last.position + last.len);
                rows.push(ElementRow { start: start.to_vec(), len: 1, position });
            }
        }
    }
    ElementSet::Rows(rows)
}

/// Whether a row reaches an element of the same line.
fn reaches(row: &ElementRow, start: &[u64]) -> bool {
    let (Some((_, outer)), Some((first, others))) = (row.start.split_last(), start.split_last()) else {
        return false;
    };
    outer == others && row.end().is_some_and(|end| *first <= end)
}

impl ElementRow {
    /// The index behind the last along the last axis.
    fn end(&self) -> Option<u64> {
        self.start.last().map(|first| first + self.len)
    }
}
