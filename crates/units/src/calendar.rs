//! Calendars of CF (4.4.1): which days exist.
use crate::{Result, UnitError};
use std::fmt;

/// Which days exist. Years are counted with a year 0, before which they are negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// Julian until 1582-10-04, Gregorian from 1582-10-15 on: `standard`, `gregorian`.
    Standard,
    /// Gregorian at all times.
    ProlepticGregorian,
    /// Julian at all times.
    Julian,
    /// No year has a 29 February: `noleap`, `365_day`.
    NoLeap,
    /// Every year has a 29 February: `all_leap`, `366_day`.
    AllLeap,
    /// Every month has 30 days.
    Day360,
    /// No calendar: times can be compared only with those since the same date.
    None,
}

/// The first day of the Gregorian calendar.
const REFORM: (i64, u32, u32) = (1582, 10, 15);
const MONTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

impl Calendar {
    /// The calendar with that name; the standard one without a name.
    ///
    /// # Errors
    /// `Unsupported` naming the calendar.
    pub fn parse(name: Option<&str>) -> Result<Self> {
        let name = name.unwrap_or_default().trim().to_ascii_lowercase();
        Ok(match name.as_str() {
            "" | "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::ProlepticGregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Day360,
            "none" => Self::None,
            _ => return Err(UnitError::unsupported(format!("the calendar {name:?}"))),
        })
    }

    /// The name that CF prefers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::ProlepticGregorian => "proleptic_gregorian",
            Self::Julian => "julian",
            Self::NoLeap => "noleap",
            Self::AllLeap => "all_leap",
            Self::Day360 => "360_day",
            Self::None => "none",
        }
    }

    /// The number of a day: consecutive days of a calendar have consecutive numbers. `None` if there is no such day.
    pub fn day_number(self, (year, month, day): (i64, u32, u32)) -> Option<i64> {
        let is_there = (1..=12).contains(&month)
            && (1..=self.month_len(year, month)).contains(&day)
            && !(self == Self::Standard && (1582, 10, 4) < (year, month, day) && (year, month, day) < REFORM);
        if !is_there {
            return None;
        }
        let before: u32 = (1..month).map(|month| self.month_len(year, month)).sum();
        self.new_year(year)?.checked_add(i64::from(before + day - 1)).map(|number| {
            // Ten days of October 1582 do not exist.
            let reformed = self == Self::Standard && year == REFORM.0 && (month, day) >= (REFORM.1, REFORM.2);
            if reformed { number - 10 } else { number }
        })
    }

    /// Year, month and day of a number. `None` if there is no calendar, or for a year out of range.
    pub fn day(self, number: i64) -> Option<(i64, u32, u32)> {
        let mut year = number / 366;
        // A guess, followed by steps that never overshoot.
        while self.new_year(year)? > number {
            let far = self.new_year(year)? - number;
            year -= 1 + far / 367;
        }
        while self.new_year(year + 1)? <= number {
            let far = number - self.new_year(year + 1)?;
            year += 1 + far / 367;
        }
        let mut rest = number - self.new_year(year)?;
        if self == Self::Standard && year == REFORM.0 && rest >= 277 {
            rest += 10;
        }
        for month in 1..=12 {
            let len = i64::from(self.month_len(year, month));
            if rest < len {
                return Some((year, month, u32::try_from(rest).ok()? + 1));
            }
            rest -= len;
        }
        None
    }

    /// The number of the first day of a year.
    fn new_year(self, year: i64) -> Option<i64> {
        let before = year.checked_sub(1)?;
        let gregorian = || before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
        // Both calendars number the same day alike: in year 1 the Julian one is two days ahead.
        let julian = before.div_euclid(4) - 2;
        let leap_days = match self {
            Self::Standard if year > REFORM.0 => gregorian(),
            Self::Standard | Self::Julian => julian,
            Self::ProlepticGregorian => gregorian(),
            Self::AllLeap => before,
            Self::NoLeap => 0,
            Self::Day360 => before.checked_mul(-5)?,
            Self::None => return None,
        };
        before.checked_mul(365)?.checked_add(leap_days)
    }

    fn month_len(self, year: i64, month: u32) -> u32 {
        let usual = usize::try_from(month).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?)).copied();
        match (self, month) {
            (Self::Day360, _) => 30,
            (_, 2) if self.is_leap(year) => 29,
            _ => usual.unwrap_or(0),
        }
    }

    fn is_leap(self, year: i64) -> bool {
        let divides = |by: i64| year.rem_euclid(by) == 0;
        match self {
            Self::Standard if year <= REFORM.0 => divides(4),
            Self::Julian => divides(4),
            Self::Standard | Self::ProlepticGregorian => divides(4) && (!divides(100) || divides(400)),
            Self::AllLeap => true,
            Self::NoLeap | Self::Day360 | Self::None => false,
        }
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
