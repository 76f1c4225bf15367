//! Bit planes: the arrangement of elements that Bitshuffle and the bit shuffle of Blosc produce.
//!
//! All first bits (lowest first) of all first bytes, then all second bits, and so on; in a plane, element `i` has bit
//! `i % 8` of byte `i / 8`. Eight rows of eight bytes are transposed at a time, first the bits, then the bytes.
use super::shuffle::{shuffle, unshuffle};

/// Elements from planes. All slices have the same length, a multiple of `8 * size`; `bytes` holds the intermediate
/// result.
pub(crate) fn bit_unshuffle(input: &[u8], size: usize, bytes: &mut [u8], out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    if count == 0 {
        return;
    }
    let target = if size == 1 { &mut *out } else { &mut *bytes };
    for (rows, line) in input.chunks_exact(count).zip(target.chunks_exact_mut(count)) {
        join_rows(rows, line);
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
        split_rows(line, rows);
    }
}

/// Eight rows of eight bytes, twice: compilers handle both at once.
type PlaneWords = [[u64; 2]; 8];

/// Bytes of these words.
const TILE: usize = 128;

/// Bytes from eight rows of their bits.
fn join_rows(rows: &[u8], out: &mut [u8]) {
    let width = rows.len() / 8;
    let row = |bit: usize| rows.get(bit * width..(bit + 1) * width).unwrap_or_default();
    let rows: [&[u8]; 8] = std::array::from_fn(row);
    let (tiles, rest) = out.as_chunks_mut::<TILE>();
    let start = tiles.len() * TILE / 8;
    let pairs: [&[[u8; 16]]; 8] = rows.map(|row| row.as_chunks().0);
    for (tile, out) in tiles.iter_mut().enumerate() {
        let words = std::array::from_fn(|bit| pairs[bit].get(tile).map_or([0; 2], |pair| load(*pair)));
        let words = turn_bytes(turn_bits(words));
        for (group, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            *out = words[group % 8][group / 8].to_le_bytes();
        }
    }
    for (group, out) in rest.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let byte = |bit: usize| rows[bit].get(start + group).copied().unwrap_or(0);
        let words = turn_bits(std::array::from_fn(|bit| [u64::from(byte(bit)), 0]));
        *out = words.map(|[word, _]| word.to_le_bytes()[0]);
    }
}

/// Eight rows of bits from bytes.
fn split_rows(input: &[u8], rows: &mut [u8]) {
    let width = rows.len() / 8;
    let (tiles, rest) = input.as_chunks::<TILE>();
    let start = tiles.len() * TILE / 8;
    for (tile, input) in tiles.iter().enumerate() {
        let groups = input.as_chunks::<8>().0;
        let word = |group: usize| groups.get(group).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let words = turn_bits(turn_bytes(std::array::from_fn(|group| [word(group), word(group + 8)])));
        for (bit, [first, second]) in words.iter().enumerate() {
            let at = bit * width + tile * TILE / 8;
            if let Some(out) = rows.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<16>()) {
                *out = (u128::from(*first) | (u128::from(*second) << 64)).to_le_bytes();
            }
        }
    }
    for (group, input) in rest.as_chunks::<8>().0.iter().enumerate() {
        let words = turn_bits(input.map(|byte| [u64::from(byte), 0]));
        for (bit, [word, _]) in words.iter().enumerate() {
            if let Some(out) = rows.get_mut(bit * width + start + group) {
                *out = word.to_le_bytes()[0];
            }
        }
    }
}

fn load(bytes: [u8; 16]) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, second @ ..] = bytes;
    [u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(second)]
}

/// In every byte: bit `j` of word `i` becomes bit `i` of word `j`.
#[inline]
fn turn_bits(mut words: PlaneWords) -> PlaneWords {
    swap::<4>(&mut words, 4, 0x0f0f_0f0f_0f0f_0f0f);
    swap::<2>(&mut words, 2, 0x3333_3333_3333_3333);
    swap::<1>(&mut words, 1, 0x5555_5555_5555_5555);
    words
}

/// Byte `j` of word `i` becomes byte `i` of word `j`.
#[inline]
fn turn_bytes(mut words: PlaneWords) -> PlaneWords {
    swap::<4>(&mut words, 32, 0x0000_0000_ffff_ffff);
    swap::<2>(&mut words, 16, 0x0000_ffff_0000_ffff);
    swap::<1>(&mut words, 8, 0x00ff_00ff_00ff_00ff);
    words
}

/// Exchanges the upper part of each word with the lower part of the word `DISTANCE` after it.
#[inline]
fn swap<const DISTANCE: usize>(words: &mut PlaneWords, shift: u32, lower: u64) {
    for i in (0..8).filter(|i| i & DISTANCE == 0) {
        let (first, second) = (words[i], words[i + DISTANCE]);
        let change: [u64; 2] = std::array::from_fn(|lane| ((first[lane] >> shift) ^ second[lane]) & lower);
        words[i] = std::array::from_fn(|lane| first[lane] ^ (change[lane] << shift));
        words[i + DISTANCE] = std::array::from_fn(|lane| second[lane] ^ change[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let (mut spare, mut planes, mut back) = (input.clone(), vec![1; input.len()], vec![2; input.len()]);
            bit_shuffle(&input, size, &mut spare, &mut planes);
            prop_assert_eq!(&planes, &defined(&input, size));
            bit_unshuffle(&planes, size, &mut spare, &mut back);
            prop_assert_eq!(back, input);
        }
    }
}
