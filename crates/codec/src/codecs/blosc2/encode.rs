//! Frames of one chunk.
use super::Blosc2;
use crate::codecs::bitplanes::bit_shuffle;
use crate::codecs::block::{BlockFormat, compress, compress_bound};
use crate::codecs::shuffle::shuffle;
use crate::scratch::LibraryContexts;

/// Bytes of a block, if the chunk has that many.
const BLOCK: usize = 1 << 18;
const HEAD: usize = 97;
const CHUNK_HEAD: usize = 32;
const VERSION: u8 = 5;
/// Both shuffles at once mark a long header.
const LONG_HEADER: u8 = 5;
const RAW: u8 = 2;
const NOT_SPLIT: u8 = 16;

/// Appends a frame; `None` if the lengths do not fit.
pub(super) fn frame(
    codec: &Blosc2,
    input: &[u8],
    out: &mut Vec<u8>,
    contexts: &mut LibraryContexts,
) -> Option<()> {
    out.resize(HEAD, 0);
    chunk(codec, input, out, contexts)?;
    let chunk_len = out.len() - HEAD;
    // The offsets of the chunks, as another chunk: the only one begins immediately.
    chunk_head(codec, VERSION, LONG_HEADER | RAW, [8, 8, 40], 8, out);
    out.extend_from_slice(&[0; 8]);
    // The trailer: an empty list of parts, its own length, no fingerprint.
    out.extend_from_slice(b"\x94\x01\x93\xcd\x00\x06\xde\x00\x00\xdc\x00\x00\xce\x00\x00\x00\x23\xd8");
    out.extend_from_slice(&[0; 17]);
    let head = head(codec, input.len(), chunk_len, out.len())?;
    out.get_mut(..HEAD)?.copy_from_slice(&head);
    Some(())
}

/// Appends a chunk of Blosc 1, whose header is shorter.
pub(crate) fn classic(
    codec: &Blosc2,
    input: &[u8],
    out: &mut Vec<u8>,
    contexts: &mut LibraryContexts,
) -> Option<()> {
    const HEAD: usize = 16;
    let block = block_len(codec, input.len());
    let shuffle = match codec.shuffle {
        1 => 1,
        2 => 4,
        _ => 0,
    };
    let type_size = codec.type_size.to_le_bytes()[0];
    out.extend_from_slice(&[2, 1, shuffle | NOT_SPLIT | format_bits(codec.format), type_size]);
    out.resize(HEAD, 0);
    blocks(codec, (block, HEAD), input, out, contexts)?;
    if out.len() > input.len() + HEAD {
        out.truncate(HEAD);
        *out.get_mut(2)? |= RAW;
        out.extend_from_slice(input);
    }
    for (place, len) in out.get_mut(4..HEAD)?.as_chunks_mut::<4>().0.iter_mut().zip([input.len(), block, 0]) {
        *place = i32::try_from(len).ok()?.to_le_bytes();
    }
    let len = i32::try_from(out.len()).ok()?;
    out.get_mut(12..HEAD)?.copy_from_slice(&len.to_le_bytes());
    Some(())
}

/// The header of the frame: numbers, each after its type marker.
fn head(codec: &Blosc2, len: usize, chunk_len: usize, frame_len: usize) -> Option<[u8; HEAD]> {
    let mut head = Vec::with_capacity(HEAD);
    let short = |len: usize| u32::try_from(len).ok().filter(|len| *len < 1 << 31).map(u32::to_be_bytes);
    let long = |len: usize| u64::try_from(len).ok().map(u64::to_be_bytes);
    let level = codec.level.to_le_bytes()[0];
    head.extend_from_slice(b"\x9e\xa8b2frame\0\xd2");
    head.extend_from_slice(&short(HEAD)?);
    head.push(0xcf);
    head.extend_from_slice(&long(frame_len)?);
    head.extend_from_slice(&[0xa4, 0x12, 0, (level << 4) | compressor(codec.format), 3, 0xd3]);
    head.extend_from_slice(&long(len)?);
    head.push(0xd3);
    head.extend_from_slice(&long(chunk_len)?);
    for len in [codec.type_size, block_len(codec, len), len] {
        head.push(0xd2);
        head.extend_from_slice(&short(len)?);
    }
    // Threads, one and one; no parts after the data; filters.
    head.extend_from_slice(&[0xd1, 0, 1, 0xd1, 0, 1, 0xc2, 0xd8, 6]);
    head.extend_from_slice(&filters(codec));
    head.resize(HEAD - 10, 0);
    // No named parts.
    head.extend_from_slice(b"\x93\xcd\x00\x07\xde\x00\x00\xdc\x00\x00");
    head.try_into().ok()
}

/// The number of a compressor.
fn compressor(format: BlockFormat) -> u8 {
    match format {
        BlockFormat::BloscLz => 0,
        BlockFormat::Lz4 | BlockFormat::Snappy => 1,
        BlockFormat::Zlib => 4,
        BlockFormat::Zstd => 5,
    }
}

