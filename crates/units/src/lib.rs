//! Units of measurement, times since a date and their calendars, as UDUNITS and CF write them, and values decoded by CF's
//! attributes ([`cf`]).
//!
//! Units convert when they measure the same thing; angles and other dimensionless units measure nothing and convert
//! into each other. Numbers become numbers of the reciprocal unit, such as seconds hertz, and logarithmic units those
//! of which they are logarithms. Times convert between reference dates of the same calendar.
#![forbid(unsafe_code)]

mod calendar;
pub mod cf;
mod date;
mod error;
mod grammar;
mod level;
pub mod ncdump;
mod nearest;
mod table;
mod time;
mod unit;

#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use date::CivilDate;
pub use error::{Result, UnitError, UnitErrorKind};
pub use nearest::cast_to_nearest;
pub use time::TimeUnits;
pub use unit::Unit;

use grammar::UnitSpec;

/// How numbers in one unit become numbers in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnitConversion {
    /// Times a slope, plus an intercept.
    Linear {
        /// What a difference of one becomes.
        slope: f64,
        /// What zero becomes.
        intercept: f64,
    },
    /// By way of the base units: where one of both is logarithmic, or the reciprocal of what the other measures.
    Curved {
        /// The unit of the numbers.
        from: Unit,
        /// The unit that they get.
        to: Unit,
        /// Whether they are turned upside down on the way.
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

/// How numbers become numbers in other units, each with the calendar that holds when they are a time since a date;
/// `None` when nothing changes.
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
/// `Malformed` for what is no unit; `Unsupported` for logarithmic units of no reference; `Invalid` when the units measure different
/// things, or the calendars differ.
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
