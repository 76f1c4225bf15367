//! Codecs that transform every element separately: fixedscaleoffset, quantize, bitround, astype.
//!
//! - HDF5 filter: none.
//! - Zarr v2: `fixedscaleoffset`, `quantize`, `bitround`, `astype`.
//! - Zarr v3: `numcodecs.fixedscaleoffset`, `numcodecs.quantize`, `numcodecs.bitround`, `numcodecs.astype`; `bitround`
//!   is read, too.
//! - Parameters: `dtype` and `astype`: the types of decoded and of stored elements (of `astype`: `decode_dtype` and
//!   `encode_dtype`). `fixedscaleoffset`: `scale` and `offset`. `quantize`: `digits`, decimal. `bitround`: `keepbits`,
//!   the bits of the mantissa that are kept; nothing is undone when reading.
//! - Compatible: numcodecs.
//!
//! ```json
//! {"id": "fixedscaleoffset", "scale": 10, "offset": 5, "dtype": "<f4", "astype": "<i2"}
//! {"id": "quantize", "digits": 1, "dtype": "<f4"}
//! {"id": "bitround", "keepbits": 12}
//! {"name": "numcodecs.astype", "configuration": {"encode_dtype": "<i2", "decode_dtype": "<f4"}}
//! ```
mod loops;
#[cfg(test)]
mod tests;

use crate::CodecError;
use crate::codec::{Codec, element_count};
use crate::number::{NumberKind, NumberType};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use loops::whole;
use std::ops::Range;

/// One of these codecs.
#[derive(Debug)]
pub(crate) struct Elementwise {
    pub(crate) map: ElementMap,
    pub(crate) decoded: NumberType,
    pub(crate) encoded: NumberType,
}

/// The operation on each element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ElementMap {
    /// Encoded = rounded (decoded - offset) * scale.
    ScaleOffset { scale: f64, offset: f64 },
    /// Encoded = decoded, rounded to a multiple of 1 / scale; decoding changes nothing.
    Quantize { scale: f64 },
    /// Encoded = decoded with that many bits of the mantissa set to zero after rounding; decoding changes nothing.
    BitRound { dropped: u32 },
    /// Encoded = decoded with that many bits from the highest one that is set, and the others zero after rounding; decoding
    /// changes nothing.
    BitRoundInteger { kept: u32 },
    /// The same number in another type.
    Cast,
}

