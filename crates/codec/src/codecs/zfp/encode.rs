//! Encoding: the steps of decoding in reverse.
use super::bits::BitWriter;
use super::block::most_bits;
use super::header::{CodingLimits, ZfpHeader};
use super::order::{order, rank_of};
use super::planes::{BitPlane, plane as plane_of, turn};
use super::scalar::{WrappingWord, ZfpScalar};
use super::transform::{forward, reversible_forward};

/// Encodes an array; `None` if a number is not finite and cannot be preserved, or the bytes do not match the array.
pub(super) fn encode<S: ZfpScalar>(header: &ZfpHeader, input: &[u8], bits: BitWriter) -> Option<()> {
    if input.len() != header.len() {
        return None;
    }
    match header.shape.len() {
        1 => encode_blocks::<S, 4>(header, input, bits),
        2 => encode_blocks::<S, 16>(header, input, bits),
        3 => encode_blocks::<S, 64>(header, input, bits),
        _ => encode_blocks::<S, 256>(header, input, bits),
    }
}

fn encode_blocks<S: ZfpScalar, const SIZE: usize>(
    header: &ZfpHeader,
    input: &[u8],
    bits: BitWriter,
) -> Option<()> {
    let mut block = [S::default(); SIZE];
    let mut encoder = BlockEncoder::<S, SIZE> {
        bits,
        coding: header.coding,
        codes: [0; SIZE],
        words: [S::Word::default(); SIZE],
    };
    for origin in header.blocks() {
        header.rows(&origin, |row, start, count| {
            let values = input.get(start * size_of::<S>()..).unwrap_or_default().chunks_exact(size_of::<S>());
            let row = block.get_mut(row * 4..row * 4 + count).unwrap_or_default();
            row.iter_mut().zip(values).for_each(|(to, from)| *to = S::load(from));
        });
        pad(&mut block, header.inside(&origin).get(..rank_of(SIZE))?);
        encoder.block(&block)?;
    }
    encoder.bits.finish();
    Some(())
}

/// Pads a block that has `inside` numbers along each axis with numbers that cost little.
fn pad<S: ZfpScalar>(block: &mut [S], inside: &[usize]) {
    for (axis, &count) in inside.iter().enumerate().filter(|(_, count)| **count < 4) {
        let stride = 1usize << (2 * axis);
        for start in (0..block.len()).filter(|place| (place >> (2 * axis)) & 3 == 0) {
            for place in count..4 {
                // The first number again in the last place, otherwise the previous one.
                let from = if place == 3 { 0 } else { place - 1 };
                block[start + place * stride] = block[start + from * stride];
            }
        }
    }
}

struct BlockEncoder<'a, S: ZfpScalar, const SIZE: usize> {
    bits: BitWriter<'a>,
    coding: CodingLimits,
    codes: [u64; SIZE],
    words: [S::Word; SIZE],
}

impl<S: ZfpScalar, const SIZE: usize> BlockEncoder<'_, S, SIZE> {
    fn block(&mut self, block: &[S]) -> Option<()> {
        let used = match (S::EXPONENT_BITS, self.coding.is_reversible()) {
            (0, reversible) => {
                self.words.iter_mut().zip(block).for_each(|(word, value)| *word = value.unscaled(0));
                if reversible { self.reversible_words(0) } else { self.words(self.coding.max_planes, 0) }
            }
            (_, true) => self.reversible_floats(block),
            (_, false) => self.floats(block)?,
        };
        self.bits.put_zeros(self.coding.min_bits.saturating_sub(used));
        Some(())
    }

    fn floats(&mut self, block: &[S]) -> Option<u32> {
        let exponent = exponent(block)?;
        let planes = self.coding.planes(exponent, rank_of(SIZE));
        if planes == 0 || exponent == -bias::<S>() {
            self.bits.put(0, 1);
            return Some(1);
        }
        self.bits.put(1, 1);
        self.put_exponent(exponent);
        self.words.iter_mut().zip(block).for_each(|(word, value)| *word = value.unscaled(exponent));
        Some(self.words(planes, 1 + S::EXPONENT_BITS))
    }

    fn reversible_floats(&mut self, block: &[S]) -> u32 {
        let exponent = exponent(block).filter(|&exponent| {
            self.words.iter_mut().zip(block).for_each(|(word, value)| *word = value.unscaled(exponent));
            self.words.iter().zip(block).all(|(word, value)| S::scaled(*word, exponent).is_same(*value))
        });
        match exponent {
            Some(exponent) if exponent == -bias::<S>() => {
                self.bits.put(0, 1);
                1
            }
            Some(exponent) => {
                self.bits.put(1, 2);
                self.put_exponent(exponent);
                self.reversible_words(2 + S::EXPONENT_BITS)
            }
            None => {
                self.bits.put(3, 2);
                self.words.iter_mut().zip(block).for_each(|(word, value)| *word = value.interpreted());
                self.reversible_words(2)
            }
        }
    }

    fn put_exponent(&mut self, exponent: i32) {
        self.bits.put(u64::from((exponent + bias::<S>()).unsigned_abs()), S::EXPONENT_BITS);
    }

    fn words(&mut self, planes: u32, head: u32) -> u32 {
        forward(&mut self.words);
        self.take_in_order();
        head + self.codes(planes, self.coding.max_bits.saturating_sub(head))
    }

    fn reversible_words(&mut self, head: u32) -> u32 {
        reversible_forward(&mut self.words);
        self.take_in_order();
        let all = self.codes.iter().fold(0, |all, code| all | code);
        let planes = S::Word::BITS.saturating_sub(all.trailing_zeros()).max(1);
        let width = S::Word::BITS.trailing_zeros();
        self.bits.put(u64::from(planes - 1), width);
        let head = head + width;
        head + self.codes(planes, self.coding.max_bits.saturating_sub(head))
    }

    fn take_in_order(&mut self) {
        for (place, code) in order(rank_of(SIZE)).iter().zip(&mut self.codes) {
            *code = self.words.get(usize::from(*place)).map_or(0, |word| word.to_negabinary());
        }
    }

    /// Encodes bit planes within a budget of bits; returns how many were used.
    fn codes(&mut self, planes: u32, max_bits: u32) -> u32 {
        turn(&mut self.codes);
        let (mut left, mut known) = (max_bits, 0u32);
        // The bits of a few planes.
        let (mut held, mut count) = (0, 0);
        for plane in (S::Word::BITS.saturating_sub(planes)..S::Word::BITS).rev() {
            if left == 0 {
                break;
            }
            let digits = plane_of(&self.codes, plane);
            let is_quick = SIZE <= 16 && left >= most_bits(SIZE);
            if count > 0 && (!is_quick || count > 64 - most_bits(16)) {
                self.bits.put(held, count);
                (held, count) = (0, 0);
            }
            if is_quick {
                let quick = QuickPlane::of::<SIZE>(digits[0], known);
                held |= quick.bits << count;
                count += quick.count;
                known = quick.known;
                left -= quick.count;
            } else {
                put_plane::<SIZE>(&mut self.bits, &digits, &mut known, &mut left);
            }
        }
        self.bits.put(held, count);
        max_bits - left
    }
}

