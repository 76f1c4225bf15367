//! How an axis is divided into blocks.
use ncirrus_layout::{Error, Result};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// How an axis is divided into blocks: neither starts nor ends decrease. Blocks may be empty, and elements may lie in
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AxisCells {
    /// Blocks of `size` elements; the last one ends at `end`.
    Even { size: u64, count: u64, end: u64 },
    /// Block `i` starts at `i * (len / count)` and is one block length long, as S3netCDF4 computes it in floating
    /// point (docs/spec/cfa.md 7.3): neighbours may miss an element or share one.
    Scaled { len: u64, count: u64 },
    /// Consecutive; the first one starts at 0.
    Ends(Vec<u64>),
    /// Anywhere.
    Spans(Vec<Range<u64>>),
}

/// A part of an axis: a block, or elements in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisPart {
    pub(crate) range: Range<u64>,
    pub(crate) cell: Option<u64>,
}

impl AxisCells {
    /// Consecutive blocks of these sizes.
    ///
    /// # Errors
    /// `Malformed` if the total size exceeds 64 bits.
    pub(crate) fn from_sizes(sizes: &[u64]) -> Result<Self> {
        let mut end = 0u64;
        let mut ends = Vec::with_capacity(sizes.len());
        for size in sizes {
            end = end.checked_add(*size).ok_or_else(|| Error::malformed("sizes beyond 2^64"))?;
            ends.push(end);
        }
        let count = sizes.len() as u64;
        match sizes.split_last() {
            Some((last, first)) if first.iter().all(|size| Some(size) == sizes.first()) => {
                let size = sizes.first().copied().unwrap_or(0);
                Ok(if *last <= size { Self::Even { size, count, end } } else { Self::Ends(ends) })
            }
            _ => Ok(Self::Ends(ends)),
        }
    }

    /// Blocks at these positions, if neither starts nor ends decrease and neighbours share at most one element;
    /// otherwise `None`.
    pub(crate) fn from_spans(spans: Vec<Range<u64>>) -> Option<Self> {
        let ordered = |pair: &[Range<u64>]| match pair {
            [a, b] if a.end <= b.start || a.is_empty() || b.is_empty() => {
                a.start <= b.start && a.end <= b.end
            }
            [a, b] => a.start < b.start && a.end < b.end && a.end - b.start == 1,
            _ => true,
        };
        let sound = spans.iter().all(|span| span.start <= span.end) && spans.windows(2).all(ordered);
        if !sound {
            return None;
        }
        let starts = std::iter::once(0).chain(spans.iter().map(|span| span.end));
        if spans.iter().zip(starts).all(|(span, start)| span.start == start) {
            let sizes: Vec<u64> = spans.iter().map(|span| span.end - span.start).collect();
            return Self::from_sizes(&sizes).ok();
        }
        Some(Self::Spans(spans))
    }

    /// Number of blocks.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Even { count, .. } | Self::Scaled { count, .. } => *count,
            Self::Ends(ends) => ends.len() as u64,
            Self::Spans(spans) => spans.len() as u64,
        }
    }

    /// One more than the last element in a block.
    pub(crate) fn end(&self) -> u64 {
        self.count().checked_sub(1).map_or(0, |last| self.span(last).end)
    }

    /// Whether every element of an axis of that length lies in a block; examines every block.
    pub(crate) fn covers(&self, len: u64) -> bool {
        match self {
            Self::Even { end, .. } => *end == len,
            Self::Ends(ends) => ends.last().copied().unwrap_or(0) == len,
            Self::Scaled { count, .. } if len.checked_rem(*count) == Some(0) => true,
            Self::Scaled { .. } | Self::Spans(_) => {
                let reached = (0..self.count()).try_fold(0, |reached, cell| {
                    let span = self.span(cell);
                    (span.start <= reached).then_some(span.end)
                });
                reached == Some(len)
            }
        }
    }

    /// The elements of a block; `None` past the last one.
    pub(crate) fn span(&self, cell: u64) -> Range<u64> {
        let at = usize::try_from(cell).unwrap_or(usize::MAX);
        match self {
            Self::Even { size, end, .. } => {
                let start = cell.saturating_mul(*size).min(*end);
                start..start.saturating_add(*size).min(*end)
            }
            Self::Scaled { len, count } => scaled(*len, *count, cell),
            Self::Ends(ends) => {
                let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                start..ends.get(at).copied().unwrap_or(start)
            }
            Self::Spans(spans) => spans.get(at).cloned().unwrap_or_default(),
        }
    }

    /// The blocks that may hold elements of a range: from the first to before the last.
    pub(crate) fn touched(&self, range: &Range<u64>) -> Range<u64> {
        let first = self.partition_point(|span| span.end <= range.start);
        let last = self.partition_point(|span| span.start < range.end);
        first..last.max(first)
    }

    /// The maximum number of parts of a range.
    pub(crate) fn max_parts(&self, range: &Range<u64>) -> u64 {
        let cells = self.touched(range);
        let cells = cells.end - cells.start;
        match self {
            Self::Even { .. } | Self::Ends(_) => cells.saturating_add(u64::from(range.end > self.end())),
            Self::Scaled { .. } | Self::Spans(_) => cells.saturating_mul(2).saturating_add(1),
        }
    }

    /// Where the middle block of a range begins; `None` if cutting there has no effect.
    pub(crate) fn middle(&self, range: &Range<u64>) -> Option<u64> {
        let cells = self.touched(range);
        let start = self.span(cells.start + (cells.end - cells.start) / 2).start;
        (range.start < start && start < range.end).then_some(start)
    }

    /// A range as whole blocks, and the elements in none of them; empty blocks are left out.
    pub(crate) fn parts(&self, range: &Range<u64>) -> Vec<AxisPart> {
        let mut parts = Vec::new();
        let mut at = range.start;
        for cell in self.touched(range) {
            let span = self.span(cell);
            if span.is_empty() {
                continue;
            }
            if at < span.start {
                parts.push(AxisPart { range: at..span.start, cell: None });
            }
            at = at.max(span.end);
            parts.push(AxisPart { range: span, cell: Some(cell) });
        }
        if at < range.end {
            parts.push(AxisPart { range: at..range.end, cell: None });
        }
        parts
    }

    /// The first block for which `before` does not hold.
    fn partition_point(&self, before: impl Fn(&Range<u64>) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.span(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the arithmetic of the writer is imitated")]
fn scaled(len: u64, count: u64, cell: u64) -> Range<u64> {
    if cell >= count {
        return len..len;
    }
    let size = len as f64 / count as f64;
    let start = cell as f64 * size;
    let (start, end) = (start as u64, (start + size) as u64);
    start.min(len)..end.min(len)
}
