//! Linear conversions of integers.
use crate::UnitConversion;
use ncirrus_model::ExactNumber;

/// Multiplied by `factor`, plus `shift`, divided by `divisor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RationalConversion {
    pub(crate) factor: i128,
    pub(crate) shift: i128,
    /// Positive.
    pub(crate) divisor: i128,
}

impl RationalConversion {
    /// That of a linear conversion whose slope, or the reciprocal of it, is whole.
    pub(crate) fn of(conversion: UnitConversion) -> Option<Self> {
        let UnitConversion::Linear { slope, intercept } = conversion else { return None };
        let whole = |number: f64| {
            ExactNumber::Real(number).to_integer().filter(|number| (1..1 << 53).contains(number))
        };
        let (factor, divisor) = match (whole(slope), whole(1.0 / slope)) {
            (Some(factor), _) => (factor, 1),
            (None, Some(divisor)) => (1, divisor),
            (None, None) => return None,
        };
        let shift = ExactNumber::Real(intercept).to_integer()?.checked_mul(divisor)?;
        Some(Self { factor, shift, divisor })
    }

    pub(crate) fn apply(self, number: i128) -> Option<ExactNumber> {
        let dividend = number.checked_mul(self.factor)?.checked_add(self.shift)?;
        Some(match (dividend.div_euclid(self.divisor), dividend.rem_euclid(self.divisor)) {
            (whole, 0) => ExactNumber::Integer(whole),
            _ => ExactNumber::Real(quotient(dividend, self.divisor)),
        })
    }

    /// The nearest integer for `numerator / denominator`, ties to even.
    pub(crate) fn nearest(self, numerator: i128, denominator: i128) -> Option<i128> {
        let shift = self.shift.checked_mul(denominator)?;
        let dividend = numerator.checked_mul(self.factor)?.checked_add(shift)?;
        let divisor = self.divisor.checked_mul(denominator)?;
        let (whole, rest) = (dividend.div_euclid(divisor), dividend.rem_euclid(divisor));
        let is_up = match rest.cmp(&(divisor - rest)) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => whole % 2 != 0,
            std::cmp::Ordering::Greater => true,
        };
        whole.checked_add(i128::from(is_up))
    }
}

/// The quotient, exact if it is an integer of less than 53 bits.
pub(crate) fn quotient(dividend: i128, divisor: i128) -> f64 {
    let (whole, rest) = (dividend.div_euclid(divisor), dividend.rem_euclid(divisor));
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
    let (whole, rest, divisor) = (whole as f64, rest as f64, divisor as f64);
    whole + rest / divisor
}
