//! The positions of a piece's elements in their source and in the result.
use super::row_major;
use super::{AxisSlab, IndexPair};
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The positions of a piece's elements in the source bytes and in the destination bytes. Every offset fits `usize`:
/// this is checked on construction.
#[derive(Debug, Clone)]
pub struct ElementWalk {
    /// Bytes of one element in the source and in the result.
    sizes: ElementSizes,
    source: usize,
    target: usize,
    /// Bytes at the start of the source that are not available.
    skipped: usize,
    axes: Vec<WalkAxis>,
}

/// Bytes of one element as it is stored and as it is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementSizes {
    /// As it is stored.
    pub stored: usize,
    /// As it is returned.
    pub native: usize,
}

#[derive(Debug, Clone)]
struct WalkAxis {
    count: usize,
    source_step: usize,
    target_step: usize,
    picks: Option<Arc<[IndexPair]>>,
}

/// Elements at fixed distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementRun {
    /// Byte offset of the first element in the source.
    pub source: usize,
    /// Byte offset of the first element in the result.
    pub target: usize,
    /// Number of elements.
    pub count: usize,
    /// Bytes from one element to the next in the source.
    pub source_step: usize,
    /// Bytes from one element to the next in the result.
    pub target_step: usize,
}

impl ElementWalk {
    /// The walk over a piece, given the strides of source and result in bytes; `None` if an offset does not fit.
    pub fn new(
        piece: &[AxisSlab],
        source_strides: &[u64],
        target_strides: &[u64],
        sizes: ElementSizes,
    ) -> Option<Self> {
        let mut walk =
            Self { sizes, source: 0, target: 0, skipped: 0, axes: Vec::with_capacity(piece.len()) };
        for (segment, (source, target)) in piece.iter().zip(source_strides.iter().zip(target_strides)) {
            let (source, target) = (usize::try_from(*source).ok()?, usize::try_from(*target).ok()?);
            walk.push(segment, source, target)?;
        }
        walk.source()?;
        walk.target()?;
        Some(walk)
    }

    /// The walk over points: pairs of an offset in the source and a position in the result, ascending by offset, both in
    /// bytes. `None` when an offset does not fit, or there are no points.
    pub fn of_points(pairs: Vec<IndexPair>, target_step: u64, sizes: ElementSizes) -> Option<Self> {
        let count = pairs.len() as u64;
        let slab = AxisSlab { count, picks: Some(pairs.into()), ..AxisSlab::first(0, count) };
        Self::new(&[slab], &[1], &[target_step], sizes)
    }

    /// The walk over a box of `count` elements along each axis, which starts at `start` of an array of that shape:
    /// the source is the array, the result the box on its own, both in row-major order, in elements. `None` if an
    /// offset does not fit, or the box has no elements.
    pub fn of_box(shape: &[u64], start: &[u64], count: &[u64]) -> Option<Self> {
        let slab = |(start, count): (&u64, &u64)| AxisSlab::first(*start, *count);
        let slabs: Vec<AxisSlab> = start.iter().zip(count).map(slab).collect();
        let (source, target) = (row_major(shape, 1).ok()?, row_major(count, 1).ok()?);
        Self::new(&slabs, &source, &target, ElementSizes { stored: 1, native: 1 })
    }

    /// Adds the next faster axis, joined with the previous one if both sides allow it.
    fn push(&mut self, segment: &AxisSlab, source: usize, target: usize) -> Option<()> {
        let count = usize::try_from(segment.count).ok()?;
        let mut axis =
            WalkAxis { count, source_step: source, target_step: target, picks: segment.picks.clone() };
        if axis.picks.is_none() {
            let offset = usize::try_from(segment.offset).ok()?.checked_mul(source)?;
            let position = usize::try_from(segment.position).ok()?.checked_mul(target)?;
            self.source = self.source.checked_add(offset)?;
            self.target = self.target.checked_add(position)?;
            if count == 1 {
                return Some(());
            }
            axis.source_step = usize::try_from(segment.stride).ok()?.checked_mul(source)?;
        }
        match self.axes.last_mut() {
            Some(last) if last.continues(&axis) => {
                axis.count = axis.count.checked_mul(last.count)?;
                *last = axis;
            }
            _ => self.axes.push(axis),
        }
        Some(())
    }

