//! Chunks of Blosc 2, and those of Blosc 1, which have a shorter header (`docs/spec/hdf5-netcdf4.md` G.3).
use super::filters::{BlockFilter, undo};
use crate::codecs::block::{BlockFormat, decompress};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::ops::Range;

/// A chunk with a valid header.
#[derive(Debug)]
pub(crate) struct FrameChunk<'a> {
    bytes: &'a [u8],
    /// Decoded bytes.
    pub(crate) len: usize,
    pub(crate) type_size: usize,
    /// Bytes of a decoded block.
    pub(crate) block_len: usize,
    /// End of the header.
    head: usize,
    body: ChunkBody,
}

#[derive(Debug)]
enum ChunkBody {
    /// The bytes unchanged.
    Raw,
    /// A single repeated value.
    Repeated(Vec<u8>),
    Blocks(ChunkBlocks),
}

#[derive(Debug)]
struct ChunkBlocks {
    format: BlockFormat,
    /// Whether full blocks have one stream for every byte of an element.
    split: bool,
    /// The filters to undo, in that order.
    filters: Vec<BlockFilter>,
}

/// Memory for blocks between filters.
type BlockMemory = [ScratchBuffer; 2];

impl<'a> FrameChunk<'a> {
    /// Reads the header; bytes after the chunk are cut off. An error says what is invalid.
    pub(crate) fn read(input: &'a [u8]) -> Result<Self, &'static str> {
        let cut = "the chunk is cut short";
        let flags = *input.get(2).ok_or(cut)?;
        // Both shuffles at once mark a long header.
        let head = if flags & 5 == 5 { 32 } else { 16 };
        let length = |at| length(input, at).ok_or(cut);
        let (len, block_len, encoded_len) = (length(4)?, length(8)?, length(12)?);
        let bytes = input.get(..encoded_len).filter(|bytes| bytes.len() >= head).ok_or(cut)?;
        let type_size = usize::from(bytes[3]).max(1);
        if block_len == 0 && len > 0 {
            return Err("blocks of 0 bytes");
        }
        let body = body(bytes, head, flags)?;
        Ok(Self { bytes, len, type_size, block_len, head, body })
    }

    /// Decodes everything into `out`, which has the length of the chunk.
    pub(crate) fn decode(&self, out: &mut [u8], contexts: &mut LibraryContexts) -> Option<()> {
        let mut work = std::mem::take(&mut contexts.blocks);
        match &self.body {
            ChunkBody::Raw => out.copy_from_slice(self.raw(0..self.len)?),
            ChunkBody::Repeated(value) => repeat(value, out),
            ChunkBody::Blocks(blocks) => {
                let (first, rest) = out.split_at_mut(self.block_len.min(out.len()));
                self.block(blocks, 0, None, first, &mut work, contexts)?;
                for (index, out) in rest.chunks_mut(self.block_len.max(1)).enumerate() {
                    self.block(blocks, index + 1, Some(first), out, &mut work, contexts)?;
                }
            }
        }
        contexts.blocks = work;
        Some(())
    }

    /// Decodes block `index` into `out`, which has its length; `first` is the first block, for the others.
    pub(crate) fn decode_block(
        &self,
        index: usize,
        first: Option<&[u8]>,
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        let start = index.checked_mul(self.block_len)?;
        match &self.body {
            ChunkBody::Raw => out.copy_from_slice(self.raw(start..start.checked_add(out.len())?)?),
            ChunkBody::Repeated(value) => repeat(value, out),
            ChunkBody::Blocks(blocks) => {
                let mut work = std::mem::take(&mut contexts.blocks);
                self.block(blocks, index, first, out, &mut work, contexts)?;
                contexts.blocks = work;
            }
        }
        Some(())
    }

    /// Whether decoding other blocks needs the first block.
    pub(super) fn refers_to_first(&self) -> bool {
        matches!(&self.body, ChunkBody::Blocks(blocks) if blocks.filters.contains(&BlockFilter::Delta))
    }

    fn raw(&self, range: Range<usize>) -> Option<&[u8]> {
        self.bytes.get(self.head..)?.get(range)
    }

    fn block(
        &self,
        blocks: &ChunkBlocks,
        index: usize,
        first: Option<&[u8]>,
        out: &mut [u8],
        work: &mut BlockMemory,
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        if out.is_empty() {
            return Some(());
        }
        let start = length(self.bytes, index.checked_mul(4)?.checked_add(self.head)?)?;
        let input = self.bytes.get(start..)?;
        // Only full blocks are split, one stream for each byte of the type (docs/spec/hdf5-netcdf4.md G.3).
        let split = blocks.split && out.len() == self.block_len && self.can_split(out.len());
        let streams = if split { self.type_size } else { 1 };
        let moving = blocks.filters.iter().filter(|filter| filter.moves()).count();
        let [before, spare] = work;
        // A filter that moves bytes needs a second buffer; without one the streams are decoded in place.
        if moving == 0 {
            self.streams(blocks, streams, input, out, contexts)?;
        } else {
            self.streams(blocks, streams, input, before.prepare(out.len()), contexts)?;
        }
        let mut left = moving;
        for filter in &blocks.filters {
            if !filter.moves() {
                let bytes = if left == 0 { &mut *out } else { before.extend_to(out.len()) };
                undo_in_place(*filter, first, bytes, self.type_size);
                continue;
            }
            left -= 1;
            // The last one writes to the result, the others to a buffer in between.
            if left == 0 {
                undo(*filter, before.as_slice(), spare, out);
            } else {
                let mut between = vec![0; out.len()];
                undo(*filter, before.as_slice(), spare, &mut between);
                before.set(between);
            }
        }
        Some(())
    }

    /// Blosc 1 splits only blocks of at least 128 elements of at most 16 bytes each.
    fn can_split(&self, len: usize) -> bool {
        self.head == 32 || (self.type_size <= 16 && len / self.type_size >= 128)
    }

    fn streams(
        &self,
        blocks: &ChunkBlocks,
        streams: usize,
        mut input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        let width = out.len() / streams;
        if width == 0 || !out.len().is_multiple_of(streams) {
            return None;
        }
        for out in out.chunks_exact_mut(width) {
            let (len, behind) = input.split_first_chunk::<4>()?;
            let len = i32::from_le_bytes(*len);
            input = behind;
            let Ok(len) = usize::try_from(len) else {
                // A run of one byte.
                let (&token, behind) = input.split_first()?;
                let value = u8::try_from(len.checked_neg()?).ok().filter(|_| token & 1 == 1)?;
                out.fill(value);
                input = behind;
                continue;
            };
            let (encoded, behind) = input.split_at_checked(len)?;
            match len {
                0 if self.head == 32 => out.fill(0),
                _ if len == width => out.copy_from_slice(encoded),
                _ => decompress(blocks.format, encoded, out, contexts)?,
            }
            input = behind;
        }
        Some(())
    }
}

fn undo_in_place(filter: BlockFilter, first: Option<&[u8]>, bytes: &mut [u8], type_size: usize) {
    match (filter, first) {
        (BlockFilter::Delta, Some(first)) => super::filters::undo_delta(first, bytes),
        (BlockFilter::Delta, None) => super::filters::undo_first_delta(bytes, type_size),
        _ => {}
    }
}

fn body(bytes: &[u8], head: usize, flags: u8) -> Result<ChunkBody, &'static str> {
    let special = bytes.get(31).filter(|_| head == 32).map_or(0, |flags| (flags >> 4) & 7);
    let type_size = usize::from(bytes[3]).max(1);
    match special {
        0 => {}
        // Values that were never set are zero here.
        1 | 4 => return Ok(ChunkBody::Repeated(vec![0])),
        2 if type_size == 4 => return Ok(ChunkBody::Repeated(f32::NAN.to_le_bytes().to_vec())),
        2 if type_size == 8 => return Ok(ChunkBody::Repeated(f64::NAN.to_le_bytes().to_vec())),
        3 => {
            let value = bytes.get(32..32 + type_size).ok_or("the chunk is cut short")?;
            return Ok(ChunkBody::Repeated(value.to_vec()));
        }
        _ => return Err("an unknown kind of chunk"),
    }
    if flags & 2 != 0 {
        return Ok(ChunkBody::Raw);
    }
    if head == 32 && bytes.get(31).is_some_and(|flags| flags & 1 != 0) {
        return Err("chunks with a dictionary are not supported");
    }
    let format = match flags >> 5 {
        0 => BlockFormat::BloscLz,
        1 => BlockFormat::Lz4,
        2 => BlockFormat::Snappy,
        3 => BlockFormat::Zlib,
        4 => BlockFormat::Zstd,
        _ => return Err("an unknown compressor"),
    };
    let filters = if head == 32 {
        let codes = bytes.get(16..22).zip(bytes.get(24..30)).ok_or("the chunk is cut short")?;
        super::filters::pipeline(codes, type_size, bytes[0])?
    } else {
        super::filters::classic(flags, type_size)
    };
    Ok(ChunkBody::Blocks(ChunkBlocks { format, split: flags & 16 == 0, filters }))
}

pub(super) fn repeat(value: &[u8], out: &mut [u8]) {
    if let [byte] = value {
        out.fill(*byte);
        return;
    }
    for out in out.chunks_mut(value.len().max(1)) {
        crate::codec::copy_prefix(value, out);
    }
}

/// A length of 4 bytes, which must not be negative.
fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*word)).ok()
}
