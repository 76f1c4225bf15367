//! Units of measurement and times since a date, as UDUNITS and CF write them.
//!
//! Units convert when they measure the same thing; angles and other dimensionless units measure nothing and convert
//! into each other. A unit does not become its reciprocal, and logarithmic ones are refused. Times convert between
//! reference dates of the same calendar.
mod calendar;
mod date;
mod grammar;
mod table;
mod time;
mod unit;

#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use date::Date;
pub use time::TimeUnits;
pub use unit::Unit;

use grammar::Spec;
use ncirrus_layout::{Error, Result};

/// How numbers in one unit become numbers in another: times a slope, plus an intercept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    slope: f64,
    intercept: f64,
}

impl Conversion {
    /// The number in the other unit.
    pub fn apply(&self, number: f64) -> f64 {
        number * self.slope + self.intercept
    }

    /// What a difference of one becomes.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// What zero becomes.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }
}

/// How numbers become numbers in other units, each with the calendar that holds when they are a time since a date;
/// `None` when nothing changes.
///
/// ```
/// use ncirrus_engine::units;
/// let warmer = units::conversion(("degC", None), ("K", None))?;
/// assert_eq!(warmer.map(|it| it.apply(20.0)), Some(293.15));
/// let later = units::conversion(("days since 2000-01-01", None), ("hours since 2000-01-02", None))?;
/// assert_eq!(later.map(|it| it.apply(3.0)), Some(48.0));
/// assert_eq!(units::conversion(("m s-1", None), ("metres/second", None))?, None);
/// # Ok::<(), ncirrus_layout::Error>(())
/// ```
///
/// # Errors
/// `Malformed` for what is no unit; `Unsupported` for logarithmic units; `Invalid` when the units measure different
/// things, or the calendars differ.
pub fn conversion(from: (&str, Option<&str>), to: (&str, Option<&str>)) -> Result<Option<Conversion>> {
    let ((from, from_calendar), (to, to_calendar)) = (from, to);
    if from == to && from_calendar == to_calendar {
        return Ok(None);
    }
    let conversion = match (grammar::parse(from)?, grammar::parse(to)?) {
        (Spec::Plain(one), Spec::Plain(other)) => one.to(&other)?,
        (Spec::Since(one), Spec::Since(other)) => {
            let one = TimeUnits::new(&one, from_calendar)?;
            let Some(conversion) = one.to(&TimeUnits::new(&other, to_calendar)?)? else { return Ok(None) };
            conversion
        }
        _ => return Err(Error::invalid("only one of them is a time since a date")),
    };
    Ok(Some(conversion).filter(|it| *it != Conversion { slope: 1.0, intercept: 0.0 }))
}
