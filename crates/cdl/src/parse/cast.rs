//! Numbers of the text as values of a type.
use super::number::Number;
use ncirrus_model::{Atomic, Values};

/// How well a number fits a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As it is, but for digits that a float does not have.
    Exact,
    /// Without its fraction.
    Cut,
    /// Not at all: the value is what a C program makes of it.
    OutOfRange,
}

/// A numeric type of values.
pub(crate) trait NumericTarget: Copy {
    /// The value of an integer.
    fn of_integer(value: i128) -> (Self, Fit);
    /// The value of a double.
    fn of_real(value: f64) -> (Self, Fit);
    /// The value of bits; `None` for types other than integers.
    fn of_bits(value: i128) -> Option<Self>;
}

/// What x86 makes of a double outside of `i64`.
const NO_INT64: i64 = i64::MIN;

/// A double as an `i64`, as C programs do it.
fn c_int64(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked; the fraction goes as in C")]
    if (-EXP63..EXP63).contains(&value) { value as i64 } else { NO_INT64 }
}

/// A double as an `i32`, as C programs do it.
fn c_int32(value: f64) -> i32 {
    i32::try_from(c_int64(value)).unwrap_or(i32::MIN)
}

/// A double as a `u64`, as C programs do it: above `i64` in two steps.
fn c_uint64(value: f64) -> u64 {
    if value >= EXP63 {
        c_int64(value - EXP63).cast_unsigned() ^ (1 << 63)
    } else {
        c_int64(value).cast_unsigned()
    }
}

/// What is left of an integer in a smaller type, as in C.
macro_rules! lowest_bits {
    ($ty:ty, $value:expr) => {{
        let bytes = $value.to_le_bytes();
        <$ty>::from_le_bytes(std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0)))
    }};
}

/// Integers: the doubles from `$min` to below `$end` fit; `$wide` is how C converts one, of which the lowest bits stay.
macro_rules! integer_target {
    ($ty:ty, $unsigned:ty, $wide:expr, $min:expr, $end:expr) => {
        impl NumericTarget for $ty {
            #[inline]
            fn of_integer(value: i128) -> (Self, Fit) {
                match Self::try_from(value) {
                    Ok(value) => (value, Fit::Exact),
                    Err(_) => (lowest_bits!($ty, value), Fit::OutOfRange),
                }
            }

            fn of_real(value: f64) -> (Self, Fit) {
                let whole = value.trunc();
                let fit = match () {
                    () if !($min..$end).contains(&whole) => Fit::OutOfRange,
                    () if value - whole != 0.0 => Fit::Cut,
                    () => Fit::Exact,
                };
                (Self::of_integer(i128::from($wide(value))).0, fit)
            }

            fn of_bits(value: i128) -> Option<Self> {
                <$unsigned>::try_from(value).ok().map(|bits| Self::of_integer(i128::from(bits)).0)
            }
        }
    };
}

/// 2^31, 2^32, 2^63, 2^64.
const EXP31: f64 = 2_147_483_648.0;
const EXP32: f64 = 4_294_967_296.0;
const EXP63: f64 = 9_223_372_036_854_775_808.0;
const EXP64: f64 = 18_446_744_073_709_551_616.0;

integer_target!(i8, u8, c_int32, -128.0, 128.0);
integer_target!(u8, u8, c_int32, 0.0, 256.0);
integer_target!(i16, u16, c_int32, -32_768.0, 32_768.0);
integer_target!(u16, u16, c_int32, 0.0, 65_536.0);
integer_target!(i32, u32, c_int32, -EXP31, EXP31);
integer_target!(u32, u32, c_int64, 0.0, EXP32);
integer_target!(i64, u64, c_int64, -EXP63, EXP63);
integer_target!(u64, u64, c_uint64, 0.0, EXP64);

impl NumericTarget for f32 {
    #[inline]
    fn of_integer(value: i128) -> (Self, Fit) {
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
        (value as Self, Fit::Exact)
    }

    #[inline]
    fn of_real(value: f64) -> (Self, Fit) {
        #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
        let float = value as Self;
        let fit = if float.is_infinite() && value.is_finite() { Fit::OutOfRange } else { Fit::Exact };
        (float, fit)
    }

    fn of_bits(_: i128) -> Option<Self> {
        None
    }
}

impl NumericTarget for f64 {
    #[inline]
    fn of_integer(value: i128) -> (Self, Fit) {
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
        (value as Self, Fit::Exact)
    }

    #[inline]
    fn of_real(value: f64) -> (Self, Fit) {
        (value, Fit::Exact)
    }

    fn of_bits(_: i128) -> Option<Self> {
        None
    }
}

/// A number as a value of a type.
pub(crate) fn convert<T: NumericTarget>(number: &Number) -> (T, Fit) {
    match number {
        Number::Integer { value, suffix } => {
            let (value, in_suffix) = of_suffix(*value, *suffix);
            let (value, fit) = T::of_integer(value);
            (value, if in_suffix { fit } else { Fit::OutOfRange })
        }
        Number::Hex { digits, suffix } => {
            let Some(value) = number.integer() else {
                // The reference cuts long constants; the last bytes are what an integer of that many digits has.
                let tail = digits.get(digits.len().saturating_sub(16)..).unwrap_or_default().to_vec();
                let tail = Number::Hex { digits: tail, suffix: *suffix };
                return (T::of_integer(tail.integer().unwrap_or(0)).0, Fit::OutOfRange);
            };
            match T::of_bits(value) {
                Some(value) => (value, Fit::Exact),
                None => T::of_integer(value),
            }
        }
        Number::Double(value) => T::of_real(*value),
        Number::Float(value) => T::of_real(f64::from(*value)),
    }
}

