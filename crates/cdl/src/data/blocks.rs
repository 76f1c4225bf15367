//! A variable cut into boxes of bounded size that follow each other in row-major order.
use ncirrus_model::Selection;

/// Bytes of a block, unless one element alone is longer.
const BLOCK_LEN: u64 = 1 << 20;

/// What an element of variable length is taken for.
const VARIABLE_ELEMENT_LEN: u64 = 256;

/// The selections that cover an array, in order.
pub(super) struct Blocks {
    shape: Vec<u64>,
    /// Axis along which blocks are cut: the axes before it are stepped one by one, those behind it are whole.
    axis: usize,
    /// Indices along `axis` in one block.
    step: u64,
    next: Option<Vec<u64>>,
}

impl Blocks {
    /// `shape` has no zero; `element_len` is `None` when elements differ in length.
    pub(super) fn new(shape: &[u64], element_len: Option<u64>) -> Self {
        let limit = (BLOCK_LEN / element_len.unwrap_or(VARIABLE_ELEMENT_LEN).max(1)).max(1);
        let mut axis = shape.len();
        let mut inner = 1u64;
        let mut step = 1;
        while axis > 0 && inner <= limit {
            axis -= 1;
            let len = shape.get(axis).copied().unwrap_or(1);
            step = (limit / inner).clamp(1, len.max(1));
            inner = inner.saturating_mul(len);
        }
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

impl Iterator for Blocks {
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
