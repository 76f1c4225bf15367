//! Bitshuffle (HDF5 filter 32008): blocks of elements as planes of bits, each of which may be compressed
//! (docs/spec/hdf5-netcdf4.md G.3).
//!
//! Compressed chunks begin with their decoded length (8 bytes) and that of a block (4), and every block with its
//! encoded length (4), all big-endian. The last block is shorter, and a remainder of fewer than 8 elements is stored
//! unchanged.
//!
//! - HDF5 filter: 32008 (values: major and minor version, element size, block size, compression, level).
//! - Zarr v2: `bitshuffle`.
//! - Zarr v3: `bitshuffle`.
//! - Parameters: `elementsize`: bytes of an element (by default those of the type). `blocksize`: elements of a block, a
//!   multiple of 8 (0: as many as fit in 8192 bytes, at least 128). `compression`: 0 none, 2 LZ4, 3 Zstandard. `level`:
//!   of Zstandard.
//! - Compatible: the HDF5 plugin of the bitshuffle library, `hdf5plugin`. numcodecs has no such codec.
//!
//! ```json
//! {"filter": 32008, "values": [0, 4, 4, 0, 2]}
//! {"id": "bitshuffle", "elementsize": 4, "blocksize": 0, "compression": 3, "level": 3}
//! ```
use super::bitplanes::{bit_shuffle, bit_unshuffle};
use super::block::{BlockFormat, compress, compress_bound, decompress};
use crate::CodecError;
use crate::codec::{Codec, with_room};
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError as Error};
use serde_json::Value;

const NAME: &str = "bitshuffle";
const HEAD: usize = 12;

/// Bitshuffle of elements of `size` bytes.
#[derive(Debug)]
pub(crate) struct Bitshuffle {
    size: usize,
    /// Bytes of a block, for writing, and for reading uncompressed chunks.
    block: usize,
    /// The compressor of blocks, and its level.
    compression: Option<(BlockFormat, i32)>,
}

