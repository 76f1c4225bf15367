//! A unit as a multiple of base units.
use super::grammar::{self, Spec};
use super::{Conversion, table};
use ncirrus_layout::{Error, Result};

/// Powers of metre, kilogram, second, ampere, kelvin, mole, candela and radian.
pub(super) type Powers = [i16; 8];

/// Where radians stand: they do not count for what is measured.
pub(super) const RADIAN: usize = 7;

/// A unit: a multiple of a product of powers of base units, with its zero somewhere. A number `x` in it is
/// `factor * (x + offset)` of that product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub(super) factor: f64,
    pub(super) offset: f64,
    pub(super) powers: Powers,
}

impl Unit {
    /// What does not measure anything.
    pub(super) const ONE: Self = Self { factor: 1.0, offset: 0.0, powers: [0; 8] };

    /// Reads a unit, such as `W m-2` or `degC`.
    ///
    /// # Errors
    /// `Malformed` for what is no unit, `Unsupported` for a logarithmic one, `Invalid` for a time since a date.
    pub fn parse(text: &str) -> Result<Self> {
        match grammar::parse(text)? {
            Spec::Plain(unit) => Ok(unit),
            Spec::Since(_) => Err(Error::invalid(format!("{text:?} is a time since a date"))),
        }
    }

    /// Whether numbers in it can become numbers in another one.
    pub fn is_convertible(&self, other: &Self) -> bool {
        self.measured() == other.measured()
    }

    /// How numbers in it become numbers in another one.
    ///
    /// # Errors
    /// `Invalid` when they measure different things.
    pub fn to(&self, other: &Self) -> Result<Conversion> {
        if !self.is_convertible(other) {
            let (one, other) = (self.described(), other.described());
            return Err(Error::invalid(format!("{one} is not {other}")));
        }
        let slope = self.factor / other.factor;
        let intercept = self.offset * slope - other.offset;
        Ok(Conversion { slope, intercept })
    }

    /// Whether it measures time.
    pub fn is_time(&self) -> bool {
        self.measured() == [0, 0, 1, 0, 0, 0, 0, 0] && self.offset == 0.0
    }

    /// The product of two; where their zeros lie is lost.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut powers = self.powers;
        for (power, other) in powers.iter_mut().zip(other.powers) {
            *power = power.checked_add(other)?;
        }
        Some(Self { factor: self.factor * other.factor, offset: 0.0, powers })
    }

    /// A power of it; where its zero lies is lost, unless it is the first power.
    pub(super) fn power(&self, exponent: i32) -> Option<Self> {
        if exponent == 1 {
            return Some(*self);
        }
        let mut powers = self.powers;
        for power in &mut powers {
            *power = i16::try_from(i32::from(*power).checked_mul(exponent)?).ok()?;
        }
        Some(Self { factor: self.factor.powi(exponent), offset: 0.0, powers })
    }

    /// The same with zero elsewhere: at `origin` of its own.
    pub(super) fn shifted(&self, origin: f64) -> Self {
        Self { offset: self.offset + origin, ..*self }
    }

    fn measured(&self) -> Powers {
        let mut powers = self.powers;
        powers[RADIAN] = 0;
        powers
    }

    /// What it measures, in base units.
    fn described(&self) -> String {
        let part = |(power, symbol): (&i16, &&str)| match power {
            0 => None,
            1 => Some((*symbol).to_owned()),
            power => Some(format!("{symbol}{power}")),
        };
        let measured = self.measured();
        let parts: Vec<String> = measured.iter().zip(&table::BASE).filter_map(part).collect();
        if parts.is_empty() { "a number".to_owned() } else { parts.join(" ") }
    }
}
