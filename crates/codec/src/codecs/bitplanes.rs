//! Bit planes: the arrangement of elements that Bitshuffle and the bit shuffle of Blosc produce.
//!
//! All first bits (lowest first) of all first bytes, then all second bits, and so on; in a plane, element `i` has bit
//! `i % 8` of byte `i / 8`.
mod words;

use super::shuffle::{merge, shuffle, unshuffle};
use crate::processor::{self, InstructionSet, VectorLoop, planes};

/// Elements from planes. All slices have the same length, a multiple of `8 * size`; `bytes` holds the intermediate
/// result.
pub(crate) fn bit_unshuffle(input: &[u8], size: usize, bytes: &mut [u8], out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    if count == 0 {
        return;
    }
    let target = if size == 1 { &mut *out } else { &mut *bytes };
    for (rows, line) in input.chunks_exact(count).zip(target.chunks_exact_mut(count)) {
        if InstructionSet::best().is_baseline() {
            words::join_rows(rows, line);
        } else {
            let start = planes::join_rows(rows, line) / 8;
            processor::run(JoinRows { rows, out: line, start });
        }
    }
    if size != 1 {
        unshuffle(bytes, size, out);
    }
}

/// Planes from elements, with arguments as in [`bit_unshuffle`].
pub(crate) fn bit_shuffle(input: &[u8], size: usize, bytes: &mut [u8], out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    if count == 0 {
        return;
    }
    if size != 1 {
        shuffle(input, size, bytes);
    }
    let source = if size == 1 { input } else { bytes };
    for (line, rows) in source.chunks_exact(count).zip(out.chunks_exact_mut(count)) {
        if InstructionSet::best().is_baseline() {
            words::split_rows(line, rows);
        } else {
            let start = planes::split_rows(line, rows) / 8;
            processor::run(SplitRows { input: line, rows, start });
        }
    }
}

/// Bytes from eight rows of their bits, from a square of eight by eight bits on.
struct JoinRows<'a> {
    rows: &'a [u8],
    out: &'a mut [u8],
    start: usize,
}

impl VectorLoop for JoinRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { rows, out, start } = self;
        let width = rows.len() / 8;
        let row = |bit: usize| rows.get(bit * width..(bit + 1) * width).unwrap_or_default();
        let rows: [&[u8]; 8] = std::array::from_fn(row);
        let squares = out.as_chunks_mut::<8>().0.get_mut(start..).unwrap_or_default();
        for (tile, squares) in squares.chunks_mut(TILE).enumerate() {
            let start = start + tile * TILE;
            let lines = rows.map(|row| row.get(start..start + squares.len()).unwrap_or_default());
            merge(&lines, squares);
            for square in squares {
                *square = turn(u64::from_le_bytes(*square)).to_le_bytes();
            }
        }
    }
}

/// Eight rows of bits from bytes, from a square of eight by eight bits on: the few that [`planes::split_rows`] leaves.
struct SplitRows<'a> {
    input: &'a [u8],
    rows: &'a mut [u8],
    start: usize,
}

impl VectorLoop for SplitRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, rows, start } = self;
        let width = rows.len() / 8;
        let squares = input.as_chunks::<8>().0.iter().enumerate().skip(start);
        for (number, square) in squares {
            let turned = turn(u64::from_le_bytes(*square)).to_le_bytes();
            for (bit, turned) in turned.iter().enumerate() {
                if let Some(out) = rows.get_mut(bit * width + number) {
                    *out = *turned;
                }
            }
        }
    }
}

/// Squares that are processed at a time, so that they stay in the first-level cache.
const TILE: usize = 128;

/// A square of eight by eight bits, transposed: bit `j` of byte `i` becomes bit `i` of byte `j`.
#[inline(always)]
fn turn(square: u64) -> u64 {
    let change = (square ^ (square >> 28)) & 0x0000_0000_f0f0_f0f0;
    let square = square ^ change ^ (change << 28);
    let change = (square ^ (square >> 14)) & 0x0000_cccc_0000_cccc;
    let square = square ^ change ^ (change << 14);
    let change = (square ^ (square >> 7)) & 0x00aa_00aa_00aa_00aa;
    square ^ change ^ (change << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::tests::with_each;
    use proptest::prelude::*;

    /// Bit by bit, as the layout is defined.
    fn defined(input: &[u8], size: usize) -> Vec<u8> {
        let count = input.len() / size;
        let mut out = vec![0; input.len()];
        for (element, bytes) in input.chunks_exact(size).enumerate() {
            for (place, byte) in bytes.iter().enumerate() {
                for bit in 0..8 {
                    out[(place * 8 + bit) * (count / 8) + element / 8] |= (byte >> bit & 1) << (element % 8);
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn bits_go_where_the_layout_has_them(size in 1usize..10, groups in 0usize..30, seed in any::<u64>()) {
            let input: Vec<u8> = (0..size * groups * 8)
                .map(|i| (seed.rotate_left(u32::try_from(i % 64).unwrap()).wrapping_mul(i as u64 + 7) >> 21).to_le_bytes()[0])
                .collect();
            let defined = defined(&input, size);
            for (set, (planes, back)) in with_each(|| {
                let (mut spare, mut planes, mut back) = (input.clone(), vec![1; input.len()], vec![2; input.len()]);
                bit_shuffle(&input, size, &mut spare, &mut planes);
                bit_unshuffle(&planes, size, &mut spare, &mut back);
                (planes, back)
            }) {
                prop_assert_eq!(&planes, &defined, "{:?}", set);
                prop_assert_eq!(&back, &input, "{:?}", set);
            }
        }
    }
}
