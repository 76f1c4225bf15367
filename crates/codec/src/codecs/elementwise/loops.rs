//! Loops from bytes to bytes for little-endian numbers, without a tile of wide numbers between them.
//!
//! Numbers of 4 bytes are computed as such. That gives the same results as computing in 64 bits and rounding: sums, differences,
//! products and quotients are exact enough there to be rounded twice (S. A. Figueroa, "When is double rounding innocuous?",
//! 1995).
use crate::number::{NumberKind, NumberType};
use crate::processor::{self, VectorLoop};

/// Rounds to multiples of 1 / scale; `false` if there is no loop for these types.
pub(super) fn quantize(
    scale: f64,
    (decoded, encoded): (NumberType, NumberType),
    input: &[u8],
    out: &mut [u8],
) -> bool {
    if decoded != encoded || !decoded.is_float() || decoded.big_endian {
        return false;
    }
    match decoded.size {
        4 => processor::run(QuantizeSingles { scale: narrow(scale), input, out }),
        8 => processor::run(QuantizeDoubles { scale, input, out }),
        _ => return false,
    }
    true
}

/// Rounds floats to fewer bits; `false` if there is no loop for this type.
pub(super) fn round_bits(dropped: u32, number: NumberType, input: &[u8], out: &mut [u8]) -> bool {
    if number.big_endian {
        return false;
    }
    match number.size {
        2 => processor::run(RoundHalves { dropped, input, out }),
        4 => processor::run(RoundSingles { dropped, input, out }),
        8 => processor::run(RoundDoubles { dropped, input, out }),
        _ => return false,
    }
    true
}

/// The same integers in another type; `false` if there is no loop for these types.
pub(super) fn cast(from: NumberType, to: NumberType, input: &[u8], out: &mut [u8]) -> bool {
    let is_plain = |number: NumberType| !number.is_float() && (number.size == 1 || !number.big_endian);
    if !is_plain(from) || !is_plain(to) {
        return false;
    }
    macro_rules! each {
        ($from:ty, $to:ty) => {
            processor::run(Each {
                input,
                out,
                map: |bytes| (<$from>::from_le_bytes(bytes) as $to).to_le_bytes(),
            })
        };
    }
    let is_signed = from.kind == NumberKind::Signed;
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is cut off")]
    match (is_signed, from.size, to.size) {
        (_, from, to) if from == to => crate::codec::copy_prefix(input, out),
        (_, 8, 4) => each!(u64, u32),
        (_, 8, 2) => each!(u64, u16),
        (_, 8, 1) => each!(u64, u8),
        (_, 4, 2) => each!(u32, u16),
        (_, 4, 1) => each!(u32, u8),
        (_, 2, 1) => each!(u16, u8),
        (true, 1, 2) => each!(i8, i16),
        (true, 1, 4) => each!(i8, i32),
        (true, 1, 8) => each!(i8, i64),
        (true, 2, 4) => each!(i16, i32),
        (true, 2, 8) => each!(i16, i64),
        (true, 4, 8) => each!(i32, i64),
        (false, 1, 2) => each!(u8, u16),
        (false, 1, 4) => each!(u8, u32),
        (false, 1, 8) => each!(u8, u64),
        (false, 2, 4) => each!(u16, u32),
        (false, 2, 8) => each!(u16, u64),
        (false, 4, 8) => each!(u32, u64),
        _ => return false,
    }
    true
}

/// Whole numbers `(value - offset) * scale` of floats of 4 bytes as integers of `size` bytes; `false`, with any bytes in `out`, if
/// one of them is too large for this loop. `values` has room for them.
pub(super) fn scale_singles(
    (scale, offset): (f32, f32),
    size: usize,
    input: &[u8],
    values: &mut [f32],
    out: &mut [u8],
) -> bool {
    processor::run(ScaleSingles { scale, offset, size, input, values, out })
}

/// `(value - offset) * scale`, rounded to whole numbers.
pub(super) fn scale_doubles(values: &mut [f64], scale: f64, offset: f64) {
    processor::run(ScaleDoubles { scale, offset, values });
}

/// `value / scale + offset`.
pub(super) fn unscale_doubles(values: &mut [f64], scale: f64, offset: f64) {
    processor::run(UnscaleDoubles { scale, offset, values });
}

#[inline(always)]
fn each<const N: usize, const M: usize>(input: &[u8], out: &mut [u8], map: impl Fn([u8; N]) -> [u8; M]) {
    for (from, to) in input.as_chunks::<N>().0.iter().zip(out.as_chunks_mut::<M>().0) {
        *to = map(*from);
    }
}

/// The same operation on every number, from `N` bytes to `M`.
struct Each<'a, const N: usize, const M: usize, F> {
    input: &'a [u8],
    out: &'a mut [u8],
    map: F,
}

impl<const N: usize, const M: usize, F: Fn([u8; N]) -> [u8; M]> VectorLoop for Each<'_, N, M, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        each(self.input, self.out, self.map);
    }
}

