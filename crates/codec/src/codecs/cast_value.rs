//! The same values in another number type (the codec `cast_value` of the registry of Zarr v3).
//!
//! - HDF5 filter: none.
//! - Zarr v2: none.
//! - Zarr v3: `cast_value`.
//! - Parameters: `data_type`: the stored type, one of Zarr's integers and floats. `rounding` of floats that become
//!   integers: `nearest-even` (default), `towards-zero`, `towards-positive`, `towards-negative`, `nearest-away`.
//!   `out_of_range`: `clamp`, `wrap` (integers only), or an error if it is absent. `scalar_map`: `encode` and `decode`,
//!   pairs of values that are exchanged without a conversion.
//! - Compatible: zarr-python 3.4 (`zarr.codecs.CastValue`).
//!
//! ```json
//! {"name": "cast_value", "configuration": {"data_type": "int16"}}
//! {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "clamp", "rounding": "towards-zero"}}
//! {"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}}}
//! ```
use crate::codec::{Codec, element_count};
use crate::number::{AnyNumber, NumberKind, NumberType};
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError, DecodedElement};
use serde_json::Value;

const NAME: &str = "cast_value";

/// A change of the number type.
#[derive(Debug)]
pub(crate) struct CastValue {
    decoded: NumberType,
    encoded: NumberType,
    encode: CastRule,
    decode: CastRule,
}

/// How one direction converts.
#[derive(Debug)]
struct CastRule {
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// Values that are replaced: what, and by what.
    scalars: Vec<(AnyNumber, AnyNumber)>,
}

/// How a float becomes an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    NearestEven,
    NearestAway,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
}

/// What happens to values that the type does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

impl CastValue {
    /// Reads the parameters; `chunk` becomes the input of the next codec.
    ///
    /// # Errors
    /// `Malformed` for invalid parameters, `Unsupported` for types that are not numbers.
    pub(crate) fn new(
        parameters: &CodecParameters,
        chunk: &mut ChunkInfo,
        big_endian: bool,
    ) -> Result<Self, CodecError> {
        let decoded = chunk.element.number.ok_or_else(|| {
            CodecError::unsupported(
                NAME,
                "elements that are neither integers nor floats of Zarr's core types",
            )
        })?;
        let value = parameters.get("data_type").ok_or_else(|| parameters.missing("data_type"))?;
        let name = value.as_str().or_else(|| value.get("name")?.as_str());
        let is_core = |name: &&str| *name != "bool" && name.starts_with(['i', 'u', 'f']) && name.len() > 3;
        let encoded = name.filter(is_core).and_then(NumberType::parse);
        let encoded =
            encoded.ok_or_else(|| CodecError::unsupported(NAME, format!("the data type {value}")))?;
        let encoded = NumberType { big_endian: big_endian && encoded.size > 1, ..encoded };
        let rounding = rounding(parameters)?;
        let out_of_range = out_of_range(parameters)?;
        let is_wrapped_float = out_of_range == OutOfRange::Wrap && encoded.is_float();
        if is_wrapped_float {
            return Err(CodecError::malformed(NAME, "\"wrap\" is only meant for integers"));
        }
        let rule = |direction: &str, from: NumberType, to: NumberType| {
            let scalars = scalars(parameters, direction, from, to)?;
            // Floats have no residues.
            let out_of_range = match out_of_range {
                OutOfRange::Wrap if to.is_float() => OutOfRange::Error,
                other => other,
            };
            Ok::<_, CodecError>(CastRule { rounding, out_of_range, scalars })
        };
        let (encode, decode) = (rule("encode", decoded, encoded)?, rule("decode", encoded, decoded)?);
        chunk.element = DecodedElement::of(encoded);
        Ok(Self { decoded, encoded, encode, decode })
    }
}

fn rounding(parameters: &CodecParameters) -> Result<Rounding, CodecError> {
    Ok(match parameters.text("rounding")? {
        None | Some("nearest-even") => Rounding::NearestEven,
        Some("nearest-away") => Rounding::NearestAway,
        Some("towards-zero") => Rounding::TowardsZero,
        Some("towards-positive") => Rounding::TowardsPositive,
        Some("towards-negative") => Rounding::TowardsNegative,
        Some(other) => return Err(parameters.bad("rounding", &Value::from(other))),
    })
}

fn out_of_range(parameters: &CodecParameters) -> Result<OutOfRange, CodecError> {
    Ok(match parameters.text("out_of_range")? {
        None | Some("error") => OutOfRange::Error,
        Some("clamp") => OutOfRange::Clamp,
        Some("wrap") => OutOfRange::Wrap,
        Some(other) => return Err(parameters.bad("out_of_range", &Value::from(other))),
    })
}

/// The pairs of one direction: a list of pairs, or an object.
fn scalars(
    parameters: &CodecParameters,
    direction: &str,
    from: NumberType,
    to: NumberType,
) -> Result<Vec<(AnyNumber, AnyNumber)>, CodecError> {
    let map = parameters.get("scalar_map");
    let Some(entries) = map.and_then(|map| map.get(direction)).filter(|entries| !entries.is_null()) else {
        return Ok(Vec::new());
    };
    let bad = || parameters.bad("scalar_map", entries);
    let pair =
        |key: &Value, value: &Value| from.parse_scalar(key).zip(to.parse_scalar(value)).ok_or_else(bad);
    match entries {
        Value::Array(list) => list
            .iter()
            .map(|entry| match entry.as_array().map(Vec::as_slice) {
                Some([key, value]) => pair(key, value),
                _ => Err(bad()),
            })
            .collect(),
        Value::Object(map) => {
            let quoted = |key: &String| {
                key.parse::<serde_json::Number>().map_or(Value::from(key.as_str()), Value::Number)
            };
            map.iter().map(|(key, value)| pair(&quoted(key), value)).collect()
        }
        _ => Err(bad()),
    }
}

