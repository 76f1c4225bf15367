//! Small numbers of Zarr v3 as numbers that netCDF has: integers of 2 and 4 bits, floats of 4, 6 and 8 bits, and the parts of
//! complex numbers of 16 bits (registry of extensions of Zarr v3, data types).
//!
//! This is not a codec of any format: the reader of Zarr puts it in front of the others. Its parameter `data_type` is the
//! name of the type of one number. Stored integers have arbitrary upper bits.
use crate::codec::{Codec, element_count};
use crate::number::{NumberKind, NumberType};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError, DecodedElement};
use half::{bf16, f16};
use ncirrus_model::{CodecSpec, SmallFloat};
use serde_json::Value;
use std::sync::Arc;

/// The name under which the reader of Zarr asks for it.
pub(crate) const NAME: &str = "ncirrus.widen";

/// Numbers of one small type.
#[derive(Debug)]
pub(crate) struct Widen {
    small: SmallNumber,
    big_endian: bool,
}

/// A small type.
#[derive(Debug, Clone)]
enum SmallNumber {
    /// Integers of that many bits, in bytes.
    Integer { bits: u32, signed: bool },
    /// Floats in one byte, and the value of each code.
    Float { format: SmallFloat, values: Arc<[f32; 256]> },
    /// IEEE 754 binary16.
    Half,
    /// The upper half of a binary32.
    Brain,
}

/// The stage for a description, if it is of one.
///
/// # Errors
/// `Unsupported` if the type is not known.
pub(crate) fn bind(spec: &CodecSpec, chunk: &mut ChunkInfo) -> Option<Result<Arc<dyn Codec>, CodecError>> {
    let CodecSpec::V3 { name, configuration } = spec else { return None };
    if name != NAME {
        return None;
    }
    let flag = |key: &str| configuration.get(key).and_then(Value::as_bool).unwrap_or(false);
    let ty = configuration.get("data_type").and_then(Value::as_str).unwrap_or_default();
    let Some(small) = SmallNumber::find(ty) else {
        return Some(Err(CodecError::unsupported(NAME, format!("the data type {ty:?}"))));
    };
    let parts = chunk.element.byte_len.map(|len| (len / small.wide_len()).max(1));
    chunk.element = match (&small, parts) {
        (SmallNumber::Integer { signed, .. }, _) => {
            let kind = if *signed { NumberKind::Signed } else { NumberKind::Unsigned };
            DecodedElement::of(NumberType { kind, size: 1, big_endian: false })
        }
        (small, parts) => DecodedElement::sized(parts.map(|parts| parts * small.len())),
    };
    Some(Ok(Arc::new(Widen { small, big_endian: flag("big_endian") })))
}

impl SmallNumber {
    fn find(name: &str) -> Option<Self> {
        Some(match name {
            "int2" => Self::Integer { bits: 2, signed: true },
            "uint2" => Self::Integer { bits: 2, signed: false },
            "int4" => Self::Integer { bits: 4, signed: true },
            "uint4" => Self::Integer { bits: 4, signed: false },
            "float16" => Self::Half,
            "bfloat16" => Self::Brain,
            other => {
                let format = SmallFloat::find(other)?;
                let value = |code| format.value(u8::try_from(code).unwrap_or(u8::MAX));
                Self::Float { format, values: Arc::new(std::array::from_fn(value)) }
            }
        })
    }

    /// Stored bytes of one number.
    fn len(&self) -> usize {
        match self {
            Self::Integer { .. } | Self::Float { .. } => 1,
            Self::Half | Self::Brain => 2,
        }
    }

    /// Bytes of one number that netCDF has.
    fn wide_len(&self) -> usize {
        if matches!(self, Self::Integer { .. }) { 1 } else { 4 }
    }
}

impl Widen {
    fn narrow_float(&self, value: f32, out: &mut [u8]) -> Result<(), CodecError> {
        let unfit = |name: &str| {
            CodecError::unsupported(name, format!("the value {value}, which the type does not have"))
        };
        let mut two = match &self.small {
            SmallNumber::Float { format, .. } => {
                let code = format.nearest(value).ok_or_else(|| unfit(format.name()))?;
                out.copy_from_slice(&[code]);
                return Ok(());
            }
            SmallNumber::Brain => bf16::from_f32(value).to_le_bytes(),
            _ => f16::from_f32(value).to_le_bytes(),
        };
        if self.big_endian {
            two.reverse();
        }
        out.copy_from_slice(&two);
        Ok(())
    }

    fn wide_float(&self, stored: &[u8]) -> f32 {
        let two = match stored {
            [a, b] if self.big_endian => [*b, *a],
            [a, b] => [*a, *b],
            _ => [0, 0],
        };
        match &self.small {
            SmallNumber::Float { values, .. } => {
                let code = stored.first().copied().unwrap_or(0);
                values.get(usize::from(code)).copied().unwrap_or(f32::NAN)
            }
            SmallNumber::Brain => bf16::from_le_bytes(two).to_f32(),
            _ => f16::from_le_bytes(two).to_f32(),
        }
    }

    /// Bytes of a float of four bytes in the order of the elements.
    fn ordered(&self, mut bytes: [u8; 4]) -> [u8; 4] {
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}

impl Codec for Widen {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        (len / self.small.wide_len()).checked_mul(self.small.len())
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok((input.len() / self.small.len()).checked_mul(self.small.wide_len()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        if let SmallNumber::Integer { bits, signed } = self.small {
            let unused = 8 - bits;
            for (byte, out) in input.iter().zip(out) {
                let high = byte << unused;
                *out = if signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused };
            }
            return Ok(input.len());
        }
        let (from, to) = (self.small.len(), self.small.wide_len());
        for (stored, out) in input.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
            out.copy_from_slice(&self.ordered(self.wide_float(stored).to_le_bytes()));
        }
        Ok(input.len() / from * to)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if let SmallNumber::Integer { bits, signed } = self.small {
            let (min, max) =
                if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            for (byte, out) in input.iter().zip(out.prepare(input.len())) {
                let value = if signed { i32::from(byte.cast_signed()) } else { i32::from(*byte) };
                if !(min..=max).contains(&value) {
                    return Err(CodecError::unsupported(NAME, format!("the value {value} in {bits} bits")));
                }
                *out = *byte;
            }
            return Ok(());
        }
        let (from, to) = (self.small.wide_len(), self.small.len());
        let out = out.prepare(element_count(NAME, input, from)? * to);
        for (element, out) in input.as_chunks::<4>().0.iter().zip(out.chunks_exact_mut(to)) {
            self.narrow_float(f32::from_le_bytes(self.ordered(*element)), out)?;
        }
        Ok(())
    }
}
