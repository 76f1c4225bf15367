//! The selected indices of one axis.
use super::BlockProgression;
use ncirrus_layout::{Limits, Result};
use std::ops::Range;

/// Indices of one axis, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AxisIndices {
    /// The first `len` indices of blocks at equal distances.
    Steps { start: u64, stride: u64, block: u64, len: u64 },
    /// These runs.
    Runs(Vec<IndexRun>),
}

/// Consecutive indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexRun {
    /// The first index.
    pub(crate) index: u64,
    pub(crate) len: u64,
    /// How many indices of the axis precede it.
    pub(crate) position: u64,
}

impl AxisIndices {
    /// All indices below a length.
    pub(crate) fn all(len: u64) -> Self {
        Self::Steps { start: 0, stride: len.max(1), block: len.max(1), len }
    }

    /// The first `len` indices of a progression.
    pub(crate) fn first(progression: BlockProgression, len: u64) -> Self {
        let BlockProgression { start, stride, block, .. } = progression;
        match block {
            // One block, or blocks without gaps.
            Some(block) if len > block && stride > block => {
                Self::Steps { start, stride, block: block.max(1), len }
            }
            _ => Self::Steps { start, stride: len.max(1), block: len.max(1), len },
        }
    }

    /// Runs of (first index, length) that are not adjacent, ascending.
    pub(crate) fn runs(list: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut position = 0;
        let run = |(index, len)| {
            let run = IndexRun { index, len, position };
            position += len;
            run
        };
        Self::Runs(list.into_iter().map(run).collect())
    }

    /// Number of indices.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Steps { len, .. } => *len,
            Self::Runs(runs) => runs.last().map_or(0, |run| run.position + run.len),
        }
    }

    /// First index and the one behind the last.
    pub(crate) fn bounds(&self) -> Range<u64> {
        match self {
            Self::Steps { start, stride, block, len } => {
                let last = len.checked_sub(1).map(|last| last / block * stride + last % block + 1);
                *start..start.saturating_add(last.unwrap_or(0))
            }
            Self::Runs(runs) => match (runs.first(), runs.last()) {
                (Some(first), Some(last)) => first.index..last.index + last.len,
                _ => 0..0,
            },
        }
    }

    /// The indices in a range.
    pub(crate) fn within(&self, indices: &Range<u64>, limits: &Limits) -> Result<Vec<IndexRun>> {
        self.select(self.position_at(indices.start)..self.position_at(indices.end), limits)
    }

    /// How many runs the indices in a range make.
    pub(crate) fn runs_within(&self, indices: &Range<u64>) -> u64 {
        let positions = self.position_at(indices.start)..self.position_at(indices.end);
        let Some(last) = positions.end.checked_sub(1).filter(|last| positions.start <= *last) else {
            return 0;
        };
        match self {
            Self::Steps { block, .. } => last / block - positions.start / block + 1,
            Self::Runs(runs) => {
                let run_at = |position: u64| runs.partition_point(|run| run.position + run.len <= position);
                (run_at(last) - run_at(positions.start) + 1) as u64
            }
        }
    }

    /// The indices at these positions.
    pub(crate) fn select(&self, positions: Range<u64>, limits: &Limits) -> Result<Vec<IndexRun>> {
        let positions = positions.start..positions.end.min(self.len());
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Self::Steps { start, stride, block, .. } => {
                let blocks = positions.start / block..(positions.end - 1) / block + 1;
                check_count(blocks.end - blocks.start, limits)?;
                let run = |at: u64| clipped(start + at * stride, *block, at * block, &positions);
                Ok(blocks.map(run).collect())
            }
            Self::Runs(runs) => {
                let first = runs.partition_point(|run| run.position + run.len <= positions.start);
                let end = runs.partition_point(|run| run.position < positions.end);
                let found = runs.get(first..end).unwrap_or_default();
                Ok(found.iter().map(|run| clipped(run.index, run.len, run.position, &positions)).collect())
            }
        }
    }

    /// How many indices lie below this one.
    fn position_at(&self, index: u64) -> u64 {
        match self {
            Self::Steps { start, stride, block, len } => {
                let room = index.saturating_sub(*start);
                let count =
                    (room / stride).saturating_mul(*block).saturating_add((room % stride).min(*block));
                count.min(*len)
            }
            Self::Runs(runs) => {
                let before = runs.partition_point(|run| run.index < index);
                let last = before.checked_sub(1).and_then(|last| runs.get(last));
                last.map_or(0, |run| run.position + run.len.min(index - run.index))
            }
        }
    }
}

/// The part of a run at the requested positions; it is not empty.
fn clipped(index: u64, len: u64, position: u64, positions: &Range<u64>) -> IndexRun {
    let before = positions.start.saturating_sub(position);
    let end = len.min(positions.end - position);
    IndexRun { index: index + before, len: end - before, position: position + before }
}

/// Checks the number of parts of a selection.
pub(super) fn check_count(count: u64, limits: &Limits) -> Result<usize> {
    limits.count(count, "a selection")
}