    /// Bytes of one element in the source and in the result.
    pub fn sizes(&self) -> ElementSizes {
        self.sizes
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.axes.iter().fold(1, |product, axis| product.saturating_mul(axis.count))
    }

    /// The range of bytes of the source from the first that is needed to the last.
    pub fn source_span(&self) -> Range<usize> {
        self.source().unwrap_or(0..usize::MAX)
    }

    /// The range of bytes of the result from the first that is written to the last.
    pub fn target_span(&self) -> Range<usize> {
        self.target().unwrap_or(0..usize::MAX)
    }

    /// Whether source and result are one run of bytes each.
    pub fn is_contiguous(&self) -> bool {
        match self.axes.as_slice() {
            [] => true,
            [axis] => {
                axis.picks.is_none()
                    && axis.source_step == self.sizes.stored
                    && axis.target_step == self.sizes.native
            }
            _ => false,
        }
    }

    /// The same walk over a source that starts `bytes` later.
    pub fn skip_source(mut self, bytes: usize) -> Self {
        self.skipped += bytes;
        self
    }

    /// Calls `f` with every run of elements; the last axis is the run.
    pub fn for_each_run(&self, mut f: impl FnMut(ElementRun)) {
        let (outer, inner) = match self.axes.split_last() {
            Some((inner, outer)) if inner.picks.is_none() => (outer, Some(inner)),
            _ => (self.axes.as_slice(), None),
        };
        let one = (1, self.sizes.stored, self.sizes.native);
        let (count, source_step, target_step) =
            inner.map_or(one, |axis| (axis.count, axis.source_step, axis.target_step));
        for_each_origin(outer, (self.source, self.target), |source, target| {
            f(ElementRun { source: source - self.skipped, target, count, source_step, target_step });
        });
    }

    /// As [`for_each_run`](Self::for_each_run), for the elements inside a range of bytes of the source, which begins and
    /// ends between elements. Offsets in the source are counted from its start.
    pub fn for_each_run_within(&self, window: Range<usize>, f: &mut impl FnMut(ElementRun)) {
        let span = self.source_span();
        if span.end <= window.start || window.end <= span.start {
            return;
        }
        if window.start <= span.start && span.end <= window.end {
            return self.for_each_run(|run| f(ElementRun { source: run.source - window.start, ..run }));
        }
        for part in self.cut(&window) {
            part.for_each_run_within(window.clone(), f);
        }
    }

    /// Cuts a walk that overlaps a range of bytes of the source: the parts that it may overlap. Of a regular axis, all steps that lie
    /// within it are one part.
    fn cut(&self, window: &Range<usize>) -> Vec<Self> {
        let halves = || self.halves().map_or_else(Vec::new, |(first, second)| vec![first, second]);
        let Some(at) = self.axes.iter().position(|axis| axis.count > 1) else { return Vec::new() };
        let Some(axis) = self.axes.get(at).filter(|axis| axis.picks.is_none() && axis.source_step > 0) else {
            return halves();
        };
        let (count, step, span) = (axis.count, axis.source_step, self.source_span());
        // Bytes of the source from the first element of a step to the last.
        let len = span.len().saturating_sub((count - 1) * step);
        if len > step {
            return halves();
        }
        let begin = window.start.saturating_sub(span.start);
        let end = window.end.min(span.end).saturating_sub(span.start);
        let first = (begin + step).saturating_sub(len) / step;
        let whole = begin.div_ceil(step)..(end + step).saturating_sub(len).min(count * step) / step;
        let last = end.div_ceil(step).min(count);
        let whole = if whole.is_empty() { last..last } else { whole };
        let single = (first..whole.start).chain(whole.end..last).map(|index| index..index + 1);
        single.chain([whole]).filter_map(|steps| self.steps(at, steps)).collect()
    }

