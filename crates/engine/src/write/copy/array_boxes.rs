//! An array in boxes of one shape, and the shape in which a source is decoded.
use ncirrus_layout::{Layout, Source};
use ncirrus_model::Region;

/// Length in bytes of a contiguous row that is not cut unless necessary.
const UNCUT_ROW: u64 = 1 << 20;

/// Boxes of equal shape that cover an array, in row-major order; the last ones end with the array.
pub(super) struct ArrayBoxes<'a> {
    shape: &'a [u64],
    block: &'a [u64],
    at: Option<Vec<u64>>,
}

impl<'a> ArrayBoxes<'a> {
    /// The boxes of an array that has elements.
    pub(super) fn new(shape: &'a [u64], block: &'a [u64]) -> Self {
        Self { shape, block, at: Some(vec![0; shape.len()]) }
    }
}

impl Iterator for ArrayBoxes<'_> {
    type Item = Region;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at.take()?;
        let lens = start.iter().zip(self.block).zip(self.shape);
        let count = lens.map(|((start, len), whole)| (*len).min(whole - start)).collect();
        let mut next = start.clone();
        for ((slot, len), whole) in next.iter_mut().zip(self.block).zip(self.shape).rev() {
            *slot = slot.saturating_add(*len);
            if *slot < *whole {
                self.at = Some(next);
                break;
            }
            *slot = 0;
        }
        Some(Region { start, count })
    }
}

/// The boxes of an array, outer box by outer box: each of these is cut into inner ones.
pub(super) fn nested_boxes<'a>(
    shape: &'a [u64],
    outer: &'a [u64],
    inner: &'a [u64],
) -> impl Iterator<Item = Region> + Send + 'a {
    ArrayBoxes::new(shape, outer).flat_map(move |whole| {
        let parts: Vec<Region> = ArrayBoxes::new(&whole.count, inner).collect();
        let moved = move |part: Region| Region {
            start: part.start.iter().zip(&whole.start).map(|(at, first)| at + first).collect(),
            count: part.count,
        };
        parts.into_iter().map(moved).collect::<Vec<_>>()
    })
}

/// The lengths of chunks that are decoded whole; `None` if the way in which the source is cut makes no difference.
pub(super) fn chunk_lengths(source: &Source, element: u64) -> Option<Vec<u64>> {
    match &source.layout {
        Layout::Grid { grid, .. } => grid.cell_shape(&vec![0; grid.rank()]),
        Layout::Affine { .. } => {
            let (row, outer) = source.extent.split_last()?;
            let uncut = !outer.is_empty() && row.saturating_mul(element) <= UNCUT_ROW;
            let mut lengths = vec![1; outer.len()];
            lengths.push(if uncut { (*row).max(1) } else { 1 });
            Some(lengths)
        }
        Layout::Mosaic { .. } | Layout::Query { .. } => None,
    }
}