impl Bitshuffle {
    /// The block length 0 selects the default.
    ///
    /// # Errors
    /// `Malformed` for invalid parameters, `Unsupported` for elements without a fixed size.
    pub(crate) fn new(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Self, Error> {
        let stated = parameters.size("elementsize")?.filter(|&size| size > 0);
        let size = stated.or(chunk.element.byte_len).filter(|&size| size > 0);
        let size = size.ok_or_else(|| Error::unsupported(NAME, "elements without a fixed size"))?;
        let elements = match parameters.size("blocksize")?.unwrap_or(0) {
            0 => (8192 / size / 8 * 8).max(128),
            count if count % 8 == 0 => count,
            count => return Err(parameters.bad("blocksize", &Value::from(count))),
        };
        let level = parameters.integer("level")?.and_then(|level| i32::try_from(level).ok()).unwrap_or(0);
        let compression = match parameters.integer("compression")?.unwrap_or(0) {
            0 => None,
            2 => Some((BlockFormat::Lz4, level)),
            3 => Some((BlockFormat::Zstd, level)),
            other => return Err(parameters.bad("compression", &Value::from(other))),
        };
        let block = elements.checked_mul(size).filter(|&len| u32::try_from(len).is_ok());
        let block = block.ok_or_else(|| parameters.bad("blocksize", &Value::from(elements)))?;
        Ok(Self { size, block, compression })
    }

    fn decode_plain(&self, input: &[u8], out: &mut [u8], contexts: &mut LibraryContexts) {
        let whole = self.whole(out.len());
        let (blocks, rest) = out.split_at_mut(whole);
        let bytes = contexts.work.prepare(self.block.min(whole));
        let (planes, tail) = input.split_at(whole);
        for (planes, out) in planes.chunks(self.block).zip(blocks.chunks_mut(self.block)) {
            bit_unshuffle(planes, self.size, &mut bytes[..out.len()], out);
        }
        rest.copy_from_slice(tail);
    }

    fn decode_blocks(
        &self,
        format: BlockFormat,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        let (block, mut input) = length(input.get(8..)?)?;
        let whole = self.whole(out.len());
        if block == 0 || !block.is_multiple_of(self.size.checked_mul(8)?) {
            return None;
        }
        let block = block.min(whole.max(1));
        let (blocks, rest) = out.split_at_mut(whole);
        let mut work = std::mem::take(&mut contexts.work);
        let (planes, bytes) = work.prepare(block.checked_mul(2)?).split_at_mut(block);
        let decoded = blocks.chunks_mut(block).try_for_each(|out| {
            let (len, behind) = length(input)?;
            let (encoded, behind) = behind.split_at_checked(len)?;
            let planes = planes.get_mut(..out.len())?;
            decompress(format, encoded, planes, contexts)?;
            bit_unshuffle(planes, self.size, bytes.get_mut(..out.len())?, out);
            input = behind;
            Some(())
        });
        contexts.work = work;
        rest.copy_from_slice(input.get(..rest.len())?);
        decoded
    }

    /// Bytes of the complete groups of 8 elements.
    fn whole(&self, len: usize) -> usize {
        let group = self.size.saturating_mul(8);
        len / group * group
    }

    fn encode_blocks(
        &self,
        (format, level): (BlockFormat, i32),
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        let (blocks, rest) = input.split_at(self.whole(input.len()));
        let block = self.block.min(blocks.len().max(self.size.checked_mul(8)?));
        let bound = compress_bound(format, block).checked_add(4)?;
        let max =
            HEAD.checked_add(blocks.len().div_ceil(block).checked_mul(bound)?)?.checked_add(rest.len())?;
        let mut work = std::mem::take(&mut contexts.work);
        let (planes, bytes) = work.prepare(block.checked_mul(2)?).split_at_mut(block);
        let room = out.prepare(max);
        // The header of bitshuffle's HDF5 filter: decoded bytes and bytes of a block, big-endian.
        room.get_mut(..8)?.copy_from_slice(&u64::try_from(input.len()).ok()?.to_be_bytes());
        room.get_mut(8..HEAD)?.copy_from_slice(&u32::try_from(self.block).ok()?.to_be_bytes());
        let mut at = HEAD;
        for input in blocks.chunks(block) {
            let planes = planes.get_mut(..input.len())?;
            bit_shuffle(input, self.size, bytes.get_mut(..input.len())?, planes);
            let len = compress(format, level, planes, room.get_mut(at + 4..)?, contexts)?;
            room.get_mut(at..at + 4)?.copy_from_slice(&u32::try_from(len).ok()?.to_be_bytes());
            at += 4 + len;
        }
        contexts.work = work;
        // Elements that are not a complete group of 8 are stored as they are.
        room.get_mut(at..at + rest.len())?.copy_from_slice(rest);
        out.truncate(at + rest.len());
        Some(())
    }
}

impl Codec for Bitshuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        self.compression.is_none().then_some(len)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        if self.compression.is_none() {
            return Ok(Some(input.len()));
        }
        let len = input.first_chunk().and_then(|len| usize::try_from(u64::from_be_bytes(*len)).ok());
        len.map(Some).ok_or_else(damaged)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.decoded_len(input)?.unwrap_or(0);
        with_room(NAME, len, out, contexts, |out, contexts| match self.compression {
            None => {
                self.decode_plain(input, out, contexts);
                Ok(())
            }
            Some((format, _)) => self.decode_blocks(format, input, out, contexts).ok_or_else(damaged),
        })
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if let Some(compression) = self.compression {
            let encoded = self.encode_blocks(compression, input, out, contexts);
            return encoded
                .ok_or_else(|| Error::unsupported(NAME, format!("a chunk of {} bytes", input.len())));
        }
        let whole = self.whole(input.len());
        let bytes = contexts.work.prepare(self.block.min(whole));
        let (blocks, rest) = input.split_at(whole);
        let (planes, tail) = out.prepare(input.len()).split_at_mut(whole);
        for (input, planes) in blocks.chunks(self.block).zip(planes.chunks_mut(self.block)) {
            bit_shuffle(input, self.size, &mut bytes[..input.len()], planes);
        }
        tail.copy_from_slice(rest);
        Ok(())
    }
}

/// A big-endian length of 4 bytes, and the rest.
fn length(input: &[u8]) -> Option<(usize, &[u8])> {
    let (len, rest) = input.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_be_bytes(*len)).ok()?, rest))
}

fn damaged() -> CodecError {
    CodecError::malformed(NAME, "the chunk is damaged or cut short")
}
