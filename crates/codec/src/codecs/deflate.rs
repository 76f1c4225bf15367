//! Deflate streams in a zlib or gzip envelope (RFC 1950, 1951, 1952).
//!
//! Whole chunks are decoded by libdeflate, which needs the decoded length. Streams of unknown length, and those of
//! which only the beginning is needed, are decoded by zlib-rs.
//!
//! - HDF5 filter: 1 (value: level), in the envelope of zlib.
//! - Zarr v2: `zlib`, `gzip`.
//! - Zarr v3: `numcodecs.zlib`, `gzip`; `zlib` and `numcodecs.gzip` are read, too.
//! - Parameters: `level`: 0 to 9 (default 1).
//! - Compatible: zlib, and therefore HDF5, netCDF-C, numcodecs and zarr-python.
//!
//! ```json
//! {"filter": 1, "values": [4]}
//! {"id": "zlib", "level": 4}
//! {"id": "gzip", "level": 1}
//! {"name": "gzip", "configuration": {"level": 5}}
//! ```
use crate::CodecError;
use crate::codec::Codec;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::stream;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};
use std::io::Read;
use std::ops::Range;

/// The envelope of a deflate stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeflateEnvelope {
    Zlib,
    Gzip,
}

/// zlib (HDF5 filter 1) or gzip.
#[derive(Debug)]
pub(crate) struct Deflate {
    pub(crate) envelope: DeflateEnvelope,
    pub(crate) level: i32,
}

impl Codec for Deflate {
    fn name(&self) -> &'static str {
        match self.envelope {
            DeflateEnvelope::Zlib => "zlib",
            DeflateEnvelope::Gzip => "gzip",
        }
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        match self.decode_whole(input, out, contexts) {
            // A gzip file may have several members.
            Ok(len) if len == out.len() || self.envelope == DeflateEnvelope::Zlib => Ok(len),
            Ok(_) | Err(DecompressionError::InsufficientSpace) => {
                stream::decode_into(self.name(), &mut self.stream(input), out)
            }
            Err(DecompressionError::BadData) => Err(self.bad("the stream is damaged or cut short")),
        }
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        // The streaming decoder takes about twice as long per byte.
        if end > out.len() / 2 {
            return self.decode_into(input, out, contexts);
        }
        stream::fill(self.name(), &mut self.stream(input), out.get_mut(..end).unwrap_or_default())
    }

    fn decode_all(
        &self,
        input: &[u8],
        expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if let Some(len) = expected.filter(|&len| len <= limit) {
            let have = self.decode_whole(input, out.prepare(len), contexts);
            if have == Ok(len) || (have.is_ok() && self.envelope == DeflateEnvelope::Zlib) {
                out.truncate(have.unwrap_or(0));
                return Ok(());
            }
        }
        stream::decode_all(self.name(), &mut self.stream(input), (expected, input.len()), limit, out)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let encoder = self.encoder(contexts)?;
        let len = match self.envelope {
            DeflateEnvelope::Zlib => {
                let bound = encoder.zlib_compress_bound(input.len());
                encoder.zlib_compress(input, out.prepare(bound))
            }
            DeflateEnvelope::Gzip => {
                let bound = encoder.gzip_compress_bound(input.len());
                encoder.gzip_compress(input, out.prepare(bound))
            }
        };
        out.truncate(len.map_err(|error| self.bad(&error.to_string()))?);
        Ok(())
    }
}

impl Deflate {
    /// Checks the level, 0 to 9; -1 selects the default.
    ///
    /// # Errors
    /// `Malformed` for any other level.
    pub(crate) fn new(envelope: DeflateEnvelope, level: i64) -> Result<Self, CodecError> {
        let codec = Self { envelope, level: 6 };
        match level {
            -1 => Ok(codec),
            0..=9 => Ok(Self { level: i32::try_from(level).unwrap_or(6), ..codec }),
            _ => Err(codec.bad(&format!("level {level} is not between 0 and 9"))),
        }
    }

    fn decode_whole(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, DecompressionError> {
        let decoder = contexts.inflate.get_or_insert_with(Decompressor::new);
        match self.envelope {
            DeflateEnvelope::Zlib => decoder.zlib_decompress(input, out),
            DeflateEnvelope::Gzip => decoder.gzip_decompress(input, out),
        }
    }

    fn stream<'a>(&self, input: &'a [u8]) -> Box<dyn Read + 'a> {
        match self.envelope {
            DeflateEnvelope::Zlib => Box::new(ZlibDecoder::new(input)),
            DeflateEnvelope::Gzip => Box::new(MultiGzDecoder::new(input)),
        }
    }

    fn encoder<'a>(&self, contexts: &'a mut LibraryContexts) -> Result<&'a mut Compressor, CodecError> {
        let reusable = contexts.deflate.take().filter(|(level, _)| *level == self.level);
        let encoder = match reusable {
            Some((_, encoder)) => encoder,
            None => Compressor::new(
                CompressionLvl::new(self.level).map_err(|_| self.bad("the level is out of range"))?,
            ),
        };
        Ok(&mut contexts.deflate.insert((self.level, encoder)).1)
    }

    fn bad(&self, reason: &str) -> CodecError {
        CodecError::malformed(self.name(), reason)
    }
}
