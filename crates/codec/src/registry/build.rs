//! From parameters to codecs.
use crate::codec::Codec;
use crate::codecs::bitpack::BitPack;
use crate::codecs::bitshuffle::Bitshuffle;
use crate::codecs::blosc::{Blosc, compressor};
use crate::codecs::blosc2::Blosc2;
use crate::codecs::bzip2::Bzip2;
use crate::codecs::cast_value::CastValue;
use crate::codecs::checksum::{Checksum, ChecksumAlgorithm};
use crate::codecs::conditional::Conditional;
use crate::codecs::deflate::{Deflate, DeflateEnvelope};
use crate::codecs::delta::Delta;
use crate::codecs::elementwise::{ElementMap, Elementwise};
use crate::codecs::lz4::Lz4;
use crate::codecs::lzf::Lzf;
use crate::codecs::lzma::Lzma;
use crate::codecs::n5::{N5Block, outer_specs};
use crate::codecs::nbit::Nbit;
use crate::codecs::nested_specs;
use crate::codecs::packbits::PackBits;
use crate::codecs::pcodec::Pcodec;
use crate::codecs::reshape::reshaped;
use crate::codecs::scale_offset::ScaledValues;
use crate::codecs::scaleoffset::ScaleOffset;
use crate::codecs::shuffle::Shuffle;
use crate::codecs::szip::Szip;
use crate::codecs::transpose::Transpose;
use crate::codecs::zfp::Zfp;
use crate::codecs::zstd::Zstd;
use crate::ffi::BloscOptions;
use crate::names::{self, CodecKind, describe, shuffle_size};
use crate::number::{NumberKind, NumberType};
use crate::parameters::CodecParameters;
use crate::{ChunkInfo, CodecError, CodecRegistry, DecodedElement};
use ncirrus_model::{CodecSpace, CodecSpec};
use serde_json::Value;
use std::sync::Arc;

/// A codec, or none if it changes nothing.
type BoundCodec = Option<Arc<dyn Codec>>;

