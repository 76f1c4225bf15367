//! How the elements of a tile are stored in the variable of its fragment (docs/spec/cfa.md 2.4, 6.4).
#[cfg(test)]
mod tests;

use super::texts::{self, FragmentTexts};
use ncirrus_layout::grid::{PieceAxis, SelectionPiece};
use ncirrus_layout::{Error, Fragment, FragmentAxis, FragmentPart, Result};
use ncirrus_model::{AxisSelection, PointSelection, Region, Selection, Values};

/// Which elements of a stored variable form a tile, and in which order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TileFit {
    tile: Region,
    axes: Vec<StoredAxis>,
    /// How its texts are converted to those of the aggregated variable, and whether a text that does not fit is an
    /// error.
    texts: Option<(FragmentTexts, bool)>,
}

/// An axis of the stored variable.
#[derive(Debug, Clone, PartialEq)]
struct StoredAxis {
    /// The axis of the tile that it corresponds to; `None` if only its first element is used.
    axis: Option<usize>,
    elements: TileElements,
}

/// Stored elements in the order of the tile's elements.
#[derive(Debug, Clone, PartialEq)]
enum TileElements {
    /// Element `i` is `first + i * step`.
    Steps { first: u64, step: i64 },
    /// The elements with these indices.
    Indices(Vec<u64>),
    /// This many elements together, which form one element of the tile.
    Joined(u64),
}

impl TileFit {
    /// How the variable of a fragment forms a tile.
    ///
    /// # Errors
    /// `Malformed` with both shapes if it does not, or if its shape is not the one that the aggregation states.
    pub(crate) fn of_fragment(
        tile: Region,
        shape: &[u64],
        fragment: &Fragment,
        texts: Option<FragmentTexts>,
    ) -> Result<Self> {
        check_declared(fragment.shape.as_deref(), shape, texts)?;
        let axes = fragment.axes.as_deref();
        let mut fit = match (texts, shape.split_last(), tile.start.split_last(), tile.count.split_last()) {
            (Some(FragmentTexts::Joined), Some((len, outer)), _, _) => {
                let axes = axes.map(|axes| axes.get(..outer.len()).unwrap_or(axes));
                match Self::new(tile.clone(), outer, axes) {
                    Ok(mut fit) => {
                        fit.axes.push(StoredAxis { axis: None, elements: TileElements::Joined(*len) });
                        fit
                    }
                    // Texts of one character are stored without an axis for the characters.
                    Err(_) => Self::new(tile, shape, fragment.axes.as_deref())?,
                }
            }
            (Some(FragmentTexts::Spread), _, Some((_, start)), Some((_, count))) => {
                let outer = Region { start: start.to_vec(), count: count.to_vec() };
                Self { tile, ..Self::new(outer, shape, axes)? }
            }
            _ => Self::new(tile, shape, axes)?,
        };
        fit.texts = texts.map(|texts| (texts, fragment.rules.is_strict));
        Ok(fit)
    }

    /// How a variable of that shape forms a tile, with its axes as the aggregation describes them.
    ///
    /// # Errors
    /// `Malformed` with both shapes if it does not.
    pub(crate) fn new(tile: Region, shape: &[u64], axes: Option<&[FragmentAxis]>) -> Result<Self> {
        let unfit = || Error::malformed(format!("a fragment of shape {shape:?} instead of {:?}", tile.count));
        let axes = match axes {
            Some(axes) if axes.len() == shape.len() => described(&tile.count, shape, axes),
            Some(_) => None,
            None => in_order(&tile.count, shape),
        };
        Ok(Self { axes: axes.ok_or_else(unfit)?, tile, texts: None })
    }

