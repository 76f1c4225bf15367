//! Units of the form "X since Y", parsed leniently.
use super::CdlCalendar;

/// The unit of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CdlTimeUnit {
    /// A length of time: the value times `times`, divided by `per`, is in hours.
    Hours {
        /// The factor for the value.
        times: f64,
        /// The divisor of the product.
        per: f64,
    },
    /// A number of months.
    Months(f64),
}

impl CdlTimeUnit {
    /// The number of the library in netCDF's own programs (`cdUnitTime`).
    pub fn number(self) -> i32 {
        match self {
            Self::Hours { times, .. } if times > 100.0 => 4,
            Self::Hours { times, .. } if times > 1.0 => 3,
            Self::Hours { per, .. } if per > 100.0 => 8,
            Self::Hours { per, .. } if per > 1.0 => 1,
            Self::Hours { .. } => 2,
            Self::Months(each) if each > 10.0 => 7,
            Self::Months(each) if each > 1.0 => 6,
            Self::Months(_) => 5,
        }
    }
}

/// The date and time from which an axis counts.
#[derive(Debug, Clone, PartialEq)]
pub struct CdlTimeBase {
    /// Year; 0 is the year before 1.
    pub year: i64,
    /// Month from 1.
    pub month: i64,
    /// Day from 1; it may be past the end of its month.
    pub day: i64,
    /// Hours since midnight.
    pub hour: f64,
}

/// Maximum absolute value of a year, and of a day of a month.
const LARGEST: u64 = 100_000_000;

const YEARS: CdlTimeUnit = CdlTimeUnit::Months(12.0);

/// Unit and base of "X since Y"; `None` for anything else.
pub fn parse_units(units: &str, calendar: CdlCalendar) -> Option<(CdlTimeUnit, CdlTimeBase)> {
    let mut words = units.split_ascii_whitespace();
    let unit = unit(words.next()?)?;
    if words.next()? != "since" {
        return None;
    }
    if calendar == CdlCalendar::Climatology && unit == YEARS {
        return None;
    }
    let date = words.next()?;
    let (date, time) = match date.split_once('T') {
        Some((date, time)) => (date, time),
        None => (date, words.next().unwrap_or("")),
    };
    let (year, month, day) = parse_date(date, calendar);
    // As in the reference: a date with a year loses its time in the calendar without years, and a month outside the
    // year is replaced by the first.
    let has_extra =
        calendar == CdlCalendar::Climatology && date.trim_start_matches('-').matches('-').count() > 1;
    let hour = if has_extra { 0.0 } else { parse_time(time) };
    let month = if (1..=12).contains(&month) { month } else { 1 };
    let is_serious = year.unsigned_abs().max(day.unsigned_abs()) <= LARGEST;
    is_serious.then_some((unit, CdlTimeBase { year, month, day, hour }))
}

/// Units are identified by their first letters, or by an abbreviation, in either case.
fn unit(word: &str) -> Option<CdlTimeUnit> {
    let word = word.to_ascii_lowercase();
    let is = |prefix: &str, short: &str| word.starts_with(prefix) || word == short;
    let hours = |times: f64, per: f64| Some(CdlTimeUnit::Hours { times, per });
    if is("sec", "s") {
        hours(1.0, 3600.0)
    } else if is("min", "mn") {
        hours(1.0, 60.0)
    } else if is("hour", "hr") {
        hours(1.0, 1.0)
    } else if is("day", "dy") {
        hours(24.0, 1.0)
    } else if is("week", "wk") {
        hours(168.0, 1.0)
    } else if is("month", "mo") {
        Some(CdlTimeUnit::Months(1.0))
    } else if is("season", "season") {
        Some(CdlTimeUnit::Months(3.0))
    } else if is("year", "yr") {
        Some(YEARS)
    } else {
        None
    }
}

/// `y-m-d`; a missing or invalid part is year 0, month 1, day 1.
///
/// The climatological calendar has no year: there the first number is the month.
fn parse_date(text: &str, calendar: CdlCalendar) -> (i64, i64, i64) {
    let mut scan = NumberReader { text };
    let has_year = calendar != CdlCalendar::Climatology;
    let Some(first) = scan.integer() else { return (0, 1, 1) };
    let (year, month) =
        if has_year { (first, scan.skip('-').and_then(|()| scan.integer())) } else { (1970, Some(first)) };
    let day = month.and_then(|_| scan.skip('-')).and_then(|()| scan.integer());
    let month = month.unwrap_or(1);
    (year, month, day.unwrap_or(1))
}

/// `h:m:s` in hours; parts that are out of range count as 0.
fn parse_time(text: &str) -> f64 {
    let mut scan = NumberReader { text };
    let Some(hour) = scan.integer() else { return 0.0 };
    let minute = scan.skip(':').and_then(|()| scan.integer());
    let second = minute.and_then(|_| scan.skip(':')).and_then(|()| scan.real()).unwrap_or(0.0);
    let minute = minute.unwrap_or(0);
    let hour = if (0..24).contains(&hour) { hour } else { 0 };
    let minute = if (0..60).contains(&minute) { minute } else { 0 };
    let second = if (0.0..=60.0).contains(&second) { second } else { 0.0 };
    whole(hour) + whole(minute) / 60.0 + second / 3600.0
}

#[expect(clippy::cast_precision_loss, reason = "at most two digits")]
fn whole(number: i64) -> f64 {
    number as f64
}

/// Parses numbers like C's `scanf`.
struct NumberReader<'t> {
    text: &'t str,
}

impl NumberReader<'_> {
    fn integer(&mut self) -> Option<i64> {
        let sign = usize::from(self.text.starts_with(['+', '-']));
        let digits = self.text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
        let number = self.text.get(..sign + digits)?.parse().ok();
        self.text = self.text.get(sign + digits..)?;
        number
    }

    fn real(&mut self) -> Option<f64> {
        let len = self.text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let number = self.text.get(..len)?.parse().ok();
        self.text = self.text.get(len..)?;
        number
    }

    fn skip(&mut self, c: char) -> Option<()> {
        self.text = self.text.strip_prefix(c)?;
        Some(())
    }
}