macro_rules! quantize {
    ($name:ident, $float:ty, $whole:ident) => {
        struct $name<'a> {
            scale: $float,
            input: &'a [u8],
            out: &'a mut [u8],
        }

        impl VectorLoop for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                each(self.input, self.out, |bytes| {
                    ($whole(<$float>::from_le_bytes(bytes) * self.scale) / self.scale).to_le_bytes()
                });
            }
        }
    };
}

quantize!(QuantizeSingles, f32, whole_single);
quantize!(QuantizeDoubles, f64, whole);

/// Rounds to the nearest, ties to even, in the bits of floats; a carry goes into the exponent. Infinities and NaN stay as
/// they are: a carry would turn some NaN into zero, and a payload that is cut off into infinity.
macro_rules! round_bits {
    ($name:ident, $word:ty, $exponent:literal) => {
        struct $name<'a> {
            dropped: u32,
            input: &'a [u8],
            out: &'a mut [u8],
        }

        impl VectorLoop for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                let Self { dropped, input, out } = self;
                if dropped == 0 {
                    return crate::codec::copy_prefix(input, out);
                }
                let half: $word = (1 << (dropped - 1)) - 1;
                each(input, out, |bytes| {
                    let word = <$word>::from_le_bytes(bytes);
                    let rounded = word.wrapping_add(((word >> dropped) & 1) + half) >> dropped << dropped;
                    (if word & $exponent == $exponent { word } else { rounded }).to_le_bytes()
                });
            }
        }
    };
}

round_bits!(RoundHalves, u16, 0x7c00);
round_bits!(RoundSingles, u32, 0x7f80_0000);
round_bits!(RoundDoubles, u64, 0x7ff0_0000_0000_0000);

struct ScaleSingles<'a> {
    scale: f32,
    offset: f32,
    size: usize,
    input: &'a [u8],
    values: &'a mut [f32],
    out: &'a mut [u8],
}

impl VectorLoop for ScaleSingles<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // 2^22: the sum of a smaller number and 1.5 * 2^23 has its integer in the lowest bits.
        const LIMIT: f32 = 4_194_304.0;
        const BASE: f32 = 12_582_912.0;
        let Self { scale, offset, size, input, values, out } = self;
        let mut fits = true;
        for (bytes, value) in input.as_chunks::<4>().0.iter().zip(values.iter_mut()) {
            let scaled = (f32::from_le_bytes(*bytes) - offset) * scale;
            fits &= scaled.abs() < LIMIT;
            *value = whole_single(scaled);
        }
        if !fits {
            return false;
        }
        let word = |value: f32| (value + BASE).to_bits().wrapping_sub(BASE.to_bits());
        #[expect(clippy::cast_possible_truncation, reason = "the integer is in the lowest bits")]
        match size {
            1 => store(values, out, |value| (word(value) as u8).to_le_bytes()),
            2 => store(values, out, |value| (word(value) as u16).to_le_bytes()),
            4 => store(values, out, |value| word(value).to_le_bytes()),
            _ => store(values, out, |value| i64::from(word(value).cast_signed()).to_le_bytes()),
        }
        true
    }
}

#[inline(always)]
fn store<const N: usize>(values: &[f32], out: &mut [u8], map: impl Fn(f32) -> [u8; N]) {
    for (value, out) in values.iter().zip(out.as_chunks_mut::<N>().0) {
        *out = map(*value);
    }
}

struct ScaleDoubles<'a> {
    scale: f64,
    offset: f64,
    values: &'a mut [f64],
}

impl VectorLoop for ScaleDoubles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value = whole((*value - self.offset) * self.scale);
        }
    }
}

struct UnscaleDoubles<'a> {
    scale: f64,
    offset: f64,
    values: &'a mut [f64],
}

impl VectorLoop for UnscaleDoubles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value = *value / self.scale + self.offset;
        }
    }
}

/// The nearest integer, ties to even: large numbers have no fractions, and adding one removes those of small numbers.
#[inline(always)]
pub(super) fn whole(value: f64) -> f64 {
    // 2^52: numbers from here on have no bits for a fraction, so that adding it rounds.
    const LARGE: f64 = 4_503_599_627_370_496.0;
    let shift = LARGE.copysign(value);
    let rounded = ((value + shift) - shift).copysign(value);
    if value.abs() < LARGE { rounded } else { value }
}

/// The same for floats of 4 bytes.
#[inline(always)]
fn whole_single(value: f32) -> f32 {
    // 2^23, as above.
    const LARGE: f32 = 8_388_608.0;
    let shift = LARGE.copysign(value);
    let rounded = ((value + shift) - shift).copysign(value);
    if value.abs() < LARGE { rounded } else { value }
}

#[expect(clippy::cast_possible_truncation, reason = "parameters are rounded to the type of the numbers")]
fn narrow(value: f64) -> f32 {
    value as f32
}