    /// The part of a walk that consists of these steps of a regular axis; `None` without steps.
    fn steps(&self, at: usize, steps: Range<usize>) -> Option<Self> {
        let mut part = self.clone();
        let axis = part.axes.get_mut(at).filter(|_| !steps.is_empty())?;
        axis.count = steps.len();
        part.source += steps.start * axis.source_step;
        part.target += steps.start * axis.target_step;
        Some(part)
    }

    /// Splits the walk where the source has gaps of more than `gap` bytes, into at most `max` parts.
    pub fn split(self, gap: usize, max: usize) -> Vec<Self> {
        if let [WalkAxis { picks: Some(picks), .. }] = self.axes.as_slice() {
            return self.split_picks(picks, gap, max);
        }
        let mut level = self.axes.len();
        let mut span = self.sizes.stored;
        let mut parts = self.axes.iter().fold(1usize, |product, axis| product.saturating_mul(axis.count));
        while let Some(axis) = level.checked_sub(1).and_then(|at| self.axes.get(at)) {
            if axis.largest_gap(span) > gap && parts <= max {
                break;
            }
            parts = parts.checked_div(axis.count).unwrap_or(0);
            span = span.saturating_add(axis.source_reach());
            level -= 1;
        }
        let (outer, inner) = self.axes.split_at(level);
        let mut walks = Vec::new();
        for_each_origin(outer, (self.source, self.target), |source, target| {
            walks.push(Self {
                sizes: self.sizes,
                source,
                target,
                skipped: self.skipped,
                axes: inner.to_vec(),
            });
        });
        walks
    }

    /// Splits a list of picks, neighbours staying together; a wider gap makes fewer parts.
    fn split_picks(&self, picks: &[IndexPair], gap: usize, max: usize) -> Vec<Self> {
        let step = self.axes.first().map_or(1, |axis| axis.source_step);
        let is_near = |gap: usize| {
            let reach = gap.saturating_add(self.sizes.stored);
            move |a: &IndexPair, b: &IndexPair| (offset(b) - offset(a)).saturating_mul(step) <= reach
        };
        let mut gap = gap;
        while picks.chunk_by(is_near(gap)).nth(max).is_some() {
            gap = gap.saturating_mul(2).max(self.sizes.stored);
        }
        let part = |picks: &[IndexPair]| {
            let axes = self.axes.iter().map(|axis| WalkAxis {
                count: picks.len(),
                picks: Some(picks.into()),
                ..axis.clone()
            });
            Self { axes: axes.collect(), ..self.clone() }
        };
        picks.chunk_by(is_near(gap)).map(part).collect()
    }

    /// Two walks that together are this one; `None` for a single element.
    pub fn halves(&self) -> Option<(Self, Self)> {
        let at = self.axes.iter().position(|axis| axis.count > 1)?;
        let (mut first, mut second) = (self.clone(), self.clone());
        let (one, other) = (first.axes.get_mut(at)?, second.axes.get_mut(at)?);
        let middle = one.count / 2;
        (one.count, other.count) = (middle, other.count - middle);
        match &self.axes.get(at)?.picks {
            Some(picks) => {
                one.picks = Some(picks.get(..middle)?.into());
                other.picks = Some(picks.get(middle..)?.into());
            }
            None => {
                second.source += middle * one.source_step;
                second.target += middle * one.target_step;
            }
        }
        Some((first, second))
    }

