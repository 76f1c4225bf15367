//! Numbers of all types, compared as they are.
use crate::{Atomic, Values};
use std::cmp::Ordering;
use std::fmt;

/// A number of any type, of which nothing is rounded: doubles do not hold integers beyond 2^53.
#[derive(Debug, Clone, Copy)]
pub enum ExactNumber {
    /// An integer.
    Integer(i128),
    /// A float or double.
    Real(f64),
}

impl ExactNumber {
    /// The value at `index`; `None` for text and user types.
    pub fn of(values: &Values, index: usize) -> Option<Self> {
        match values {
            Values::Float(_) | Values::Double(_) => values.number(index).map(Self::Real),
            _ => values.integer(index).map(Self::Integer),
        }
    }

    /// All values; those of text and user types are left out.
    pub fn all(values: &Values) -> Vec<Self> {
        (0..values.len()).filter_map(|index| Self::of(values, index)).collect()
    }

    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// The integer that it is; `None` for fractions, infinities and NaN.
    pub fn to_integer(self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(value),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
            Self::Real(value) => (value.fract() == 0.0 && value.abs() < TWO_127).then_some(value as i128),
        }
    }

    /// The same number as a double; `None` if it has more digits.
    pub fn exact_f64(self) -> Option<f64> {
        let value = self.to_f64();
        (matches!(self, Self::Real(_)) || Self::Real(value) == self).then_some(value)
    }

    /// Whether it is NaN.
    pub fn is_nan(self) -> bool {
        matches!(self, Self::Real(value) if value.is_nan())
    }

    /// Whether both are the same number, or NaN.
    pub fn is_same(self, other: Self) -> bool {
        self == other || (self.is_nan() && other.is_nan())
    }

    /// The difference, as the nearest double; that of integers is computed exactly.
    pub fn minus(self, other: Self) -> f64 {
        let exact = match (self, other) {
            (Self::Real(_), Self::Real(_)) => None,
            _ => self.to_integer().zip(other.to_integer()),
        };
        let exact = exact.and_then(|(one, other)| one.checked_sub(other)).map(Self::Integer);
        exact.map_or_else(|| self.to_f64() - other.to_f64(), Self::to_f64)
    }

    /// An order of all numbers: NaN comes last.
    pub fn total_order(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
    }

    /// The lesser of two; NaN only if both are.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if self.total_order(&other).is_le() { self } else { other }
    }

    /// The greater of two; NaN only if both are.
    #[must_use]
    pub fn greatest(self, other: Self) -> Self {
        if self.is_nan() || (!other.is_nan() && self < other) { other } else { self }
    }

    /// The numbers as values of a numeric type; `None` if one of them is not a number of that type.
    pub fn all_as(numbers: &[Self], ty: Atomic) -> Option<Values> {
        fn integers<T: TryFrom<i128>>(numbers: &[ExactNumber]) -> Option<Vec<T>> {
            numbers.iter().map(|number| T::try_from(number.to_integer()?).ok()).collect()
        }
        #[expect(clippy::cast_possible_truncation, reason = "compared with the double")]
        let single = |number: &Self| {
            let value = number.exact_f64()?;
            (value.is_nan() || f64::from(value as f32) == value).then_some(value as f32)
        };
        Some(match ty {
            Atomic::Byte => Values::Byte(integers(numbers)?),
            Atomic::Short => Values::Short(integers(numbers)?),
            Atomic::Int => Values::Int(integers(numbers)?),
            Atomic::Int64 => Values::Int64(integers(numbers)?),
            Atomic::UByte => Values::UByte(integers(numbers)?),
            Atomic::UShort => Values::UShort(integers(numbers)?),
            Atomic::UInt => Values::UInt(integers(numbers)?),
            Atomic::UInt64 => Values::UInt64(integers(numbers)?),
            Atomic::Float => Values::Float(numbers.iter().map(single).collect::<Option<_>>()?),
            Atomic::Double => {
                Values::Double(numbers.iter().map(|number| number.exact_f64()).collect::<Option<_>>()?)
            }
            Atomic::Char | Atomic::String => return None,
        })
    }
}

/// 2^127, the first number beyond 128-bit integers.
const TWO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

fn compare(integer: i128, real: f64) -> Option<Ordering> {
    if real.is_nan() {
        return None;
    }
    if real.abs() >= TWO_127 {
        return Some(if real > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    #[expect(clippy::cast_possible_truncation, reason = "truncation is meant, and the range was checked")]
    let whole = real.trunc() as i128;
    Some(integer.cmp(&whole).then_with(|| 0.0.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal)))
}

impl PartialEq for ExactNumber {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for ExactNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (*self, *other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(&other),
            (Self::Integer(one), Self::Real(other)) => compare(one, other),
            (Self::Real(one), Self::Integer(other)) => compare(other, one).map(Ordering::reverse),
        }
    }
}

impl fmt::Display for ExactNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Real(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExactNumber::{self, Integer, Real};
    use crate::{Atomic, Values};
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn integers_and_doubles_are_compared_exactly() {
        let big = 1 << 53;
        for (one, other, order) in [
            (Integer(big + 1), Integer(big), Some(Greater)),
            (Integer(big + 1), Real(9_007_199_254_740_992.0), Some(Greater)),
            (Integer(big), Real(9_007_199_254_740_992.0), Some(Equal)),
            (Integer(i64::MAX.into()), Real(9_223_372_036_854_775_808.0), Some(Less)),
            (Integer(u64::MAX.into()), Real(18_446_744_073_709_551_616.0), Some(Less)),
            (Integer(1), Real(1.5), Some(Less)),
            (Integer(-1), Real(-1.5), Some(Greater)),
            (Integer(0), Real(-0.0), Some(Equal)),
            (Integer(i128::MAX), Real(f64::INFINITY), Some(Less)),
            (Integer(i128::MIN), Real(f64::NEG_INFINITY), Some(Greater)),
            (Integer(0), Real(f64::NAN), None),
            (Real(1.0), Real(2.0), Some(Less)),
        ] {
            assert_eq!(one.partial_cmp(&other), order, "{one} {other}");
            assert_eq!(other.partial_cmp(&one), order.map(std::cmp::Ordering::reverse), "{other} {one}");
        }
        assert!(Real(f64::NAN).is_same(Real(f64::NAN)) && !Real(f64::NAN).is_same(Integer(0)));
        assert!(
            Real(f64::NAN).min(Integer(1)) == Integer(1) && Integer(1).greatest(Real(f64::NAN)) == Integer(1)
        );
    }

    #[test]
    fn numbers_become_values_of_a_type_exactly_or_not_at_all() {
        let as_type = |number: ExactNumber, ty| ExactNumber::all_as(&[number], ty);
        let odd = (1 << 53) + 1;
        assert_eq!(as_type(Integer(odd), Atomic::Double), None);
        assert_eq!(as_type(Integer(odd), Atomic::Int64), Some(Values::Int64(vec![(1 << 53) + 1])));
        assert_eq!(as_type(Real(1e18), Atomic::Int64), Some(Values::Int64(vec![1_000_000_000_000_000_000])));
        assert_eq!(as_type(Real(0.5), Atomic::Int), None);
        assert_eq!(as_type(Real(0.1), Atomic::Float), None);
        assert_eq!(as_type(Real(0.5), Atomic::Float), Some(Values::Float(vec![0.5])));
        assert_eq!(as_type(Real(f64::INFINITY), Atomic::Int64), None);
        assert_eq!(as_type(Integer(-1), Atomic::UInt64), None);
        assert_eq!(as_type(Integer(1), Atomic::Char), None);
    }
}