/// An integer within the type of its suffix; `255b` is a byte, too (ncgen(1), "CDL Constants").
fn of_suffix(value: i128, suffix: Option<Atomic>) -> (i128, bool) {
    fn within<T: NumericTarget + Into<i128>>(value: i128) -> (i128, bool) {
        let (value, fit) = T::of_integer(value);
        (value.into(), fit == Fit::Exact)
    }
    match suffix {
        Some(Atomic::Byte) if (128..=255).contains(&value) => (value - 256, true),
        Some(Atomic::Byte) => within::<i8>(value),
        Some(Atomic::UByte) => within::<u8>(value),
        Some(Atomic::Short) => within::<i16>(value),
        Some(Atomic::UShort) => within::<u16>(value),
        Some(Atomic::Int) => within::<i32>(value),
        Some(Atomic::Int64) => within::<i64>(value),
        // `U` alone says nothing of the size.
        _ => (value, true),
    }
}

/// Appends a number to values of a numeric type; `None` for other values.
pub(crate) fn push(out: &mut Values, number: &Number) -> Option<Fit> {
    fn append<T: NumericTarget>(list: &mut Vec<T>, number: &Number) -> Fit {
        let (value, fit) = convert(number);
        list.push(value);
        fit
    }
    Some(match out {
        Values::Byte(list) => append(list, number),
        Values::Short(list) => append(list, number),
        Values::Int(list) => append(list, number),
        Values::UByte(list) => append(list, number),
        Values::UShort(list) => append(list, number),
        Values::UInt(list) => append(list, number),
        Values::Int64(list) => append(list, number),
        Values::UInt64(list) => append(list, number),
        Values::Double(list) => append(list, number),
        Values::Float(list) => match number {
            // A suffix says that it was rounded once already.
            Number::Float(value) => {
                list.push(*value);
                Fit::Exact
            }
            other => append(list, other),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast<T: NumericTarget>(text: &str) -> (T, Fit) {
        convert(&Number::parse(text.as_bytes()).unwrap())
    }

    /// Observed: `ncgen` 4.9.0 on x86-64.
    #[test]
    fn what_does_not_fit_is_what_the_reference_makes_of_it() {
        assert_eq!(cast::<i32>("99999999999"), (1_215_752_191, Fit::OutOfRange));
        assert_eq!(cast::<i8>("300"), (44, Fit::OutOfRange));
        assert_eq!(cast::<i8>("1e5"), (-96, Fit::OutOfRange));
        assert_eq!(cast::<i16>("70000.5"), (4464, Fit::OutOfRange));
        assert_eq!(cast::<i16>("1e30"), (0, Fit::OutOfRange));
        assert_eq!(cast::<i32>("3e9"), (i32::MIN, Fit::OutOfRange));
        assert_eq!(cast::<u32>("-1"), (u32::MAX, Fit::OutOfRange));
        assert_eq!(cast::<u32>("-1.5"), (u32::MAX, Fit::OutOfRange));
        assert_eq!(cast::<u32>("1e20"), (0, Fit::OutOfRange));
        assert_eq!(cast::<i64>("1e30"), (i64::MIN, Fit::OutOfRange));
        assert_eq!(cast::<u64>("1e30"), (0, Fit::OutOfRange));
        assert_eq!(cast::<u64>("-1e30"), (1 << 63, Fit::OutOfRange));
        assert_eq!(cast::<f32>("1e39"), (f32::INFINITY, Fit::OutOfRange));
        assert_eq!(cast::<i32>("300b"), (44, Fit::OutOfRange));
    }

    #[test]
    fn what_fits_is_distinguished_from_what_loses_its_fraction() {
        assert_eq!(cast::<i8>("255b"), (-1, Fit::Exact));
        assert_eq!(cast::<i8>("0xff"), (-1, Fit::Exact));
        assert_eq!(cast::<i32>("0x10"), (16, Fit::Exact));
        assert_eq!(cast::<i32>("-1.9"), (-1, Fit::Cut));
        assert_eq!(cast::<i32>("2.0"), (2, Fit::Exact));
        assert_eq!(cast::<i32>("-0.0"), (0, Fit::Exact));
        assert_eq!(cast::<i64>("9223372036854775807.0"), (i64::MIN, Fit::OutOfRange));
        assert_eq!(cast::<u64>("18446744073709551615"), (u64::MAX, Fit::Exact));
        assert_eq!(cast::<f32>("16777217"), (16_777_216.0, Fit::Exact));
        assert_eq!(cast::<u8>("-0.5"), (0, Fit::Cut));
    }

    #[test]
    fn a_double_becomes_a_float_by_way_of_double() {
        // Above the middle of two floats by less than a double can represent: rounded to a double it is the middle, and then even.
        let text = "1.000000059604644775390626";
        assert_eq!(text.parse::<f32>().unwrap(), 1.0 + f32::EPSILON);
        assert_eq!(cast::<f32>(text).0, 1.0);
    }
}
