//! Logarithmic units: logarithms of multiples of a reference, such as `lg(re 1 mW)`.
use super::Conversion;

/// How numbers are logarithms: `x` stands for `base` to the power of `factor * (x + offset)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    base: Base,
    factor: f64,
    offset: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Two,
    E,
    Ten,
}

impl Level {
    /// By the name of the logarithm.
    pub(super) fn named(name: &str) -> Option<Self> {
        let base = match name {
            "lg" => Base::Ten,
            "ln" => Base::E,
            "lb" => Base::Two,
            _ => return None,
        };
        Some(Self { base, factor: 1.0, offset: 0.0 })
    }

    pub(super) fn antilogarithm(&self, number: f64) -> f64 {
        let exponent = self.factor * (number + self.offset);
        match self.base {
            Base::Two => exponent.exp2(),
            Base::E => exponent.exp(),
            Base::Ten => 10f64.powf(exponent),
        }
    }

    pub(super) fn logarithm(&self, number: f64) -> f64 {
        let logarithm = match self.base {
            Base::Two => number.log2(),
            Base::E => number.ln(),
            Base::Ten => number.log10(),
        };
        logarithm / self.factor - self.offset
    }

    /// How numbers become those of other logarithms, whose reference is that many times smaller.
    pub(super) fn to(self, other: &Self, ratio: f64) -> Conversion {
        let bases = self.base_in(other.base);
        let slope = bases * self.factor / other.factor;
        Conversion::Linear { slope, intercept: self.offset * slope + other.logarithm(ratio) }
    }

    /// The logarithm of the base, to another one.
    fn base_in(self, base: Base) -> f64 {
        let natural = |base| match base {
            Base::Two => std::f64::consts::LN_2,
            Base::E => 1.0,
            Base::Ten => std::f64::consts::LN_10,
        };
        if self.base == base { 1.0 } else { natural(self.base) / natural(base) }
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { factor: self.factor * factor, offset: self.offset / factor, ..self }
    }

    pub(super) fn shifted(self, origin: f64) -> Self {
        Self { offset: self.offset + origin, ..self }
    }
}
