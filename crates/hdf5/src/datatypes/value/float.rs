//! Floating-point numbers of any format (docs/spec/hdf5-netcdf4.md D.2).
use crate::datatypes::datatype::element_bits;
use crate::datatypes::{FloatFormat, FloatOrder, MantissaNorm};

/// Formats that are native.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownFloat {
    Half,
    BFloat16,
    Single,
    Double,
}

/// The native format, if it is one.
pub(super) fn known(byte_len: u64, format: &FloatFormat) -> Option<KnownFloat> {
    let plain = format.order != FloatOrder::Vax && format.norm == MantissaNorm::Implied && format.offset == 0;
    if !plain || u64::from(format.precision) != byte_len * 8 {
        return None;
    }
    match (byte_len, format.sign, format.exponent, format.mantissa, format.bias) {
        (2, 15, (10, 5), (0, 10), 15) => Some(KnownFloat::Half),
        (2, 15, (7, 8), (0, 7), 127) => Some(KnownFloat::BFloat16),
        (4, 31, (23, 8), (0, 23), 127) => Some(KnownFloat::Single),
        (8, 63, (52, 11), (0, 52), 1023) => Some(KnownFloat::Double),
        _ => None,
    }
}

/// Whether [`decode`] supports its parts: more than any format in use.
pub(super) fn is_decodable(format: &FloatFormat) -> bool {
    format.exponent.1 <= 32 && format.mantissa.1 <= 127
}

/// The nearest double. The positions of the parts count from the first bit of the element, as in the HDF5 library.
pub(super) fn decode(element: &[u8], format: &FloatFormat) -> f64 {
    let part =
        |(first, len): (u8, u8)| element_bits(element, format.order, usize::from(first), usize::from(len));
    let (exponent, mantissa) = (part(format.exponent), part(format.mantissa));
    let len = format.mantissa.1.min(127);
    let magnitude = if exponent == ones(format.exponent.1) {
        special(mantissa, len, format.norm)
    } else {
        let exponent = i64::try_from(exponent).unwrap_or(i64::MAX / 2) - i64::from(format.bias);
        let len = i64::from(len);
        match format.norm {
            MantissaNorm::Implied if exponent == -i64::from(format.bias) => {
                scaled(mantissa, exponent + 1 - len)
            }
            MantissaNorm::Implied => scaled(mantissa | 1 << len, exponent - len),
            MantissaNorm::None | MantissaNorm::MsbSet => scaled(mantissa, exponent - len + 1),
        }
    };
    if part((format.sign, 1)) == 0 { magnitude } else { -magnitude }
}

/// Infinity or NaN. A stored leading bit has no meaning.
fn special(mantissa: u128, len: u8, norm: MantissaNorm) -> f64 {
    let fraction = match norm {
        MantissaNorm::Implied => mantissa,
        MantissaNorm::None | MantissaNorm::MsbSet => mantissa & ones(len.saturating_sub(1)),
    };
    if fraction == 0 { f64::INFINITY } else { f64::NAN }
}

fn ones(len: u8) -> u128 {
    1_u128.checked_shl(u32::from(len)).map_or(u128::MAX, |power| power - 1)
}

/// The double nearest to `mantissa` times two to the `power`; ties to even.
fn scaled(mantissa: u128, power: i64) -> f64 {
    let len = i64::from(u128::BITS - mantissa.leading_zeros());
    let top = power + len - 1;
    if mantissa == 0 || top < MIN_EXPONENT - PRECISION {
        return 0.0;
    }
    if top > MAX_EXPONENT {
        return f64::INFINITY;
    }
    // Subnormal numbers have fewer bits.
    let keep = PRECISION - (MIN_EXPONENT - top).max(0);
    let drop = u32::try_from(len - keep).unwrap_or(0);
    let power = power + i64::from(drop);
    #[expect(clippy::cast_precision_loss, reason = "at most 53 bits are left")]
    let kept = rounded_shift(mantissa, drop) as f64;
    let half = power / 2;
    kept * power_of_two(half) * power_of_two(power - half)
}

/// `value` without its lowest `drop` bits, rounded to nearest, ties to even.
fn rounded_shift(value: u128, drop: u32) -> u128 {
    let Some(half) = drop.checked_sub(1).map(|bit| 1_u128 << bit) else { return value };
    let kept = value.checked_shr(drop).unwrap_or(0);
    let rest = value & (half | (half - 1));
    let up = rest > half || (rest == half && kept & 1 == 1);
    kept + u128::from(up)
}

/// Two to a power between those of the least and the greatest normal double.
fn power_of_two(power: i64) -> f64 {
    let exponent = (power + MAX_EXPONENT).clamp(1, 2 * MAX_EXPONENT);
    f64::from_bits(exponent.cast_unsigned() << 52)
}

/// Bits of a double's mantissa, and the exponents of its normal numbers.
const PRECISION: i64 = 53;
const MIN_EXPONENT: i64 = -1022;
const MAX_EXPONENT: i64 = 1023;
