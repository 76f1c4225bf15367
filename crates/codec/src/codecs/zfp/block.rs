//! Blocks: bit planes, coefficients, numbers.
use super::bits::ZfpBits;
use super::header::CodingLimits;
use super::order::{order, rank_of};
use super::planes::{BitPlane, put_plane, turn};
use super::scalar::{WrappingWord, ZfpScalar};
use super::transform::{inverse, reversible_inverse};

/// Decodes the blocks of a stream one after the other.
pub(super) struct BlockDecoder<'a, S: ZfpScalar, const SIZE: usize> {
    bits: ZfpBits<'a>,
    coding: CodingLimits,
    /// The coefficients of a block in the order of the stream.
    codes: [u64; SIZE],
    words: [S::Word; SIZE],
}

impl<'a, S: ZfpScalar, const SIZE: usize> BlockDecoder<'a, S, SIZE> {
    pub(super) fn new(bits: ZfpBits<'a>, coding: CodingLimits) -> Self {
        Self { bits, coding, codes: [0; SIZE], words: [S::Word::default(); SIZE] }
    }

    /// Whether the stream ended within the blocks so far.
    pub(super) fn is_over(&self) -> bool {
        self.bits.is_over()
    }

    /// Decodes the next block.
    pub(super) fn block(&mut self, out: &mut [S]) {
        let min = self.coding.min_bits;
        let used = if S::EXPONENT_BITS == 0 { self.integers(out) } else { self.floats(out) };
        self.bits.skip(min.saturating_sub(used));
    }

    fn integers(&mut self, out: &mut [S]) -> u32 {
        let used = if self.coding.is_reversible() {
            self.reversible_words(0)
        } else {
            self.words(self.coding.max_planes, 0)
        };
        for (out, word) in out.iter_mut().zip(&self.words) {
            *out = S::scaled(*word, 0);
        }
        used
    }

    fn floats(&mut self, out: &mut [S]) -> u32 {
        if !self.bits.bit() {
            out.fill(S::default());
            return 1;
        }
        let reversible = self.coding.is_reversible();
        if reversible && self.bits.bit() {
            let used = self.reversible_words(2);
            for (out, word) in out.iter_mut().zip(&self.words) {
                *out = S::reinterpreted(*word);
            }
            return used;
        }
        let bias = (1 << (S::EXPONENT_BITS - 1)) - 1;
        let exponent = i32::try_from(self.bits.take(S::EXPONENT_BITS)).unwrap_or(0) - bias;
        let head = S::EXPONENT_BITS + if reversible { 2 } else { 1 };
        let used = if reversible {
            self.reversible_words(head)
        } else {
            self.words(self.coding.planes(exponent, rank_of(SIZE)), head)
        };
        for (out, word) in out.iter_mut().zip(&self.words) {
            *out = S::scaled(*word, exponent);
        }
        used
    }

    fn words(&mut self, planes: u32, head: u32) -> u32 {
        let used = head + self.codes(planes, self.coding.max_bits.saturating_sub(head));
        self.put_in_order();
        inverse(&mut self.words);
        used
    }

    /// Reversible blocks state how many bit planes they have.
    fn reversible_words(&mut self, head: u32) -> u32 {
        let width = S::Word::BITS.trailing_zeros();
        let planes = u32::try_from(self.bits.take(width)).unwrap_or(0) + 1;
        let head = head + width;
        let used = head + self.codes(planes, self.coding.max_bits.saturating_sub(head));
        self.put_in_order();
        reversible_inverse(&mut self.words);
        used
    }

    fn put_in_order(&mut self) {
        for (place, code) in order(rank_of(SIZE)).iter().zip(&self.codes) {
            if let Some(word) = self.words.get_mut(usize::from(*place)) {
                *word = S::Word::from_negabinary(*code);
            }
        }
    }

    /// Decodes the digits of all coefficients, plane by plane from the highest, within a budget of bits; returns how
    /// many were used.
    fn codes(&mut self, planes: u32, max_bits: u32) -> u32 {
        let mut bits = self.bits.clone();
        self.codes = [0; SIZE];
        let (mut left, mut known) = (max_bits, 0u32);
        for plane in (S::Word::BITS.saturating_sub(planes)..S::Word::BITS).rev() {
            if left == 0 {
                break;
            }
            let digits = if SIZE <= 16 && left >= most_bits(SIZE) {
                [quick_plane::<SIZE>(&mut bits, &mut known, &mut left), 0, 0, 0]
            } else if SIZE <= 64 {
                [small_plane::<SIZE>(&mut bits, &mut known, &mut left), 0, 0, 0]
            } else {
                large_plane::<SIZE>(&mut bits, &mut known, &mut left)
            };
            put_plane(&mut self.codes, plane, digits);
        }
        turn(&mut self.codes);
        self.bits = bits;
        max_bits - left
    }
}