/// Puts a plane. Digits of the first `known` numbers, which are significant already, are put as they are. For the others, a
/// bit says whether one of them becomes significant, and zeros lead to it.
fn put_plane<const SIZE: usize>(bits: &mut BitWriter, digits: &BitPlane, known: &mut u32, left: &mut u32) {
    let size = u32::try_from(SIZE).unwrap_or(256);
    let verbatim = (*known).min(*left);
    *left -= verbatim;
    for (digits, start) in digits.iter().zip((0..verbatim).step_by(64)) {
        bits.put(*digits, (verbatim - start).min(64));
    }
    while *left > 0 && *known < size {
        *left -= 1;
        let next = next_one(digits, *known);
        bits.put(u64::from(next.is_some()), 1);
        let Some(next) = next else { break };
        let max = (size - 1 - *known).min(*left);
        let zeros = (next - *known).min(max);
        bits.put_zeros(zeros);
        *left -= zeros;
        if zeros < max {
            bits.put(1, 1);
            *left -= 1;
        }
        *known += zeros + 1;
    }
}

fn bias<S: ZfpScalar>() -> i32 {
    (1 << (S::EXPONENT_BITS - 1)) - 1
}

/// What [`put_plane`] puts for up to 16 coefficients if the budget is sufficient for any plane.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QuickPlane {
    bits: u64,
    /// How many bits there are.
    count: u32,
    /// Coefficients that are significant after it.
    known: u32,
}

impl QuickPlane {
    #[inline]
    fn of<const SIZE: usize>(digits: u64, mut known: u32) -> Self {
        let size = u32::try_from(SIZE).unwrap_or(16);
        let mut count = known;
        let mut bits = digits & ((1 << count) - 1);
        while known < size {
            let rest = digits >> known;
            if rest == 0 {
                count += 1;
                break;
            }
            bits |= 1 << count;
            count += 1;
            // A one in the last place follows from all others being zeros.
            let zeros = rest.trailing_zeros();
            let ends = u32::from(zeros < size - 1 - known);
            bits |= u64::from(ends) << (count + zeros);
            count += zeros + ends;
            known += zeros + 1;
        }
        Self { bits, count, known }
    }
}

/// The smallest power of two above all numbers, as an exponent; `None` if one is not finite.
fn exponent<S: ZfpScalar>(block: &[S]) -> Option<i32> {
    S::largest(block).exponent()
}

/// The first one bit in a plane from a position on.
fn next_one(digits: &BitPlane, from: u32) -> Option<u32> {
    let (first, shift) = (from / 64, from % 64);
    (first..4).find_map(|word| {
        let digits = digits[word as usize] & if word == first { u64::MAX << shift } else { u64::MAX };
        (digits != 0).then(|| word * 64 + digits.trailing_zeros())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const SIZE: usize>(digits: u64, known: u32) -> Result<(), TestCaseError> {
        let digits = digits & ((1 << SIZE) - 1);
        let (mut one, mut other, mut after) = (Vec::new(), Vec::new(), known);
        let mut writer = BitWriter::new(&mut one);
        let mut left = 1000;
        put_plane::<SIZE>(&mut writer, &[digits, 0, 0, 0], &mut after, &mut left);
        writer.finish();
        let mut writer = BitWriter::new(&mut other);
        let quick = QuickPlane::of::<SIZE>(digits, known);
        writer.put(quick.bits, quick.count);
        writer.finish();
        prop_assert_eq!((one, after, 1000 - left), (other, quick.known, quick.count));
        prop_assert!(quick.count <= most_bits(SIZE));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_quick_plane_is_the_same(digits in any::<u64>(), sparse in any::<u64>(), known in 0u32..=16) {
            check::<16>(digits, known)?;
            check::<16>(digits & sparse, known)?;
            check::<4>(digits, known.min(4))?;
        }
    }
}
