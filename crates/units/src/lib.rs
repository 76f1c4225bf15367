//! Units of measurement, times since a date and their calendars, in the notation of UDUNITS and CF, and values decoded
//! by CF's attributes ([`cf`]).
//!
//! Units convert into each other if they measure the same quantity; angles and other dimensionless units are all
//! convertible. Numbers also convert to the reciprocal unit, such as seconds to hertz, and between logarithmic units
//! and those of which they are logarithms. Times convert between reference dates of the same calendar.
#![forbid(unsafe_code)]

mod calendar;
pub mod cf;
mod date;
mod error;
mod exact;
mod grammar;
mod level;
pub mod ncdump;
mod nearest;
mod rational;
mod table;
mod time;
mod unit;

#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use date::CivilDate;
pub use error::{Result, UnitError, UnitErrorKind};
pub use exact::NumberConversion;
pub use nearest::{cast_integers, cast_to_nearest};
pub use time::TimeUnits;
pub use unit::Unit;

use grammar::UnitSpec;

/// The conversion of numbers in one unit to numbers in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnitConversion {
    /// Multiplied by a slope, plus an intercept.
    Linear {
        /// The image of a difference of one.
        slope: f64,
        /// The image of zero.
        intercept: f64,
    },
    /// Through the base units: if one of the units is logarithmic, or measures the reciprocal of the other.
    Curved {
        /// The unit of the numbers.
        from: Unit,
        /// The unit of the results.
        to: Unit,
        /// Whether the reciprocal is taken.
        is_reciprocal: bool,
    },
}

impl UnitConversion {
    /// The number in the other unit.
    pub fn apply(&self, number: f64) -> f64 {
        match self {
            Self::Linear { slope, intercept } => number * slope + intercept,
            Self::Curved { from, to, is_reciprocal } => {
                let base = from.in_base(number);
                to.of_base(if *is_reciprocal { 1.0 / base } else { base })
            }
        }
    }
}

/// The conversion of numbers to other units, each with its calendar, which is used for times since a date; `None` if
/// nothing changes.
///
/// ```
/// use ncirrus_units::conversion;
/// let warmer = conversion(("degC", None), ("K", None))?;
/// assert_eq!(warmer.map(|it| it.apply(20.0)), Some(293.15));
/// let later = conversion(("days since 2000-01-01", None), ("hours since 2000-01-02", None))?;
/// assert_eq!(later.map(|it| it.apply(3.0)), Some(48.0));
/// assert_eq!(conversion(("m s-1", None), ("metres/second", None))?, None);
/// # Ok::<(), ncirrus_units::UnitError>(())
/// ```
///
/// # Errors
/// `Malformed` for text that is not a unit; `Unsupported` for logarithmic units without a reference; `Invalid` if the
/// units measure different quantities, or the calendars differ.
pub fn conversion(from: (&str, Option<&str>), to: (&str, Option<&str>)) -> Result<Option<UnitConversion>> {
    let ((from, from_calendar), (to, to_calendar)) = (from, to);
    if from == to && from_calendar == to_calendar {
        return Ok(None);
    }
    let conversion = match (grammar::parse(from)?, grammar::parse(to)?) {
        (UnitSpec::Plain(one), UnitSpec::Plain(other)) => one.to(&other)?,
        (UnitSpec::Since(one), UnitSpec::Since(other)) => {
            let one = TimeUnits::new(&one, from_calendar)?;
            let Some(conversion) = one.to(&TimeUnits::new(&other, to_calendar)?)? else { return Ok(None) };
            conversion
        }
        _ => return Err(UnitError::invalid("only one of them is a time since a date")),
    };
    Ok(Some(conversion).filter(|it| *it != UnitConversion::Linear { slope: 1.0, intercept: 0.0 }))
}
