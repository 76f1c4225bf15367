use super::{Calendar, CivilDate, TimeUnits, Unit, UnitConversion, UnitErrorKind, conversion};
use proptest::prelude::*;

mod calendars;
mod peers;

/// Slope and intercept.
fn pair(from: &str, to: &str) -> Option<(f64, f64)> {
    match conversion((from, None), (to, None)).ok()? {
        None => Some((1.0, 0.0)),
        Some(UnitConversion::Linear { slope, intercept }) => Some((slope, intercept)),
        Some(UnitConversion::Curved { .. }) => None,
    }
}

#[track_caller]
fn fails(from: &str, to: &str, kind: UnitErrorKind) {
    let outcome = conversion((from, None), (to, None)).map_err(|error| error.kind());
    assert_eq!(outcome, Err(kind), "{from:?} to {to:?}");
}

#[test]
fn units_are_written_in_many_ways() {
    for [one, other] in [
        ["m s-1", "metres/second"],
        ["kg m-2 s-1", "kg/m2/s"],
        ["kg.m^-2.s**-1", "kilograms per metre2 per second"],
        ["W m⁻²", "watt/(m·m)"],
        ["kg⋅m²⋅s⁻³", "W"],
        ["m×s", "m s"],
        ["10⁻³ m", "mm"],
        ["degrees_north", "degree"],
        ["J", "kg.m2.s-2"],
        ["m2.s-2", "m2 s-2"],
        ["Kelvin", "degK"],
        ["1", ""],
        ["feet", "foot"],
        ["inches", "in"],
    ] {
        assert_eq!(pair(one, other), Some((1.0, 0.0)), "{one:?} {other:?}");
    }
}

#[test]
fn numbers_convert() {
    for (from, to, number, due) in [
        ("degC", "K", 0.0, 273.15),
        ("K", "Celsius", 300.0, 26.85),
        ("degF", "degC", 212.0, 100.0),
        ("hPa", "Pa", 1013.25, 101_325.0),
        ("mm/day", "m s-1", 86_400_000.0, 1.0),
        ("g kg-1", "1", 5.0, 0.005),
        ("%", "1", 50.0, 0.5),
        ("knot", "m/s", 3600.0, 1852.0),
        ("K @ 273.15", "K", 1.0, 274.15),
        ("10 m", "cm", 1.0, 1000.0),
        ("degrees", "radians", 180.0, std::f64::consts::PI),
    ] {
        let found = conversion((from, None), (to, None)).ok().flatten().map(|it| it.apply(number));
        assert!(
            found.is_some_and(|found| (found - due).abs() <= due.abs() * 1e-14),
            "{from} {to}: {found:?}"
        );
    }
}

#[test]
fn numbers_become_those_of_logarithms_and_reciprocals() {
    for (from, to, number, due) in [
        ("s", "Hz", 4.0, 0.25),
        ("hour", "Hz", 1.0, 1.0 / 3600.0),
        ("m s-1", "s km-1", 2.0, 500.0),
        ("degC", "K-1", 0.0, 1.0 / 273.15),
        ("dBZ", "mm6 m-3", 20.0, 100.0),
        ("mm^6 m^-3", "dBZ", 1000.0, 30.0),
        ("dBm", "mW", 30.0, 1000.0),
        ("dBW", "dBm", 1.0, 31.0),
        ("W", "lg(re 1 mW)", 1.0, 3.0),
        ("ln(re: 1 Pa)", "lg(re 1 Pa)", std::f64::consts::LN_10, 1.0),
        ("lb (RE 2 m)", "m", 3.0, 16.0),
        ("0.1 lg(re 1 mW)", "dBm", 7.0, 7.0),
        ("dBm @ 3", "dBm", 1.0, 4.0),
        ("dB_SPL", "Pa", 20.0, 2e-3),
        ("2 lb", "kg", 1.0, 0.907_184_74),
        ("lb(m)", "kg m", 1.0, 0.453_592_37),
    ] {
        let found = conversion((from, None), (to, None)).map(|it| it.map_or(number, |it| it.apply(number)));
        let near = found.as_ref().is_ok_and(|found| (found - due).abs() <= due.abs() * 1e-12);
        assert!(near, "{from} {to}: {found:?}");
    }
}

