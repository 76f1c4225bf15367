//! Correctly rounded decimal digits of a double, ties to even on the exact value, as the C library rounds.
use std::io::Write;

/// Maximum number of digits of the exact path; more are computed by the standard library.
const FAST_DIGITS: usize = 17;

/// Room for the digits of any useful precision: no double has more significant ones.
const MAX_DIGITS: usize = 767;

/// Digits `d.ddd` times ten to the `exponent`.
pub(super) struct DecimalNumber {
    digits: DecimalDigits,
    pub(super) exponent: i32,
}

/// Up to 17 digits without allocation, or any number of digits with one.
enum DecimalDigits {
    Few([u8; 24], usize),
    Many(Vec<u8>),
}

impl DecimalNumber {
    /// The finite, non-negative `value` rounded to `precision` (at least 1) significant digits.
    pub(super) fn round(value: f64, precision: usize) -> Self {
        if value == 0.0 {
            return Self::from_integer(0, 0);
        }
        if precision <= FAST_DIGITS
            && let Some((digits, exponent)) = round_exactly(value, precision)
        {
            return Self::from_integer(digits, exponent);
        }
        round_by_formatting(value, precision.min(MAX_DIGITS))
    }

    /// The digits without trailing zeros, at least one.
    pub(super) fn significant(&self) -> &[u8] {
        let digits = match &self.digits {
            DecimalDigits::Few(digits, len) => digits.get(..*len).unwrap_or_default(),
            DecimalDigits::Many(digits) => digits.as_slice(),
        };
        let len = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
        digits.get(..len).unwrap_or(digits)
    }

    fn from_integer(digits: u64, exponent: i32) -> Self {
        let mut text = [b'0'; 24];
        let mut buffer = itoa::Buffer::new();
        let written = buffer.format(digits).as_bytes();
        if let Some(room) = text.get_mut(..written.len()) {
            room.copy_from_slice(written);
        }
        Self { digits: DecimalDigits::Few(text, written.len()), exponent }
    }
}

const POWERS_OF_5: [u64; 28] = {
    let mut powers = [1u64; 28];
    let mut at = 1;
    while at < 28 {
        powers[at] = powers[at - 1] * 5;
        at += 1;
    }
    powers
};

const POWERS_OF_10: [u64; 19] = {
    let mut powers = [1u64; 19];
    let mut at = 1;
    while at < 19 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Powers of ten from -22 to 22. Those below 1 are not exact, so that a value is certainly above a power only if it
/// exceeds it.
const POWERS: [f64; 45] = [
    1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
    1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Index of 1 in [`POWERS`].
const ESTIMATE_OFFSET: i32 = 22;

/// Digits as an integer of exactly `precision` digits, and the exponent of the first. `None` if the value is so large
/// or small that the product below does not fit in 128 bits.
fn round_exactly(value: f64, precision: usize) -> Option<(u64, i32)> {
    let bits = value.to_bits();
    let biased = i32::try_from(bits >> 52).ok()?;
    if biased == 0 {
        return None;
    }
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let binary_exponent = biased - 1075;
    let (low, high) = (*POWERS_OF_10.get(precision - 1)?, *POWERS_OF_10.get(precision)?);
    let mut exponent = estimate(value, biased - 1023);
    for _ in 0..3 {
        let scale = i32::try_from(precision).ok()? - 1 - exponent;
        let rounded = scaled(mantissa, binary_exponent, scale)?;
        if rounded >= high {
            // Either the estimate was one too small, or rounding carried into a new digit: in both cases one more is
            // right.
            exponent += 1;
        } else if rounded < low {
            exponent -= 1;
        } else {
            return Some((rounded, exponent));
        }
    }
    None
}

/// The decimal exponent of a value with the given binary exponent, or one less; never more, since rounding up to the
/// next power would hide that.
#[inline]
fn estimate(value: f64, binary: i32) -> i32 {
    // 30103 / 100000 is log10(2); no multiple of it is so close to an integer that the difference would matter.
    let low = (binary * 30_103).div_euclid(100_000);
    let next = usize::try_from(low + 1 + ESTIMATE_OFFSET).ok().and_then(|at| POWERS.get(at));
    low + i32::from(next.is_some_and(|&next| value > next))
}

/// `mantissa * 2^binary * 10^scale`, rounded to an integer, ties to even.
fn scaled(mantissa: u64, binary: i32, scale: i32) -> Option<u64> {
    let power = u128::from(*POWERS_OF_5.get(usize::try_from(scale.unsigned_abs()).ok()?)?);
    let shift = binary + scale;
    let mantissa = u128::from(mantissa);
    let rounded = if scale >= 0 {
        let product = mantissa * power;
        if shift >= 0 {
            shifted_up(product, shift.unsigned_abs())?
        } else {
            divide_by_power_of_2(product, shift.unsigned_abs())?
        }
    } else if shift >= 0 {
        divide(shifted_up(mantissa, shift.unsigned_abs())?, power)
    } else {
        divide(mantissa, shifted_up(power, shift.unsigned_abs())?)
    };
    u64::try_from(rounded).ok()
}

/// `value << shift`, unless bits are lost.
fn shifted_up(value: u128, shift: u32) -> Option<u128> {
    (shift < value.leading_zeros()).then(|| value << shift)
}

fn divide_by_power_of_2(value: u128, shift: u32) -> Option<u128> {
    if shift >= 127 {
        return None;
    }
    let quotient = value >> shift;
    let rest = value & ((1 << shift) - 1);
    let half = 1u128 << (shift - 1);
    Some(quotient + u128::from(rest > half || (rest == half && quotient & 1 == 1)))
}

fn divide(value: u128, by: u128) -> u128 {
    let (quotient, rest) = (value / by, value % by);
    let other = by - rest;
    quotient + u128::from(rest > other || (rest == other && quotient & 1 == 1))
}

/// The same through the standard library, which also rounds exactly but takes longer.
fn round_by_formatting(value: f64, precision: usize) -> DecimalNumber {
    let mut text = Vec::with_capacity(precision + 8);
    if write!(text, "{value:.*e}", precision - 1).is_err() {
        return DecimalNumber::from_integer(0, 0);
    }
    let split = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
    let exponent = text.get(split + 1..).and_then(|tail| std::str::from_utf8(tail).ok());
    let exponent = exponent.and_then(|tail| tail.parse().ok()).unwrap_or(0);
    text.truncate(split);
    text.retain(u8::is_ascii_digit);
    DecimalNumber { digits: DecimalDigits::Many(text), exponent }
}
