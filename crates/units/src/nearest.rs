//! Casts that round to the nearest value and report values outside the range of the target (docs/spec/cfa.md 6.5).
use crate::{Result, UnitError};
use ncirrus_model::{Atomic, Values};

/// Numbers as another numeric type: fractions are rounded to the nearest integer, ties to even. Also returns the
/// positions of the numbers outside its range, including NaN for an integer type; the results at these positions are
/// meaningless.
///
/// # Errors
/// `Invalid` for text and user-defined types.
pub fn cast_to_nearest(values: &Values, to: Atomic) -> Result<(Values, Vec<usize>)> {
    let mut outside = Vec::new();
    macro_rules! into {
        ($variant:ident) => {
            column(values, &mut outside).map(Values::$variant)
        };
    }
    let cast = match to {
        Atomic::Byte => into!(Byte),
        Atomic::Short => into!(Short),
        Atomic::Int => into!(Int),
        Atomic::Int64 => into!(Int64),
        Atomic::UByte => into!(UByte),
        Atomic::UShort => into!(UShort),
        Atomic::UInt => into!(UInt),
        Atomic::UInt64 => into!(UInt64),
        Atomic::Float => into!(Float),
        Atomic::Double => into!(Double),
        Atomic::Char | Atomic::String => None,
    };
    let cast = cast.ok_or_else(|| {
        let from = values.atomic().map_or("a user-defined type", Atomic::name);
        UnitError::invalid(format!("{from} does not convert to {}", to.name()))
    })?;
    Ok((cast, outside))
}

/// Integers as another numeric type, as [`cast_to_nearest`]; `None` is outside the range of every type.
///
/// # Errors
/// `Invalid` for text.
pub fn cast_integers(numbers: &[Option<i128>], to: Atomic) -> Result<(Values, Vec<usize>)> {
    fn cast<T: NearestTarget>(numbers: &[Option<i128>], outside: &mut Vec<usize>) -> Vec<T> {
        let one = |(at, number): (usize, &Option<i128>)| {
            number.and_then(T::of_integer).unwrap_or_else(|| {
                outside.push(at);
                T::default()
            })
        };
        numbers.iter().enumerate().map(one).collect()
    }
    let mut outside = Vec::new();
    let cast = match to {
        Atomic::Byte => Values::Byte(cast(numbers, &mut outside)),
        Atomic::Short => Values::Short(cast(numbers, &mut outside)),
        Atomic::Int => Values::Int(cast(numbers, &mut outside)),
        Atomic::Int64 => Values::Int64(cast(numbers, &mut outside)),
        Atomic::UByte => Values::UByte(cast(numbers, &mut outside)),
        Atomic::UShort => Values::UShort(cast(numbers, &mut outside)),
        Atomic::UInt => Values::UInt(cast(numbers, &mut outside)),
        Atomic::UInt64 => Values::UInt64(cast(numbers, &mut outside)),
        Atomic::Float => Values::Float(cast(numbers, &mut outside)),
        Atomic::Double => Values::Double(cast(numbers, &mut outside)),
        Atomic::Char | Atomic::String => {
            return Err(UnitError::invalid(format!("integers do not convert to {}", to.name())));
        }
    };
    Ok((cast, outside))
}

fn column<T: NearestTarget>(values: &Values, outside: &mut Vec<usize>) -> Option<Vec<T>> {
    macro_rules! from {
        ($vector:expr, $number:path, $convert:path) => {{
            let one = |(at, value): (usize, _)| {
                $convert($number(value)).unwrap_or_else(|| {
                    outside.push(at);
                    T::default()
                })
            };
            $vector.iter().copied().enumerate().map(one).collect()
        }};
    }
    Some(match values {
        Values::Byte(from) => from!(from, i128::from, T::of_integer),
        Values::Short(from) => from!(from, i128::from, T::of_integer),
        Values::Int(from) => from!(from, i128::from, T::of_integer),
        Values::Int64(from) => from!(from, i128::from, T::of_integer),
        Values::UByte(from) => from!(from, i128::from, T::of_integer),
        Values::UShort(from) => from!(from, i128::from, T::of_integer),
        Values::UInt(from) => from!(from, i128::from, T::of_integer),
        Values::UInt64(from) => from!(from, i128::from, T::of_integer),
        Values::Float(from) => from!(from, f64::from, T::of_float),
        Values::Double(from) => from!(from, f64::from, T::of_float),
        _ => return None,
    })
}

/// A type that numbers are cast to; `None` for those outside its range.
trait NearestTarget: Copy + Default {
    fn of_integer(value: i128) -> Option<Self>;
    fn of_float(value: f64) -> Option<Self>;
}

macro_rules! integer_target {
    ($($ty:ty),*) => {$(
        impl NearestTarget for $ty {
            fn of_integer(value: i128) -> Option<Self> {
                Self::try_from(value).ok()
            }

            #[expect(clippy::cast_possible_truncation, reason = "beyond 128 bits the bound is taken, and is outside")]
            fn of_float(value: f64) -> Option<Self> {
                let nearest = value.round_ties_even();
                if nearest.is_nan() { None } else { Self::try_from(nearest as i128).ok() }
            }
        }
    )*};
}

integer_target!(i8, i16, i32, i64, u8, u16, u32, u64);

impl NearestTarget for f32 {
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn of_integer(value: i128) -> Option<Self> {
        Some(value as Self)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
    fn of_float(value: f64) -> Option<Self> {
        let nearest = value as Self;
        (nearest.is_finite() || !value.is_finite()).then_some(nearest)
    }
}

impl NearestTarget for f64 {
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
    fn of_integer(value: i128) -> Option<Self> {
        Some(value as Self)
    }

    fn of_float(value: f64) -> Option<Self> {
        Some(value)
    }
}
