//! Laws of calendars: properties that hold for all of them, and what distinguishes each.
use super::super::ncdump::{CdlCalendar, CdlDate};
use super::super::{Calendar, CivilDate, TimeUnits};
use super::calendars;
use proptest::prelude::*;

/// Number of days of a year.
fn year_len(calendar: Calendar, year: i64) -> i64 {
    let first = |year| calendar.day_number((year, 1, 1)).unwrap();
    first(year + 1) - first(year)
}

fn is_leap(year: i64, gregorian: bool) -> bool {
    let divides = |by: i64| year.rem_euclid(by) == 0;
    divides(4) && (!gregorian || !divides(100) || divides(400))
}

proptest! {
    #[test]
    fn years_are_as_long_as_their_calendar_says(year in -10_000i64..10_000) {
        let due = |calendar| 365 + i64::from(match calendar {
            Calendar::NoLeap => false,
            Calendar::AllLeap => true,
            Calendar::Julian => is_leap(year, false),
            Calendar::ProlepticGregorian => is_leap(year, true),
            _ => is_leap(year, year > 1582),
        });
        for calendar in [Calendar::NoLeap, Calendar::AllLeap, Calendar::Julian, Calendar::ProlepticGregorian] {
            prop_assert_eq!(year_len(calendar, year), due(calendar), "{}", calendar);
        }
        let reform = if year == 1582 { 10 } else { 0 };
        prop_assert_eq!(year_len(Calendar::Standard, year), due(Calendar::Standard) - reform);
        prop_assert_eq!(year_len(Calendar::Day360, year), 360);
    }

    /// The next day is the next of the month, or the first of the next month, or New Year; except for ten days of 1582.
    #[test]
    fn days_follow_each_other(calendar in calendars(), number in -5_000_000i64..5_000_000) {
        let ((year, month, day), next) = (calendar.day(number).unwrap(), calendar.day(number + 1).unwrap());
        let is_reform = calendar == Calendar::Standard && (year, month, day) == (1582, 10, 4);
        let possible = [(year, month, day + 1), (year, month + 1, 1), (year + 1, 1, 1)];
        prop_assert!(is_reform && next == (1582, 10, 15) || !is_reform && possible.contains(&next), "{:?}", next);
    }

    /// The standard calendar is the Julian one before the reform and the Gregorian one since, day for day.
    #[test]
    fn the_standard_calendar_is_one_or_the_other(number in -5_000_000i64..5_000_000) {
        let reform = Calendar::Standard.day_number((1582, 10, 15)).unwrap();
        let other = if number < reform { Calendar::Julian } else { Calendar::ProlepticGregorian };
        prop_assert_eq!(Calendar::Standard.day(number), other.day(number));
    }

    /// A date that does not exist in a calendar has no number, and the date of a number has that number.
    #[test]
    fn only_days_have_numbers(calendar in calendars(), year in -5000i64..5000, month in 0u32..14, day in 0u32..33) {
        if let Some(number) = calendar.day_number((year, month, day)) {
            prop_assert_eq!(calendar.day(number), Some((year, month, day)));
        } else {
            let is_month = (1..=12).contains(&month);
            let min = if calendar == Calendar::Day360 { 30 } else { 28 };
            let is_reform = calendar == Calendar::Standard && (year, month) == (1582, 10);
            prop_assert!(!is_month || day == 0 || day > min || is_reform);
        }
    }

    /// Formatted dates are parsed back to the same, and later times are later dates.
    #[test]
    fn dates_are_written_and_read(calendar in calendars(), hours in -50_000_000i32..50_000_000) {
        let units = TimeUnits::parse("hours since 1970-01-01", Some(calendar.name())).unwrap().unwrap();
        let number = f64::from(hours) / 10.0;
        let (date, later) = (units.date(number).unwrap(), units.date(number + 0.5).unwrap());
        prop_assert!(date < later);
        prop_assert_eq!(CivilDate::parse(&date.to_string()).ok(), Some((date, 0)));
    }

    /// ncdump's lenient count agrees with the strict one.
    #[test]
    fn ncdump_counts_days_as_calendars_do(days in -5_000_000i64..5_000_000, at in 0..5usize) {
        let (lenient, strict) = [
            (CdlCalendar::Gregorian, Calendar::ProlepticGregorian),
            (CdlCalendar::Julian, Calendar::Julian),
            (CdlCalendar::NoLeap, Calendar::NoLeap),
            (CdlCalendar::AllLeap, Calendar::AllLeap),
            (CdlCalendar::Days360, Calendar::Day360),
        ][at];
        let units = TimeUnits::parse("days since 1970-01-01", Some(strict.name())).unwrap().unwrap();
        let CdlDate { year, month, day } = lenient.date(days);
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let date = units.date(days as f64).unwrap();
        prop_assert_eq!((year, month, day), (date.year, i64::from(date.month), i64::from(date.day)));
        // A day past the end of its month continues into the next.
        prop_assert_eq!(lenient.days(CdlDate { year, month, day: day + 40 }), days + 40);
    }
}
