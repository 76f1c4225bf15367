//! Zstandard (RFC 8878). A chunk is one frame.
//!
//! - HDF5 filter: 32015 (value: level, signed).
//! - Zarr v2: `zstd`.
//! - Zarr v3: `zstd`; `numcodecs.zstd` is read, too.
//! - Parameters: `level`: -131072 to 22 (default 0, the library's own). `checksum`: whether frames end with one
//!   (default false; does not matter for decoding).
//! - Compatible: the library of Facebook, and therefore numcodecs, zarr-python, netCDF-C (`nc_def_var_zstandard`) and
//!   `hdf5plugin`.
//!
//! ```json
//! {"filter": 32015, "values": [3]}
//! {"id": "zstd", "level": 3, "checksum": true}
//! {"name": "zstd", "configuration": {"level": -3, "checksum": false}}
//! ```
use crate::CodecError;
use crate::codec::Codec;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::stream::grow;
use std::ops::Range;
use zstd_safe::{CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective};

const NAME: &str = "zstd";

/// zstd (HDF5 filter 32015); level 0 is the default (3), negative levels are fast.
#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) level: i32,
    /// Whether frames end with a checksum of their content.
    pub(crate) checksum: bool,
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn framed_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        let frame = zstd_safe::find_frame_compressed_size(input)
            .map_err(|code| CodecError::malformed(NAME, zstd_safe::get_error_name(code)))?;
        // There may be other frames after the first.
        Ok(content_len(input).filter(|_| frame == input.len()).and_then(|len| usize::try_from(len).ok()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        // One call decodes all frames, if there is room for them.
        if content_len(input).is_none_or(|len| len <= out.len() as u64)
            && let Ok(len) = decoder(contexts).decompress(out, input)
        {
            return Ok(len);
        }
        let mut stream = ZstdStream::new(contexts, input)?;
        let have = stream.fill(out)?;
        if have < out.len() {
            return stream.ended().map(|()| have);
        }
        Ok(have + stream.fill(&mut [0; 4096])?)
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        if end > out.len() / 4 * 3 {
            return self.decode_into(input, out, contexts);
        }
        ZstdStream::new(contexts, input)?.fill(out.get_mut(..end).unwrap_or_default())
    }

    fn decode_all(
        &self,
        input: &[u8],
        expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let content = content_len(input);
        if content.is_some_and(|len| len > limit as u64) {
            return Err(CodecError::limit(NAME, limit));
        }
        // The length that the first frame claims is trusted only if it is the expected one.
        if let Some(len) = expected.filter(|&len| content == Some(len as u64))
            && let Ok(have) = decoder(contexts).decompress(out.prepare(len), input)
        {
            out.truncate(have);
            return Ok(());
        }
        let mut stream = ZstdStream::new(contexts, input)?;
        let first = expected.unwrap_or(input.len().saturating_mul(4)).saturating_add(1);
        grow(NAME, first, limit, out, |tail| {
            let added = stream.fill(tail)?;
            let ended = added < tail.len();
            if ended {
                stream.ended()?;
            }
            Ok((added, ended))
        })
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let encoder = contexts.zstd_encoder.get_or_insert_with(CCtx::create);
        encoder.reset(ResetDirective::SessionAndParameters).map_err(bad)?;
        encoder.set_parameter(CParameter::CompressionLevel(self.level)).map_err(bad)?;
        encoder.set_parameter(CParameter::ChecksumFlag(self.checksum)).map_err(bad)?;
        let bound = zstd_safe::compress_bound(input.len());
        let len = encoder.compress2(out.prepare(bound), input).map_err(bad)?;
        out.truncate(len);
        Ok(())
    }
}

impl Zstd {
    /// Clamps the level to the range of the library.
    pub(crate) fn new(level: i64, checksum: bool) -> Self {
        let (min, max) = (zstd_safe::min_c_level(), zstd_safe::max_c_level());
        let level = level.clamp(i64::from(min), i64::from(max));
        Self { level: i32::try_from(level).unwrap_or(0), checksum }
    }
}

/// Decodes step by step.
struct ZstdStream<'c, 'i> {
    decoder: &'c mut DCtx<'static>,
    input: InBuffer<'i>,
    /// Whether the input so far ends with a complete frame.
    at_end: bool,
}

impl<'c, 'i> ZstdStream<'c, 'i> {
    fn new(contexts: &'c mut LibraryContexts, input: &'i [u8]) -> Result<Self, CodecError> {
        let decoder = decoder(contexts);
        decoder.reset(ResetDirective::SessionOnly).map_err(bad)?;
        Ok(Self { decoder, input: InBuffer::around(input), at_end: false })
    }

    /// Fills `out`, unless the input ends before.
    fn fill(&mut self, out: &mut [u8]) -> Result<usize, CodecError> {
        let len = out.len();
        let mut output = OutBuffer::around(out);
        while output.pos() < len {
            let before = (self.input.pos(), output.pos());
            let hint = self.decoder.decompress_stream(&mut output, &mut self.input).map_err(bad)?;
            if before == (self.input.pos(), output.pos()) {
                break;
            }
            self.at_end = hint == 0;
        }
        Ok(output.pos())
    }

    fn ended(&self) -> Result<(), CodecError> {
        if self.at_end { Ok(()) } else { Err(CodecError::malformed(NAME, "the stream is cut short")) }
    }
}

fn decoder(contexts: &mut LibraryContexts) -> &mut DCtx<'static> {
    contexts.zstd_decoder.get_or_insert_with(DCtx::create)
}

/// The decoded length that the first frame states.
fn content_len(input: &[u8]) -> Option<u64> {
    zstd_safe::get_frame_content_size(input).ok().flatten()
}

fn bad(code: usize) -> CodecError {
    CodecError::malformed(NAME, zstd_safe::get_error_name(code).to_lowercase())
}