    /// The bytes of the source that are needed, ascending, with those at most `gap` bytes apart merged; at most
    /// `max`.
    pub fn needed_ranges(&self, gap: usize, max: usize) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> =
            self.clone().split(gap, max).iter().map(Self::source_span).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(gap) => {
                    last.end = last.end.max(range.end);
                }
                _ => joined.push(range),
            }
        }
        joined
    }

    fn source(&self) -> Option<Range<usize>> {
        let span = self.span(self.source, self.sizes.stored, |axis| axis.source_step, |pick| pick.offset)?;
        Some(span.start.checked_sub(self.skipped)?..span.end.checked_sub(self.skipped)?)
    }

    fn target(&self) -> Option<Range<usize>> {
        self.span(self.target, self.sizes.native, |axis| axis.target_step, |pick| pick.position)
    }

    /// The smallest range of bytes that holds every element; `None` on overflow.
    fn span(
        &self,
        base: usize,
        element: usize,
        step: impl Fn(&WalkAxis) -> usize,
        pick: impl Fn(&IndexPair) -> u64,
    ) -> Option<Range<usize>> {
        let (mut low, mut high) = (base, base.checked_add(element)?);
        for axis in &self.axes {
            let (first, last) = match &axis.picks {
                None => (0, axis.count.checked_sub(1)?),
                Some(picks) => {
                    let offsets = || picks.iter().map(&pick);
                    (usize::try_from(offsets().min()?).ok()?, usize::try_from(offsets().max()?).ok()?)
                }
            };
            low = low.checked_add(first.checked_mul(step(axis))?)?;
            high = high.checked_add(last.checked_mul(step(axis))?)?;
        }
        Some(low..high)
    }
}

impl WalkAxis {
    /// Whether `inner` and this axis together form one regular axis, in the source and in the result.
    fn continues(&self, inner: &Self) -> bool {
        let spans = |step: usize| step.checked_mul(inner.count);
        self.picks.is_none()
            && inner.picks.is_none()
            && spans(inner.source_step) == Some(self.source_step)
            && spans(inner.target_step) == Some(self.target_step)
    }

    /// The widest gap in the source between neighbours of `span` bytes along this axis.
    fn largest_gap(&self, span: usize) -> usize {
        let step = match &self.picks {
            None => 1,
            Some(picks) => picks.windows(2).map(|two| offset(&two[1]) - offset(&two[0])).max().unwrap_or(0),
        };
        step.saturating_mul(self.source_step).saturating_sub(span)
    }

    /// Bytes in the source from the first element along this axis to the start of the last.
    fn source_reach(&self) -> usize {
        let steps = match &self.picks {
            None => self.count.saturating_sub(1),
            Some(picks) => match (picks.first(), picks.last()) {
                (Some(first), Some(last)) => offset(last) - offset(first),
                _ => 0,
            },
        };
        steps.saturating_mul(self.source_step)
    }

    /// Offsets in source and result of one step along this axis.
    fn offsets(&self, at: usize) -> (usize, usize) {
        let (source, target) = match &self.picks {
            None => (at, at),
            Some(picks) => picks.get(at).map_or((0, 0), |pick| (offset(pick), position(pick))),
        };
        (source * self.source_step, target * self.target_step)
    }
}

/// Offsets were checked to fit `usize` on construction.
fn offset(pick: &IndexPair) -> usize {
    usize::try_from(pick.offset).unwrap_or(usize::MAX)
}

fn position(pick: &IndexPair) -> usize {
    usize::try_from(pick.position).unwrap_or(usize::MAX)
}

/// Calls `f` with the offsets in source and result of every combination of steps along the axes, the last fastest.
fn for_each_origin(axes: &[WalkAxis], base: (usize, usize), mut f: impl FnMut(usize, usize)) {
    if axes.iter().any(|axis| axis.count == 0) {
        return;
    }
    let mut at = vec![0usize; axes.len()];
    let mut origins = vec![base; axes.len() + 1];
    let mut from = 0;
    loop {
        for axis in from..axes.len() {
            let (source, target) = axes[axis].offsets(at[axis]);
            origins[axis + 1] = (origins[axis].0 + source, origins[axis].1 + target);
        }
        f(origins[axes.len()].0, origins[axes.len()].1);
        let Some(axis) = (0..axes.len()).rev().find(|axis| at[*axis] + 1 < axes[*axis].count) else { return };
        at[axis] += 1;
        at[axis + 1..].fill(0);
        from = axis;
    }
}
