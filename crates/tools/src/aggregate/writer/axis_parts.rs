//! What a write touches of each fragment, axis by axis.
use ncirrus::{AxisSelection, Error, Result, Values};
use ncirrus_layout::grid::{AxisBlock, AxisBlocks};
use std::collections::BTreeMap;

/// What a write touches of one block along one axis.
pub(super) struct AxisPart {
    pub(super) block: AxisBlock,
    /// Which elements of the block.
    pub(super) inside: AxisSelection,
    /// The positions of their values along the same axis of what is written.
    positions: Vec<usize>,
}

impl AxisPart {
    /// The parts of a selection along an axis, by the blocks that it touches; `limit` is the length of an axis that
    /// does not grow.
    pub(super) fn all(blocks: &AxisBlocks, axis: &AxisSelection, limit: Option<u64>) -> Result<Vec<Self>> {
        match axis {
            AxisSelection::Slice { start, count, stride } => {
                Self::of_slice(blocks, (*start, *count, (*stride).max(1)), limit)
            }
            AxisSelection::Indices(indices) => Self::of_indices(blocks, indices, limit),
        }
    }

    fn of_slice(
        blocks: &AxisBlocks,
        (start, count, stride): (u64, u64, u64),
        limit: Option<u64>,
    ) -> Result<Vec<Self>> {
        let mut parts = Vec::new();
        let Some(steps) = count.checked_sub(1) else { return Ok(parts) };
        let end = steps.checked_mul(stride).and_then(|steps| start.checked_add(steps)?.checked_add(1));
        let end = end.ok_or_else(|| Error::invalid("a selection ends beyond the largest index"))?;
        for block in blocks.between(start, end, limit) {
            let first = block.start.saturating_sub(start).div_ceil(stride);
            let past =
                block.start.saturating_add(block.len).saturating_sub(start).div_ceil(stride).min(count);
            if first >= past {
                continue;
            }
            let inside = AxisSelection::Slice {
                start: (start + first * stride).saturating_sub(block.start),
                count: past - first,
                stride,
            };
            let positions = (first..past).map(position).collect::<Result<Vec<_>>>()?;
            parts.push(Self { block, inside, positions });
        }
        Ok(parts)
    }

    fn of_indices(blocks: &AxisBlocks, indices: &[u64], limit: Option<u64>) -> Result<Vec<Self>> {
        let mut parts: BTreeMap<usize, (AxisBlock, Vec<u64>, Vec<usize>)> = BTreeMap::new();
        for (at, index) in indices.iter().enumerate() {
            let end = index.checked_add(1).ok_or_else(|| Error::invalid("an index is too large"))?;
            let Some(block) = blocks.between(*index, end, limit).into_iter().next() else { continue };
            let inside = index.saturating_sub(block.start);
            let (_, within, positions) =
                parts.entry(block.at).or_insert_with(|| (block, Vec::new(), Vec::new()));
            within.push(inside);
            positions.push(at);
        }
        let part =
            |(block, within, positions)| Self { block, inside: AxisSelection::Indices(within), positions };
        Ok(parts.into_values().map(part).collect())
    }

    /// Past the last element that is touched within the block.
    pub(super) fn end(&self) -> u64 {
        self.inside.end().unwrap_or(0)
    }
}

/// The values at the positions of all axes, of an array whose shape is `shape`.
///
/// # Errors
/// `Internal` if the array has fewer values.
pub(super) fn gather(values: &Values, shape: &[u64], parts: &[&AxisPart]) -> Result<Values> {
    let mut gathered = values.empty_like();
    let mut strides = vec![1usize; shape.len()];
    for at in (1..shape.len()).rev() {
        let len = shape.get(at).copied().map(position).transpose()?.unwrap_or(1);
        let below = strides.get(at).copied().unwrap_or(1);
        if let Some(stride) = strides.get_mut(at - 1) {
            *stride = below.saturating_mul(len);
        }
    }
    let is_whole = take(values, &mut gathered, parts, &strides, 0);
    if is_whole { Ok(gathered) } else { Err(Error::internal("a selection has more elements than values")) }
}

/// Appends the values below one index of the outer axes; runs of the innermost axis at once.
fn take(values: &Values, gathered: &mut Values, parts: &[&AxisPart], strides: &[usize], base: usize) -> bool {
    let (Some((part, inner)), Some((stride, below))) = (parts.split_first(), strides.split_first()) else {
        return gathered.extend_from(values, base..base + 1);
    };
    if !inner.is_empty() {
        return part
            .positions
            .iter()
            .all(|position| take(values, gathered, inner, below, base + position * stride));
    }
    let mut positions = part.positions.iter().copied().peekable();
    while let Some(first) = positions.next() {
        let mut past = first + 1;
        while positions.next_if_eq(&past).is_some() {
            past += 1;
        }
        if base + past > values.len() || !gathered.extend_from(values, base + first..base + past) {
            return false;
        }
    }
    true
}

fn position(at: u64) -> Result<usize> {
    usize::try_from(at)
        .map_err(|_| Error::invalid("a selection has too many elements for the memory of this machine"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(axis: &AxisSelection) -> Vec<(usize, AxisSelection, Vec<usize>)> {
        let blocks = AxisBlocks::new(vec![3], 4);
        let parts = AxisPart::all(&blocks, axis, Some(10)).unwrap();
        parts.into_iter().map(|part| (part.block.at, part.inside, part.positions)).collect()
    }

    fn slice(start: u64, count: u64, stride: u64) -> AxisSelection {
        AxisSelection::Slice { start, count, stride }
    }

    #[test]
    fn a_slice_is_cut_at_the_blocks_and_keeps_its_stride() {
        assert_eq!(
            parts(&slice(1, 3, 4)),
            [(0, slice(1, 1, 4), vec![0]), (1, slice(2, 1, 4), vec![1]), (2, slice(2, 1, 4), vec![2])]
        );
        assert_eq!(parts(&slice(2, 2, 1)), [(0, slice(2, 1, 1), vec![0]), (1, slice(0, 1, 1), vec![1])]);
        // A block between two steps is not touched.
        assert_eq!(parts(&slice(2, 2, 6)), [(0, slice(2, 1, 6), vec![0]), (2, slice(1, 1, 6), vec![1])]);
        assert!(parts(&slice(2, 0, 1)).is_empty());
    }

    #[test]
    fn indices_keep_their_order_within_a_block() {
        let within = |list: &[u64]| AxisSelection::Indices(list.to_vec());
        assert_eq!(
            parts(&AxisSelection::Indices(vec![9, 0, 4, 3, 0])),
            [(0, within(&[0, 0]), vec![1, 4]), (1, within(&[1, 0]), vec![2, 3]), (2, within(&[2]), vec![0])]
        );
    }

    #[test]
    fn values_are_gathered_by_the_positions_of_each_axis() {
        let blocks = AxisBlocks::new(Vec::new(), 2);
        let rows = AxisPart::all(&blocks, &AxisSelection::Indices(vec![3, 0, 2]), Some(4)).unwrap();
        let columns = AxisPart::all(&blocks, &slice(0, 4, 1), Some(4)).unwrap();
        let values = Values::Int((0..12).collect());
        let found = gather(&values, &[3, 4], &[&rows[1], &columns[1]]).unwrap();
        assert_eq!(found, Values::Int(vec![2, 3, 10, 11]));
        assert!(gather(&values, &[3, 5], &[&rows[1], &columns[1]]).is_err());
    }
}
