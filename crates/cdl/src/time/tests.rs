use super::TimeAxis;
use crate::TimeStyle;
use ncirrus_units::ncdump::{CdlCalendar, moment_at, parse_units};
use proptest::prelude::*;

fn date(units: &str, calendar: &str, value: f64) -> String {
    let calendar = CdlCalendar::from_name(calendar);
    let (unit, base) = parse_units(units, calendar).unwrap();
    let axis = TimeAxis { unit, base, calendar, style: TimeStyle::T };
    let mut out = Vec::new();
    axis.write(&mut out, value);
    String::from_utf8(out).unwrap()
}

#[test]
fn calendars_differ_in_their_leap_days() {
    // As ncdump -i prints for units "days since 2000-02-28 12:00:00".
    for (calendar, text) in [
        ("standard", "\"2000-02-29T12\""),
        ("noleap", "\"2000-03-01T12\""),
        ("all_leap", "\"2000-02-29T12\""),
        ("360_day", "\"2000-02-29T12\""),
        ("julian", "\"2000-02-29T12\""),
    ] {
        assert_eq!(date("days since 2000-02-28 12:00:00", calendar, 1.0), text, "{calendar}");
    }
}

#[test]
fn mixed_calendar_skips_ten_days() {
    assert_eq!(date("days since 1582-10-04 12:00", "", 1.0), "\"1582-10-15T12\"");
    assert_eq!(date("days since 1582-10-15", "", -1.0), "\"1582-10-04\"");
}

#[test]
fn months_are_counted_whole_and_lose_the_day() {
    assert_eq!(date("months since 2000-1-31 06:30", "", 0.0), "\"2000-01-31T06:30\"");
    assert_eq!(date("months since 2000-1-31", "", 13.7), "\"2001-02-01\"");
    assert_eq!(date("years since 2000-2-29", "", 0.25), "\"2000-05-01\"");
}

#[test]
fn values_that_are_no_moment_stay_numbers() {
    assert_eq!(date("days since 2000-1-1", "", f64::NAN), "NaN");
    assert_eq!(date("days since 2000-1-1", "", 1e300), "1e+300");
    assert_eq!(date("months since 2000-1-1", "", f64::INFINITY), "Infinity");
}

#[test]
fn units_without_since_or_of_no_time_are_no_axis() {
    for units in
        ["days", "days from 2000-1-1", "fortnights since 2000-1-1", "", "days since", "days Since 2000-1-1"]
    {
        assert!(parse_units(units, CdlCalendar::Mixed).is_none(), "{units}");
    }
}

#[test]
fn years_and_days_beyond_all_calendars_are_no_axis() {
    for units in ["days since 2000-1-9223372036854775807", "days since -9223372036854775808-1-1"] {
        assert!(parse_units(units, CdlCalendar::Mixed).is_none(), "{units}");
    }
    assert_eq!(date("days since 2000-1-32", "", 0.0), "\"2000-02-01\"", "a day past the end of its month");
}

proptest! {
    #[test]
    fn no_units_and_no_value_panic(units in "(days|hours|months|years) since [-+0-9:T. ]{0,24}", value: f64, name: u8) {
        let names = ["", "julian", "noleap", "all_leap", "360_day", "none", "proleptic_gregorian"];
        let calendar = CdlCalendar::from_name(names[usize::from(name) % names.len()]);
        if let Some((unit, base)) = parse_units(&units, calendar) {
            let _ = moment_at(unit, &base, calendar, value);
        }
    }

    #[test]
    fn dates_count_back_to_their_days(days in -1_000_000_000i64..1_000_000_000, name: u8) {
        let names = ["julian", "noleap", "all_leap", "360_day", "proleptic_gregorian"];
        let calendar = CdlCalendar::from_name(names[usize::from(name) % names.len()]);
        let date = calendar.date(days);
        prop_assert_eq!(calendar.days(date), days);
        prop_assert!((1..=12).contains(&date.month) && (1..=31).contains(&date.day));
    }
}
