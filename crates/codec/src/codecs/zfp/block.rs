//! Blocks: bit planes, coefficients, numbers.
use super::bits::ZfpBits;
use super::header::CodingLimits;
use super::order::order;
use super::planes::{BitPlane, put_plane, turn};
use super::scalar::{WrappingWord, ZfpScalar};
use super::transform::{inverse, reversible_inverse};

/// Decodes the blocks of a stream one after the other.
pub(super) struct BlockDecoder<'a, S: ZfpScalar, const SIZE: usize> {
    bits: ZfpBits<'a>,
    coding: CodingLimits,
    rank: usize,
    /// The coefficients of a block in the order of the stream.
    codes: [u64; SIZE],
    words: [S::Word; SIZE],
}

impl<'a, S: ZfpScalar, const SIZE: usize> BlockDecoder<'a, S, SIZE> {
    pub(super) fn new(bits: ZfpBits<'a>, coding: CodingLimits, rank: usize) -> Self {
        Self { bits, coding, rank, codes: [0; SIZE], words: [S::Word::default(); SIZE] }
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
            self.words(self.coding.planes(exponent, self.rank), head)
        };
        for (out, word) in out.iter_mut().zip(&self.words) {
            *out = S::scaled(*word, exponent);
        }
        used
    }

    fn words(&mut self, planes: u32, head: u32) -> u32 {
        let used = head + self.codes(planes, self.coding.max_bits.saturating_sub(head));
        self.put_in_order();
        inverse(&mut self.words, self.rank);
        used
    }

    /// Reversible blocks state how many bit planes they have.
    fn reversible_words(&mut self, head: u32) -> u32 {
        let width = S::Word::BITS.trailing_zeros();
        let planes = u32::try_from(self.bits.take(width)).unwrap_or(0) + 1;
        let head = head + width;
        let used = head + self.codes(planes, self.coding.max_bits.saturating_sub(head));
        self.put_in_order();
        reversible_inverse(&mut self.words, self.rank);
        used
    }

    fn put_in_order(&mut self) {
        for (place, code) in order(self.rank).iter().zip(&self.codes) {
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
            let digits = if SIZE <= 64 {
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
