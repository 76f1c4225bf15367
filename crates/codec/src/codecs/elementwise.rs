//! Codecs that turn every element into another: fixedscaleoffset, quantize, bitround, astype.
use crate::CodecError;
use crate::codec::Codec;
use crate::number::{Number, NumberKind, NumberType};
use crate::scratch::{Buffer, Contexts};
use std::ops::Range;

/// One such codec.
#[derive(Debug)]
pub(crate) struct Elementwise {
    pub(crate) map: Map,
    pub(crate) decoded: NumberType,
    pub(crate) encoded: NumberType,
}

/// What is done to each element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Map {
    /// Encoded = rounded (decoded - offset) * scale.
    ScaleOffset { scale: f64, offset: f64 },
    /// Encoded = decoded, rounded to a multiple of 1 / scale; decoding changes nothing.
    Quantize { scale: f64 },
    /// Encoded = decoded with that many bits of the mantissa set to zero after rounding; decoding changes nothing.
    BitRound { dropped: u32 },
    /// The same number in another type.
    Cast,
}

impl Codec for Elementwise {
    fn name(&self) -> &'static str {
        match self.map {
            Map::ScaleOffset { .. } => "fixedscaleoffset",
            Map::Quantize { .. } => "quantize",
            Map::BitRound { .. } => "bitround",
            Map::Cast => "astype",
        }
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        (len / self.decoded.size).checked_mul(self.encoded.size)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok((input.len() / self.encoded.size).checked_mul(self.decoded.size))
    }

    fn peel(&self, input: &[u8]) -> Result<Option<Range<usize>>, CodecError> {
        let keeps = !matches!(self.map, Map::ScaleOffset { .. }) && self.decoded == self.encoded;
        Ok(keeps.then_some(0..input.len()))
    }

    fn decode_into(&self, input: &[u8], out: &mut [u8], _: &mut Contexts) -> Result<usize, CodecError> {
        self.decode_elements(input, out);
        Ok(input.len() / self.encoded.size * self.decoded.size)
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        _: &mut Contexts,
    ) -> Result<usize, CodecError> {
        let (from, to) = (self.encoded.size, self.decoded.size);
        for range in ranges {
            let (first, end) = (range.start / to, range.end.div_ceil(to).min(out.len() / to));
            if let (Some(input), Some(out)) = (input.get(first * from..), out.get_mut(first * to..end * to)) {
                self.decode_elements(input, out);
            }
        }
        Ok(input.len() / from * to)
    }

    fn encode(&self, input: &[u8], out: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let (from, to) = (self.decoded.size, self.encoded.size);
        if !input.len().is_multiple_of(from) {
            let reason = format!("{} bytes are no whole number of elements of {from} bytes", input.len());
            return Err(CodecError::malformed(self.name(), reason));
        }
        let out = out.prepare(input.len() / from * to);
        for (element, out) in input.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
            self.encoded.store(self.encode_one(self.decoded.load(element)), out);
        }
        Ok(())
    }
}

impl Elementwise {
    fn decode_elements(&self, input: &[u8], out: &mut [u8]) {
        let elements = input.chunks_exact(self.encoded.size);
        for (element, out) in elements.zip(out.chunks_exact_mut(self.decoded.size)) {
            let number = self.encoded.load(element);
            let decoded = match self.map {
                Map::ScaleOffset { scale, offset } => self.unscale(number.to_f64(), scale, offset),
                _ => number,
            };
            self.decoded.store(decoded, out);
        }
    }

    fn unscale(&self, value: f64, scale: f64, offset: f64) -> Number {
        let kind = self.encoded;
        Number::Float(kind.round(kind.round(value / kind.round(scale)) + kind.round(offset)))
    }

    fn encode_one(&self, number: Number) -> Number {
        let kind = self.decoded;
        match self.map {
            Map::ScaleOffset { scale, offset } => {
                let shifted = kind.round(number.to_f64() - kind.round(offset));
                Number::Float(kind.round(shifted * kind.round(scale)).round_ties_even())
            }
            Map::Quantize { scale } => {
                let scaled = kind.round(kind.round(scale) * number.to_f64()).round_ties_even();
                Number::Float(kind.round(scaled / kind.round(scale)))
            }
            Map::BitRound { dropped } => self.round_bits(number, dropped),
            Map::Cast => number,
        }
    }

    /// Rounds to the nearest, ties to even, in the bits of the number; a carry goes into the exponent.
    fn round_bits(&self, number: Number, dropped: u32) -> Number {
        if dropped == 0 {
            return number;
        }
        let kind = NumberType { big_endian: false, ..self.decoded };
        let bits = NumberType { kind: NumberKind::Unsigned, ..kind };
        let mut bytes = [0; 8];
        kind.store(number, &mut bytes[..kind.size]);
        let Number::Int(value) = bits.load(&bytes[..kind.size]) else { return number };
        let rounded = value + ((value >> dropped) & 1) + (1 << (dropped - 1)) - 1;
        bits.store(Number::Int(rounded >> dropped << dropped), &mut bytes[..kind.size]);
        kind.load(&bytes[..kind.size])
    }
}
