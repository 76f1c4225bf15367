//! LZMA in its three envelopes: `.xz`, `.lzma` and none.
//!
//! - HDF5 filter: none.
//! - Zarr v2: `lzma`.
//! - Zarr v3: `numcodecs.lzma`; `lzma` is read, too.
//! - Parameters: those of Python's `lzma`: `format`: 1 `.xz` (default), 2 `.lzma`, 3 none; only the first is written.
//!   `check`: 0 none, 1 CRC-32, 4 CRC-64 (default), 10 SHA-256. `preset`: 0 to 9 (default 6). `filters`: only for
//!   format 3, which has LZMA2 (33) as its one filter.
//! - Compatible: numcodecs, Python, xz.
//!
//! ```json
//! {"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null}
//! {"name": "numcodecs.lzma", "configuration": {"format": 1, "check": 4, "preset": 6, "filters": null}}
//! ```
use crate::CodecError;
use crate::codec::Codec;
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::stream;
use lzma_rust2::{CheckType, Lzma2Reader, LzmaReader, XzOptions, XzReader, XzWriter};
use serde_json::Value;
use std::io::{Read, Write};
use std::ops::Range;

const NAME: &str = "lzma";

/// Maximum dictionary size: a stream requests it before its first byte, whatever its length. The highest preset
/// requests 64 MiB.
const DICTIONARY_KIB: u32 = 96 << 10;

/// Dictionary sizes of the presets 0 to 9.
const PRESET_DICTIONARIES: [u32; 10] =
    [1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 22, 1 << 23, 1 << 23, 1 << 24, 1 << 25, 1 << 26];

/// LZMA.
#[derive(Debug)]
pub(crate) struct Lzma {
    envelope: LzmaEnvelope,
    preset: u32,
    check: CheckType,
}

#[derive(Debug, Clone, Copy)]
enum LzmaEnvelope {
    Xz,
    Alone,
    /// An LZMA2 stream with the given dictionary.
    Raw {
        dictionary: u32,
    },
}

impl Lzma {
    /// The members are those of Python's `lzma` module: `format`, `check`, `preset`, `filters`.
    ///
    /// # Errors
    /// `Malformed` or `Unsupported` for invalid parameters.
    pub(crate) fn new(parameters: &CodecParameters) -> Result<Self, CodecError> {
        let preset = parameters.integer("preset")?.unwrap_or(6);
        // The bit for the extreme variants of the presets affects only the encoder's effort.
        let preset = u32::try_from(preset & 0x1f).unwrap_or(6).min(9);
        let envelope = match parameters.integer("format")?.unwrap_or(1) {
            0 | 1 => LzmaEnvelope::Xz,
            2 => LzmaEnvelope::Alone,
            3 => LzmaEnvelope::Raw { dictionary: raw_dictionary(parameters)? },
            other => return Err(parameters.bad("format", &Value::from(other))),
        };
        let check = match parameters.integer("check")?.unwrap_or(-1) {
            0 => CheckType::None,
            1 => CheckType::Crc32,
            10 => CheckType::Sha256,
            -1 | 4 => CheckType::Crc64,
            other => return Err(parameters.bad("check", &Value::from(other))),
        };
        Ok(Self { envelope, preset, check })
    }

    fn stream<'a>(&self, input: &'a [u8]) -> Result<Box<dyn Read + 'a>, CodecError> {
        Ok(match self.envelope {
            LzmaEnvelope::Xz => Box::new(XzReader::new_mem_limit(input, true, DICTIONARY_KIB)),
            LzmaEnvelope::Alone => {
                Box::new(LzmaReader::new_mem_limit(input, DICTIONARY_KIB, None).map_err(|error| bad(&error))?)
            }
            LzmaEnvelope::Raw { dictionary } => Box::new(Lzma2Reader::new(input, dictionary, None)),
        })
    }
}

impl Codec for Lzma {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        stream::decode_into(NAME, &mut self.stream(input)?, out)
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        stream::fill(NAME, &mut self.stream(input)?, stream::up_to_last(ranges, out))
    }

    fn decode_all(
        &self,
        input: &[u8],
        expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        stream::decode_all(NAME, &mut self.stream(input)?, (expected, input.len()), limit, out)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if !matches!(self.envelope, LzmaEnvelope::Xz) {
            return Err(CodecError::unsupported(NAME, "only the xz format is written"));
        }
        let mut options = XzOptions::with_preset(self.preset);
        options.set_check_sum_type(self.check);
        let written = XzWriter::new(Vec::new(), options)
            .and_then(|mut writer| writer.write_all(input).map(|()| writer))
            .and_then(XzWriter::finish)
            .map_err(|error| bad(&error))?;
        out.prepare(written.len()).copy_from_slice(&written);
        Ok(())
    }
}

/// The dictionary of a stream without an envelope: its only filter must be LZMA2 (0x21).
fn raw_dictionary(parameters: &CodecParameters) -> Result<u32, CodecError> {
    let filters = parameters.get("filters").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let [Value::Object(filter)] = filters else {
        return Err(CodecError::unsupported(NAME, format!("{} filters instead of one", filters.len())));
    };
    let filter = CodecParameters::new(NAME, filter);
    if filter.integer("id")? != Some(0x21) {
        return Err(CodecError::unsupported(NAME, "a filter other than lzma2"));
    }
    let preset = filter.size("preset")?.unwrap_or(6) & 0x1f;
    let size = filter.size("dict_size")?.and_then(|size| u32::try_from(size).ok());
    let size = size.or(PRESET_DICTIONARIES.get(preset).copied()).unwrap_or(1 << 23);
    if size > DICTIONARY_KIB << 10 {
        return Err(CodecError::limit(NAME, (DICTIONARY_KIB as usize) << 10));
    }
    Ok(size)
}

fn bad(error: &std::io::Error) -> CodecError {
    CodecError::malformed(NAME, error.to_string())
}