#[test]
fn what_measures_something_else_does_not_convert() {
    fails("kg", "m", UnitErrorKind::Invalid);
    fails("s", "m-1", UnitErrorKind::Invalid);
    fails("dBZ", "dBm", UnitErrorKind::Invalid);
    fails("dBm", "J", UnitErrorKind::Invalid);
    fails("days since 2000-01-01", "days", UnitErrorKind::Invalid);
}

#[test]
fn what_is_no_unit_is_named() {
    fails("furble", "m", UnitErrorKind::Malformed);
    fails("m^", "m", UnitErrorKind::Malformed);
    fails("(m", "m", UnitErrorKind::Malformed);
    fails("m)", "m", UnitErrorKind::Malformed);
    fails("m/", "m", UnitErrorKind::Malformed);
    fails("m99999", "m", UnitErrorKind::Malformed);
    fails(&"(".repeat(100), "m", UnitErrorKind::Limit);
    fails(&"m ".repeat(1000), "m", UnitErrorKind::Malformed);
    fails("dB", "1", UnitErrorKind::Unsupported);
    fails("decibels", "1", UnitErrorKind::Unsupported);
    fails("lg(1 mW)", "W", UnitErrorKind::Malformed);
    fails("lg(re 1 mW", "W", UnitErrorKind::Malformed);
    fails("lg(re lg(re 1 W))", "W", UnitErrorKind::Malformed);
    fails("dBm2", "W2", UnitErrorKind::Malformed);
    fails("dBm s", "J", UnitErrorKind::Malformed);
    fails("m/dBm", "m/W", UnitErrorKind::Malformed);
    fails("dBm dBm", "W2", UnitErrorKind::Malformed);
}

#[test]
fn times_convert_between_reference_dates_of_one_calendar() {
    let convert = |from: &str, to: &str, calendar: &str, number: f64| {
        let both = conversion((from, Some(calendar)), (to, Some(calendar)));
        both.map(|it| it.map_or(number, |it| it.apply(number))).map_err(|error| error.kind())
    };
    let days = |reference: &str| format!("days since {reference}");
    let [old, new] = [days("1999-12-31"), days("2000-03-01")];
    assert_eq!(convert(&new, &old, "standard", 0.0), Ok(61.0));
    assert_eq!(convert(&new, &old, "noleap", 0.0), Ok(60.0));
    assert_eq!(convert(&new, &days("1999-12-30"), "360_day", 0.0), Ok(61.0));
    assert_eq!(convert("hours since 2000-01-01 06:00", "days since 2000-01-01", "gregorian", 6.0), Ok(0.5));
    assert_eq!(
        convert("hours since 2000-01-01 06:00 +6", "hours since 2000-01-01", "gregorian", 6.0),
        Ok(6.0)
    );
    assert_eq!(convert(&days("1582-10-15"), &days("1582-10-04"), "standard", 0.0), Ok(1.0));
    assert_eq!(convert(&old, &new, "none", 0.0), Err(UnitErrorKind::Invalid));
    assert_eq!(convert(&old, &old, "none", 3.0), Ok(3.0));
    assert_eq!(convert(&days("2000-02-30"), &old, "standard", 0.0), Err(UnitErrorKind::Malformed));
    assert_eq!(convert(&old, &new, "martian", 0.0), Err(UnitErrorKind::Unsupported));
    let differ = conversion((&old, Some("noleap")), (&old, Some("standard")));
    assert!(differ.is_err_and(|error| error.message() == "the calendar noleap is not standard"));
    let synonyms = conversion((&old, Some("365_day")), (&old, Some("noleap")));
    assert_eq!(synonyms.ok(), Some(None));
}