/// The compressor's own level for one of 0 to 9, as Blosc maps it.
fn level(codec: &Blosc2) -> i32 {
    match (codec.format, codec.level) {
        (BlockFormat::Zstd, 9..) => 22,
        (BlockFormat::Zstd, 8) => 20,
        (BlockFormat::Zstd, level) => (2 * level - 1).max(1),
        (_, level) => level,
    }
}

/// The flags of a chunk for its compressor.
fn format_bits(format: BlockFormat) -> u8 {
    match format {
        BlockFormat::BloscLz => 0,
        BlockFormat::Lz4 => 1 << 5,
        BlockFormat::Snappy => 2 << 5,
        BlockFormat::Zlib => 3 << 5,
        BlockFormat::Zstd => 4 << 5,
    }
}

fn filters(codec: &Blosc2) -> [u8; 6] {
    let code = if matches!(codec.shuffle, 1 | 2) { codec.shuffle.to_le_bytes()[0] } else { 0 };
    [0, 0, 0, 0, 0, code]
}

fn block_len(codec: &Blosc2, len: usize) -> usize {
    len.min((BLOCK / (8 * codec.type_size) * (8 * codec.type_size)).max(8 * codec.type_size))
}

fn chunk_head(codec: &Blosc2, version: u8, flags: u8, lens: [u32; 3], type_size: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&[version, 1, flags, type_size.to_le_bytes()[0]]);
    lens.iter().for_each(|len| out.extend_from_slice(&len.to_le_bytes()));
    out.extend_from_slice(&filters(codec));
    out.extend_from_slice(&[0; 10]);
}

/// Appends a chunk, uncompressed if it does not get shorter.
fn chunk(codec: &Blosc2, input: &[u8], out: &mut Vec<u8>, contexts: &mut LibraryContexts) -> Option<()> {
    let block = block_len(codec, input.len());
    let lens = |encoded: usize| {
        let len = |len: usize| u32::try_from(len).ok().filter(|len| *len < 1 << 31);
        Some([len(input.len())?, len(block)?, len(encoded)?])
    };
    let start = out.len();
    let flags = LONG_HEADER | NOT_SPLIT | format_bits(codec.format);
    chunk_head(codec, VERSION, flags, [0; 3], codec.type_size, out);
    blocks(codec, (block, CHUNK_HEAD), input, out, contexts)?;
    let encoded = out.len() - start;
    if encoded >= input.len() + CHUNK_HEAD || codec.level == 0 {
        out.truncate(start);
        chunk_head(codec, VERSION, LONG_HEADER | RAW, lens(CHUNK_HEAD + input.len())?, codec.type_size, out);
        out.extend_from_slice(input);
        return Some(());
    }
    for (at, len) in [4, 8, 12].iter().zip(lens(encoded)?) {
        out.get_mut(start + at..start + at + 4)?.copy_from_slice(&len.to_le_bytes());
    }
    Some(())
}

/// Appends the offsets of the blocks, counted from a header of that length, and the blocks.
fn blocks(
    codec: &Blosc2,
    (block, head): (usize, usize),
    input: &[u8],
    out: &mut Vec<u8>,
    contexts: &mut LibraryContexts,
) -> Option<()> {
    let start = out.len() - head;
    let mut place = out.len();
    out.resize(place + 4 * input.len().div_ceil(block.max(1)), 0);
    let bound = compress_bound(codec.format, block);
    let mut work = std::mem::take(&mut contexts.work);
    let (filtered, spare) = work.prepare(2 * block).split_at_mut(block);
    for input in input.chunks(block.max(1)) {
        let begins = i32::try_from(out.len() - start).ok()?;
        out.get_mut(place..place + 4)?.copy_from_slice(&begins.to_le_bytes());
        place += 4;
        let filtered = filtered.get_mut(..input.len())?;
        filter(codec, head < CHUNK_HEAD, input, spare, filtered);
        let at = out.len();
        out.resize(at + 4 + bound, 0);
        let len = compress(codec.format, level(codec), filtered, out.get_mut(at + 4..)?, contexts)?;
        let len = if len < input.len() {
            len
        } else {
            // Stored unchanged, as the length shows.
            out.get_mut(at + 4..at + 4 + input.len())?.copy_from_slice(filtered);
            input.len()
        };
        out.get_mut(at..at + 4)?.copy_from_slice(&i32::try_from(len).ok()?.to_le_bytes());
        out.truncate(at + 4 + len);
    }
    contexts.work = work;
    Some(())
}

/// `classic`: Blosc 1 shuffles the bits of complete groups of 8 elements only.
fn filter(codec: &Blosc2, classic: bool, input: &[u8], spare: &mut [u8], out: &mut [u8]) {
    match codec.shuffle {
        1 => shuffle(input, codec.type_size, out),
        2 => {
            let whole = input.len() / (8 * codec.type_size) * (8 * codec.type_size);
            let all = input.len() / codec.type_size * codec.type_size;
            let whole = if classic && whole < all { 0 } else { whole };
            let (elements, rest) = input.split_at(whole);
            let (planes, tail) = out.split_at_mut(whole);
            bit_shuffle(elements, codec.type_size, spare.get_mut(..whole).unwrap_or_default(), planes);
            tail.copy_from_slice(rest);
        }
        _ => out.copy_from_slice(input),
    }
}