    /// The stored elements of a piece of the tile, and the distances between consecutive elements along the axes of the
    /// tile, counted in those elements.
    ///
    /// # Errors
    /// `Limit` if something exceeds this machine's address space.
    pub(crate) fn selection(&self, piece: &SelectionPiece) -> Result<(Selection, Vec<u64>)> {
        let mut selected = Vec::with_capacity(self.axes.len());
        for stored in &self.axes {
            if let TileElements::Joined(count) = stored.elements {
                selected.push(AxisSelection::Slice { start: 0, count, stride: 1 });
                continue;
            }
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
        // The characters of a string are an axis of the tile without one in the fragment: the innermost.
        if let (Some((FragmentTexts::Spread, _)), Some(last)) = (self.texts, strides.last_mut()) {
            *last = 1;
            stride = piece.axes.last().map_or(1, PieceAxis::count);
        }
        for (stored, axis) in self.axes.iter().zip(&selected).rev() {
            if let Some(at) = stored.axis.and_then(|at| strides.get_mut(at)) {
                *at = stride;
            }
            if !matches!(stored.elements, TileElements::Joined(_)) {
                stride = stride.saturating_mul(axis.count());
            }
        }
        Ok((Selection::new(selected), strides))
    }

    /// The indices of the stored elements that make points of the tile, a list for each stored axis; `None` where texts are
    /// made of several.
    ///
    /// # Errors
    /// `Limit` for what exceeds this machine.
    pub(crate) fn points(&self, points: &PointSelection, inside: &[usize]) -> Result<Option<Vec<Vec<u64>>>> {
        if self.texts.is_some() {
            return Ok(None);
        }
        let list = |stored: &StoredAxis| -> Option<Vec<u64>> {
            let at = |point: &usize| match stored.axis {
                Some(axis) => points.index(axis, *point).checked_sub(*self.tile.start.get(axis)?),
                None => Some(0),
            };
            inside.iter().map(|point| stored.elements.index(at(point)?)).collect()
        };
        let lists: Option<Vec<_>> = self.axes.iter().map(list).collect();
        lists.map(Some).ok_or_else(|| Error::limit("indices beyond 64 bits"))
    }

    /// The stored elements of a piece in the type of the aggregated variable, if that is another type of text.
    ///
    /// # Errors
    /// `Malformed` for a text that does not fit, if that is an error.
    pub(crate) fn converted(&self, values: Values, piece: &SelectionPiece) -> Result<Values> {
        match (self.texts, piece.axes.last()) {
            (Some((FragmentTexts::Joined, _)), _) => {
                let len = self.axes.last().map_or(1, |last| match last.elements {
                    TileElements::Joined(len) => len,
                    _ => 1,
                });
                texts::joined(values, len)
            }
            (Some((FragmentTexts::Spread, is_strict)), Some(wanted)) => {
                let place = self.tile.start.last().copied().zip(self.tile.count.last().copied());
                texts::spread(&values, wanted, place.unwrap_or_default(), is_strict)
            }
            _ => Ok(values),
        }
    }
}

/// Checks that a variable has the shape that the aggregation states, apart from axes of one element and the axis of
/// texts.
fn check_declared(declared: Option<&[u64]>, shape: &[u64], texts: Option<FragmentTexts>) -> Result<()> {
    let Some(declared) = declared else { return Ok(()) };
    let are_equal = |one: &[u64], other: &[u64]| {
        let wide = |shape: &[u64]| shape.iter().copied().filter(|len| *len != 1).collect::<Vec<_>>();
        wide(one) == wide(other)
    };
    let outer = |shape: &[u64]| shape.split_last().map(|(_, outer)| outer.to_vec()).unwrap_or_default();
    let fits = are_equal(declared, shape)
        || match texts {
            Some(FragmentTexts::Joined) => are_equal(declared, &outer(shape)),
            Some(FragmentTexts::Spread) => are_equal(&outer(declared), shape),
            None => false,
        };
    if fits {
        Ok(())
    } else {
        Err(Error::malformed(format!("its shape is {shape:?}, but the aggregation says {declared:?}")))
    }
}

/// The axes in order; those of one element may be missing.
fn in_order(tile: &[u64], shape: &[u64]) -> Option<Vec<StoredAxis>> {
    if shape.len() > tile.len() {
        return None;
    }
    let all = || TileElements::Steps { first: 0, step: 1 };
    let mut long = tile.iter().enumerate().filter(|(_, len)| **len != 1);
    let axis = |len: &u64| match len {
        1 => Some(StoredAxis { axis: None, elements: all() }),
        len => {
            let (at, _) = long.next().filter(|(_, other)| *other == len)?;
            Some(StoredAxis { axis: Some(at), elements: all() })
        }
    };
    let axes: Option<Vec<StoredAxis>> = shape.iter().map(axis).collect();
    axes.filter(|_| long.next().is_none())
}

/// The axes as an aggregation describes them.
fn described(tile: &[u64], shape: &[u64], axes: &[FragmentAxis]) -> Option<Vec<StoredAxis>> {
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
        stored.push(StoredAxis { axis: axis.axis, elements });
    }
    let rest = tile.iter().zip(covered).all(|(len, covered)| covered || *len == 1);
    rest.then_some(stored)
}

/// The elements that are taken along an axis of that length, and their number; `None` if they are not present.
fn elements(axis: &FragmentAxis, len: u64) -> Option<(TileElements, u64)> {
    let (elements, count) = match &axis.part {
        FragmentPart::All => (TileElements::Steps { first: 0, step: 1 }, len),
        FragmentPart::Slice { first, last, step } => {
            let way = if *step > 0 { last.checked_sub(*first)? } else { first.checked_sub(*last)? };
            let count = way.checked_div(step.unsigned_abs())? + 1;
            (TileElements::Steps { first: *first, step: *step }, count)
        }
        FragmentPart::Indices(indices) => (TileElements::Indices(indices.clone()), indices.len() as u64),
    };
    let elements = if axis.reversed { elements.reversed(count)? } else { elements };
    elements.is_within(len, count).then_some((elements, count))
}

impl TileElements {
    /// The stored index of element `at` of the tile.
    fn index(&self, at: u64) -> Option<u64> {
        match self {
            Self::Steps { first, step } => {
                let way = i64::try_from(at).ok()?.checked_mul(*step)?;
                first.checked_add_signed(way)
            }
            Self::Indices(indices) => indices.get(usize::try_from(at).ok()?).copied(),
            Self::Joined(_) => None,
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
            Self::Joined(_) => return None,
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
            Self::Joined(_) => true,
        }
    }

    /// The stored elements for a part of a tile that starts at `start`.
    fn selected(&self, axis: &PieceAxis, start: u64) -> Option<AxisSelection> {
        if let (PieceAxis::Slice { start: from, count, stride, .. }, Self::Steps { step, .. }) = (axis, self)
            && let Ok(step) = u64::try_from(*step)
        {
            let start = self.index(from.checked_sub(start)?)?;
            return Some(AxisSelection::Slice { start, count: *count, stride: stride.checked_mul(step)? });
        }
        let index = |index: u64| self.index(index.checked_sub(start)?);
        axis.indices().into_iter().map(index).collect::<Option<_>>().map(AxisSelection::Indices)
    }
}
