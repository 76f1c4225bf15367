//! Quantization: rounding floating-point values to the digits or bits that matter, so that they compress better.
//!
//! The three algorithms of netCDF-C, bit for bit: BitGroom (Zender 2016), Granular BitRound (Delaunay et al. 2019 and
//! Kouznetsov 2021) and BitRound (Kouznetsov 2021). Values equal to the fill value stay as they are, and so do infinities,
//! which netCDF-C turns into NaN at odd positions.
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Attribute, Attributes, TypeRef, Values};
use std::f64::consts::{LN_2, LN_10};

/// How values are quantized before they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantize {
    /// Keeps this many significant decimal digits; the bits after them are cleared and set alternately.
    BitGroom(u32),
    /// Keeps this many significant decimal digits; the bits needed are computed for each value, the rest is rounded.
    GranularBitRound(u32),
    /// Keeps this many bits of the mantissa; the rest is rounded.
    BitRound(u32),
}

impl Quantize {
    /// The attribute that records the algorithm (docs/spec/hdf5-netcdf4.md G.4).
    pub fn attribute_name(self) -> &'static str {
        match self {
            Self::BitGroom(_) => "_QuantizeBitGroomNumberOfSignificantDigits",
            Self::GranularBitRound(_) => "_QuantizeGranularBitRoundNumberOfSignificantDigits",
            Self::BitRound(_) => "_QuantizeBitRoundNumberOfSignificantBits",
        }
    }

    /// Name of the algorithm as CF 1.12 has it ("Lossy Compression via Quantization").
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::BitGroom(_) => "bitgroom",
            Self::GranularBitRound(_) => "granular_bitround",
            Self::BitRound(_) => "bitround",
        }
    }

    /// Name of the variable that describes the algorithm, where it is recorded according to CF 1.12 (8.4).
    pub fn container(self) -> &'static str {
        match self {
            Self::BitGroom(_) => "quantization_bitgroom",
            Self::GranularBitRound(_) => "quantization_granular_bitround",
            Self::BitRound(_) => "quantization_bitround",
        }
    }

    /// Number of digits or bits that are kept.
    pub fn kept(self) -> u32 {
        match self {
            Self::BitGroom(kept) | Self::GranularBitRound(kept) | Self::BitRound(kept) => kept,
        }
    }

    /// The attribute of netCDF-C.
    pub fn attribute(self) -> Attribute {
        Attribute::atomic(
            self.attribute_name(),
            Values::Int(vec![i32::try_from(self.kept()).unwrap_or(i32::MAX)]),
        )
    }

    /// The quantization that the attributes of a variable record, if it is one of the three.
    pub fn recorded(attributes: &Attributes) -> Option<Self> {
        let kinds = [Self::BitGroom as fn(u32) -> Self, Self::GranularBitRound, Self::BitRound];
        kinds.into_iter().find_map(|kind| {
            let attribute = attributes.find(kind(0).attribute_name())?;
            Some(kind(u32::try_from(attribute.values.integer(0)?).ok()?))
        })
    }

    /// Checks that values of a type can be quantized in this way.
    ///
    /// # Errors
    /// `Invalid` for types other than float and double, for zero digits or bits, and for more than the type has (6 and
    /// 15 digits, 23 and 52 bits).
    pub fn check(self, ty: TypeRef) -> Result<()> {
        let (digits, bits) = match ty {
            TypeRef::Atomic(Atomic::Float) => (6, 23),
            TypeRef::Atomic(Atomic::Double) => (15, 52),
            _ => return Err(Error::invalid("only float and double values can be quantized")),
        };
        let (max, of) = match self {
            Self::BitRound(_) => (bits, "significant bits"),
            _ => (digits, "significant digits"),
        };
        match self.kept() {
            kept if (1..=max).contains(&kept) => Ok(()),
            kept => Err(Error::invalid(format!("{kept} {of}: 1 to {max} can be kept"))),
        }
    }

    /// Quantizes values of type float or double; other types, infinities and NaN stay as they are. `fill` is one value
    /// of the same type.
    pub fn apply(self, values: &mut Values, fill: &Values) {
        self.apply_in_turn(values, fill, |index| index % 2 == 1);
    }

    /// As [`apply`](Self::apply), for values that are a part of a larger array: `is_odd` says whether the value at an
    /// index has an odd position in that array, which determines what BitGroom does with it.
    pub fn apply_in_turn(self, values: &mut Values, fill: &Values, is_odd: impl Fn(usize) -> bool) {
        match (values, fill) {
            (Values::Float(values), Values::Float(fill)) => {
                let fill = fill.first().copied();
                self.each(
                    values.iter_mut().map(|value| QuantizedValue {
                        skip: !value.is_finite() || Some(*value) == fill,
                        value,
                    }),
                    is_odd,
                );
            }
            (Values::Double(values), Values::Double(fill)) => {
                let fill = fill.first().copied();
                self.each(
                    values.iter_mut().map(|value| QuantizedValue {
                        skip: !value.is_finite() || Some(*value) == fill,
                        value,
                    }),
                    is_odd,
                );
            }
            _ => {}
        }
    }

    fn each<'a, F: BinaryFloat + 'a>(
        self,
        places: impl Iterator<Item = QuantizedValue<'a, F>>,
        is_odd: impl Fn(usize) -> bool,
    ) {
        let bits = self.fixed_bits().min(F::MANTISSA);
        for (index, place) in places.enumerate().filter(|(_, place)| !place.skip) {
            *place.value = match self {
                Self::BitRound(_) => place.value.rounded(bits),
                Self::BitGroom(_) if is_odd(index) => place.value.set(bits),
                Self::BitGroom(_) => place.value.shaved(bits),
                Self::GranularBitRound(digits) => match granular_bits(place.value.to_f64(), digits) {
                    Some(bits) => place.value.rounded(bits),
                    None => *place.value,
                },
            };
        }
    }

    /// Bits of the mantissa that are kept of every value. For digits: rounded up, plus one, since the first bit is not
    /// stored.
    fn fixed_bits(self) -> u32 {
        match self {
            Self::BitRound(bits) => bits,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "15 digits are 50 bits"
            )]
            Self::BitGroom(digits) | Self::GranularBitRound(digits) => {
                (f64::from(digits) * BITS_PER_DIGIT).ceil() as u32 + 1
            }
        }
    }
}