impl Codec for Elementwise {
    fn name(&self) -> &'static str {
        match self.map {
            ElementMap::ScaleOffset { .. } => "fixedscaleoffset",
            ElementMap::Quantize { .. } => "quantize",
            ElementMap::BitRound { .. } | ElementMap::BitRoundInteger { .. } => "bitround",
            ElementMap::Cast => "astype",
        }
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        (len / self.decoded.size).checked_mul(self.encoded.size)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok((input.len() / self.encoded.size).checked_mul(self.decoded.size))
    }

    fn peel(&self, input: &[u8]) -> Result<Option<Range<usize>>, CodecError> {
        let keeps = !matches!(self.map, ElementMap::ScaleOffset { .. }) && self.decoded == self.encoded;
        Ok(keeps.then_some(0..input.len()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        self.decode_elements(input, out);
        Ok(input.len() / self.encoded.size * self.decoded.size)
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        _: &mut LibraryContexts,
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

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let (from, to) = (self.decoded.size, self.encoded.size);
        let count = element_count(self.name(), input, from)?;
        self.encode_elements(input, out.prepare(count * to));
        Ok(())
    }
}

/// Elements that are processed at a time, so that they stay in the first-level cache.
const TILE: usize = 1024;

impl Elementwise {
    fn decode_elements(&self, input: &[u8], out: &mut [u8]) {
        if !matches!(self.map, ElementMap::ScaleOffset { .. }) {
            return convert(self.encoded, self.decoded, input, out);
        }
        let (from, to) = (self.encoded.size, self.decoded.size);
        let mut tile = [0.0; TILE];
        for (input, out) in input.chunks(TILE * from).zip(out.chunks_mut(TILE * to)) {
            self.decode_tile(input, out, &mut tile);
        }
    }

    fn encode_elements(&self, input: &[u8], out: &mut [u8]) {
        let types = (self.decoded, self.encoded);
        let done = match self.map {
            ElementMap::Quantize { scale } => loops::quantize(scale, types, input, out),
            ElementMap::BitRound { dropped } => loops::round_bits(dropped, self.decoded, input, out),
            ElementMap::Cast => loops::cast(types.0, types.1, input, out),
            ElementMap::ScaleOffset { .. } | ElementMap::BitRoundInteger { .. } => false,
        };
        if done {
            return;
        }
        let (from, to) = (self.decoded.size, self.encoded.size);
        let (mut singles, mut tile) = ([0.0; TILE], [0.0; TILE]);
        for (input, out) in input.chunks(TILE * from).zip(out.chunks_mut(TILE * to)) {
            if !self.scale_singles(input, out, &mut singles) {
                self.encode_tile(input, out, &mut tile);
            }
        }
    }

    fn decode_tile(&self, input: &[u8], out: &mut [u8], tile: &mut [f64]) {
        let ElementMap::ScaleOffset { scale, offset } = self.map else {
            return cast(self.encoded, self.decoded, input, out, tile);
        };
        let kind = self.encoded;
        let (scale, offset) = (kind.round(scale), kind.round(offset));
        with_floats(kind, self.decoded, input, out, tile, |values| match (kind.is_float(), kind.size) {
            (true, 2) => each(values, |value| kind.round(kind.round(value / scale) + offset)),
            (true, 4) => each(values, |value| single(single(value / scale) + offset)),
            _ => loops::unscale_doubles(values, scale, offset),
        });
    }

    /// Scales floats of 4 bytes to integers; `false` for anything else, and if a number is too large for that loop.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the parameters are rounded to the type of the numbers"
    )]
    fn scale_singles(&self, input: &[u8], out: &mut [u8], values: &mut [f32]) -> bool {
        let (from, to) = (self.decoded, self.encoded);
        let is_single = from.is_float() && from.size == 4 && !from.big_endian;
        let ElementMap::ScaleOffset { scale, offset } = self.map else { return false };
        if !is_single || to.is_float() || to.big_endian {
            return false;
        }
        let values = values.get_mut(..input.len() / from.size).unwrap_or_default();
        loops::scale_singles((scale as f32, offset as f32), to.size, input, values, out)
    }

    fn encode_tile(&self, input: &[u8], out: &mut [u8], tile: &mut [f64]) {
        let kind = self.decoded;
        match self.map {
            ElementMap::ScaleOffset { scale, offset } => {
                let (scale, offset) = (kind.round(scale), kind.round(offset));
                with_floats(kind, self.encoded, input, out, tile, |values| {
                    match (kind.is_float(), kind.size) {
                        (true, 2) => {
                            each(values, |value| whole(kind.round(kind.round(value - offset) * scale)));
                        }
                        (true, 4) => each(values, |value| whole(single(single(value - offset) * scale))),
                        _ => loops::scale_doubles(values, scale, offset),
                    }
                });
            }
            ElementMap::Quantize { scale } => {
                let scale = kind.round(scale);
                with_floats(kind, self.encoded, input, out, tile, |values| {
                    match (kind.is_float(), kind.size) {
                        (true, 2) => {
                            each(values, |value| kind.round(whole(kind.round(scale * value)) / scale));
                        }
                        (true, 4) => each(values, |value| single(whole(single(scale * value)) / scale)),
                        _ => each(values, |value| whole(scale * value) / scale),
                    }
                });
            }
            ElementMap::BitRound { dropped } => {
                let mut words = [0; TILE];
                let words = words.get_mut(..input.len() / kind.size).unwrap_or_default();
                kind.load_words(input, words);
                round_bits(words, dropped, kind.size);
                kind.store_words(words, out);
            }
            ElementMap::BitRoundInteger { kept } => {
                let mut words = [0; TILE];
                let words = words.get_mut(..input.len() / kind.size).unwrap_or_default();
                kind.load_words(input, words);
                words.iter_mut().for_each(|word| *word = round_integer(*word, kept, kind));
                kind.store_words(words, out);
            }
            ElementMap::Cast => cast(kind, self.encoded, input, out, tile),
        }
    }
}

