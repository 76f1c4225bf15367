//! Calendars of ncdump: dates from days and back, counted from 1970-01-01 of the same calendar.
use crate::Calendar;

/// How days are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CdlCalendar {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15; also used for every unknown name. Callers count days in one
    /// of the two; this variant itself counts as the Gregorian does.
    Mixed,
    /// Gregorian at all times.
    Gregorian,
    /// Julian at all times.
    Julian,
    /// Years of 365 days.
    NoLeap,
    /// Years of 366 days.
    AllLeap,
    /// Twelve months of 30 days.
    Days360,
    /// One year of 365 days without a number.
    Climatology,
}

/// A date without its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdlDate {
    /// Year; 0 is the year before 1.
    pub year: i64,
    /// Month from 1.
    pub month: i64,
    /// Day from 1.
    pub day: i64,
}

impl CdlCalendar {
    /// The calendar by the numbers of the library in netCDF's own programs (`cdCalenType`).
    pub fn from_number(number: i32) -> Self {
        match number {
            0x1111 => Self::Gregorian,
            0x1_1111 => Self::Julian,
            0x1011 => Self::NoLeap,
            0x11 => Self::Days360,
            0x2011 => Self::AllLeap,
            0x1000 | 0x1100 | 0 => Self::Climatology,
            _ => Self::Mixed,
        }
    }

    /// The calendar with that name.
    pub fn from_name(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "proleptic_gregorian" => Self::Gregorian,
            "julian" => Self::Julian,
            "noleap" | "no_leap" | "365_day" | "365" => Self::NoLeap,
            "allleap" | "all_leap" | "366_day" => Self::AllLeap,
            "360_day" | "360" => Self::Days360,
            "none" => Self::Climatology,
            _ => Self::Mixed,
        }
    }

    /// Days from 1970-01-01 to a date; 0 for an invalid month, or years out of range. A day past the end of its month
    /// continues into the next.
    pub fn days(self, date: CdlDate) -> i64 {
        let month = u32::try_from(date.month).unwrap_or(0);
        let first = self.counted().day_number((date.year, month, 1));
        first.map_or(0, |first| first - self.epoch() + date.day - 1)
    }

    /// The date of a day; 1970-01-01 for one out of range.
    pub fn date(self, days: i64) -> CdlDate {
        let date = days.checked_add(self.epoch()).and_then(|number| self.counted().day(number));
        let (year, month, day) = date.unwrap_or((1970, 1, 1));
        CdlDate { year, month: month.into(), day: day.into() }
    }

    /// The number of 1970-01-01.
    fn epoch(self) -> i64 {
        self.counted().day_number((1970, 1, 1)).unwrap_or(0)
    }

    /// The calendar of CF that counts days in the same way.
    fn counted(self) -> Calendar {
        match self {
            Self::Mixed | Self::Gregorian => Calendar::ProlepticGregorian,
            Self::Julian => Calendar::Julian,
            Self::NoLeap | Self::Climatology => Calendar::NoLeap,
            Self::AllLeap => Calendar::AllLeap,
            Self::Days360 => Calendar::Day360,
        }
    }
}