impl CastRule {
    fn apply(&self, number: AnyNumber, to: NumberType) -> Result<AnyNumber, CodecError> {
        if let Some((_, other)) = self.scalars.iter().find(|(key, _)| is_same(*key, number)) {
            return Ok(*other);
        }
        if to.is_float() { self.to_float(number, to) } else { self.to_integer(number, to) }
    }

    fn to_integer(&self, number: AnyNumber, to: NumberType) -> Result<AnyNumber, CodecError> {
        let (min, max) = to.integer_range();
        let whole = match number {
            AnyNumber::Int(value) => value,
            AnyNumber::Float(value) if value.is_nan() => {
                return Err(CodecError::unsupported(NAME, format!("NaN as {}", to.zarr_name())));
            }
            AnyNumber::Float(value) if value.is_infinite() => match self.out_of_range {
                OutOfRange::Clamp => return Ok(AnyNumber::Int(if value > 0.0 { max } else { min })),
                _ => return Err(unfit(number, to)),
            },
            AnyNumber::Float(value) => match whole(self.rounding.round(value)) {
                Some(whole) => whole,
                None if self.out_of_range == OutOfRange::Clamp => {
                    if value > 0.0 {
                        max
                    } else {
                        min
                    }
                }
                None => return Err(unfit(number, to)),
            },
        };
        if (min..=max).contains(&whole) {
            return Ok(AnyNumber::Int(whole));
        }
        match self.out_of_range {
            OutOfRange::Error => Err(unfit(number, to)),
            OutOfRange::Clamp => Ok(AnyNumber::Int(whole.clamp(min, max))),
            OutOfRange::Wrap => Ok(AnyNumber::Int((whole - min).rem_euclid(max - min + 1) + min)),
        }
    }

    fn to_float(&self, number: AnyNumber, to: NumberType) -> Result<AnyNumber, CodecError> {
        let rounded = to.round_number(number);
        let is_finite = match number {
            AnyNumber::Int(_) => true,
            AnyNumber::Float(value) => value.is_finite(),
        };
        if !is_finite || rounded.is_finite() {
            return Ok(AnyNumber::Float(rounded));
        }
        match self.out_of_range {
            OutOfRange::Clamp => Ok(AnyNumber::Float(to.largest_float().copysign(rounded))),
            _ => Err(unfit(number, to)),
        }
    }

    /// Converts element by element.
    fn convert(
        &self,
        from: NumberType,
        to: NumberType,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        if self.scalars.is_empty() && is_exact(from, to) {
            super::elementwise::convert(from, to, input, out);
            return Ok(());
        }
        for (element, out) in input.chunks_exact(from.size).zip(out.chunks_exact_mut(to.size)) {
            to.store(self.apply(from.load(element), to)?, out);
        }
        Ok(())
    }
}

fn unfit(number: AnyNumber, to: NumberType) -> CodecError {
    let number = match number {
        AnyNumber::Int(value) => value.to_string(),
        AnyNumber::Float(value) => value.to_string(),
    };
    CodecError::unsupported(NAME, format!("the value {number}, which {} does not have", to.zarr_name()))
}

impl Rounding {
    fn round(self, value: f64) -> f64 {
        match self {
            Self::NearestEven => value.round_ties_even(),
            Self::NearestAway => value.round(),
            Self::TowardsZero => value.trunc(),
            Self::TowardsPositive => value.ceil(),
            Self::TowardsNegative => value.floor(),
        }
    }
}

/// A whole float as an integer; `None` if it is far too large for any type.
#[expect(clippy::cast_possible_truncation, reason = "the number is whole and small enough")]
fn whole(value: f64) -> Option<i128> {
    (value.abs() < 1e37).then_some(value as i128)
}

fn is_same(key: AnyNumber, number: AnyNumber) -> bool {
    match (key, number) {
        (AnyNumber::Float(key), AnyNumber::Float(number)) if key.is_nan() => number.is_nan(),
        (key, number) => key == number,
    }
}

/// Whether every value of a type is one of the other.
fn is_exact(from: NumberType, to: NumberType) -> bool {
    match (from.kind, to.kind) {
        (NumberKind::Float, NumberKind::Float) => to.size >= from.size,
        (NumberKind::Float, _) => false,
        (_, NumberKind::Float) => from.size * 2 <= to.size,
        (NumberKind::Unsigned, NumberKind::Signed) => to.size > from.size,
        (NumberKind::Signed, NumberKind::Unsigned) => false,
        _ => to.size >= from.size,
    }
}

impl Codec for CastValue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        (len / self.decoded.size).checked_mul(self.encoded.size)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok((input.len() / self.encoded.size).checked_mul(self.decoded.size))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        self.decode.convert(self.encoded, self.decoded, input, out)?;
        Ok(input.len() / self.encoded.size * self.decoded.size)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let (from, to) = (self.decoded.size, self.encoded.size);
        let count = element_count(NAME, input, from)?;
        self.encode.convert(self.decoded, self.encoded, input, out.prepare(count * to))
    }
}
