//! Conversions of integers that do not pass through doubles.
use crate::grammar::{self, UnitSpec};
use crate::rational::RationalConversion;
use crate::{Result, TimeUnits, UnitConversion, conversion};
use ncirrus_model::ExactNumber;

/// The conversion of numbers in one unit to numbers in another: integers exactly where both units allow it, others as
/// doubles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberConversion {
    reals: UnitConversion,
    integers: Option<RationalConversion>,
}

impl NumberConversion {
    /// As [`conversion`].
    ///
    /// # Errors
    /// As [`conversion`].
    pub fn between(from: (&str, Option<&str>), to: (&str, Option<&str>)) -> Result<Option<Self>> {
        let Some(reals) = conversion(from, to)? else { return Ok(None) };
        let integers = match (grammar::parse(from.0)?, grammar::parse(to.0)?) {
            (UnitSpec::Since(one), UnitSpec::Since(other)) => {
                TimeUnits::new(&one, from.1)?.rational_to(&TimeUnits::new(&other, to.1)?)
            }
            _ => RationalConversion::of(reals),
        };
        Ok(Some(Self { reals, integers }))
    }

    /// The conversion of doubles.
    pub fn reals(&self) -> UnitConversion {
        self.reals
    }

    /// Whether integers are converted exactly.
    pub fn is_exact(&self) -> bool {
        self.integers.is_some()
    }

    /// The number in the other unit: an integer if the number is one and the result is whole.
    pub fn apply(&self, number: ExactNumber) -> ExactNumber {
        let exact = || self.integers?.apply(number.to_integer()?);
        match number {
            ExactNumber::Integer(_) => exact(),
            ExactNumber::Real(_) => None,
        }
        .unwrap_or_else(|| ExactNumber::Real(self.reals.apply(number.to_f64())))
    }

    /// The integer in the other unit that is nearest to a number, ties to even; `None` if the number is not finite, or
    /// beyond 128 bits.
    pub fn nearest_integer(&self, number: ExactNumber) -> Option<i128> {
        if let Some(integers) = self.integers {
            let (numerator, denominator) = fraction(number)?;
            let exact = integers.nearest(numerator, denominator);
            if exact.is_some() {
                return exact;
            }
        }
        ExactNumber::Real(self.reals.apply(number.to_f64()).round_ties_even()).to_integer()
    }
}

/// A number as a fraction whose denominator is a power of two.
fn fraction(number: ExactNumber) -> Option<(i128, i128)> {
    if let Some(whole) = number.to_integer() {
        return Some((whole, 1));
    }
    let value = number.to_f64();
    if !value.is_finite() {
        return None;
    }
    // Fractions of less than 2^-60 are below the precision of every integer.
    let power = (0..=60).find(|power| (value * f64::from(*power).exp2()).fract() == 0.0).unwrap_or(60);
    let scaled = (value * f64::from(power).exp2()).round();
    Some((ExactNumber::Real(scaled).to_integer()?, 1 << power))
}

#[cfg(test)]
mod tests {
    use super::NumberConversion;
    use ncirrus_model::ExactNumber::{Integer, Real};

    fn between(from: &str, to: &str) -> NumberConversion {
        NumberConversion::between((from, None), (to, None)).unwrap().unwrap()
    }

    #[test]
    fn integers_are_converted_with_all_their_digits() {
        let ns = "nanoseconds since 1970-01-01";
        for (from, to, number, expected) in [
            ("seconds since 1970-01-01", ns, 1_704_153_601, 1_704_153_601_000_000_000),
            ("nanoseconds since 2024-01-02T00:00:00.000000001", ns, 0, 1_704_153_600_000_000_001),
            ("nanoseconds since 2024-01-02", ns, 1, 1_704_153_600_000_000_001),
            (ns, "nanoseconds since 2024-01-02", 1_704_153_600_000_000_001, 1),
            ("microseconds since 1970-01-01", ns, 1_704_153_600_000_001, 1_704_153_600_000_001_000),
            ("km", "mm", 9_007_199_254_740_993, 9_007_199_254_740_993_000_000),
            ("mm", "m", 9_007_199_254_740_993_000, 9_007_199_254_740_993),
        ] {
            let converted = between(from, to).apply(Integer(number));
            assert!(matches!(converted, Integer(found) if found == expected), "{from} {to}: {converted}");
            assert_eq!(between(from, to).nearest_integer(Integer(number)), Some(expected));
        }
        let odd = between(ns, "microseconds since 1970-01-01").apply(Integer(1_704_153_600_000_000_001));
        assert!(matches!(odd, Real(_)), "{odd}");
    }

    #[test]
    fn doubles_are_rounded_once() {
        let there = between("seconds since 1970-01-01", "nanoseconds since 1970-01-01");
        // 2^-22 seconds behind a whole one: 238.4 ns.
        let number = 1_704_153_600.0 + f64::from(-22).exp2();
        assert_eq!(there.nearest_integer(Real(number)), Some(1_704_153_600_000_000_238));
        assert_eq!(there.nearest_integer(Real(f64::NAN)), None);
        assert_eq!(there.nearest_integer(Real(0.5)), Some(500_000_000));
    }
}