const BITS_PER_DIGIT: f64 = LN_10 / LN_2;
const DIGITS_PER_BIT: f64 = LN_2 / LN_10;

/// Bits of the mantissa that this value needs for the given number of digits; `None` for zero.
fn granular_bits(value: f64, digits: u32) -> Option<u32> {
    if value == 0.0 {
        return None;
    }
    let (mantissa, exponent) = mantissa_and_exponent(value);
    let log = mantissa.abs().log10();
    let decimal = (exponent * DIGITS_PER_BIT + log).floor() + 1.0;
    let power = (BITS_PER_DIGIT * (decimal - f64::from(digits))).floor();
    let needed = ((exponent - BITS_PER_DIGIT * log).floor() - power).abs();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float's cast saturates")]
    Some((needed as u32).saturating_sub(1))
}

/// A finite value as mantissa in [0.5, 1) and power of two.
fn mantissa_and_exponent(value: f64) -> (f64, f64) {
    let (scaled, shift) = if value.is_subnormal() { (value * TWO_64, 64.0) } else { (value, 0.0) };
    let bits = scaled.to_bits();
    let exponent = f64::from(u16::try_from(bits >> 52 & 0x7ff).unwrap_or(0)) - 1022.0 - shift;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent)
}

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// A value, and whether it stays as it is.
struct QuantizedValue<'a, F> {
    value: &'a mut F,
    skip: bool,
}

