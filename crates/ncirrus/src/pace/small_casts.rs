//! Numbers of another type, one at a time: those that are in its range and for which no rule of a format matters. All others go
//! the way of larger reads and writes, which reports numbers out of range.
use crate::Atomic;

/// A number as C has it in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberBytes {
    bytes: [u8; 8],
    len: usize,
}

impl NumberBytes {
    #[inline]
    fn of<const LEN: usize>(number: [u8; LEN]) -> Self {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(number) {
            *to = from;
        }
        Self { bytes, len: LEN }
    }

    /// Its bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Whether numbers are taken from one type to another here.
#[inline]
pub fn can_cast(from: Atomic, to: Atomic) -> bool {
    let is_exact_as_double =
        matches!(from, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Float | Atomic::Double);
    is_exact_as_double && matches!(to, Atomic::Short | Atomic::Int | Atomic::Float | Atomic::Double)
}

/// A number of one type as another. `None` if it is outside, and for what is not cast here.
#[expect(clippy::cast_possible_truncation, reason = "in range; fractions are cut off, as in the reference")]
#[inline]
pub fn cast(from: Atomic, to: Atomic, bytes: &[u8]) -> Option<NumberBytes> {
    let number = as_double(from, bytes)?;
    let is_within = |low: f64, high: f64| number >= low && number <= high;
    match to {
        // netCDF-3 reports an infinite float that becomes a double.
        Atomic::Double if !number.is_infinite() => Some(NumberBytes::of(number.to_ne_bytes())),
        Atomic::Float if is_within(f32::MIN.into(), f32::MAX.into()) => {
            Some(NumberBytes::of((number as f32).to_ne_bytes()))
        }
        Atomic::Int if is_within(i32::MIN.into(), i32::MAX.into()) => {
            Some(NumberBytes::of((number as i32).to_ne_bytes()))
        }
        Atomic::Short if is_within(i16::MIN.into(), i16::MAX.into()) => {
            Some(NumberBytes::of((number as i16).to_ne_bytes()))
        }
        _ => None,
    }
}

/// The double that is equal to a number.
#[inline]
fn as_double(ty: Atomic, bytes: &[u8]) -> Option<f64> {
    match ty {
        Atomic::Byte => Some(f64::from(i8::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Short => Some(f64::from(i16::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Int => Some(f64::from(i32::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Float => Some(f64::from(f32::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Double => Some(f64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{can_cast, cast};
    use crate::convert::{ByteRule, CastRules, RangeExcess, cast_with};
    use crate::{Atomic, Values};

    /// Numbers at the limits of every type, and values that are not numbers.
    const NUMBERS: [f64; 19] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.9,
        -1.9,
        127.0,
        128.0,
        -129.0,
        32767.0,
        32767.9,
        -32768.0,
        -32769.0,
        2147483647.0,
        2147483647.5,
        -2147483649.0,
        3.5e38,
        f64::INFINITY,
        f64::NAN,
    ];

    #[expect(clippy::cast_possible_truncation, reason = "numbers of every type are made of one list")]
    fn source(ty: Atomic) -> Values {
        let numbers = NUMBERS.iter();
        match ty {
            Atomic::Byte => Values::Byte(numbers.map(|number| *number as i8).collect()),
            Atomic::Short => Values::Short(numbers.map(|number| *number as i16).collect()),
            Atomic::Int => Values::Int(numbers.map(|number| *number as i32).collect()),
            Atomic::Float => Values::Float(numbers.map(|number| *number as f32).collect()),
            _ => Values::Double(NUMBERS.to_vec()),
        }
    }

    fn bytes(values: &Values) -> Vec<Vec<u8>> {
        match values {
            Values::Byte(values) => values.iter().map(|value| value.to_ne_bytes().to_vec()).collect(),
            Values::Short(values) => values.iter().map(|value| value.to_ne_bytes().to_vec()).collect(),
            Values::Int(values) => values.iter().map(|value| value.to_ne_bytes().to_vec()).collect(),
            Values::Float(values) => values.iter().map(|value| value.to_ne_bytes().to_vec()).collect(),
            Values::Double(values) => values.iter().map(|value| value.to_ne_bytes().to_vec()).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_in_range_are_those_of_larger_reads_and_no_other_is_cast() {
        let types = [Atomic::Byte, Atomic::Short, Atomic::Int, Atomic::Float, Atomic::Double];
        let mut count = 0;
        for from in types {
            for to in types.into_iter().filter(|to| can_cast(from, *to)) {
                let rules = CastRules { excess: RangeExcess::Wrap, bytes: ByteRule::Typed };
                for number in bytes(&source(from)) {
                    let one = source_of(from, &number);
                    let (expected, report) = cast_with(&one, to, rules).unwrap();
                    match cast(from, to, &number) {
                        Some(found) => {
                            assert!(report.is_clean(), "{from:?} {to:?} {one:?}");
                            assert_eq!(found.as_slice(), bytes(&expected)[0], "{from:?} {to:?} {one:?}");
                            count += 1;
                        }
                        None => assert!(!report.is_clean() || has_no_number(&one), "{from:?} {to:?} {one:?}"),
                    }
                }
            }
        }
        assert!(count > 200, "{count}");
    }

    fn source_of(ty: Atomic, bytes: &[u8]) -> Values {
        match ty {
            Atomic::Byte => Values::Byte(vec![i8::from_ne_bytes(bytes.try_into().unwrap())]),
            Atomic::Short => Values::Short(vec![i16::from_ne_bytes(bytes.try_into().unwrap())]),
            Atomic::Int => Values::Int(vec![i32::from_ne_bytes(bytes.try_into().unwrap())]),
            Atomic::Float => Values::Float(vec![f32::from_ne_bytes(bytes.try_into().unwrap())]),
            _ => Values::Double(vec![f64::from_ne_bytes(bytes.try_into().unwrap())]),
        }
    }

    /// What is infinite or no number is left to larger reads.
    fn has_no_number(values: &Values) -> bool {
        values.number(0).is_none_or(|number| !number.is_finite())
    }
}
