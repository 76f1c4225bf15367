//! Parts of selections, and the boxes that are asked for.
use crate::dataset::mosaic::assembly::ValueAssembly;
use ncirrus_layout::grid::{ElementWalk, PieceAxis, SelectionPiece};
use ncirrus_layout::{QueryAxis, QueryBox, Result};
use ncirrus_model::Values;

/// A part of a selection, and the box that is asked for.
#[derive(Debug, Clone)]
pub(super) struct QueryPart {
    pub(super) piece: SelectionPiece,
    pub(super) requested: QueryBox,
}

impl QueryPart {
    /// Puts the values of the box where they belong.
    pub(super) fn put(&self, result: &mut ValueAssembly<'_>, values: Values) -> Result<()> {
        result.put_strided(&self.piece, &self.strides()?, values)
    }

    /// Where elements of the box belong.
    pub(super) fn walk(&self, result: &ValueAssembly<'_>) -> Result<ElementWalk> {
        result.walk(&self.piece, &self.strides()?)
    }

    /// Elements of the box from one of the part to the next, along each axis.
    fn strides(&self) -> Result<Vec<u64>> {
        let counts: Vec<u64> = self.requested.axes.iter().map(|axis| axis.count).collect();
        let mut strides = ncirrus_layout::grid::row_major(&counts, 1)?;
        for ((stride, requested), wanted) in
            strides.iter_mut().zip(&self.requested.axes).zip(&self.piece.axes)
        {
            let own = axis_of(wanted).map_or(1, |axis| axis.stride);
            *stride = stride.saturating_mul(own.checked_div(requested.stride).unwrap_or(1).max(1));
        }
        Ok(strides)
    }
}

/// The elements along an axis, if they are at equal distances.
pub(super) fn axis_of(axis: &PieceAxis) -> Option<QueryAxis> {
    let (start, count, stride) = match axis {
        PieceAxis::Slice { start, count, stride, .. } => (*start, *count, *stride),
        PieceAxis::Picks(picks) => {
            let (first, _) = picks.first()?;
            let second = picks.get(1).map_or(first + 1, |(index, _)| *index);
            (*first, picks.len() as u64, second.checked_sub(*first)?.max(1))
        }
    };
    let stride = if count == 1 { 1 } else { stride };
    (count > 0).then_some(QueryAxis { start, count, stride })
}

/// Pieces whose elements are at equal distances along all axes: lists of indices are cut where the distance changes,
/// and where one is repeated.
pub(super) fn regular(piece: SelectionPiece) -> Vec<SelectionPiece> {
    let mut done = Vec::new();
    let mut rest = vec![piece];
    while let Some(piece) = rest.pop() {
        match piece.axes.iter().enumerate().find_map(|(at, axis)| Some((at, cut(axis)?))) {
            Some((at, (first, second))) => {
                let mut other = piece.clone();
                let mut this = piece;
                if let (Some(one), Some(two)) = (this.axes.get_mut(at), other.axes.get_mut(at)) {
                    (*one, *two) = (first, second);
                }
                rest.extend([other, this]);
            }
            None => done.push(piece),
        }
    }
    done
}

/// The longest beginning of a list whose indices are at equal distances, and the rest; `None` if that is all of it.
fn cut(axis: &PieceAxis) -> Option<(PieceAxis, PieceAxis)> {
    let PieceAxis::Picks(picks) = axis else { return None };
    let mut steps = picks.iter().zip(picks.iter().skip(1)).map(|((one, _), (other, _))| other - one);
    let first = steps.next()?;
    let same = if first == 0 { 1 } else { 2 + steps.take_while(|step| *step == first).count() };
    // Two that are far apart are two boxes.
    let same = if first > 1 && same == 2 { 1 } else { same };
    let (one, other) = picks.split_at_checked(same).filter(|(_, rest)| !rest.is_empty())?;
    Some((PieceAxis::Picks(one.to_vec()), PieceAxis::Picks(other.to_vec())))
}