/// An integer with that many bits of its magnitude. Rounding up that would leave the type is left out.
fn round_integer(word: u64, kept: u32, kind: NumberType) -> u64 {
    let bits = u32::try_from(8 * kind.size).unwrap_or(64).min(64);
    let unused = 64 - bits;
    let is_signed = kind.kind == NumberKind::Signed;
    let value = if is_signed {
        i128::from((word << unused).cast_signed() >> unused)
    } else {
        i128::from((word << unused) >> unused)
    };
    let magnitude = value.unsigned_abs();
    let dropped = (u128::BITS - magnitude.leading_zeros()).saturating_sub(kept);
    let cut = |magnitude: u128| magnitude >> dropped << dropped;
    let max = (1u128 << (bits - u32::from(is_signed))) - u128::from(value >= 0);
    let rounded = Some(cut(magnitude + (1u128 << dropped >> 1))).filter(|rounded| *rounded <= max);
    let rounded = rounded.unwrap_or_else(|| cut(magnitude)).cast_signed();
    let signed = if value < 0 { -rounded } else { rounded };
    // The bits of the type are the lowest ones.
    u64::try_from(signed.cast_unsigned() & u128::from(u64::MAX)).unwrap_or_default()
}

/// Rounds to the nearest, ties to even, in the bits of floats; a carry goes into the exponent. Infinities and NaN stay as
/// they are: a carry would turn some NaN into zero, and a payload that is cut off into infinity.
fn round_bits(words: &mut [u64], dropped: u32, size: usize) {
    if dropped == 0 {
        return;
    }
    let exponent = match size {
        2 => 0x7c00,
        4 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    let half = (1 << (dropped - 1)) - 1;
    for word in words.iter_mut().filter(|word| **word & exponent != exponent) {
        let rounded = word.wrapping_add(((*word >> dropped) & 1) + half);
        *word = rounded >> dropped << dropped;
    }
}

/// The same numbers in another type.
pub(crate) fn convert(from: NumberType, to: NumberType, input: &[u8], out: &mut [u8]) {
    if loops::cast(from, to, input, out) {
        return;
    }
    let mut tile = [0.0; TILE];
    for (input, out) in input.chunks(TILE * from.size).zip(out.chunks_mut(TILE * to.size)) {
        cast(from, to, input, out, &mut tile);
    }
}

/// The same numbers in another type.
fn cast(from: NumberType, to: NumberType, input: &[u8], out: &mut [u8], tile: &mut [f64]) {
    if from.is_float() || to.is_float() {
        return with_floats(from, to, input, out, tile, |_| {});
    }
    let mut words = [0; TILE];
    let words = words.get_mut(..input.len() / from.size).unwrap_or_default();
    from.load_words(input, words);
    to.store_words(words, out);
}

/// Transforms the numbers of a tile as 64-bit floats.
fn with_floats(
    from: NumberType,
    to: NumberType,
    input: &[u8],
    out: &mut [u8],
    tile: &mut [f64],
    change: impl FnOnce(&mut [f64]),
) {
    let values = tile.get_mut(..input.len() / from.size).unwrap_or_default();
    from.load_floats(input, values);
    change(values);
    to.store_floats(values, out);
}

#[inline]
fn each(values: &mut [f64], map: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|value| *value = map(*value));
}

/// Rounded to a float of 4 bytes.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounding to the narrower type is meant")]
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}
