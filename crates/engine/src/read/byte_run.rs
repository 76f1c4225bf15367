//! Runs of stored bytes of which elements are needed.
use super::chunk_task::{ChunkSource, ChunkTarget, ChunkTask};
use crate::scatter::ScatterPart;
use ncirrus_layout::{Error, Extent, ObjectId, Result};
use std::ops::Range;

/// A run of stored bytes of which elements are needed, and where these go.
pub(super) struct ByteRun<'out> {
    /// Where the elements go; their source is the run.
    pub(super) target: ChunkTarget<'out>,
    /// Length of the run.
    pub(super) len: usize,
    /// Where the run is stored; `None` if it was never written.
    pub(super) place: Option<RunPlace>,
}

/// Where a run of stored bytes is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunPlace {
    pub(super) object: ObjectId,
    /// Its bytes; fewer than the run has if the chunk is too short.
    pub(super) range: Range<u64>,
    /// Whether the object must exist.
    pub(super) must_exist: bool,
    /// Bytes of the chunk's elements, if it may have more: it is the whole object, or its stored bytes are more.
    pub(super) max: Option<usize>,
}

impl RunPlace {
    /// The number of bytes of the chunk's elements if the chunk has more; `size` is that of the object that it is in.
    pub(super) fn surplus(&self, size: Option<u64>) -> Option<usize> {
        self.max.filter(|max| size.is_some_and(|size| self.must_exist || size > *max as u64))
    }
}

/// A chunk is not read in more runs than this.
pub(super) const UNITS_PER_CELL: usize = 1 << 14;

impl<'out> ChunkTask<'out> {
    /// Splits a task on bytes without codecs into runs to be read, merging those at most `gap` bytes apart.
    pub(super) fn into_units(self, gap: usize) -> Result<Vec<ByteRun<'out>>> {
        let mut units = Vec::new();
        let mut parts = self.target.split(gap, UNITS_PER_CELL);
        parts.reverse();
        while let Some(target) = parts.pop() {
            match self.work.lies(target.part.span())? {
                RunLocation::At(place) => units.push(target.unit(Some(place))),
                RunLocation::Nowhere => units.push(target.unit(None)),
                RunLocation::Across => {
                    let (first, second) = target.halve()?;
                    parts.extend([second, first]);
                }
            }
        }
        Ok(units)
    }
}

/// Where a run of a chunk's bytes is stored.
pub(super) enum RunLocation {
    At(RunPlace),
    /// It was never written.
    Nowhere,
    /// In several places, or partly unwritten.
    Across,
}

impl ChunkSource {
    /// Where a run of plain bytes is stored; `span` counts from the start of the chunk.
    pub(super) fn lies(&self, span: Range<usize>) -> Result<RunLocation> {
        match self {
            Self::Plain { object, start, have, len } => {
                let max = have.unwrap_or(u64::MAX);
                let at = |offset: usize| start.saturating_add((offset as u64).min(max));
                let range = at(span.start)..at(span.end);
                let (object, must_exist) = (object.clone(), have.is_some());
                let max = have.is_none_or(|have| have > *len as u64).then_some(*len);
                Ok(RunLocation::At(RunPlace { object, range, must_exist, max }))
            }
            Self::Rows { extents, origin } => lies_in(extents, *origin, &span)
                .ok_or_else(|| Error::malformed("the variable reaches beyond 64 bits")),
            Self::Fill | Self::Encoded { .. } => Err(Error::internal("only plain bytes are read in runs")),
        }
    }
}

/// `None` if an offset does not fit in 64 bits.
fn lies_in(extents: &[Extent], origin: u64, span: &Range<usize>) -> Option<RunLocation> {
    let run = origin.checked_add(span.start as u64)?..origin.checked_add(span.end as u64)?;
    let next = extents.get(extents.partition_point(|extent| extent.logical.end <= run.start));
    let Some(extent) = next.filter(|extent| extent.logical.start < run.end) else {
        return Some(RunLocation::Nowhere);
    };
    if extent.logical.start > run.start || run.end > extent.logical.end {
        return Some(RunLocation::Across);
    }
    let start = extent.offset.checked_add(run.start - extent.logical.start)?;
    let range = start..start.checked_add(run.end - run.start)?;
    Some(RunLocation::At(RunPlace { object: extent.object.clone(), range, must_exist: true, max: None }))
}

impl<'out> ChunkTarget<'out> {
    fn split(self, gap: usize, max: usize) -> Vec<Self> {
        let parts = self.part.split(gap, max);
        let mut marks = self.marks.map(|marks| marks.split(gap, max).into_iter().map(Box::new));
        let target = |part| Self { part, marks: marks.as_mut().and_then(Iterator::next) };
        parts.into_iter().map(target).collect()
    }

    fn halve(self) -> Result<(Self, Self)> {
        let alone = |_: ScatterPart<'_>| Error::malformed("an element lies in two places");
        let (first, second) = self.part.halve().map_err(alone)?;
        let marks = self.marks.map(|marks| marks.halve()).transpose().map_err(alone)?;
        let (first_marks, second_marks) =
            marks.map(|(first, second)| (Box::new(first), Box::new(second))).unzip();
        Ok((Self { part: first, marks: first_marks }, Self { part: second, marks: second_marks }))
    }

    fn unit(self, place: Option<RunPlace>) -> ByteRun<'out> {
        let len = self.part.span().len();
        let target = Self { part: self.part.at_span(), marks: self.marks };
        ByteRun { target, len, place }
    }
}
