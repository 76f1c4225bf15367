//! Dates as the library in netCDF's own programs has them (`cdtime`): calendars as bits, hours since the begin of a year.

/// Bits of the numbers of calendars.
const STANDARD: i32 = 0x1000;
const HAS_LEAP: i32 = 0x100;
const IS_365: i32 = 0x1000;
const IS_JULIAN: i32 = 0x1_0000;

/// Days of a year before each month.
const DAYS_BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// A date: month and day from 1 on, hours with their fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OldDate {
    /// Year.
    pub year: i64,
    /// Month.
    pub month: i16,
    /// Day of the month.
    pub day: i16,
    /// Hours of the day.
    pub hour: f64,
}

impl OldDate {
    /// `YEAR-MONTH-DAY HOUR:MINUTE:SECOND`, from the left; what is missing is the first there is. Climatologies have no year.
    pub fn parse(calendar: i32, text: &str) -> Self {
        let mut parts = text.split(['-', ' ', ':']).map(|part| part.trim().parse::<f64>().ok());
        let year = if calendar & STANDARD == 0 { Some(0.0) } else { parts.next().flatten() };
        let mut next = |first: f64| parts.next().flatten().unwrap_or(first);
        let (month, day) = (next(1.0), next(1.0));
        let hour = next(0.0) + next(0.0) / 60.0 + next(0.0) / 3600.0;
        let short = |part: f64| i16::try_from(whole(part)).unwrap_or(1);
        Self { year: whole(year.unwrap_or(0.0)), month: short(month), day: short(day), hour }
    }

    /// The hours since the begin of a year, by a calendar.
    #[expect(clippy::cast_precision_loss, reason = "days of dates are far below 2^53")]
    pub fn hours_since(&self, base: i64, calendar: i32) -> f64 {
        let (year, month) = (self.year, i64::from(self.month).clamp(1, 12));
        let is_leap = |year: i64| {
            calendar & HAS_LEAP != 0
                && year % 4 == 0
                && (calendar & IS_JULIAN != 0 || year % 100 != 0 || year % 400 == 0)
        };
        let of_year = |year: i64| if calendar & IS_365 == 0 { 360 } else { 365 + i64::from(is_leap(year)) };
        let years: i64 = if year >= base {
            (base..year).map(of_year).sum()
        } else {
            -(year..base).map(of_year).sum::<i64>()
        };
        let before = usize::try_from(month - 1).ok().and_then(|at| DAYS_BEFORE.get(at)).copied().unwrap_or(0);
        let months = if calendar & IS_365 == 0 {
            (month - 1) * 30
        } else {
            before + i64::from(month > 2 && is_leap(year))
        };
        (years + months + i64::from(self.day).max(1) - 1) as f64 * 24.0 + self.hour
    }
}

#[expect(clippy::cast_possible_truncation, reason = "parts of dates are small whole numbers")]
fn whole(number: f64) -> i64 {
    number as i64
}

#[cfg(test)]
mod tests {
    use super::OldDate;

    #[test]
    fn hours_count_leap_days_where_the_calendar_has_them() {
        let date = OldDate::parse(0x1111, "2000-03-01 12:30:00");
        assert_eq!(date, OldDate { year: 2000, month: 3, day: 1, hour: 12.5 });
        assert!((date.hours_since(2000, 0x1111) - (60.0 * 24.0 + 12.5)).abs() < 1e-9);
        assert!((date.hours_since(2000, 0x1011) - (59.0 * 24.0 + 12.5)).abs() < 1e-9);
        assert!((date.hours_since(2001, 0x11) - (60.0 * 24.0 + 12.5 - 360.0 * 24.0)).abs() < 1e-9);
        assert_eq!(OldDate::parse(0, "7").month, 7);
    }
}
