//! Units of measurement, dates and calendars in attributes.
use ncirrus_units::{Calendar, CivilDate, TimeUnits, Unit, conversion};

/// Lines: units, a tab, a calendar. Each line's units convert into those of the next, and numbers become dates.
pub fn units(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines: Vec<(&str, Option<&str>)> = text.lines().take(16).map(split).collect();
    for (text, calendar) in &lines {
        _ = (Unit::parse(text), calendar.map(|name| Calendar::parse(Some(name))));
        if let Ok(Some(units)) = TimeUnits::parse(text, *calendar) {
            numbers(&units);
        }
        if let Ok((date, _)) = CivilDate::parse(text) {
            assert_eq!(CivilDate::parse(&date.to_string()).ok(), Some((date, 0)), "{date}");
        }
    }
    for pair in lines.windows(2) {
        if let Ok(Some(conversion)) = conversion(pair[0], pair[1]) {
            _ = [0.0, 1.5, -1e300, f64::NAN].map(|number| conversion.apply(number));
        }
    }
}

fn split(line: &str) -> (&str, Option<&str>) {
    line.split_once('\t').map_or((line, None), |(units, calendar)| (units, Some(calendar)))
}

/// Dates of numbers, which convert back to the same numbers.
fn numbers(units: &TimeUnits) {
    _ = (units.to_string(), units.reference());
    for number in
        [0.0, 1.0, -1.0, 0.5, 1e3, 1e6, -1e6, 1e12, -1e12, 1e17, -1e17, 1e300, f64::NAN, f64::INFINITY]
    {
        let Some(date) = units.date(number) else { continue };
        let again = units.number(&date).and_then(|number| units.date(number));
        assert!(again.is_some(), "{units}: {number} is {date}, which is nothing");
    }
}
