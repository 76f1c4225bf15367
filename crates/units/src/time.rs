//! Times since a date.
use crate::UnitConversion;
use crate::calendar::Calendar;
use crate::date::{CivilDate, SECOND};
use crate::grammar::{self, TimeSince, UnitSpec};
use crate::rational::{RationalConversion, quotient};
use crate::{Result, UnitError};
use ncirrus_model::ExactNumber;
use std::fmt;

/// A unit of time since a date in a calendar, such as `days since 2000-01-01`. Months and years have the lengths that
/// UDUNITS gives them: a year is 365.242198781 days, a month a twelfth of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeUnits {
    name: String,
    /// Nanoseconds of one unit.
    unit: i128,
    seconds: f64,
    reference: CivilDate,
    /// How many seconds the reference's time zone is ahead of UTC.
    zone: i64,
    calendar: Calendar,
}

impl TimeUnits {
    /// Parses units that are a time since a date; `None` for other units.
    ///
    /// # Errors
    /// `Malformed` for text that is not a unit, or a date that the calendar does not have; `Unsupported` for other
    /// calendars.
    pub fn parse(units: &str, calendar: Option<&str>) -> Result<Option<Self>> {
        match grammar::parse(units)? {
            UnitSpec::Since(since) => Self::new(&since, calendar).map(Some),
            UnitSpec::Plain(_) => Ok(None),
        }
    }

    pub(crate) fn new(since: &TimeSince, calendar: Option<&str>) -> Result<Self> {
        let calendar = Calendar::parse(calendar)?;
        let (reference, zone) = CivilDate::parse(&since.date)?;
        if calendar != Calendar::None && reference.instant(calendar).is_none() {
            return Err(UnitError::malformed(format!("the calendar {calendar} has no {reference}")));
        }
        let unit = nanoseconds(since.seconds).filter(|unit| *unit > 0);
        let unit = unit.ok_or_else(|| UnitError::malformed(format!("the unit {:?} of time", since.name)))?;
        Ok(Self { name: since.name.clone(), unit, seconds: since.seconds, reference, zone, calendar })
    }

    /// The reference date, in its own time zone.
    pub fn reference(&self) -> CivilDate {
        self.reference
    }

    /// The calendar.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// The unit, such as `days`.
    pub fn unit(&self) -> &str {
        &self.name
    }

    /// The date (UTC) of a number, to the microsecond; `None` if it is not finite, or has no date in this calendar.
    pub fn date(&self, number: f64) -> Option<CivilDate> {
        let whole = number.trunc();
        let way = ExactNumber::Real(whole).to_integer()?.checked_mul(self.unit)?;
        let rest = nanoseconds(((number - whole) * self.seconds * 1e6).round() / 1e6)?;
        CivilDate::of_instant(self.origin()?.checked_add(way)?.checked_add(rest)?, self.calendar)
    }

    /// The date (UTC) of a number, as [`date`](Self::date); that of an integer is exact.
    pub fn date_of(&self, number: ExactNumber) -> Option<CivilDate> {
        match number {
            ExactNumber::Real(number) => self.date(number),
            ExactNumber::Integer(number) => {
                let way = number.checked_mul(self.unit)?;
                CivilDate::of_instant(self.origin()?.checked_add(way)?, self.calendar)
            }
        }
    }

    /// The number of a date (UTC); `None` if the calendar does not have it.
    pub fn number(&self, date: &CivilDate) -> Option<f64> {
        let way = date.instant(self.calendar)?.checked_sub(self.origin()?)?;
        Some(quotient(way, self.unit))
    }

    /// The conversion to numbers in other units; `None` if they are the same.
    ///
    /// # Errors
    /// `Invalid` if the calendars differ, or there is none and the dates differ.
    pub fn to(&self, other: &Self) -> Result<Option<UnitConversion>> {
        if self.calendar != other.calendar {
            let (one, other) = (self.calendar, other.calendar);
            return Err(UnitError::invalid(format!("the calendar {one} is not {other}")));
        }
        let intercept = match (self.origin(), other.origin()) {
            (Some(one), Some(origin)) => quotient(one - origin, other.unit),
            _ if (self.reference, self.zone) == (other.reference, other.zone) => 0.0,
            _ => return Err(UnitError::invalid("without a calendar dates do not convert")),
        };
        let slope = self.seconds / other.seconds;
        let is_same = self.unit == other.unit && intercept == 0.0;
        Ok((!is_same).then_some(UnitConversion::Linear { slope, intercept }))
    }

    /// The conversion of integers to numbers in other units of the same calendar; `None` if the unit is not a whole
    /// number of nanoseconds.
    pub(crate) fn rational_to(&self, other: &Self) -> Option<RationalConversion> {
        let is_whole = |units: &Self| quotient(units.unit, SECOND).to_bits() == units.seconds.to_bits();
        if !is_whole(self) || !is_whole(other) {
            return None;
        }
        let shift = match (self.origin(), other.origin()) {
            (Some(one), Some(other)) => one.checked_sub(other)?,
            _ => 0,
        };
        Some(RationalConversion { factor: self.unit, shift, divisor: other.unit })
    }

    fn origin(&self) -> Option<i128> {
        Some(self.reference.instant(self.calendar)? - i128::from(self.zone) * SECOND)
    }
}

/// In CF's notation, followed by a time zone other than UTC.
impl fmt::Display for TimeUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} since {}", self.name, self.reference)?;
        match self.zone {
            0 => Ok(()),
            zone => {
                let sign = if zone < 0 { '-' } else { '+' };
                let minutes = zone.unsigned_abs() / 60;
                write!(f, " {sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

fn nanoseconds(seconds: f64) -> Option<i128> {
    let nanoseconds = (seconds * 1e9).round();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
    (nanoseconds.abs() < 1e36).then_some(nanoseconds as i128)
}