/// The codec for a description, `None` if it changes nothing; `chunk` becomes the input of the next codec.
///
/// `big_endian`: the byte order of number types that do not state one.
pub(super) fn build(
    registry: &CodecRegistry,
    spec: &CodecSpec,
    chunk: &mut ChunkInfo,
    big_endian: bool,
) -> Result<BoundCodec, CodecError> {
    let described = describe(spec)?;
    let label = described.name.label();
    let parameters = CodecParameters::new(label, &described.parameters);
    let level = |default| parameters.integer("level").map(|level| level.unwrap_or(default));
    match described.kind() {
        CodecKind::Zlib => bound(Deflate::new(DeflateEnvelope::Zlib, level(1)?)?),
        CodecKind::Gzip => bound(Deflate::new(DeflateEnvelope::Gzip, level(1)?)?),
        CodecKind::Bzip2 => bound(Bzip2::new(level(1)?)?),
        CodecKind::Zstd => bound(Zstd::new(level(0)?, parameters.flag("checksum")?)),
        CodecKind::Lzma => bound(Lzma::new(&parameters)?),
        CodecKind::Blosc => bound(blosc(&parameters, chunk)?),
        CodecKind::Lz4 if described.space == CodecSpace::Hdf5 => {
            bound(Lz4::blocks(parameters.size("blocksize")?.unwrap_or(0)))
        }
        CodecKind::Lz4 => bound(Lz4::Whole),
        CodecKind::Shuffle => match shuffle_size(&parameters, &chunk.element)? {
            0 | 1 => Ok(None),
            size => bound(Shuffle { size }),
        },
        CodecKind::Nbit => {
            Ok(Nbit::new(&parameters.numbers()?)?.map(|codec| Arc::new(codec) as Arc<dyn Codec>))
        }
        CodecKind::ScaleOffset => {
            Ok(ScaleOffset::new(&parameters.numbers()?)?.map(|codec| Arc::new(codec) as Arc<dyn Codec>))
        }
        CodecKind::Bitshuffle => bound(Bitshuffle::new(&parameters, chunk)?),
        CodecKind::Blosc2 => bound(Blosc2::new(&parameters.numbers()?, chunk)?),
        CodecKind::Zfp if described.space == CodecSpace::Hdf5 => bound(Zfp::new(&parameters.numbers()?)?),
        CodecKind::Zfp => bound(Zfp::with_headers(&parameters, chunk)),
        CodecKind::ZfpStream => bound(Zfp::without_headers(&parameters, chunk)?),
        // Rounded values stay as they are.
        CodecKind::BitGroom => Ok(None),
        CodecKind::Szip => bound(Szip::new(&parameters, chunk)?),
        CodecKind::Lzf => bound(Lzf),
        CodecKind::Fletcher32 => {
            bound(Checksum { algorithm: ChecksumAlgorithm::Fletcher32, at_start: false })
        }
        CodecKind::Crc32 => bound(checksum(ChecksumAlgorithm::Crc32, true, &parameters)?),
        CodecKind::Crc32c => bound(checksum(ChecksumAlgorithm::Crc32c, false, &parameters)?),
        CodecKind::Adler32 => bound(checksum(ChecksumAlgorithm::Adler32, true, &parameters)?),
        CodecKind::Transpose => transpose(&parameters, chunk),
        CodecKind::Delta => {
            let (decoded, encoded) = types(&parameters, ["dtype", "astype"], chunk, big_endian)?;
            bound(Delta { decoded, encoded })
        }
        CodecKind::FixedScaleOffset | CodecKind::Quantize | CodecKind::BitRound | CodecKind::AsType => {
            let number = chunk.element.number.filter(|number| !number.is_float());
            match (described.kind(), number) {
                // Integers are rounded by Zarr v3's codec, and by no other of that name.
                (CodecKind::BitRound, Some(number)) if described.space == CodecSpace::V3 => {
                    integer_bitround(&parameters, number)
                }
                (kind, _) => elementwise(kind, &parameters, chunk, big_endian),
            }
        }
        CodecKind::PackBits => {
            if chunk
                .element
                .number
                .is_some_and(|number| number.size != 1 || number.kind != NumberKind::Unsigned)
            {
                return Err(CodecError::unsupported(
                    label,
                    "elements other than unsigned bytes: it stores only 0 and 1",
                ));
            }
            chunk.element = DecodedElement::sized(Some(1));
            bound(PackBits)
        }
        CodecKind::BitPack => {
            let codec = BitPack::new(&parameters, chunk)?;
            chunk.element = DecodedElement::sized(Some(1));
            bound(codec)
        }
        CodecKind::CastValue => bound(CastValue::new(&parameters, chunk, big_endian)?),
        CodecKind::ScaledValues => bound(ScaledValues::new(&parameters, chunk)?),
        CodecKind::Reshape => {
            chunk.shape = reshaped(&parameters, &chunk.shape)?;
            Ok(None)
        }
        CodecKind::Conditional => {
            let codec = |spec: &CodecSpec| {
                Ok((registry.bind(std::slice::from_ref(spec), chunk)?, names::compresses(spec)))
            };
            let codecs = nested_specs(&parameters)?.iter().map(codec).collect::<Result<_, CodecError>>()?;
            bound(Conditional::new(&parameters, codecs)?)
        }
        CodecKind::N5 => {
            let specs = nested_specs(&parameters)?;
            let outer = registry.bind(outer_specs(&specs, chunk.shape.len())?, chunk)?;
            bound(N5Block::new(chunk, outer)?)
        }
        CodecKind::Pcodec => bound(Pcodec::new(&parameters, chunk)?),
        CodecKind::Jenkins => bound(jenkins(&parameters)?),
        CodecKind::Identity => Ok(None),
        _ => Err(CodecError::unsupported(label, "it is not implemented")),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the other ways to a codec can fail")]
fn bound(codec: impl Codec + 'static) -> Result<BoundCodec, CodecError> {
    Ok(Some(Arc::new(codec)))
}

fn checksum(
    algorithm: ChecksumAlgorithm,
    at_start: bool,
    parameters: &CodecParameters,
) -> Result<Checksum, CodecError> {
    let at_start = match parameters.get("location").map(|value| (value, value.as_str())) {
        None => at_start,
        Some((_, Some("start"))) => true,
        Some((_, Some("end"))) => false,
        Some((value, _)) => return Err(parameters.bad("location", value)),
    };
    Ok(Checksum { algorithm, at_start })
}

fn jenkins(parameters: &CodecParameters) -> Result<Checksum, CodecError> {
    let initial = parameters.integer("initval")?.unwrap_or(0);
    let initial = u32::try_from(initial).map_err(|_| parameters.bad("initval", &Value::from(initial)))?;
    let prefix: Arc<[u8]> = match parameters.get("prefix") {
        None => Arc::default(),
        Some(value) => {
            let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            let bytes = match value {
                Value::String(text) => Some(text.as_bytes().into()),
                value => value.as_array().and_then(|list| list.iter().map(byte).collect()),
            };
            bytes.ok_or_else(|| parameters.bad("prefix", value))?
        }
    };
    Ok(Checksum { algorithm: ChecksumAlgorithm::Lookup3 { initial, prefix }, at_start: false })
}

fn blosc(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Blosc, CodecError> {
    let cname = parameters.text("cname")?.unwrap_or("lz4");
    // Chunks state how they were compressed; the name matters for writing only.
    let compressor = compressor(cname)
        .ok_or_else(|| CodecError::unsupported("blosc", format!("the compressor {cname:?}")))?;
    let level = parameters.integer("clevel")?.unwrap_or(5).clamp(0, 9);
    let stated = parameters.size("typesize")?.filter(|&size| size > 0);
    let type_size = stated.or(chunk.element.byte_len).filter(|size| (1..256).contains(size)).unwrap_or(1);
    let shuffle = match parameters.integer("shuffle")?.unwrap_or(1) {
        -1 if type_size == 1 => 2,
        -1 => 1,
        known @ 0..=2 => known,
        other => return Err(parameters.bad("shuffle", &Value::from(other))),
    };
    let small = |number: i64| i32::try_from(number).unwrap_or(0);
    let block_len = parameters.size("blocksize")?.unwrap_or(0);
    Ok(Blosc {
        options: BloscOptions {
            level: small(level),
            shuffle: small(shuffle),
            type_size,
            compressor,
            block_len,
        },
    })
}

/// The following codecs see elements of the encoded type.
fn types(
    parameters: &CodecParameters,
    [decoded, encoded]: [&str; 2],
    chunk: &mut ChunkInfo,
    big_endian: bool,
) -> Result<(NumberType, NumberType), CodecError> {
    let Some(first) = number_type(parameters, decoded, big_endian)? else {
        return Err(parameters.missing(decoded));
    };
    if let Some(number) = chunk.element.number
        && (number.size != first.size || number.is_float() != first.is_float())
    {
        let given = parameters.text(decoded)?.unwrap_or_default();
        let reason = format!("{decoded} {given:?} is not the type of the elements");
        return Err(CodecError::malformed(parameters.codec(), reason));
    }
    let second = number_type(parameters, encoded, big_endian)?.unwrap_or(first);
    chunk.element = DecodedElement::of(second);
    Ok((first, second))
}

fn number_type(parameters: &CodecParameters, key: &str, big: bool) -> Result<Option<NumberType>, CodecError> {
    let Some(text) = parameters.text(key)? else { return Ok(None) };
    let kind = NumberType::parse(text).ok_or_else(|| {
        CodecError::unsupported(parameters.codec(), format!("{key} {text:?} is not a number type"))
    })?;
    let unstated = !text.starts_with(['<', '>', '|', '=']);
    Ok(Some(NumberType { big_endian: kind.big_endian || (big && unstated), ..kind }))
}

fn elementwise(
    kind: CodecKind,
    parameters: &CodecParameters,
    chunk: &mut ChunkInfo,
    big_endian: bool,
) -> Result<BoundCodec, CodecError> {
    let number = |key: &str| parameters.number(key)?.ok_or_else(|| parameters.missing(key));
    let map = match kind {
        CodecKind::FixedScaleOffset => {
            ElementMap::ScaleOffset { scale: number("scale")?, offset: number("offset")? }
        }
        CodecKind::Quantize => ElementMap::Quantize { scale: quantum(number("digits")?) },
        CodecKind::BitRound => return bitround(parameters, chunk, big_endian),
        _ => ElementMap::Cast,
    };
    let keys = if kind == CodecKind::AsType { ["decode_dtype", "encode_dtype"] } else { ["dtype", "astype"] };
    let (decoded, encoded) = types(parameters, keys, chunk, big_endian)?;
    bound(Elementwise { map, decoded, encoded })
}

/// The inverse of the largest power of two below the precision that the digits require.
fn quantum(digits: f64) -> f64 {
    let exponent = 10f64.powf(-digits).log10();
    let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
    10f64.powf(-exponent).log2().ceil().exp2()
}

fn bitround(
    parameters: &CodecParameters,
    chunk: &ChunkInfo,
    big_endian: bool,
) -> Result<BoundCodec, CodecError> {
    let (size, mantissa) = match chunk.element.byte_len {
        Some(2) => (2, 10),
        Some(4) => (4, 23),
        Some(8) => (8, 52),
        other => {
            return Err(CodecError::unsupported(
                "bitround",
                format!("elements of {} bytes", other.unwrap_or(0)),
            ));
        }
    };
    let kept = parameters.integer("keepbits")?.ok_or_else(|| parameters.missing("keepbits"))?;
    let dropped = u32::try_from(mantissa - kept).ok().filter(|_| kept >= 0);
    let dropped = dropped.ok_or_else(|| parameters.bad("keepbits", &Value::from(kept)))?;
    let float = NumberType { kind: NumberKind::Float, size, big_endian };
    bound(Elementwise { map: ElementMap::BitRound { dropped }, decoded: float, encoded: float })
}

fn integer_bitround(parameters: &CodecParameters, number: NumberType) -> Result<BoundCodec, CodecError> {
    let kept = parameters.integer("keepbits")?.ok_or_else(|| parameters.missing("keepbits"))?;
    let kept = u32::try_from(kept).ok().filter(|kept| *kept > 0);
    let kept = kept.ok_or_else(|| parameters.bad("keepbits", &Value::from(0)))?;
    bound(Elementwise { map: ElementMap::BitRoundInteger { kept }, decoded: number, encoded: number })
}

fn transpose(parameters: &CodecParameters, chunk: &mut ChunkInfo) -> Result<BoundCodec, CodecError> {
    let rank = chunk.shape.len();
    let order = match parameters.get("order") {
        None => return Err(parameters.missing("order")),
        Some(Value::String(word)) if word == "C" => (0..rank).collect(),
        Some(Value::String(word)) if word == "F" => (0..rank).rev().collect(),
        Some(value) => indices(value).ok_or_else(|| parameters.bad("order", value))?,
    };
    let codec = Transpose::new(&chunk.shape, chunk.element.byte_len, &order)?;
    chunk.shape = order.iter().filter_map(|&axis| chunk.shape.get(axis).copied()).collect();
    Ok(codec.map(|codec| Arc::new(codec) as Arc<dyn Codec>))
}

fn indices(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|axis| axis.as_u64().and_then(|axis| usize::try_from(axis).ok())).collect()
}
