//! Scale and offset in the type of the elements (the codec `scale_offset` of the registry of Zarr v3).
//!
//! - HDF5 filter: none (its scale-offset filter is another codec, `scaleoffset`).
//! - Zarr v2: none.
//! - Zarr v3: `scale_offset`.
//! - Parameters: `offset` (default 0) and `scale` (default 1), values of the element type. A stored value is
//!   `(value - offset) * scale`; a value is `stored / scale + offset`, for integers with the quotient rounded down.
//! - Compatible: zarr-python 3.4 (`zarr.codecs.ScaleOffset`).
//!
//! ```json
//! {"name": "scale_offset", "configuration": {"offset": 5, "scale": 2}}
//! {"name": "scale_offset", "configuration": {}}
//! ```
use crate::codec::{Codec, element_count};
use crate::number::{AnyNumber, NumberType};
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use serde_json::Value;

const NAME: &str = "scale_offset";

/// Scale and offset of numbers of one type.
#[derive(Debug)]
pub(crate) struct ScaledValues {
    number: NumberType,
    line: ScaleLine,
}

/// The parameters, as values of the element type.
#[derive(Debug, Clone, Copy)]
enum ScaleLine {
    Integers { offset: i128, scale: i128 },
    Floats { offset: f64, scale: f64 },
}

impl ScaledValues {
    /// Reads the parameters.
    ///
    /// # Errors
    /// `Malformed` for values that the element type does not have and a scale of 0; `Unsupported` for elements that are
    /// not numbers.
    pub(crate) fn new(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Self, CodecError> {
        let number = chunk.element.number.ok_or_else(|| {
            CodecError::unsupported(
                NAME,
                "elements that are neither integers nor floats of Zarr's core types",
            )
        })?;
        let value = |key: &str, default: i64| match parameters.get(key) {
            None => number.parse_scalar(&Value::from(default)).ok_or_else(|| parameters.missing(key)),
            Some(value) => number.parse_scalar(value).ok_or_else(|| parameters.bad(key, value)),
        };
        let line = match (value("offset", 0)?, value("scale", 1)?) {
            (AnyNumber::Int(offset), AnyNumber::Int(scale)) => ScaleLine::Integers { offset, scale },
            (offset, scale) => ScaleLine::Floats { offset: offset.to_f64(), scale: scale.to_f64() },
        };
        let is_zero = match line {
            ScaleLine::Integers { scale, .. } => scale == 0,
            ScaleLine::Floats { scale, .. } => scale == 0.0,
        };
        if is_zero {
            return Err(CodecError::malformed(NAME, "the scale is 0"));
        }
        Ok(Self { number, line })
    }

    fn decoded(&self, stored: AnyNumber) -> AnyNumber {
        match (self.line, stored) {
            (ScaleLine::Integers { offset, scale }, AnyNumber::Int(stored)) => {
                // Rounded down, as the operator of Python.
                let quotient = stored.div_euclid(scale);
                let is_up = scale < 0 && stored.rem_euclid(scale) != 0;
                AnyNumber::Int(quotient - i128::from(is_up) + offset)
            }
            (ScaleLine::Floats { offset, scale }, stored) => {
                AnyNumber::Float(self.number.round(self.number.round(stored.to_f64() / scale) + offset))
            }
            (ScaleLine::Integers { .. }, stored @ AnyNumber::Float(_)) => stored,
        }
    }

    fn encoded(&self, value: AnyNumber) -> Result<AnyNumber, CodecError> {
        match (self.line, value) {
            (ScaleLine::Integers { offset, scale }, AnyNumber::Int(value)) => {
                let (min, max) = self.number.integer_range();
                let stored =
                    (value - offset).checked_mul(scale).filter(|stored| (min..=max).contains(stored));
                stored.map(AnyNumber::Int).ok_or_else(|| {
                    let name = self.number.zarr_name();
                    CodecError::unsupported(
                        NAME,
                        format!("the value {value}, whose scaled value {name} does not have"),
                    )
                })
            }
            (ScaleLine::Floats { offset, scale }, value) => {
                Ok(AnyNumber::Float(self.number.round(self.number.round(value.to_f64() - offset) * scale)))
            }
            (ScaleLine::Integers { .. }, value @ AnyNumber::Float(_)) => Ok(value),
        }
    }
}

impl Codec for ScaledValues {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        Some(len)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(input.len()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let size = self.number.size;
        for (element, out) in input.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
            self.number.store(self.decoded(self.number.load(element)), out);
        }
        Ok(input.len() / size * size)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let size = self.number.size;
        element_count(NAME, input, size)?;
        let out = out.prepare(input.len());
        for (element, out) in input.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
            self.number.store(self.encoded(self.number.load(element))?, out);
        }
        Ok(())
    }
}
