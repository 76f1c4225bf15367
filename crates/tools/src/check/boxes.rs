//! How an array is cut for reading, so that each chunk is decoded once.
use ncirrus::{Region, Selection};
use ncirrus_layout::split_region;

/// Boxes that together are an array. They are cut between chunks, and inside of one only if it alone is too large.
pub(super) struct ChunkBoxes {
    /// What is left, the next on top.
    rest: Vec<Region>,
    grain: Vec<u64>,
    max: u64,
}

impl ChunkBoxes {
    /// Boxes of at most so many elements, of an array with chunks of the shape `grain`.
    pub(super) fn new(shape: &[u64], grain: Vec<u64>, max: u64) -> Self {
        Self { rest: vec![Region::all(shape)], grain, max: max.max(1) }
    }
}

/// Two halves of a box with several chunks; `None` if it is within one.
pub(super) fn halves_between_chunks(region: &Region, grain: &[u64]) -> Option<[Region; 2]> {
    let axes = region.start.iter().zip(&region.count).zip(grain).enumerate();
    for (axis, ((start, count), grain)) in axes {
        let (grain, end) = ((*grain).max(1), start.saturating_add(*count));
        let first = start / grain;
        let chunks = end.div_ceil(grain).saturating_sub(first);
        if *count > 0 && chunks > 1 {
            let at = first.saturating_add(chunks / 2).saturating_mul(grain);
            return split_region(region, axis, at);
        }
    }
    None
}

/// Two halves of a box of several elements, cut along its slowest axis.
fn halves(region: &Region) -> Option<[Region; 2]> {
    let axis = region.count.iter().position(|count| *count > 1)?;
    let at = region.start.get(axis)?.checked_add(region.count.get(axis)? / 2)?;
    split_region(region, axis, at)
}

/// The selection of a box.
pub(super) fn selection_of(region: &Region) -> Selection {
    Selection::slab(&region.start, &region.count)
}

impl Iterator for ChunkBoxes {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        loop {
            let region = self.rest.pop()?;
            if region.element_count().is_some_and(|count| count <= self.max) {
                return Some(region);
            }
            match halves_between_chunks(&region, &self.grain).or_else(|| halves(&region)) {
                Some([first, second]) => self.rest.extend([second, first]),
                None => return Some(region),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn boxes_cover_the_array_once_and_no_chunk_is_cut_that_fits(
            shape in prop::collection::vec(1u64..9, 1..4), grain in prop::collection::vec(1u64..5, 4), max in 1u64..40
        ) {
            let grain = grain[..shape.len()].to_vec();
            let fits = grain.iter().product::<u64>() <= max;
            let mut seen = BTreeSet::new();
            for region in ChunkBoxes::new(&shape, grain.clone(), max) {
                prop_assert!(region.element_count().unwrap() <= max);
                for at in 0..region.element_count().unwrap() {
                    let mut rest = at;
                    let mut index = Vec::new();
                    for (start, count) in region.start.iter().zip(&region.count).rev() {
                        index.push(start + rest % count);
                        rest /= count;
                    }
                    prop_assert!(seen.insert(index));
                }
                for axis in 0..shape.len() {
                    let (start, end) = (region.start[axis], region.start[axis] + region.count[axis]);
                    let between = start % grain[axis] == 0 && (end % grain[axis] == 0 || end == shape[axis]);
                    prop_assert!(!fits || between);
                }
            }
            prop_assert_eq!(seen.len() as u64, shape.iter().product::<u64>());
        }
    }
}
