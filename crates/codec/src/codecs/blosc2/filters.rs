//! The filters of Blosc 2 before its compressors.
use crate::codec::copy_prefix;
use crate::codecs::bitplanes::bit_unshuffle;
use crate::codecs::shuffle::unshuffle;
use crate::scratch::ScratchBuffer;

/// A filter that is undone block by block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockFilter {
    Shuffle(usize),
    /// Elements of that size; those after the last group of 8 are unchanged, or (as in Blosc 1) all elements are if
    /// they do not form complete groups.
    BitShuffle {
        size: usize,
        keeps_rest: bool,
    },
    /// Bytes as differences from the previous ones, within the planes that a shuffle produced.
    ByteDelta(usize),
    /// Exclusive or with the first block, or, in that block, with the previous element.
    Delta,
}

impl BlockFilter {
    /// Whether bytes are moved, so that a second block is needed.
    pub(super) fn moves(self) -> bool {
        self != Self::Delta
    }
}

/// Filters by their codes and parameters, in the order of undoing.
pub(super) fn pipeline(
    (codes, metas): (&[u8], &[u8]),
    type_size: usize,
    version: u8,
) -> Result<Vec<BlockFilter>, &'static str> {
    let mut filters = Vec::new();
    for (&code, &meta) in codes.iter().zip(metas).rev() {
        let size = if meta == 0 { type_size } else { usize::from(meta) };
        match code {
            // No filter, and truncation of precision.
            0 | 4 => {}
            1 => filters.push(BlockFilter::Shuffle(size)),
            2 => filters.push(BlockFilter::BitShuffle { size: type_size, keeps_rest: version > 2 }),
            3 => filters.push(BlockFilter::Delta),
            35 => filters.push(BlockFilter::ByteDelta(size)),
            _ => return Err("an unknown filter"),
        }
    }
    Ok(filters)
}

/// The filter that the flags of Blosc 1 specify.
pub(super) fn classic(flags: u8, size: usize) -> Vec<BlockFilter> {
    match flags & 5 {
        1 => vec![BlockFilter::Shuffle(size)],
        4 => vec![BlockFilter::BitShuffle { size, keeps_rest: false }],
        _ => Vec::new(),
    }
}

/// Undoes a filter that moves bytes; all slices have the same length.
pub(super) fn undo(filter: BlockFilter, input: &[u8], spare: &mut ScratchBuffer, out: &mut [u8]) {
    match filter {
        BlockFilter::Shuffle(size) => unshuffle(input, size.max(1), out),
        BlockFilter::BitShuffle { size, keeps_rest } => {
            undo_bit_shuffle(input, size.max(1), keeps_rest, spare.prepare(input.len()), out);
        }
        BlockFilter::ByteDelta(size) => undo_byte_delta(input, size.max(1), out),
        BlockFilter::Delta => copy_prefix(input, out),
    }
}

fn undo_bit_shuffle(input: &[u8], size: usize, keeps_rest: bool, spare: &mut [u8], out: &mut [u8]) {
    let whole = input.len() / (8 * size) * (8 * size);
    let elements = input.len() / size * size;
    let whole = if keeps_rest || whole == elements { whole } else { 0 };
    let (planes, rest) = input.split_at(whole);
    let (out, out_rest) = out.split_at_mut(whole);
    bit_unshuffle(planes, size, spare.get_mut(..whole).unwrap_or_default(), out);
    out_rest.copy_from_slice(rest);
}

fn undo_byte_delta(input: &[u8], size: usize, out: &mut [u8]) {
    let width = input.len() / size;
    copy_prefix(input, out);
    for plane in out.chunks_exact_mut(width.max(1)).take(size) {
        let mut sum = 0u8;
        for byte in plane {
            sum = sum.wrapping_add(*byte);
            *byte = sum;
        }
    }
}

/// Undoes the differences of a block from the first block.
pub(super) fn undo_delta(first: &[u8], bytes: &mut [u8]) {
    for (byte, first) in bytes.iter_mut().zip(first) {
        *byte ^= first;
    }
}

/// Undoes the differences of the elements of the first block.
pub(super) fn undo_first_delta(bytes: &mut [u8], size: usize) {
    let size = match size {
        1 | 2 | 4 | 8 => size,
        _ if size.is_multiple_of(8) => 8,
        _ => 1,
    };
    for at in size..bytes.len() / size * size {
        bytes[at] ^= bytes[at - size];
    }
}
