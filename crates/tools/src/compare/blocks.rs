//! How values are cut into blocks: along the chunks of both variables where that is possible.
use crate::reference::gcd;
use ncirrus::{Selection, Storage, Variable};

/// The blocks of a selection, in row-major order, each of at most so many elements unless a chunk is larger.
pub(crate) struct Blocks {
    /// What is left, the next on top.
    rest: Vec<Selection>,
    grain: Vec<u64>,
    max: u64,
}

impl Blocks {
    pub(crate) fn new(selection: &Selection, grain: Vec<u64>, max: u64) -> Self {
        Self { rest: vec![selection.clone()], grain, max: max.max(1) }
    }
}

impl Iterator for Blocks {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        loop {
            let block = self.rest.pop()?;
            if block.element_count().is_some_and(|count| count <= self.max) {
                return Some(block);
            }
            match block.halves(&self.grain) {
                Some((one, other)) => self.rest.extend([other, one]),
                None => return Some(block),
            }
        }
    }
}

/// Where blocks of a variable may be cut: at multiples of its chunk lengths, or anywhere if it has no chunks.
pub(crate) fn chunk_grain(variable: &Variable) -> Vec<u64> {
    let rank = variable.shape().len();
    match variable.storage() {
        Storage::Chunked(chunks) if chunks.len() == rank => chunks,
        _ => vec![1; rank],
    }
}

/// Where blocks of two variables may be cut: at multiples of both chunk lengths, or of the longer one where those are
/// too far apart to be of use.
pub(super) fn common_grain(first: &Variable, second: &Variable) -> Vec<u64> {
    let pairs = chunk_grain(first).into_iter().zip(chunk_grain(second)).zip(first.shape());
    pairs.map(|((ours, theirs), len)| grain(ours.max(1), theirs.max(1), len)).collect()
}

fn grain(ours: u64, theirs: u64, len: u64) -> u64 {
    let both = (ours / gcd(ours, theirs)).saturating_mul(theirs);
    if both < len { both } else { ours.max(theirs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_cut_where_both_have_chunks_if_that_is_within_the_axis() {
        assert_eq!((grain(4, 6, 100), grain(4, 6, 12), grain(1, 7, 100), grain(5, 5, 5)), (12, 6, 7, 5));
    }

    proptest! {
        #[test]
        fn blocks_are_the_selection_in_order(
            shape in prop::collection::vec(0u64..9, 0..4), grain in prop::collection::vec(1u64..5, 4), max in 1u64..40
        ) {
            let whole = Selection::all(&shape);
            let blocks: Vec<Selection> = Blocks::new(&whole, grain, max).collect();
            let count: u64 = blocks.iter().filter_map(Selection::element_count).sum();
            prop_assert_eq!(Some(count), whole.element_count());
            let firsts: Vec<Vec<u64>> =
                blocks.iter().map(|block| block.axes().iter().filter_map(|axis| axis.index(0)).collect()).collect();
            prop_assert!(firsts.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
