//! A unit as a multiple of base units.
use crate::grammar::{self, UnitSpec};
use crate::level::LogarithmicLevel;
use crate::{Result, UnitError};
use crate::{UnitConversion, table};

/// Powers of metre, kilogram, second, ampere, kelvin, mole, candela and radian.
pub(crate) type BasePowers = [i16; 8];

/// Index of radians: they do not count in comparing quantities.
pub(crate) const RADIAN: usize = 7;

/// A unit: a multiple of a product of powers of base units, possibly with a shifted zero. A number `x` in it is
/// `factor * (x + offset)` of that product; in a logarithmic unit that applies to the number of which `x` is the
/// logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub(crate) factor: f64,
    pub(crate) offset: f64,
    pub(crate) powers: BasePowers,
    pub(crate) level: Option<LogarithmicLevel>,
}

impl Unit {
    /// The dimensionless unit.
    pub(crate) const ONE: Self = Self { factor: 1.0, offset: 0.0, powers: [0; 8], level: None };

    /// Parses a unit, such as `W m-2` or `degC`.
    ///
    /// # Errors
    /// `Malformed` for text that is not a unit, `Unsupported` for a logarithmic one without a reference, `Invalid` for
    /// a time since a date.
    pub fn parse(text: &str) -> Result<Self> {
        match grammar::parse(text)? {
            UnitSpec::Plain(unit) => Ok(unit),
            UnitSpec::Since(_) => Err(UnitError::invalid(format!("{text:?} is a time since a date"))),
        }
    }

    /// Whether numbers in it can be converted to another one, or to the reciprocal of it.
    pub fn is_convertible(&self, other: &Self) -> bool {
        self.measured() == other.measured() || self.is_reciprocal(other)
    }

    /// The conversion of numbers in it to another one.
    ///
    /// # Errors
    /// `Invalid` if they measure different quantities.
    pub fn to(&self, other: &Self) -> Result<UnitConversion> {
        if !self.is_convertible(other) {
            let (one, other) = (self.described(), other.described());
            return Err(UnitError::invalid(format!("{one} is not {other}")));
        }
        let is_reciprocal = self.measured() != other.measured();
        Ok(match (&self.level, &other.level) {
            (None, None) if !is_reciprocal => {
                let slope = self.factor / other.factor;
                UnitConversion::Linear { slope, intercept: self.offset * slope - other.offset }
            }
            (Some(one), Some(level)) if !is_reciprocal => one.to(level, self.factor / other.factor),
            _ => UnitConversion::Curved { from: *self, to: *other, is_reciprocal },
        })
    }

    /// A number as a multiple of the product of base units.
    pub(crate) fn in_base(&self, number: f64) -> f64 {
        self.factor * (self.level.map_or(number, |level| level.antilogarithm(number)) + self.offset)
    }

    /// The number for a multiple of the product of base units.
    pub(crate) fn of_base(&self, base: f64) -> f64 {
        let number = base / self.factor - self.offset;
        self.level.map_or(number, |level| level.logarithm(number))
    }

    fn is_reciprocal(&self, other: &Self) -> bool {
        self.measured().into_iter().zip(other.measured()).all(|(one, other)| Some(one) == other.checked_neg())
    }

    /// Whether it measures time.
    pub fn is_time(&self) -> bool {
        self.measured() == [0, 0, 1, 0, 0, 0, 0, 0] && self.offset == 0.0 && self.level.is_none()
    }

    /// The product of two units; shifts of zero are dropped. Logarithmic units can only be multiplied by numbers.
    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        match (self.level, other.level) {
            (None, None) => {}
            (Some(_), None) => return (other.measured() == [0; 8]).then(|| self.scaled(other.factor)),
            (None, Some(_)) => return other.times(self),
            (Some(_), Some(_)) => return None,
        }
        let mut powers = self.powers;
        for (power, other) in powers.iter_mut().zip(other.powers) {
            *power = power.checked_add(other)?;
        }
        Some(Self { factor: self.factor * other.factor, offset: 0.0, powers, level: None })
    }

    /// A power of it; a shift of zero is dropped, unless it is the first power. Logarithmic units have no other powers.
    pub(crate) fn power(&self, exponent: i32) -> Option<Self> {
        if exponent == 1 {
            return Some(*self);
        }
        if self.level.is_some() {
            return None;
        }
        let mut powers = self.powers;
        for power in &mut powers {
            *power = i16::try_from(i32::from(*power).checked_mul(exponent)?).ok()?;
        }
        Some(Self { factor: self.factor.powi(exponent), offset: 0.0, powers, level: None })
    }

    /// A multiple of it as a new unit; its zero does not move.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        match self.level {
            Some(level) => Self { level: Some(level.scaled(factor)), ..*self },
            None => Self { factor: self.factor * factor, offset: self.offset / factor, ..*self },
        }
    }

    /// The same unit with zero at `origin`.
    pub(crate) fn shifted(&self, origin: f64) -> Self {
        match self.level {
            Some(level) => Self { level: Some(level.shifted(origin)), ..*self },
            None => Self { offset: self.offset + origin, ..*self },
        }
    }

    fn measured(&self) -> BasePowers {
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
