//! Logarithmic units: logarithms of multiples of a reference, such as `lg(re 1 mW)`.
use crate::UnitConversion;

/// The parameters of a logarithm: `x` represents `base` to the power of `factor * (x + offset)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogarithmicLevel {
    base: LogarithmBase,
    factor: f64,
    offset: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogarithmBase {
    Two,
    E,
    Ten,
}

impl LogarithmicLevel {
    /// The logarithm with that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let base = match name {
            "lg" => LogarithmBase::Ten,
            "ln" => LogarithmBase::E,
            "lb" => LogarithmBase::Two,
            _ => return None,
        };
        Some(Self { base, factor: 1.0, offset: 0.0 })
    }

    pub(crate) fn antilogarithm(&self, number: f64) -> f64 {
        let exponent = self.factor * (number + self.offset);
        match self.base {
            LogarithmBase::Two => exponent.exp2(),
            LogarithmBase::E => exponent.exp(),
            LogarithmBase::Ten => 10f64.powf(exponent),
        }
    }

    pub(crate) fn logarithm(&self, number: f64) -> f64 {
        let logarithm = match self.base {
            LogarithmBase::Two => number.log2(),
            LogarithmBase::E => number.ln(),
            LogarithmBase::Ten => number.log10(),
        };
        logarithm / self.factor - self.offset
    }

    /// The conversion to another logarithm, whose reference is smaller by the factor `ratio`.
    pub(crate) fn to(self, other: &Self, ratio: f64) -> UnitConversion {
        let bases = self.base_in(other.base);
        let slope = bases * self.factor / other.factor;
        UnitConversion::Linear { slope, intercept: self.offset * slope + other.logarithm(ratio) }
    }

    /// The logarithm of this base to another base.
    fn base_in(self, base: LogarithmBase) -> f64 {
        let natural = |base| match base {
            LogarithmBase::Two => std::f64::consts::LN_2,
            LogarithmBase::E => 1.0,
            LogarithmBase::Ten => std::f64::consts::LN_10,
        };
        if self.base == base { 1.0 } else { natural(self.base) / natural(base) }
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, offset: self.offset / factor, ..self }
    }

    pub(crate) fn shifted(self, origin: f64) -> Self {
        Self { offset: self.offset + origin, ..self }
    }
}