/// Maximum number of bits of a plane: the digits, and a bit before each one among them or after the last one.
pub(super) const fn most_bits(size: usize) -> u32 {
    match size {
        4 => 8,
        16 => 32,
        64 => 128,
        _ => 512,
    }
}

/// As [`small_plane`] for up to 16 coefficients, if the budget is sufficient for any plane: one look at the stream has all of it.
#[inline]
fn quick_plane<const SIZE: usize>(bits: &mut ZfpBits, known: &mut u32, left: &mut u32) -> u64 {
    let size = u32::try_from(SIZE).unwrap_or(16);
    let mut used = *known;
    let mut window = bits.peek(most_bits(SIZE));
    let mut digits = window & ((1 << used) - 1);
    window >>= used;
    while *known < size {
        used += 1;
        let has_one = window & 1 == 1;
        window >>= 1;
        if !has_one {
            break;
        }
        // A one in the last place follows from all others being zeros.
        let max = size - 1 - *known;
        let zeros = window.trailing_zeros().min(max);
        let taken = zeros + u32::from(zeros < max);
        window >>= taken;
        used += taken;
        digits |= 1 << (*known + zeros);
        *known += zeros + 1;
    }
    bits.consume(used);
    *left -= used;
    digits
}

/// The digits of a plane of up to 64 coefficients: those of the first `known`, which had a one before, unchanged; then,
/// repeatedly, whether the rest has a one, and how many zeros precede it.
#[inline]
fn small_plane<const SIZE: usize>(bits: &mut ZfpBits, known: &mut u32, left: &mut u32) -> u64 {
    let verbatim = (*known).min(*left);
    *left -= verbatim;
    let mut digits = bits.take(verbatim);
    while let Some(place) = next_one::<SIZE>(bits, known, left) {
        digits |= 1 << place;
    }
    digits
}

/// The same for more coefficients.
fn large_plane<const SIZE: usize>(bits: &mut ZfpBits, known: &mut u32, left: &mut u32) -> BitPlane {
    let verbatim = (*known).min(*left);
    *left -= verbatim;
    let mut digits = [0; 4];
    for (digits, start) in digits.iter_mut().zip((0..verbatim).step_by(64)) {
        *digits = bits.take((verbatim - start).min(64));
    }
    while let Some(place) = next_one::<SIZE>(bits, known, left) {
        if let Some(digits) = digits.get_mut(place as usize / 64) {
            *digits |= 1 << (place % 64);
        }
    }
    digits
}

#[inline]
fn next_one<const SIZE: usize>(bits: &mut ZfpBits, known: &mut u32, left: &mut u32) -> Option<u32> {
    let rest = u32::try_from(SIZE).unwrap_or(256) - *known;
    if *left == 0 || rest == 0 {
        return None;
    }
    *left -= 1;
    if !bits.bit() {
        return None;
    }
    let max = (rest - 1).min(*left);
    let zeros = bits.zeros(max);
    *left -= if zeros < max { zeros + 1 } else { max };
    let place = *known + zeros;
    *known = place + 1;
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const SIZE: usize>(bytes: &[u8], skipped: u32, known: u32) -> Result<(), TestCaseError> {
        let mut bits = ZfpBits::new(bytes);
        bits.take(skipped);
        let ((mut other, mut first, mut second), mut left) = ((bits.clone(), known, known), (1000, 1000));
        let digits = small_plane::<SIZE>(&mut bits, &mut first, &mut left.0);
        prop_assert_eq!(digits, quick_plane::<SIZE>(&mut other, &mut second, &mut left.1));
        prop_assert_eq!((first, left.0, bits.is_over()), (second, left.1, other.is_over()));
        prop_assert_eq!(bits.take(57), other.take(57));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_quick_plane_is_the_same(
            bytes in proptest::collection::vec(any::<u8>(), 0..20),
            skipped in 0u32..60,
            known in 0u32..=16,
        ) {
            check::<16>(&bytes, skipped, known)?;
            check::<4>(&bytes, skipped, known.min(4))?;
        }
    }
}
