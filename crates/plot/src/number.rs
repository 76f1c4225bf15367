//! Conversions of numbers that saturate.

/// The integer part of a number that is not negative; 0 for NaN.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub(crate) fn index(number: f64) -> usize {
    number as usize
}

/// The integer part; 0 for NaN.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub(crate) fn signed(number: f64) -> i64 {
    number as i64
}

/// A coordinate of the rasteriser.
#[expect(clippy::cast_possible_truncation, reason = "pixels need no more digits")]
pub(crate) fn pixel(number: f64) -> f32 {
    number as f32
}

/// A colour component from 0 to 255.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub(crate) fn byte(number: f64) -> u8 {
    number.round() as u8
}
