//! LZ4 blocks, framed as numcodecs does or as the HDF5 filter does (docs/spec/nczarr.md 11.2).
//!
//! - HDF5 filter: 32004 (value: block size).
//! - Zarr v2: `lz4`.
//! - Zarr v3: `numcodecs.lz4`; `lz4` is read, too.
//! - Parameters: `acceleration` (Zarr; does not matter for decoding). The block size of HDF5 is in bytes, 0 for the
//!   default.
//! - Compatible: Zarr: numcodecs, whose chunks are a length of 4 bytes (little-endian) and one block. HDF5:
//!   `hdf5plugin`, whose chunks are big-endian lengths and blocks (docs/spec/hdf5-netcdf4.md G.3). The two framings
//!   cannot be told apart: the place of the description decides.
//!
//! ```json
//! {"filter": 32004, "values": [0]}
//! {"id": "lz4", "acceleration": 1}
//! {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}
//! ```
use crate::CodecError;
use crate::codec::{Codec, with_room};
use crate::ffi::lz4_decode;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use lz4_flex::block::{compress_into, get_maximum_output_size};

const NAME: &str = "lz4";

/// How LZ4 blocks are framed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lz4 {
    /// The decoded length in 4 bytes, little-endian, and one block.
    Whole,
    /// The decoded length in 8 bytes and that of a block in 4, big-endian; then per block the encoded length in 4
    /// bytes, big-endian, and the block, unencoded if that is no longer (HDF5 filter 32004).
    Blocks { block_len: usize },
}

/// The default of the HDF5 filter.
const DEFAULT_BLOCK_LEN: usize = 1 << 30;

/// LZ4 cannot decode a byte to more than this many.
const MAX_PER_BYTE: usize = 256;

impl Lz4 {
    /// The framing of the HDF5 filter; zero selects the default block length.
    pub(crate) fn blocks(block_len: usize) -> Self {
        let block_len = if block_len == 0 { DEFAULT_BLOCK_LEN } else { block_len.min(DEFAULT_BLOCK_LEN) };
        Self::Blocks { block_len }
    }

    /// Decodes into memory of exactly the decoded length.
    fn decode_whole(self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        match self {
            Self::Whole => decode_block(input.get(4..).unwrap_or_default(), out),
            Self::Blocks { .. } => decode_blocks(input, out),
        }
    }
}

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        let len = match self {
            Self::Whole => input.first_chunk().map(|len| u64::from(u32::from_le_bytes(*len))),
            Self::Blocks { .. } => input.first_chunk().map(|len| u64::from_be_bytes(*len)),
        };
        let max = input.len().saturating_mul(MAX_PER_BYTE);
        match len.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= max) {
            Some(len) => Ok(Some(len)),
            None => Err(CodecError::malformed(NAME, format!("{} bytes cannot hold the chunk", input.len()))),
        }
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.decoded_len(input)?.unwrap_or(0);
        with_room(NAME, len, out, contexts, |out, _| self.decode_whole(input, out))
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        match *self {
            Self::Whole => encode_whole(input, out),
            Self::Blocks { block_len } => encode_blocks(input, block_len, out, &mut contexts.spare),
        }
    }
}

fn decode_block(input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    let len = lz4_decode(input, out).ok_or_else(|| CodecError::malformed(NAME, "a block is damaged"))?;
    if len == out.len() {
        return Ok(());
    }
    Err(CodecError::malformed(NAME, format!("a block decodes to {len} bytes instead of {}", out.len())))
}

fn decode_blocks(input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    let cut = || CodecError::malformed(NAME, "the chunk is cut short");
    let (_, rest) = input.split_at_checked(8).ok_or_else(cut)?;
    let (block_len, mut rest) = length(rest).ok_or_else(cut)?;
    if block_len == 0 && !out.is_empty() {
        return Err(CodecError::malformed(NAME, "blocks of 0 bytes"));
    }
    for out in out.chunks_mut(block_len.max(1)) {
        let (len, behind) = length(rest).ok_or_else(cut)?;
        let (block, behind) = behind.split_at_checked(len).ok_or_else(cut)?;
        if len == out.len() {
            out.copy_from_slice(block);
        } else {
            decode_block(block, out)?;
        }
        rest = behind;
    }
    Ok(())
}

/// A big-endian length of 4 bytes, and the rest.
fn length(input: &[u8]) -> Option<(usize, &[u8])> {
    let (len, rest) = input.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_be_bytes(*len)).ok()?, rest))
}

fn encode_whole(input: &[u8], out: &mut ScratchBuffer) -> Result<(), CodecError> {
    let len = u32::try_from(input.len()).map_err(|_| too_long(input.len()))?;
    let room = out.prepare(4 + get_maximum_output_size(input.len()));
    let (head, body) = room.split_at_mut(4);
    head.copy_from_slice(&len.to_le_bytes());
    let encoded =
        compress_into(input, body).map_err(|error| CodecError::malformed(NAME, error.to_string()))?;
    out.truncate(4 + encoded);
    Ok(())
}

fn encode_blocks(
    input: &[u8],
    block_len: usize,
    out: &mut ScratchBuffer,
    spare: &mut ScratchBuffer,
) -> Result<(), CodecError> {
    let block_len = block_len.min(input.len().max(1));
    let stated = u32::try_from(block_len).map_err(|_| too_long(block_len))?;
    let mut at = 12;
    let head = out.prepare(at);
    head[..8].copy_from_slice(&(input.len() as u64).to_be_bytes());
    head[8..].copy_from_slice(&stated.to_be_bytes());
    for block in input.chunks(block_len) {
        let room = spare.prepare(get_maximum_output_size(block.len()));
        let len =
            compress_into(block, room).map_err(|error| CodecError::malformed(NAME, error.to_string()))?;
        spare.truncate(len);
        let body = if len < block.len() { spare.as_slice() } else { block };
        let stated = u32::try_from(body.len()).map_err(|_| too_long(body.len()))?;
        let room = out.extend_to(at + 4 + body.len());
        room[at..at + 4].copy_from_slice(&stated.to_be_bytes());
        room[at + 4..].copy_from_slice(body);
        at += 4 + body.len();
    }
    Ok(())
}

fn too_long(len: usize) -> CodecError {
    CodecError::unsupported(NAME, format!("a chunk of {len} bytes"))
}
