//! Blosc 2 (HDF5 filter 32026): frames of chunks of blocks (docs/spec/hdf5-netcdf4.md G.3).
//!
//! - HDF5 filter: 32026 (values: revision, 0, type size, chunk bytes, level, shuffle, compressor, rank, chunk shape).
//! - Zarr v2: `blosc2`.
//! - Zarr v3: `blosc2`.
//! - Parameters: `parameters`: the values of HDF5; missing ones have their defaults (level 5, shuffle of bytes, LZ4).
//!   Every frame states how it was compressed, so that they matter for writing only.
//! - Compatible: c-blosc2, and therefore `hdf5plugin` and PyTables. numcodecs has no such codec.
//!
//! ```json
//! {"filter": 32026, "values": [1, 0, 4, 128, 5, 1, 5]}
//! {"id": "blosc2", "parameters": [1, 0, 4, 128, 5, 2, 1]}
//! ```
mod array;
pub(crate) mod chunk;
pub(crate) mod encode;
mod filters;
mod frame;

use super::block::BlockFormat;
use crate::codec::{Codec, with_room};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use array::ArrayGrid;
use chunk::FrameChunk;
use frame::{ChunkPlace, FrameHeader};

const NAME: &str = "blosc2";

/// Blosc 2. Decoding depends on the frame alone.
#[derive(Debug)]
pub(crate) struct Blosc2 {
    pub(crate) type_size: usize,
    pub(crate) level: i32,
    /// 1: bytes, 2: bits, otherwise none.
    pub(crate) shuffle: u32,
    pub(crate) format: BlockFormat,
}

impl Blosc2 {
    /// From the parameters that HDF5 stores; missing ones have their defaults. Blosc's own compressor is not written:
    /// LZ4 is used instead, since every chunk states how it was compressed.
    ///
    /// # Errors
    /// `Malformed` if the compressor is unknown.
    pub(crate) fn new(parameters: &[u32], chunk: &ChunkInfo) -> Result<Self, CodecError> {
        let number = |index: usize| parameters.get(index).copied();
        let type_size = number(2).and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
        let type_size = type_size.or(chunk.element.byte_len).filter(|size| (1..256).contains(size));
        let format = match number(6).unwrap_or(0) {
            0..=2 => BlockFormat::Lz4,
            4 => BlockFormat::Zlib,
            5 => BlockFormat::Zstd,
            other => return Err(CodecError::malformed(NAME, format!("compressor {other} is not known"))),
        };
        Ok(Self {
            type_size: type_size.unwrap_or(1),
            level: number(4).and_then(|level| i32::try_from(level).ok()).unwrap_or(5).clamp(0, 9),
            shuffle: number(5).unwrap_or(1),
            format,
        })
    }
}

impl Codec for Blosc2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        decoded_len(&open(input)?).map(Some).ok_or_else(damaged)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let frame = open(input)?;
        let len = decoded_len(&frame).ok_or_else(damaged)?;
        with_room(NAME, len, out, contexts, |out, contexts| decode(&frame, input, out, contexts))
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let mut stream = out.take();
        let encoded = encode::frame(self, input, &mut stream, contexts);
        out.set(stream);
        encoded.ok_or_else(|| CodecError::unsupported(NAME, format!("a chunk of {} bytes", input.len())))
    }
}

fn open(input: &[u8]) -> Result<FrameHeader, CodecError> {
    FrameHeader::read(input)
        .ok_or_else(|| CodecError::malformed(NAME, "the chunk does not begin with a frame"))
}

fn decoded_len(frame: &FrameHeader) -> Option<usize> {
    match &frame.grid {
        Some(grid) => grid.len()?.checked_mul(frame.type_size),
        None => Some(frame.len),
    }
}

