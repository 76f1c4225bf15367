//! A variable cut into boxes of bounded size that are consecutive in row-major order.
use ncirrus_model::Selection;

/// Bytes of blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockLengths {
    /// Of a block where chunks do not matter, unless a single element is longer.
    pub(super) usual: u64,
    /// The most that a block has so that chunks are read once.
    pub(super) max: u64,
}

/// Bytes of blocks that consist of whole chunks, unless these are longer.
const BLOCK_LEN: u64 = 1 << 20;

/// The assumed length of an element of variable length.
const VARIABLE_ELEMENT_LEN: u64 = 256;

/// The selections that cover an array, in order.
pub(super) struct ArrayBlocks {
    shape: Vec<u64>,
    /// Axis along which blocks are cut: the axes before it are stepped one by one, those after it are whole.
    axis: usize,
    /// Indices along `axis` in one block.
    step: u64,
    next: Option<Vec<u64>>,
}

impl ArrayBlocks {
    /// `shape` has no zero; `element_len` is `None` if elements differ in length. If a row of whole chunks of shape
    /// `chunks` has at most `max` bytes, blocks end where chunks end, so that each chunk is read once.
    pub(super) fn new(
        shape: &[u64],
        element_len: Option<u64>,
        chunks: Option<&[u64]>,
        BlockLengths { usual, max }: BlockLengths,
    ) -> Self {
        let element_len = element_len.unwrap_or(VARIABLE_ELEMENT_LEN).max(1);
        let (axis, step) = chunks
            .and_then(|chunks| between_chunks(shape, element_len, chunks, max))
            .unwrap_or_else(|| across_chunks(shape, element_len, usual));
        Self { shape: shape.to_vec(), axis, step, next: Some(vec![0; shape.len()]) }
    }

    /// The block after the one at `start`.
    fn advance(&self, start: &[u64]) -> Option<Vec<u64>> {
        let mut next = start.to_vec();
        for axis in (0..=self.axis).rev() {
            let step = if axis == self.axis { self.step } else { 1 };
            let (at, len) = (next.get_mut(axis)?, *self.shape.get(axis)?);
            *at = at.saturating_add(step);
            if *at < len {
                return Some(next);
            }
            *at = 0;
        }
        None
    }
}

/// The axis along which an array is cut, and the length of each block along it, if chunks are ignored.
fn across_chunks(shape: &[u64], element_len: u64, block_len: u64) -> (usize, u64) {
    let limit = (block_len / element_len).max(1);
    let mut axis = shape.len();
    let mut inner = 1u64;
    let mut step = 1;
    while axis > 0 && inner <= limit {
        axis -= 1;
        let len = shape.get(axis).copied().unwrap_or(1);
        step = (limit / inner).clamp(1, len.max(1));
        inner = inner.saturating_mul(len);
    }
    (axis, step)
}

/// The same with blocks that end where chunks end, cut along the first axis along which a chunk has more than one
/// element.
fn between_chunks(shape: &[u64], element_len: u64, chunks: &[u64], max: u64) -> Option<(usize, u64)> {
    let lens: Vec<u64> = shape.iter().zip(chunks).map(|(len, chunk)| *len.min(chunk)).collect();
    let len = |axis: usize| shape.get(axis).copied().unwrap_or(1);
    let mut axis = lens.iter().position(|len| *len > 1)?;
    let chunk = *lens.get(axis)?;
    let behind = shape.get(axis + 1..)?.iter().try_fold(element_len, |all, len| all.checked_mul(*len))?;
    let row = behind.checked_mul(chunk).filter(|row| *row <= max)?;
    let mut step = chunk.saturating_mul((BLOCK_LEN / row).max(1)).min(len(axis));
    let mut block = behind.checked_mul(step)?;
    // Along the axes in front of it, chunks have length one: all ends are between chunks.
    while axis > 0 && step == len(axis) && BLOCK_LEN / block > 1 {
        axis -= 1;
        step = (BLOCK_LEN / block).min(len(axis));
        block = block.checked_mul(step)?;
    }
    Some((axis, step))
}

impl Iterator for ArrayBlocks {
    type Item = Selection;

    fn next(&mut self) -> Option<Selection> {
        let start = self.next.take()?;
        let count = |(axis, (&start, &len)): (usize, (&u64, &u64))| match axis.cmp(&self.axis) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => self.step.min(len - start),
            std::cmp::Ordering::Greater => len,
        };
        let counts: Vec<u64> = start.iter().zip(&self.shape).enumerate().map(count).collect();
        self.next = self.advance(&start);
        Some(Selection::slab(&start, &counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(shape: &[u64], chunks: Option<&[u64]>, max: u64) -> Vec<Vec<u64>> {
        let lengths = BlockLengths { usual: 1 << 20, max };
        ArrayBlocks::new(shape, Some(4), chunks, lengths).map(|block| block.shape()).collect()
    }

    #[test]
    fn blocks_end_where_chunks_end() {
        let max = 32 << 20;
        let blocks = shapes(&[5_000_000], Some(&[2_000_000]), max);
        assert_eq!(blocks, [[2_000_000], [2_000_000], [1_000_000]]);
        assert_eq!(shapes(&[300, 1000], Some(&[300, 1000]), max), [[300, 1000]]);
        assert_eq!(shapes(&[1000, 500], Some(&[10, 500]), max), [[520, 500], [480, 500]]);
        let blocks = shapes(&[2, 600, 1000], Some(&[1, 400, 500]), max);
        assert_eq!(blocks, [[1, 400, 1000], [1, 200, 1000], [1, 400, 1000], [1, 200, 1000]]);
        let blocks = shapes(&[2, 40_000, 10], Some(&[1, 1, 5]), max);
        assert_eq!(blocks, [[1, 26_214, 10], [1, 13_786, 10], [1, 26_214, 10], [1, 13_786, 10]]);
    }

    #[test]
    fn where_rows_of_chunks_are_too_large_or_elements_lie_alone_blocks_have_their_usual_size() {
        let usual = [[262, 1000], [262, 1000], [76, 1000]];
        assert_eq!(shapes(&[600, 1000], Some(&[600, 1000]), 1 << 20), usual);
        assert_eq!(shapes(&[600, 1000], Some(&[1, 1]), 1 << 30), usual);
        assert_eq!(shapes(&[600, 1000], None, 1 << 30), usual);
    }
}
