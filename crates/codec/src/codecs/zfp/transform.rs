//! The transforms of blocks, axis by axis.
use super::order::rank_of;
use super::scalar::WrappingWord;

/// Undoes the usual transform of blocks: nearly orthogonal, with a small loss.
pub(super) fn inverse<W: WrappingWord, const SIZE: usize>(block: &mut [W; SIZE]) {
    each_line(block, |[x, y, z, w]| {
        let y = y.plus(w.halved());
        let w = w.minus(y.halved());
        let y = y.plus(w);
        let w = w.doubled().minus(y);
        let z = z.plus(x);
        let x = x.doubled().minus(z);
        let y = y.plus(z);
        let z = z.doubled().minus(y);
        let w = w.plus(x);
        let x = x.doubled().minus(w);
        [x, y, z, w]
    });
}

/// The usual transform of blocks.
pub(super) fn forward<W: WrappingWord, const SIZE: usize>(block: &mut [W; SIZE]) {
    each_line_back(block, |[x, y, z, w]| {
        let x = x.plus(w).halved();
        let w = w.minus(x);
        let z = z.plus(y).halved();
        let y = y.minus(z);
        let x = x.plus(z).halved();
        let z = z.minus(x);
        let w = w.plus(y).halved();
        let y = y.minus(w);
        let w = w.plus(y.halved());
        let y = y.minus(w.halved());
        [x, y, z, w]
    });
}

/// Undoes the reversible transform: numbers from differences of differences.
pub(super) fn reversible_inverse<W: WrappingWord, const SIZE: usize>(block: &mut [W; SIZE]) {
    each_line(block, |[x, y, z, w]| {
        let w = w.plus(z);
        let z = z.plus(y);
        let w = w.plus(z);
        let y = y.plus(x);
        let z = z.plus(y);
        let w = w.plus(z);
        [x, y, z, w]
    });
}

/// The reversible transform.
pub(super) fn reversible_forward<W: WrappingWord, const SIZE: usize>(block: &mut [W; SIZE]) {
    each_line_back(block, |[x, y, z, w]| {
        let w = w.minus(z);
        let z = z.minus(y);
        let w = w.minus(z);
        let y = y.minus(x);
        let z = z.minus(y);
        let w = w.minus(z);
        [x, y, z, w]
    });
}

/// All lines of four, from the slowest axis to the fastest.
#[inline]
fn each_line<W: WrappingWord, const SIZE: usize>(block: &mut [W; SIZE], lift: impl Fn([W; 4]) -> [W; 4]) {
    for axis in (0..rank_of(SIZE)).rev() {
        along(block, axis, &lift);
    }
}

/// All lines of four, from the fastest axis to the slowest.
#[inline]
fn each_line_back<W: WrappingWord, const SIZE: usize>(
    block: &mut [W; SIZE],
    lift: impl Fn([W; 4]) -> [W; 4],
) {
    for axis in 0..rank_of(SIZE) {
        along(block, axis, &lift);
    }
}

#[inline]
fn along<W: WrappingWord>(block: &mut [W], axis: usize, lift: &impl Fn([W; 4]) -> [W; 4]) {
    let stride = 1usize << (2 * axis);
    for part in block.chunks_exact_mut(4 * stride) {
        let (xy, zw) = part.split_at_mut(2 * stride);
        let ((x, y), (z, w)) = (xy.split_at_mut(stride), zw.split_at_mut(stride));
        for (((x, y), z), w) in x.iter_mut().zip(y).zip(z).zip(w) {
            [*x, *y, *z, *w] = lift([*x, *y, *z, *w]);
        }
    }
}
