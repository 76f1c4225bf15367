//! How the elements of a tile lie in the variable of its fragment (`cfa.md` 2.4, 6.4).
#[cfg(test)]
mod tests;

use crate::read::mosaic::piece::{Axis, Piece};
use ncirrus_layout::{Error, FragmentAxis, FragmentPart, Result};
use ncirrus_model::{AxisSelection, Region, Selection};

/// Which elements of a stored variable make a tile, and in which order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fit {
    tile: Region,
    axes: Vec<Stored>,
}

/// An axis of the stored variable.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    /// The axis of the tile that it makes; `None` where only its first element is taken.
    axis: Option<usize>,
    elements: Elements,
}

/// Stored elements in the order of the tile's.
#[derive(Debug, Clone, PartialEq)]
enum Elements {
    /// Element `i` is `first + i * step`.
    Steps { first: u64, step: i64 },
    /// Those with these indices.
    Indices(Vec<u64>),
}

impl Fit {
    /// How a variable of that shape makes a tile, with its axes as the aggregation describes them.
    ///
    /// # Errors
    /// `Malformed` with both shapes when it does not.
    pub(crate) fn new(tile: Region, shape: &[u64], axes: Option<&[FragmentAxis]>) -> Result<Self> {
        let unfit = || {
            Error::malformed(format!("a fragment of shape {shape:?} where {:?} elements are due", tile.count))
        };
        let axes = match axes {
            Some(axes) if axes.len() == shape.len() => described(&tile.count, shape, axes),
            Some(_) => None,
            None => in_order(&tile.count, shape),
        };
        Ok(Self { axes: axes.ok_or_else(unfit)?, tile })
    }

    /// The stored elements of a piece of the tile, and how far apart in them those are that follow each other along
    /// the axes of the tile.
    ///
    /// # Errors
    /// `Limit` for what exceeds this machine.
    pub(crate) fn selection(&self, piece: &Piece) -> Result<(Selection, Vec<u64>)> {
        let mut selected = Vec::with_capacity(self.axes.len());
        for stored in &self.axes {
            let axis = match stored.axis.and_then(|at| Some((piece.axes.get(at)?, self.tile.start.get(at)?)))
            {
                Some((axis, start)) => stored.elements.selected(axis, *start),
                None => {
                    stored.elements.index(0).map(|start| AxisSelection::Slice { start, count: 1, stride: 1 })
                }
            };
            selected.push(axis.ok_or_else(|| Error::limit("indices beyond 64 bits"))?);
        }
        let mut strides = vec![0; piece.axes.len()];
        let mut stride = 1u64;
        for (stored, axis) in self.axes.iter().zip(&selected).rev() {
            if let Some(at) = stored.axis.and_then(|at| strides.get_mut(at)) {
                *at = stride;
            }
            stride = stride.saturating_mul(axis.count());
        }
        Ok((Selection::new(selected), strides))
    }
}

/// The axes in order; those of one element may be lacking.
fn in_order(tile: &[u64], shape: &[u64]) -> Option<Vec<Stored>> {
    if shape.len() > tile.len() {
        return None;
    }
    let all = || Elements::Steps { first: 0, step: 1 };
    let mut long = tile.iter().enumerate().filter(|(_, len)| **len != 1);
    let axis = |len: &u64| match len {
        1 => Some(Stored { axis: None, elements: all() }),
        len => {
            let (at, _) = long.next().filter(|(_, other)| *other == len)?;
            Some(Stored { axis: Some(at), elements: all() })
        }
    };
    let axes: Option<Vec<Stored>> = shape.iter().map(axis).collect();
    axes.filter(|_| long.next().is_none())
}

/// The axes as an aggregation describes them.
fn described(tile: &[u64], shape: &[u64], axes: &[FragmentAxis]) -> Option<Vec<Stored>> {
    let mut covered = vec![false; tile.len()];
    let mut stored = Vec::with_capacity(axes.len());
    for (axis, len) in axes.iter().zip(shape) {
        let (elements, count) = elements(axis, *len)?;
        let due = match axis.axis {
            Some(at) => {
                let is_new = !std::mem::replace(covered.get_mut(at)?, true);
                tile.get(at).filter(|_| is_new).copied()?
            }
            None => 1,
        };
        if count != due {
            return None;
        }
        stored.push(Stored { axis: axis.axis, elements });
    }
    let rest = tile.iter().zip(covered).all(|(len, covered)| covered || *len == 1);
    rest.then_some(stored)
}

/// What is taken along an axis of that length, and how much it is; `None` when it is not there.
fn elements(axis: &FragmentAxis, len: u64) -> Option<(Elements, u64)> {
    let (elements, count) = match &axis.part {
        FragmentPart::All => (Elements::Steps { first: 0, step: 1 }, len),
        FragmentPart::Slice { first, last, step } => {
            let way = if *step > 0 { last.checked_sub(*first)? } else { first.checked_sub(*last)? };
            let count = way.checked_div(step.unsigned_abs())? + 1;
            (Elements::Steps { first: *first, step: *step }, count)
        }
        FragmentPart::Indices(indices) => (Elements::Indices(indices.clone()), indices.len() as u64),
    };
    let elements = if axis.reversed { elements.reversed(count)? } else { elements };
    elements.is_within(len, count).then_some((elements, count))
}

impl Elements {
    /// The stored index of the tile's element `at`.
    fn index(&self, at: u64) -> Option<u64> {
        match self {
            Self::Steps { first, step } => {
                let way = i64::try_from(at).ok()?.checked_mul(*step)?;
                first.checked_add_signed(way)
            }
            Self::Indices(indices) => indices.get(usize::try_from(at).ok()?).copied(),
        }
    }

    fn reversed(self, count: u64) -> Option<Self> {
        Some(match self {
            Self::Steps { first, .. } if count == 0 => Self::Steps { first, step: 1 },
            Self::Steps { step, .. } => {
                Self::Steps { first: self.index(count - 1)?, step: step.checked_neg()? }
            }
            Self::Indices(mut indices) => {
                indices.reverse();
                Self::Indices(indices)
            }
        })
    }

    fn is_within(&self, len: u64, count: u64) -> bool {
        let inside = |index: u64| index < len;
        match self {
            Self::Steps { .. } if count == 0 => true,
            Self::Steps { .. } => {
                self.index(0).is_some_and(inside) && self.index(count - 1).is_some_and(inside)
            }
            Self::Indices(indices) => indices.iter().all(|index| inside(*index)),
        }
    }

    /// The stored elements of some of a tile that starts at `start`.
    fn selected(&self, axis: &Axis, start: u64) -> Option<AxisSelection> {
        if let (Axis::Slice { start: from, count, stride, .. }, Self::Steps { step, .. }) = (axis, self)
            && let Ok(step) = u64::try_from(*step)
        {
            let start = self.index(from.checked_sub(start)?)?;
            return Some(AxisSelection::Slice { start, count: *count, stride: stride.checked_mul(step)? });
        }
        let index = |index: u64| self.index(index.checked_sub(start)?);
        axis.indices().into_iter().map(index).collect::<Option<_>>().map(AxisSelection::Indices)
    }
}
