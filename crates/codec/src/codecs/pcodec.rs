//! Numbers in bins with entropy coding, after modes and differences that suit them (pcodec, "pco").
//!
//! - HDF5 filter: none.
//! - Zarr v2: `pcodec`.
//! - Zarr v3: `numcodecs.pcodec`; `pcodec` is read, too.
//! - Parameters: `level`: 0 to 12 (default 8). `mode_spec`: `auto` or `classic`. `delta_spec`: `auto`, `none`,
//!   `try_consecutive` or `try_lookback`. `delta_encoding_order`: the order of `try_consecutive`, 0 to 7.
//!   `equal_pages_up_to`: numbers of a page (default 262144). `paging_spec`: `equal_pages_up_to`.
//! - Elements are integers or floats; chunks state their type.
//! - Compatible: numcodecs; the crate `pco` encodes and decodes.
//!
//! ```json
//! {"id": "pcodec", "level": 8}
//! {"name": "numcodecs.pcodec", "configuration": {"level": 4, "delta_spec": "try_consecutive", "delta_encoding_order": 1}}
//! {"name": "pcodec", "configuration": {}}
//! ```
use crate::codec::{Codec, element_count};
use crate::number::{NumberKind, NumberType};
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use half::f16;
use pco::data_types::{Number, NumberType as PcoType};
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use serde_json::Value;

const NAME: &str = "pcodec";
/// Numbers that are decoded at a time: a multiple of the library's batches.
const STEP: usize = 4096;

/// The parameters, and the type of the elements if it is known.
#[derive(Debug)]
pub(crate) struct Pcodec {
    config: ChunkConfig,
    number: Option<NumberType>,
}

impl Pcodec {
    /// Reads the parameters. The type of the elements is needed for encoding only.
    ///
    /// # Errors
    /// `Malformed` if they are invalid.
    pub(crate) fn new(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Self, CodecError> {
        let level = parameters.size("level")?.unwrap_or(8);
        if level > 12 {
            return Err(parameters.bad("level", &Value::from(level)));
        }
        let mode = match parameters.text("mode_spec")? {
            None | Some("auto") => ModeSpec::Auto,
            Some("classic") => ModeSpec::Classic,
            Some(other) => return Err(parameters.bad("mode_spec", &Value::from(other))),
        };
        let pages = parameters.size("equal_pages_up_to")?.unwrap_or(1 << 18);
        if pages == 0 {
            return Err(parameters.bad("equal_pages_up_to", &Value::from(pages)));
        }
        let config = ChunkConfig::default()
            .with_compression_level(level)
            .with_mode_spec(mode)
            .with_delta_spec(delta_spec(parameters)?)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(pages.min(1 << 24)))
            .with_enable_8_bit(true);
        Ok(Self { config, number: chunk.element.number })
    }
}

fn delta_spec(parameters: &CodecParameters) -> Result<DeltaSpec, CodecError> {
    let order = parameters.size("delta_encoding_order")?;
    if let Some(order) = order.filter(|order| *order > 7) {
        return Err(parameters.bad("delta_encoding_order", &Value::from(order)));
    }
    Ok(match (parameters.text("delta_spec")?, order) {
        (None | Some("auto"), None) => DeltaSpec::Auto,
        (None | Some("auto" | "try_consecutive"), Some(order)) => DeltaSpec::TryConsecutive(order),
        (Some("try_consecutive"), None) => DeltaSpec::TryConsecutive(1),
        (Some("none"), None) => DeltaSpec::NoOp,
        (Some("try_lookback"), None) => DeltaSpec::TryLookback,
        (Some(other), _) => return Err(parameters.bad("delta_spec", &Value::from(other))),
    })
}

impl Codec for Pcodec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let mut decoded = DecodedNumbers { bytes: Vec::new(), limit: out.len().saturating_add(1) };
        self.decode(input, &mut decoded)?;
        crate::codec::copy_prefix(&decoded.bytes, out);
        Ok(decoded.bytes.len())
    }

    fn decode_all(
        &self,
        input: &[u8],
        _: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let mut decoded = DecodedNumbers { bytes: Vec::new(), limit: limit.saturating_add(1) };
        self.decode(input, &mut decoded)?;
        if decoded.bytes.len() > limit {
            return Err(CodecError::limit(NAME, limit));
        }
        out.set(decoded.bytes);
        Ok(())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let unknown = || CodecError::unsupported(NAME, "elements that are neither integers nor floats");
        let number = self.number.ok_or_else(unknown)?;
        let config = &self.config;
        let encoded = match (number.kind, number.size) {
            (NumberKind::Signed, 1) => compress(input, number, i8::from_le_bytes, config),
            (NumberKind::Signed, 2) => compress(input, number, i16::from_le_bytes, config),
            (NumberKind::Signed, 4) => compress(input, number, i32::from_le_bytes, config),
            (NumberKind::Signed, 8) => compress(input, number, i64::from_le_bytes, config),
            (NumberKind::Unsigned, 1) => compress(input, number, u8::from_le_bytes, config),
            (NumberKind::Unsigned, 2) => compress(input, number, u16::from_le_bytes, config),
            (NumberKind::Unsigned, 4) => compress(input, number, u32::from_le_bytes, config),
            (NumberKind::Unsigned, 8) => compress(input, number, u64::from_le_bytes, config),
            (NumberKind::Float, 2) => compress(input, number, f16::from_le_bytes, config),
            (NumberKind::Float, 4) => compress(input, number, f32::from_le_bytes, config),
            (NumberKind::Float, 8) => compress(input, number, f64::from_le_bytes, config),
            _ => return Err(unknown()),
        }?;
        out.set(encoded);
        Ok(())
    }
}

