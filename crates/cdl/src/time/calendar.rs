//! Calendars: dates from days and back, counted from 1970-01-01 of the same calendar.

/// How days are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CdlCalendar {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15; what every unknown name means. Days are counted in one of
    /// the two; asked itself, it counts as the Gregorian does.
    Mixed,
    Gregorian,
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
pub(super) struct CalendarDate {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

/// Days before each month in a year of 365 days.
const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

impl CdlCalendar {
    /// The calendar of that CF name.
    pub(super) fn from_name(name: &str) -> Self {
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

    /// Days from 1970-01-01 to a date. A day past its month's end counts on into the next.
    pub(super) fn days(self, date: CalendarDate) -> i64 {
        match self {
            Self::Days360 => (date.year - 1970) * 360 + (date.month - 1) * 30 + date.day - 1,
            _ => self.before_year(date.year) + self.before_month(date.year, date.month) + date.day - 1,
        }
    }

    /// The date of a day.
    pub(super) fn date(self, days: i64) -> CalendarDate {
        match self {
            Self::Days360 => {
                let (year, day) = (days.div_euclid(360), days.rem_euclid(360));
                CalendarDate { year: 1970 + year, month: day / 30 + 1, day: day % 30 + 1 }
            }
            _ => self.by_year(days),
        }
    }

    fn by_year(self, days: i64) -> CalendarDate {
        // The mean year is off by a day or two at most over the years that are let in; then step to the right one.
        let mut year = 1970 + days.div_euclid(366);
        let span = if self == Self::AllLeap { 366 } else { 365 };
        year += (days - self.before_year(year)) / (span + 1);
        while self.before_year(year + 1) <= days {
            year += ((days - self.before_year(year)) / 366).max(1);
        }
        while self.before_year(year) > days {
            year -= 1;
        }
        let day_of_year = days - self.before_year(year);
        let months = (1..=12).rev();
        let month =
            months.into_iter().find(|&month| self.before_month(year, month) <= day_of_year).unwrap_or(1);
        CalendarDate { year, month, day: day_of_year - self.before_month(year, month) + 1 }
    }

    /// Days from 1970-01-01 to the first of January.
    fn before_year(self, year: i64) -> i64 {
        let years = year - 1970;
        let before = year - 1;
        match self {
            Self::NoLeap | Self::Climatology => years * 365,
            Self::AllLeap => years * 366,
            Self::Julian => years * 365 + before.div_euclid(4) - 1969_i64.div_euclid(4),
            _ => {
                let leaps = |y: i64| y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400);
                years * 365 + leaps(before) - leaps(1969)
            }
        }
    }

    fn before_month(self, year: i64, month: i64) -> i64 {
        let index = usize::try_from(month - 1).unwrap_or(0);
        let before = BEFORE_MONTH.get(index).copied().unwrap_or(0);
        before + i64::from(month > 2 && self.is_leap(year))
    }

    fn is_leap(self, year: i64) -> bool {
        match self {
            Self::NoLeap | Self::Climatology | Self::Days360 => false,
            Self::AllLeap => true,
            Self::Julian => year.rem_euclid(4) == 0,
            Self::Mixed | Self::Gregorian => {
                year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
            }
        }
    }
}
