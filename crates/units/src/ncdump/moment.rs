//! A value on a time axis as a date and a time of day.
use super::{CdlCalendar, CdlDate, CdlTimeBase, CdlTimeUnit};
use std::io::Write;

/// A date and the hours since its midnight.
#[derive(Debug, Clone, Copy)]
pub struct DateMoment {
    date: CdlDate,
    hour: f64,
}

/// Maximum distance from 1970, in hours, for which dates are computed.
const HOURS_MAX: f64 = 1e13;

const MICROSECONDS_PER_HOUR: f64 = 3.6e9;

/// The moment of a value; `None` if it is not finite or too far away.
pub fn moment_at(
    unit: CdlTimeUnit,
    base: &CdlTimeBase,
    calendar: CdlCalendar,
    value: f64,
) -> Option<DateMoment> {
    let date = CdlDate { year: base.year, month: base.month, day: base.day };
    match unit {
        CdlTimeUnit::Months(_) if value == 0.0 => Some(DateMoment { date, hour: base.hour }),
        CdlTimeUnit::Months(each) => add_months(date, value * each),
        CdlTimeUnit::Hours { times, per } => {
            let delta = value * times / per;
            match calendar {
                CdlCalendar::Mixed => at_mixed((date, base.hour), delta),
                _ => at_hours(calendar, EPOCH_1970, (date, base.hour), delta),
            }
        }
    }
}

/// Days from 1970-01-01 to the day from which hours are added up. Hours are added as doubles like in the reference,
/// because its rounding is visible in the last digits.
const EPOCH_1970: i64 = 0;

/// The mixed calendar counts from 1979-01-01.
const EPOCH_1979: i64 = 3287;

/// Julian up to the reform, Gregorian after it; the hour of the reform itself is still Julian.
fn at_mixed(base: (CdlDate, f64), delta: f64) -> Option<DateMoment> {
    let reform = CdlDate { year: 1582, month: 10, day: 15 };
    let last = CdlDate { year: 1582, month: 10, day: 5 };
    let key = |date: CdlDate| (date.year, date.month, date.day);
    let hours = |calendar: CdlCalendar, (date, hour): (CdlDate, f64)| start(calendar, EPOCH_1979, date, hour);
    let (gregorian, julian) = (CdlCalendar::Gregorian, CdlCalendar::Julian);
    if key(base.0) < key(reform) {
        let until = hours(julian, (last, 0.0)) - hours(julian, base);
        if delta <= until {
            at_hours(julian, EPOCH_1979, base, delta)
        } else {
            at_hours(gregorian, EPOCH_1979, (reform, 0.0), delta - until)
        }
    } else {
        let since = hours(gregorian, (reform, 0.0)) - hours(gregorian, base);
        if delta > since {
            at_hours(gregorian, EPOCH_1979, base, delta)
        } else {
            at_hours(julian, EPOCH_1979, (last, 0.0), delta - since)
        }
    }
}

/// Hours from the epoch to a date and hour.
fn start(calendar: CdlCalendar, epoch: i64, date: CdlDate, hour: f64) -> f64 {
    as_double(calendar.days(date) - epoch) * 24.0 + hour
}

/// Whole months from the base's month; its day and time are dropped.
fn add_months(base: CdlDate, months: f64) -> Option<DateMoment> {
    let count = base.year * 12 + base.month - 1 + to_integer(months)?;
    let date = CdlDate { year: count.div_euclid(12), month: count.rem_euclid(12) + 1, day: 1 };
    Some(DateMoment { date, hour: 0.0 })
}

fn at_hours(calendar: CdlCalendar, epoch: i64, base: (CdlDate, f64), delta: f64) -> Option<DateMoment> {
    let hours = start(calendar, epoch, base.0, base.1) + delta + as_double(epoch) * 24.0;
    if hours.is_nan() || hours.abs() > HOURS_MAX {
        return None;
    }
    let mut days = to_integer((hours / 24.0).floor())?;
    let mut hour = hours - as_double(days) * 24.0;
    if microseconds(hour) >= 24 * 3_600_000_000 {
        days += 1;
        hour = 0.0;
    }
    Some(DateMoment { date: calendar.date(days), hour })
}

impl DateMoment {
    /// Writes date and time with a separator between them; trailing parts of the time that are zero are omitted.
    pub fn write(&self, out: &mut Vec<u8>, calendar: CdlCalendar, separator: char) {
        let CdlDate { year, month, day } = self.date;
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        let _ = match calendar {
            CdlCalendar::Climatology => write!(out, "{month:02}-{day:02}"),
            _ => write!(out, "{sign}{year:04}-{month:02}-{day:02}"),
        };
        let all = microseconds(self.hour);
        let (seconds, fraction) = (all / 1_000_000, all % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let _ = match (hour, minute, second, fraction) {
            (0, 0, 0, 0) => Ok(()),
            (_, 0, 0, 0) => write!(out, "{separator}{hour:02}"),
            (_, _, 0, 0) => write!(out, "{separator}{hour:02}:{minute:02}"),
            (_, _, _, 0) => write!(out, "{separator}{hour:02}:{minute:02}:{second:02}"),
            _ => write!(out, "{separator}{hour:02}:{minute:02}:{second}.{fraction:06}"),
        };
    }
}

/// Hours of a day in microseconds, rounded.
fn microseconds(hours: f64) -> i64 {
    to_integer((hours * MICROSECONDS_PER_HOUR).round()).unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
fn to_integer(value: f64) -> Option<i64> {
    (value.abs() < 1e17).then_some(value as i64)
}

#[expect(clippy::cast_precision_loss, reason = "days are far below 2^53")]
fn as_double(days: i64) -> f64 {
    days as f64
}