fn decode(
    frame: &FrameHeader,
    input: &[u8],
    out: &mut [u8],
    contexts: &mut LibraryContexts,
) -> Result<(), CodecError> {
    let count = frame.chunks().ok_or_else(|| CodecError::unsupported(NAME, "chunks of different lengths"))?;
    let index = frame.index().and_then(|at| input.get(at..)).ok_or_else(damaged)?;
    if count == 0 {
        return if out.is_empty() { Ok(()) } else { Err(damaged()) };
    }
    let index = read(index)?;
    if frame.grid.as_ref().is_some_and(|grid| grid.chunks() != Some(count)) {
        return Err(damaged());
    }
    // An entry takes 8 bytes, a chunk at least one.
    if count.checked_mul(8) != Some(index.len) || index.len > out.len().saturating_mul(8).saturating_add(64) {
        return Err(CodecError::malformed(
            NAME,
            format!("an index of {} bytes for {count} chunks", index.len),
        ));
    }
    let mut entries = vec![0; index.len];
    index.decode(&mut entries, contexts).ok_or_else(damaged)?;
    let target = &mut DecodeTarget { frame, out, block: Vec::new(), first: Vec::new() };
    for (number, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
        match frame.place(*entry).ok_or_else(damaged)? {
            ChunkPlace::At(at) => {
                let chunk = read(input.get(at..).ok_or_else(damaged)?)?;
                target.decode(number, &chunk, contexts)
            }
            ChunkPlace::Zeros => target.fill(number, &[0]),
            ChunkPlace::Nan if frame.type_size == 4 => target.fill(number, &f32::NAN.to_le_bytes()),
            ChunkPlace::Nan => target.fill(number, &f64::NAN.to_le_bytes()),
        }
        .ok_or_else(damaged)?;
    }
    Ok(())
}

fn read(input: &[u8]) -> Result<FrameChunk<'_>, CodecError> {
    FrameChunk::read(input).map_err(|reason| CodecError::malformed(NAME, reason))
}

/// The destination of decoded chunks.
struct DecodeTarget<'a> {
    frame: &'a FrameHeader,
    out: &'a mut [u8],
    block: Vec<u8>,
    /// The first block of a chunk, if others refer to it.
    first: Vec<u8>,
}

impl DecodeTarget<'_> {
    fn decode(&mut self, number: usize, chunk: &FrameChunk, contexts: &mut LibraryContexts) -> Option<()> {
        let Some(grid) = &self.frame.grid else {
            let out = self.out.get_mut(self.frame.range(number)?)?;
            return if out.len() == chunk.len { chunk.decode(out, contexts) } else { None };
        };
        let size = self.frame.type_size;
        let bytes = |elements: Option<usize>| elements?.checked_mul(size);
        if bytes(grid.block_len())? != chunk.block_len || bytes(grid.chunk_len())? != chunk.len {
            return None;
        }
        self.first.clear();
        for block in 0..grid.blocks()? {
            self.decode_block(grid, number, block, chunk, contexts)?;
        }
        Some(())
    }

    fn decode_block(
        &mut self,
        grid: &ArrayGrid,
        number: usize,
        block: usize,
        chunk: &FrameChunk,
        contexts: &mut LibraryContexts,
    ) -> Option<()> {
        let size = self.frame.type_size;
        let region = grid.region(number, block);
        let first = (block > 0).then_some(&*self.first);
        let place = grid.contiguous(&region).and_then(|start| {
            let start = start.checked_mul(size)?;
            Some(start..start.checked_add(chunk.block_len)?)
        });
        let keep = block == 0 && chunk.refers_to_first();
        if let Some(out) = place.and_then(|place| self.out.get_mut(place)) {
            chunk.decode_block(block, first, out, contexts)?;
            if keep {
                self.first = out.to_vec();
            }
            return Some(());
        }
        // A block is not longer than the array, apart from its padding at the edges.
        if chunk.block_len > self.out.len().saturating_mul(2).saturating_add(1 << 16) {
            return None;
        }
        self.block.resize(chunk.block_len, 0);
        chunk.decode_block(block, first, &mut self.block, contexts)?;
        if keep {
            self.first.clone_from(&self.block);
        }
        grid.scatter(&region, size, &self.block, self.out)
    }

    /// One value for all elements of a chunk.
    fn fill(&mut self, number: usize, value: &[u8]) -> Option<()> {
        let Some(grid) = &self.frame.grid else {
            chunk::repeat(value, self.out.get_mut(self.frame.range(number)?)?);
            return Some(());
        };
        let size = self.frame.type_size;
        let len = grid.block_len()?.checked_mul(size)?;
        if len > self.out.len().saturating_mul(2).saturating_add(1 << 16) {
            return None;
        }
        self.block.resize(len, 0);
        chunk::repeat(value, &mut self.block);
        for block in 0..grid.blocks()? {
            grid.scatter(&grid.region(number, block), size, &self.block, self.out)?;
        }
        Some(())
    }
}

fn damaged() -> CodecError {
    CodecError::malformed(NAME, "the frame is damaged or cut short")
}
