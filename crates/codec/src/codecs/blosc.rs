//! Blosc 1: a compressor after a shuffle, in blocks that can be decoded separately (`docs/spec/nczarr.md` 11.4).
//!
//! - HDF5 filter: 32001 (values: docs/spec/nczarr.md 11.4).
//! - Zarr v2: `blosc`.
//! - Zarr v3: `blosc`, `numcodecs.blosc`.
//! - Parameters: `cname`: `blosclz`, `lz4` (default), `lz4hc`, `zlib` or `zstd`; Snappy is not supported. `clevel`: 0
//!   to 9 (default 5). `shuffle`: 0 none, 1 bytes (default), 2 bits, -1 bits for elements of one byte, else bytes; Zarr
//!   v3 spells it `noshuffle`, `shuffle`, `bitshuffle`. `blocksize`: bytes, 0 for the library's choice. `typesize`: by
//!   default the bytes of an element.
//! - Compatible: c-blosc 1, and therefore numcodecs, zarr-python, `hdf5plugin` and netCDF-C.
//!
//! ```json
//! {"filter": 32001, "values": [2, 2, 4, 128, 5, 1, 1]}
//! {"id": "blosc", "cname": "zstd", "clevel": 7, "shuffle": 2, "blocksize": 0}
//! {"name": "blosc", "configuration": {"typesize": 4, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}}
//! ```
use super::block::BlockFormat;
use super::blosc2::Blosc2;
use super::blosc2::chunk::FrameChunk;
use super::blosc2::encode::classic;
use crate::CodecError;
use crate::codec::{Codec, with_room};
use crate::ffi::{BLOSC_MAX_LEN, BLOSC_OVERHEAD, BloscBuffer, BloscOptions, blosc_encode};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::ffi::CStr;
use std::ops::Range;

const NAME: &str = "blosc";
const SNAPPY: &CStr = c"snappy";

/// Blosc (HDF5 filter 32001). Decoding depends on the header of the chunk alone.
#[derive(Debug)]
pub(crate) struct Blosc {
    pub(crate) options: BloscOptions,
}

impl Codec for Blosc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(open(input)?.header.decoded_len))
    }

    fn framed_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        self.decoded_len(input)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let buffer = open(input)?;
        let len = buffer.header.decoded_len;
        with_room(NAME, len, out, contexts, |out, contexts| {
            if is_snappy(input) {
                return FrameChunk::read(input)
                    .ok()
                    .and_then(|chunk| chunk.decode(out, contexts))
                    .ok_or_else(damaged);
            }
            buffer.decode(out).map(|_| ()).ok_or_else(damaged)
        })
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let buffer = open(input)?;
        let len = buffer.header.decoded_len;
        let runs = runs(&buffer, ranges);
        let wanted: usize = runs.iter().map(ExactSizeIterator::len).sum();
        if wanted > len / 2 || is_snappy(input) {
            return self.decode_into(input, out, contexts);
        }
        for run in runs {
            let decoded = out.get_mut(run.clone()).and_then(|out| decode_run(&buffer, run, out));
            if decoded.is_none() {
                return self.decode_into(input, out, contexts);
            }
        }
        Ok(len)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if input.len() > BLOSC_MAX_LEN {
            return Err(CodecError::unsupported(NAME, format!("a chunk of {} bytes", input.len())));
        }
        if self.options.compressor == SNAPPY {
            let mut stream = out.take();
            let encoded = classic(&self.snappy(), input, &mut stream, contexts);
            out.set(stream);
            return encoded.ok_or_else(|| CodecError::unsupported(NAME, "the chunk is too large"));
        }
        let room = out.prepare(input.len() + BLOSC_OVERHEAD);
        let len = blosc_encode(input, room, &self.options)
            .ok_or_else(|| CodecError::unsupported(NAME, "the library could not compress the chunk"))?;
        out.truncate(len);
        Ok(())
    }
}

impl Blosc {
    /// The same options for a compressor that the library lacks here.
    fn snappy(&self) -> Blosc2 {
        Blosc2 {
            type_size: self.options.type_size,
            level: self.options.level,
            shuffle: u32::try_from(self.options.shuffle).unwrap_or(0),
            format: BlockFormat::Snappy,
        }
    }
}

/// The library's name of a compressor.
pub(crate) fn compressor(name: &str) -> Option<&'static CStr> {
    Some(match name {
        "blosclz" => c"blosclz",
        "lz4" => c"lz4",
        "lz4hc" => c"lz4hc",
        "zlib" => c"zlib",
        "zstd" => c"zstd",
        "snappy" => SNAPPY,
        _ => return None,
    })
}

/// Whether the header says that the compressor is Snappy, which the library lacks here.
fn is_snappy(input: &[u8]) -> bool {
    input.get(2).is_some_and(|flags| flags >> 5 == 2)
}

fn open(input: &[u8]) -> Result<BloscBuffer<'_>, CodecError> {
    BloscBuffer::new(input).ok_or_else(|| CodecError::malformed(NAME, "the header does not fit the chunk"))
}

fn damaged() -> CodecError {
    CodecError::malformed(NAME, "the chunk is damaged, or its compressor is not supported")
}

/// The ranges in whole items; those that share a block form one run, so that no block is decoded twice.
fn runs(buffer: &BloscBuffer, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let header = buffer.header;
    let (item, block) = (header.type_size.max(1), header.block_len.max(1));
    let items_end = header.decoded_len / item * item;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for range in ranges.iter().filter(|range| range.start < range.end) {
        let start = range.start / item * item;
        let end = range.end.div_ceil(item).saturating_mul(item).min(items_end.max(range.end));
        match runs.last_mut() {
            Some(last) if start <= last.end || start / block <= (last.end - 1) / block => {
                last.end = last.end.max(end);
            }
            _ => runs.push(start..end),
        }
    }
    runs
}

fn decode_run(buffer: &BloscBuffer, run: Range<usize>, out: &mut [u8]) -> Option<()> {
    let item = buffer.header.type_size.max(1);
    buffer.decode_items(run.start / item, run.len() / item, out)
}