/// Decoded bytes up to a limit.
struct DecodedNumbers {
    bytes: Vec<u8>,
    limit: usize,
}

impl Pcodec {
    /// Decodes until the end, or until there are more bytes than the limit.
    fn decode(&self, input: &[u8], out: &mut DecodedNumbers) -> Result<(), CodecError> {
        let (file, mut rest) = FileDecompressor::new(input).map_err(|error| damaged(&error))?;
        while out.bytes.len() < out.limit {
            let Some(ty) = file.peek_number_type_or_termination(rest).map_err(|error| damaged(&error))?
            else {
                return Ok(());
            };
            let big = self.number.is_some_and(|number| number.big_endian);
            let next = match ty {
                PcoType::U8 => decompress(&file, rest, u8::to_le_bytes, big, out),
                PcoType::U16 => decompress(&file, rest, u16::to_le_bytes, big, out),
                PcoType::U32 => decompress(&file, rest, u32::to_le_bytes, big, out),
                PcoType::U64 => decompress(&file, rest, u64::to_le_bytes, big, out),
                PcoType::I8 => decompress(&file, rest, i8::to_le_bytes, big, out),
                PcoType::I16 => decompress(&file, rest, i16::to_le_bytes, big, out),
                PcoType::I32 => decompress(&file, rest, i32::to_le_bytes, big, out),
                PcoType::I64 => decompress(&file, rest, i64::to_le_bytes, big, out),
                PcoType::F16 => decompress(&file, rest, f16::to_le_bytes, big, out),
                PcoType::F32 => decompress(&file, rest, f32::to_le_bytes, big, out),
                PcoType::F64 => decompress(&file, rest, f64::to_le_bytes, big, out),
                other => Err(CodecError::unsupported(NAME, format!("numbers of type {other:?}"))),
            }?;
            match next {
                Some(next) => rest = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Decodes one chunk of the library; returns what follows it, or `None` at the end.
fn decompress<'a, T: Number + Default, const N: usize>(
    file: &FileDecompressor,
    rest: &'a [u8],
    store: impl Fn(T) -> [u8; N],
    big_endian: bool,
    out: &mut DecodedNumbers,
) -> Result<Option<&'a [u8]>, CodecError> {
    let item = file.chunk_decompressor::<T, &[u8]>(rest).map_err(|error| damaged(&error))?;
    let DecompressorItem::Chunk(mut chunk) = item else { return Ok(None) };
    let mut numbers = vec![T::default(); STEP];
    loop {
        let progress = chunk.read(&mut numbers).map_err(|error| damaged(&error))?;
        for number in numbers.iter().take(progress.n_processed) {
            let mut bytes = store(*number);
            if big_endian {
                bytes.reverse();
            }
            out.bytes.extend_from_slice(&bytes);
        }
        if out.bytes.len() >= out.limit {
            return Ok(None);
        }
        if progress.finished {
            return Ok(Some(chunk.into_src()));
        }
        if progress.n_processed == 0 {
            return Err(CodecError::malformed(NAME, "the chunk ends too early"));
        }
    }
}

fn compress<T: Number, const N: usize>(
    input: &[u8],
    number: NumberType,
    load: impl Fn([u8; N]) -> T,
    config: &ChunkConfig,
) -> Result<Vec<u8>, CodecError> {
    element_count(NAME, input, N)?;
    let (elements, _) = input.as_chunks::<N>();
    let number_of = |bytes: &[u8; N]| {
        let mut bytes = *bytes;
        if number.big_endian {
            bytes.reverse();
        }
        load(bytes)
    };
    let numbers: Vec<T> = elements.iter().map(number_of).collect();
    simple_compress(&numbers, config).map_err(|error| CodecError::unsupported(NAME, error.to_string()))
}

fn damaged(error: &pco::errors::PcoError) -> CodecError {
    CodecError::malformed(NAME, error.to_string())
}
