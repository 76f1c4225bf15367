//! Dates with times of day, as in UDUNITS.
use crate::calendar::Calendar;
use crate::{Result, UnitError};
use std::fmt;

/// A date and a time of day, without a calendar; UTC unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CivilDate {
    /// Year; 0 is the year before 1.
    pub year: i64,
    /// Month from 1.
    pub month: u32,
    /// Day from 1.
    pub day: u32,
    /// Hour from 0.
    pub hour: u32,
    /// Minute from 0.
    pub minute: u32,
    /// Second from 0.
    pub second: u32,
    /// Billionths of a second.
    pub nanosecond: u32,
}

pub(crate) const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// Maximum absolute value of a year.
const YEARS: i64 = 1_000_000_000;

impl CivilDate {
    /// Parses a date such as `2000-01-01`, `1992-10-8 15:15:42.5 -6:00`, `20000101T1200Z`; omitted parts have their
    /// first value. Also returns how many seconds its time zone is ahead of UTC.
    ///
    /// # Errors
    /// `Malformed` if it is not a date.
    pub fn parse(text: &str) -> Result<(Self, i64)> {
        read(text.trim()).ok_or_else(|| UnitError::malformed(format!("{text:?} is no date")))
    }

    /// Nanoseconds since the calendar's day 0; `None` if the calendar has no such day.
    pub(crate) fn instant(&self, calendar: Calendar) -> Option<i128> {
        let day = calendar.day_number((self.year, self.month, self.day))?;
        let seconds = i128::from(self.hour) * 3600 + i128::from(self.minute) * 60 + i128::from(self.second);
        Some(i128::from(day) * DAY + seconds * SECOND + i128::from(self.nanosecond))
    }

    /// The date of an instant.
    pub(crate) fn of_instant(instant: i128, calendar: Calendar) -> Option<Self> {
        let number = i64::try_from(instant.div_euclid(DAY)).ok()?;
        let (year, month, day) = calendar.day(number).filter(|(year, ..)| year.abs() <= YEARS)?;
        let time = instant.rem_euclid(DAY);
        let part = |unit: i128, of: i128| u32::try_from(time / unit % of).ok();
        Some(Self {
            year,
            month,
            day,
            hour: part(3600 * SECOND, 24)?,
            minute: part(60 * SECOND, 60)?,
            second: part(SECOND, 60)?,
            nanosecond: part(1, SECOND)?,
        })
    }
}

fn read(text: &str) -> Option<(CivilDate, i64)> {
    let mut reader = DateReader { rest: text };
    let (year, month, day) = reader.date()?;
    let (mut date, mut zone) =
        (CivilDate { year, month, day, hour: 0, minute: 0, second: 0, nanosecond: 0 }, 0);
    let marked = reader.takes('T') || reader.takes('t');
    let spaced = reader.skip_space();
    if marked || spaced && reader.rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        reader.clock(&mut date)?;
    }
    let spaced = reader.skip_space() || spaced;
    if !reader.rest.is_empty() {
        zone = if marked || spaced { reader.zone()? } else { return None };
    }
    let is_time = date.hour < 24 && date.minute < 60 && date.second <= 60;
    (is_time && reader.rest.trim().is_empty()).then_some((date, zone))
}

struct DateReader<'a> {
    rest: &'a str,
}

impl<'a> DateReader<'a> {
    fn date(&mut self) -> Option<(i64, u32, u32)> {
        let negative = self.takes('-');
        if !negative {
            self.takes('+');
        }
        let digits = self.digits(10)?;
        let (year, month, day) = if self.takes('-') {
            let month = self.digits(2)?.parse().ok()?;
            let day = if self.takes('-') { self.digits(2)?.parse().ok()? } else { 1 };
            (digits, month, day)
        } else if digits.len() > 4 {
            // Four digits of the year, two of the month, two of the day.
            let month = digits.get(4..6)?.parse().ok()?;
            let day = digits.get(6..).filter(|day| day.len() <= 2)?;
            let day = if day.is_empty() { 1 } else { day.parse().ok()? };
            (digits.get(..4)?, month, day)
        } else {
            (digits, 1, 1)
        };
        let year: i64 = year.parse().ok().filter(|year| *year <= YEARS)?;
        Some((if negative { -year } else { year }, month, day))
    }

    fn clock(&mut self, date: &mut CivilDate) -> Option<()> {
        let hour = self.digits(6)?;
        if hour.len() > 2 {
            // Packed: two digits each.
            date.hour = hour.get(..2)?.parse().ok()?;
            date.minute = hour.get(2..4)?.parse().ok()?;
            let second = hour.get(4..).filter(|second| !second.is_empty());
            date.second = second.map_or(Ok(0), str::parse).ok()?;
        } else {
            date.hour = hour.parse().ok()?;
            if self.takes(':') {
                date.minute = self.digits(2)?.parse().ok()?;
                if self.takes(':') {
                    date.second = self.digits(2)?.parse().ok()?;
                }
            }
        }
        if self.takes('.') {
            let fraction = self.digits(30).unwrap_or_default();
            let nine: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
            date.nanosecond = nine.parse().ok()?;
        }
        Some(())
    }

    fn zone(&mut self) -> Option<i64> {
        for name in ["UTC", "GMT", "Z", "utc", "gmt", "z"] {
            if let Some(rest) = self.rest.strip_prefix(name) {
                self.rest = rest;
                return Some(0);
            }
        }
        let sign = if self.takes('-') {
            -1
        } else {
            i64::from(self.takes('+') || self.rest.starts_with(char::is_numeric))
        };
        let hours = self.digits(4)?;
        let (hours, minutes) = match hours.len() {
            0..=2 if self.takes(':') => (hours, self.digits(2)?),
            0..=2 => (hours, "0"),
            len => (hours.get(..len - 2)?, hours.get(len - 2..)?),
        };
        let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }

    /// One to `max` digits.
    fn digits(&mut self, max: usize) -> Option<&'a str> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = self.rest.get(..len).filter(|_| (1..=max).contains(&len))?;
        self.rest = self.rest.get(len..)?;
        Some(digits)
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let skipped = rest.len() < self.rest.len();
        self.rest = rest;
        skipped
    }
}

/// In CF's notation: the time of day only if it is not midnight.
impl fmt::Display for CivilDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{:02}-{:02}", self.year.unsigned_abs(), self.month, self.day)?;
        let (hour, minute, second, rest) = (self.hour, self.minute, self.second, self.nanosecond);
        if (hour, minute, second, rest) == (0, 0, 0, 0) {
            return Ok(());
        }
        write!(f, " {hour:02}:{minute:02}:{second:02}")?;
        match rest {
            0 => Ok(()),
            rest => write!(f, ".{}", format!("{rest:09}").trim_end_matches('0')),
        }
    }
}