#[test]
fn dates_are_read_in_many_ways() {
    let read = |text: &str| CivilDate::parse(text).ok().map(|(date, zone)| (date.to_string(), zone));
    for (text, date, zone) in [
        ("2000-01-01", "2000-01-01", 0),
        ("2000-1-1 0:0:0", "2000-01-01", 0),
        ("2000-01-01T12:30:15.25Z", "2000-01-01 12:30:15.25", 0),
        ("1992-10-8 15:15:42.5 -6:00", "1992-10-08 15:15:42.5", -21_600),
        ("2000-01-01 12:00:00 +0530", "2000-01-01 12:00:00", 19_800),
        ("20000131T0630", "2000-01-31 06:30:00", 0),
        ("1-1-1 00:00:00 UTC", "0001-01-01", 0),
        ("-4713-1-1", "-4713-01-01", 0),
        ("2000", "2000-01-01", 0),
        ("2000-06", "2000-06-01", 0),
    ] {
        assert_eq!(read(text), Some((date.to_owned(), zone)), "{text}");
    }
    for text in [
        "",
        "today",
        "2000-01-01 25:00",
        "2000-01-01 12:00 somewhere",
        "2000-01-01-01",
        "99999999999-01-01",
        "200001315",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

fn calendars() -> impl Strategy<Value = Calendar> {
    proptest::sample::select(vec![
        Calendar::Standard,
        Calendar::ProlepticGregorian,
        Calendar::Julian,
        Calendar::NoLeap,
        Calendar::AllLeap,
        Calendar::Day360,
    ])
}

proptest! {
    /// Converting numbers to dates and back preserves them, and later days have larger numbers.
    #[test]
    fn days_and_their_numbers_go_both_ways(calendar in calendars(), number in -5_000_000i64..5_000_000) {
        let day = calendar.day(number);
        prop_assert_eq!(day.and_then(|day| calendar.day_number(day)), Some(number));
        prop_assert!(day < calendar.day(number + 1));
    }

    #[test]
    fn numbers_and_dates_go_both_ways(calendar in calendars(), number in -1_000_000i32..1_000_000) {
        let units = TimeUnits::parse("hours since 1850-06-15 06:30", Some(calendar.name()));
        let Ok(Some(units)) = units else { return Err(TestCaseError::fail("no units")) };
        let date = units.date(f64::from(number) / 4.0);
        prop_assert_eq!(date.and_then(|date| units.number(&date)), Some(f64::from(number) / 4.0));
    }

    /// Conversions there and back.
    #[test]
    fn conversions_have_inverses(number in -1e6..1e6f64, at in 0..8usize) {
        let number = if at == 6 { number / 1e4 } else { number };
        let units = [("degC", "degF"), ("km", "mile"), ("hPa", "atm"), ("m s-1", "knot"), ("J", "cal"), ("days", "year"), ("dBZ", "mm6 m-3"), ("s", "Hz")];
        let (one, other) = units[at];
        let there = conversion((one, None), (other, None)).ok().flatten();
        let back = conversion((other, None), (one, None)).ok().flatten();
        let (Some(there), Some(back)) = (there, back) else { return Err(TestCaseError::fail("no conversion")) };
        prop_assert!((back.apply(there.apply(number)) - number).abs() <= 1e-9 * number.abs().max(1.0));
    }

    /// Any text is a unit or is refused.
    #[test]
    fn no_text_is_a_panic(text in "[a-zA-Z0-9 .*/^()@+-]{0,24}|\\PC{0,12}") {
        _ = Unit::parse(&text);
        _ = TimeUnits::parse(&text, None);
        _ = TimeUnits::parse(&format!("days since {text}"), Some("julian"));
        _ = CivilDate::parse(&text);
    }

    /// Any prefix of a specification is a specification or is refused.
    #[test]
    fn nothing_cut_short_is_a_panic(len in 0..60usize) {
        let text = "10 kg.m-2 (s2/K)**-3 °C² per µmol since 2000-01-01T12:30:15.25 +05:30";
        let cut: String = text.chars().take(len).collect();
        _ = conversion((&cut, None), ("m", None));
    }
}

#[test]
fn conversions_that_change_nothing_are_none() {
    assert_eq!(conversion(("K", None), ("kelvin", None)).ok(), Some(None::<UnitConversion>));
}
