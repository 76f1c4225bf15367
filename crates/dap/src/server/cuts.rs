//! A selection in boxes of bounded size, in row-major order.
use ncirrus_model::{AxisSelection, Selection};

/// One dimension: start, count, stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) stride: u64,
}

impl Slice {
    pub(super) fn all(len: u64) -> Self {
        Self { start: 0, count: len, stride: 1 }
    }

    fn part(self, at: u64, count: u64) -> AxisSelection {
        let start = self.start.saturating_add(at.saturating_mul(self.stride));
        AxisSelection::Slice { start, count, stride: self.stride }
    }
}

/// Number of elements; `None` past 64 bits.
pub(super) fn count_of(slices: &[Slice]) -> Option<u64> {
    slices.iter().try_fold(1_u64, |product, slice| product.checked_mul(slice.count))
}

/// The boxes of a selection.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    slices: Vec<Slice>,
    /// The axis that is cut; those before it have one index in a box, those after it are whole. `None` for scalars.
    axis: usize,
    /// Indices along it in a box.
    per_box: u64,
    /// Where the next box begins, counted in selected indices.
    at: Vec<u64>,
    is_done: bool,
}

impl Cuts {
    /// Boxes of at most `max` elements, at least one. Along the axis that is cut they end where chunks of that shape end,
    /// if that is possible, so that few chunks are needed for two boxes.
    pub(super) fn new(slices: Vec<Slice>, max: u64, chunk: Option<&[u64]>) -> Self {
        let max = max.max(1);
        let (mut axis, mut inner) = (slices.len(), 1_u64);
        while let Some(slice) = axis.checked_sub(1).and_then(|axis| slices.get(axis)) {
            match inner.checked_mul(slice.count.max(1)).filter(|product| *product <= max) {
                Some(product) => inner = product,
                None => break,
            }
            axis -= 1;
        }
        // Everything fits one box: the first axis is cut into one part.
        let axis = axis.saturating_sub(1);
        let inner: u64 =
            slices.iter().skip(axis + 1).fold(1, |product, slice| product.saturating_mul(slice.count.max(1)));
        let whole = slices.get(axis).map_or(1, |slice| slice.count.max(1));
        let mut per_box = (max / inner).clamp(1, whole);
        let chunk = chunk.and_then(|chunk| chunk.get(axis)).copied().unwrap_or(1).max(1);
        let is_aligned =
            slices.get(axis).is_some_and(|slice| slice.stride == 1 && slice.start.is_multiple_of(chunk));
        if is_aligned && per_box < whole && per_box > chunk {
            per_box -= per_box % chunk;
        }
        let is_done = slices.iter().any(|slice| slice.count == 0);
        Self { at: vec![0; slices.len()], slices, axis, per_box, is_done }
    }

    /// The next box.
    pub(super) fn next_box(&mut self) -> Option<Selection> {
        if self.is_done {
            return None;
        }
        let axes = self.slices.iter().zip(&self.at).enumerate().map(|(axis, (slice, at))| {
            let count = match axis.cmp(&self.axis) {
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Equal => self.per_box.min(slice.count - at),
                std::cmp::Ordering::Greater => slice.count,
            };
            slice.part(*at, count)
        });
        let selection = Selection::new(axes.collect());
        self.advance();
        Some(selection)
    }

    fn advance(&mut self) {
        for axis in (0..=self.axis).rev() {
            let (Some(at), Some(slice)) = (self.at.get_mut(axis), self.slices.get(axis)) else { break };
            *at += if axis == self.axis { self.per_box } else { 1 };
            if *at < slice.count {
                return;
            }
            *at = 0;
        }
        self.is_done = true;
    }

    /// Whether all boxes were returned.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the elements of all boxes, in order.
    fn places(shape: &[u64], slices: &[Slice], max: u64) -> (Vec<u64>, usize) {
        let mut cuts = Cuts::new(slices.to_vec(), max, None);
        let (mut all, mut boxes) = (Vec::new(), 0);
        while let Some(part) = cuts.next_box() {
            assert!(part.element_count().unwrap() <= max.max(1));
            boxes += 1;
            let mut places = vec![0_u64];
            for (axis, len) in part.axes().iter().zip(shape) {
                let along =
                    |place: u64| (0..axis.count()).filter_map(move |at| Some(place * len + axis.index(at)?));
                places = places.into_iter().flat_map(along).collect();
            }
            all.extend(places);
        }
        (all, boxes)
    }

    #[test]
    fn boxes_are_the_selection_in_its_order() {
        let shape = [3, 4, 5];
        let slices = [
            Slice { start: 1, count: 2, stride: 1 },
            Slice { start: 0, count: 2, stride: 2 },
            Slice { start: 1, count: 4, stride: 1 },
        ];
        let (whole, boxes) = places(&shape, &slices, 1000);
        assert_eq!((whole.len(), boxes), (16, 1));
        for max in 0..20 {
            assert_eq!(places(&shape, &slices, max).0, whole, "{max}");
        }
        assert_eq!(places(&shape, &slices, 8).1, 2);
        assert_eq!(places(&shape, &slices, 3).1, 8);
    }

    #[test]
    fn a_scalar_is_one_box_and_nothing_is_none() {
        assert_eq!(places(&[], &[], 1), (vec![0], 1));
        assert_eq!(places(&[0, 3], &[Slice::all(0), Slice::all(3)], 9), (vec![], 0));
    }

    #[test]
    fn boxes_end_where_chunks_end() {
        let mut cuts = Cuts::new(vec![Slice::all(20), Slice::all(10)], 75, Some(&[3, 10]));
        let counts: Vec<u64> =
            std::iter::from_fn(|| cuts.next_box()).map(|part| part.axes()[0].count()).collect();
        assert_eq!(counts, [6, 6, 6, 2]);
    }
}
