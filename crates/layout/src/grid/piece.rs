//! Parts of a selection that are boxes of its result.
use super::{AxisSlab, IndexPair};
use ncirrus_model::{AxisSelection, Region, Selection};

/// A part of a selection: some of its elements along each axis.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionPiece {
    /// Along each axis.
    pub axes: Vec<PieceAxis>,
}

/// Selected elements along one axis, and their positions in the result.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceAxis {
    /// Elements at equal distances.
    Slice {
        /// The first one.
        start: u64,
        /// How many.
        count: u64,
        /// From one to the next, at least 1.
        stride: u64,
        /// Position of the first one in the result; the others follow.
        position: u64,
    },
    /// Index and position, ascending by index.
    Picks(Vec<(u64, u64)>),
}

impl SelectionPiece {
    /// All of a selection.
    pub fn of(selection: &Selection) -> Self {
        let axis = |axis: &AxisSelection| match axis {
            AxisSelection::Slice { start, count, stride } => {
                PieceAxis::Slice { start: *start, count: *count, stride: (*stride).max(1), position: 0 }
            }
            AxisSelection::Indices(indices) => {
                let mut picks: Vec<(u64, u64)> = indices.iter().copied().zip(0..).collect();
                picks.sort_unstable();
                PieceAxis::Picks(picks)
            }
        };
        Self { axes: selection.axes().iter().map(axis).collect() }
    }

    /// The elements inside a box; `None` if there are none or the ranks differ.
    pub fn within(&self, region: &Region) -> Option<Self> {
        let mut axes = Vec::with_capacity(self.axes.len());
        for (axis, (start, count)) in self.axes.iter().zip(region.start.iter().zip(&region.count)) {
            axes.push(axis.within(*start, start.saturating_add(*count))?);
        }
        (self.axes.len() == region.rank()).then_some(Self { axes })
    }

    /// Elements along each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(PieceAxis::count).collect()
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.axes.iter().fold(1, |product, axis| product.saturating_mul(axis.count()))
    }

    /// The bounding box of all elements; an axis without elements gives an empty one.
    pub fn bounds(&self) -> Region {
        let (start, count) =
            self.axes.iter().map(PieceAxis::bounds).map(|(start, end)| (start, end - start)).unzip();
        Region { start, count }
    }

    /// Two pieces that together are this one, cut along the slowest possible axis; `None` for one element.
    pub fn halves(&self) -> Option<(Self, Self)> {
        let at = self.axes.iter().position(|axis| axis.count() > 1)?;
        let (mut first, mut second) = (self.clone(), self.clone());
        let (one, other) = self.axes.get(at)?.halves();
        *first.axes.get_mut(at)? = one;
        *second.axes.get_mut(at)? = other;
        Some((first, second))
    }

    /// Pieces of at most `max` elements each that together are this one, in order.
    pub fn cut(self, max: u64) -> Vec<Self> {
        let mut cut = Vec::new();
        let mut rest = vec![self];
        while let Some(piece) = rest.pop() {
            match piece.halves().filter(|_| piece.count() > max) {
                Some((first, second)) => rest.extend([second, first]),
                None => cut.push(piece),
            }
        }
        cut
    }

    /// Where the elements go, if they are consecutive.
    pub fn segments(&self) -> Vec<AxisSlab> {
        self.axes.iter().map(PieceAxis::segment).collect()
    }
}

#[cfg(test)]
mod tests;

impl PieceAxis {
    /// Number of elements.
    pub fn count(&self) -> u64 {
        match self {
            Self::Slice { count, .. } => *count,
            Self::Picks(picks) => picks.len() as u64,
        }
    }

    /// The elements from `start` to before `end`.
    fn within(&self, from: u64, end: u64) -> Option<Self> {
        let inside = match self {
            Self::Slice { start, count, stride, position } => {
                let skipped = from.saturating_sub(*start).div_ceil(*stride);
                let before = end.saturating_sub(*start).div_ceil(*stride).min(*count);
                let count = before.checked_sub(skipped)?;
                let (start, position) =
                    (start.checked_add(skipped.checked_mul(*stride)?)?, position + skipped);
                Self::Slice { start, count, stride: *stride, position }
            }
            Self::Picks(picks) => {
                let first = picks.partition_point(|(index, _)| *index < from);
                let last = picks.partition_point(|(index, _)| *index < end);
                Self::Picks(picks.get(first..last)?.to_vec())
            }
        };
        (inside.count() > 0).then_some(inside)
    }

    /// The first index and one more than the last.
    fn bounds(&self) -> (u64, u64) {
        match self {
            Self::Slice { start, count: 0, .. } => (*start, *start),
            Self::Slice { start, count, stride, .. } => (*start, start + (count - 1) * stride + 1),
            Self::Picks(picks) => match (picks.first(), picks.last()) {
                (Some((first, _)), Some((last, _))) => (*first, last + 1),
                _ => (0, 0),
            },
        }
    }

    fn halves(&self) -> (Self, Self) {
        match self {
            Self::Slice { start, count, stride, position } => {
                let half = count / 2;
                let (start, stride, position) = (*start, *stride, *position);
                let first = Self::Slice { start, count: half, stride, position };
                let (start, position) = (start + half * stride, position + half);
                (first, Self::Slice { start, count: count - half, stride, position })
            }
            Self::Picks(picks) => {
                let (first, second) = picks.split_at(picks.len() / 2);
                (Self::Picks(first.to_vec()), Self::Picks(second.to_vec()))
            }
        }
    }

    /// The same elements of an array in which element `from` becomes element `to`.
    pub fn selection(&self, from: u64, to: u64) -> AxisSelection {
        let moved = |index: u64| index.saturating_sub(from).saturating_add(to);
        match self {
            Self::Slice { start, count, stride, .. } => {
                AxisSelection::Slice { start: moved(*start), count: *count, stride: *stride }
            }
            Self::Picks(picks) => {
                AxisSelection::Indices(picks.iter().map(|(index, _)| moved(*index)).collect())
            }
        }
    }

    /// The indices in order.
    pub fn indices(&self) -> Vec<u64> {
        match self {
            Self::Slice { start, count, stride, .. } => (0..*count).map(|at| start + at * stride).collect(),
            Self::Picks(picks) => picks.iter().map(|(index, _)| *index).collect(),
        }
    }

    fn segment(&self) -> AxisSlab {
        let (cell, offset, stride) = (None, 0, 1);
        match self {
            Self::Slice { count, position, .. } => {
                AxisSlab { cell, position: *position, offset, count: *count, stride, picks: None }
            }
            Self::Picks(picks) => {
                let pick =
                    |((_, position), offset): (&(u64, u64), u64)| IndexPair { position: *position, offset };
                let count = picks.len() as u64;
                let picks = picks.iter().zip(0..).map(pick).collect();
                AxisSlab { cell, position: 0, offset, count, stride, picks: Some(picks) }
            }
        }
    }
}