/// A binary floating-point type.
trait BinaryFloat: Copy {
    /// Bits of the mantissa that are stored.
    const MANTISSA: u32;
    fn to_f64(self) -> f64;
    /// With the bits after the first `kept` of the mantissa cleared.
    fn shaved(self, kept: u32) -> Self;
    /// With these bits set, unless it is zero.
    fn set(self, kept: u32) -> Self;
    /// With these bits rounded to the nearest, ties away from zero.
    fn rounded(self, kept: u32) -> Self;
}

macro_rules! float {
    ($float:ty, $bits:ty, $mantissa:expr) => {
        impl BinaryFloat for $float {
            const MANTISSA: u32 = $mantissa;

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn shaved(self, kept: u32) -> Self {
                let tail: $bits = (1 << Self::MANTISSA.saturating_sub(kept)) - 1;
                Self::from_bits(self.to_bits() & !tail)
            }

            fn set(self, kept: u32) -> Self {
                let tail: $bits = (1 << Self::MANTISSA.saturating_sub(kept)) - 1;
                if self == 0.0 { self } else { Self::from_bits(self.to_bits() | tail) }
            }

            fn rounded(self, kept: u32) -> Self {
                let tail: $bits = (1 << Self::MANTISSA.saturating_sub(kept)) - 1;
                Self::from_bits(self.to_bits().wrapping_add(tail ^ (tail >> 1)) & !tail)
            }
        }
    };
}

float!(f32, u32, 23);
float!(f64, u64, 52);

#[cfg(test)]
mod tests {
    use super::Quantize;
    use ncirrus_model::Values;

    fn quantized(quantize: Quantize, values: &[f32]) -> Vec<f32> {
        let mut values = Values::Float(values.to_vec());
        quantize.apply(&mut values, &Values::Float(vec![-999.9]));
        match values {
            Values::Float(values) => values,
            _ => Vec::new(),
        }
    }

    #[test]
    fn bit_groom_clears_and_sets_the_bits_after_the_digits_in_turn() {
        assert_eq!(
            quantized(Quantize::BitGroom(3), &[1.234_567_8, 2.345_678_9, std::f32::consts::PI]),
            [1.234_375, 2.345_703, 3.140_625]
        );
    }

    #[test]
    fn fill_values_and_zeros_stay() {
        for quantize in [Quantize::BitGroom(2), Quantize::GranularBitRound(2), Quantize::BitRound(5)] {
            assert_eq!(quantized(quantize, &[-999.9, -999.9, 0.0, 0.0]), [-999.9, -999.9, 0.0, 0.0]);
        }
    }

    #[test]
    fn values_that_are_not_finite_stay() {
        let inputs = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)];
        for make in
            [Quantize::BitGroom as fn(u32) -> Quantize, Quantize::GranularBitRound, Quantize::BitRound]
        {
            for (kept, is_odd) in (1..=15).flat_map(|kept| [(kept, false), (kept, true)]) {
                let mut floats = Values::Float(inputs.to_vec());
                make(kept).apply_in_turn(&mut floats, &Values::Float(vec![0.0]), |_| is_odd);
                let mut doubles = Values::Double(inputs.iter().map(|value| f64::from(*value)).collect());
                make(kept).apply_in_turn(&mut doubles, &Values::Double(vec![0.0]), |_| is_odd);
                let (Values::Float(floats), Values::Double(doubles)) = (floats, doubles) else { panic!() };
                for ((input, float), double) in inputs.iter().zip(floats).zip(doubles) {
                    assert_eq!(float.to_bits(), input.to_bits());
                    assert_eq!(double.to_bits(), f64::from(*input).to_bits());
                }
            }
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_with_the_bits_requested() {
        assert_eq!(
            quantized(Quantize::BitRound(1), &[1.2, 1.25, 1.3, 1.8, -1.3]),
            [1.0, 1.5, 1.5, 2.0, -1.5]
        );
    }
}
