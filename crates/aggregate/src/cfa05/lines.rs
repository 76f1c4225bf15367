//! Positions of all partitions, derived from a few of them.
use super::columns::GroupColumns;
use crate::boxes::PartitionBoxes;
use crate::cuts::AxisCells;
use ncirrus_layout::{Result, Step, View, join};
use ncirrus_model::{AxisSelection, Values};
use std::ops::Range;

/// Matrices up to this length along an axis are read along it.
const LINE: u64 = 1 << 12;
/// How many positions are checked along a longer axis.
const PROBES: u64 = 32;
/// Matrices up to this number of partitions are read completely if a rule leaves doubts.
const SMALL: u64 = 1 << 16;
/// A rule for more blocks is accepted without checking every one.
const MAX_CHECKED: u64 = 1 << 24;

/// The places of partitions.
pub(super) struct PartitionLocations<'a> {
    columns: &'a GroupColumns,
    grid: &'a [u64],
}

/// Positions of partitions along a line of the matrix; `None` for those that are not defined.
type LocationLine = Vec<(u64, Option<Range<u64>>)>;

impl<'a> PartitionLocations<'a> {
    pub(super) fn new(columns: &'a GroupColumns, grid: &'a [u64]) -> Self {
        Self { columns, grid }
    }

    /// How each axis is divided, as derived from the partitions at the edges of the matrix; `None` if only all of
    /// them together determine it.
    ///
    /// # Errors
    /// A need, or errors of reading the locations.
    pub(super) fn cuts(&self, view: &dyn View, lengths: &[Option<u64>]) -> Step<Option<Vec<AxisCells>>> {
        if self.grid.contains(&0) {
            return Ok(Some(
                self.grid.iter().map(|count| AxisCells::Even { size: 0, count: *count, end: 0 }).collect(),
            ));
        }
        let lines = join(0..self.grid.len(), |axis| self.line(view, axis, false))?;
        let cuts = join(lines.iter().enumerate(), |(axis, line)| {
            let (count, len) = (self.count(axis), lengths.get(axis).copied().flatten());
            match cut(line, count, len) {
                None if (line.len() as u64) < count => Ok(cut(&self.line(view, axis, true)?, count, len)),
                cuts => Ok(cuts),
            }
        })?;
        let cuts: Option<Vec<AxisCells>> = cuts.into_iter().collect();
        let covers = |(cuts, len): (&AxisCells, &Option<u64>)| cuts.covers(len.unwrap_or_else(|| cuts.end()));
        // Elements in no block may be in a partition of another line.
        Ok(cuts.filter(|cuts| !self.is_small() || cuts.iter().zip(lengths).all(covers)))
    }

    /// Whether all partitions may be read if a rule leaves doubts.
    pub(super) fn is_small(&self) -> bool {
        self.grid.iter().try_fold(1u64, |all, count| all.checked_mul(*count)).is_some_and(|all| all <= SMALL)
    }

    /// Every partition, read one by one.
    ///
    /// # Errors
    /// A need, or `Limit` if there are too many.
    pub(super) fn scan(&self, view: &dyn View) -> Step<PartitionBoxes> {
        let rank = self.grid.len();
        let location = &self.columns.location;
        let all = location.read(view, &vec![0; rank + 2], &location.shape)?;
        let (mut numbers, mut spans) = (Vec::new(), Vec::new());
        let count = all.len().checked_div(2 * rank).unwrap_or(0);
        for number in 0..count {
            let at = |axis: usize| self.columns.span(&all, number * rank + axis);
            let place = (0..rank).map(at).collect::<Result<Option<Vec<_>>>>()?;
            if let Some(place) = place {
                numbers.push(number as u64);
                spans.extend(place);
            }
        }
        Ok(PartitionBoxes::new(rank, numbers, spans))
    }

    fn count(&self, axis: usize) -> u64 {
        self.grid.get(axis).copied().unwrap_or(0)
    }

    /// The positions along an axis, of the partitions that come first along all others.
    fn line(&self, view: &dyn View, axis: usize, whole: bool) -> Step<LocationLine> {
        let count = self.count(axis);
        let at = if whole || count <= LINE { (0..count).collect() } else { probes(count) };
        let first = || AxisSelection::Slice { start: 0, count: 1, stride: 1 };
        let mut axes: Vec<AxisSelection> = self.grid.iter().map(|_| first()).collect();
        if let Some(slot) = axes.get_mut(axis) {
            *slot = if at.len() as u64 == count {
                AxisSelection::Slice { start: 0, count, stride: 1 }
            } else {
                AxisSelection::Indices(at.clone())
            };
        }
        axes.push(AxisSelection::Slice { start: axis as u64, count: 1, stride: 1 });
        axes.push(AxisSelection::Slice { start: 0, count: 2, stride: 1 });
        let values: Values = self.columns.location.select(view, axes)?;
        let line =
            at.into_iter().enumerate().map(|(entry, cell)| Ok((cell, self.columns.span(&values, entry)?)));
        Ok(line.collect::<Result<_>>()?)
    }
}

/// Sample positions spread over an axis, with its ends.
fn probes(count: u64) -> Vec<u64> {
    let spread = (1..PROBES).map(|at| at * (count / PROBES));
    let mut all: Vec<u64> = [0, 1, 2].into_iter().chain(spread).chain([count - 2, count - 1]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The cuts that explain a line; `None` if more must be known.
fn cut(line: &LocationLine, count: u64, len: Option<u64>) -> Option<AxisCells> {
    let defined: Option<Vec<Range<u64>>> = line.iter().map(|(_, span)| span.clone()).collect();
    if let Some(spans) = defined.filter(|spans| spans.len() as u64 == count) {
        return AxisCells::from_spans(spans);
    }
    let explains = |cuts: &AxisCells| {
        line.iter().all(|(cell, span)| span.as_ref().is_none_or(|span| *span == cuts.span(*cell)))
    };
    // An inferred rule is accepted only if it leaves no element out.
    let covers = |cuts: &AxisCells| count > MAX_CHECKED || len.is_none_or(|len| cuts.covers(len));
    let rules = even(line, count, len).into_iter().chain(len.map(|len| AxisCells::Scaled { len, count }));
    rules.filter(explains).find(covers)
}

/// Blocks of one size, judging by the first defined one that is not the last.
fn even(line: &LocationLine, count: u64, len: Option<u64>) -> Option<AxisCells> {
    let inner = line.iter().find_map(|(cell, span)| span.clone().filter(|_| cell + 1 < count));
    let size = inner.map(|span| span.end - span.start)?;
    let last = line.iter().find_map(|(cell, span)| span.clone().filter(|_| cell + 1 == count));
    let full = size.checked_mul(count)?;
    let end = last.map_or_else(|| len.map_or(full, |len| full.min(len)), |last| last.end);
    (end <= full).then_some(AxisCells::Even { size, count, end })
}
