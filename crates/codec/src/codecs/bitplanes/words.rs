//! Bit planes with vectors of 16 bytes: eight rows of eight bytes are transposed at a time, first the bits, then the bytes.

/// Eight rows of eight bytes, twice: compilers handle both at once.
type PlaneWords = [[u64; 2]; 8];

/// Bytes of these words.
const TILE: usize = 128;

/// Bytes from eight rows of their bits.
pub(super) fn join_rows(rows: &[u8], out: &mut [u8]) {
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
pub(super) fn split_rows(input: &[u8], rows: &mut [u8]) {
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
