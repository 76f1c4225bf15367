//! What UDUNITS and cftime make of the same.
use super::super::{TimeUnits, conversion};
use ncirrus_testkit::corpus::{peers_python, program};
use std::process::Command;

/// Units that measure the same, as they stand in data.
const SAME: [&[&str]; 9] = [
    &["K", "degC", "degF", "Celsius", "mK", "degree_Rankine"],
    &["Pa", "hPa", "mbar", "bar", "atm", "mmHg", "psi", "N m-2", "dbar", "inHg", "cmH2O"],
    &["m s-1", "km/h", "knots", "cm/s", "mile/hour", "feet minute-1"],
    &["kg m-2 s-1", "g/cm^2/day", "mm.kg.m-3/hour", "pound/foot2/minute"],
    &["1", "%", "ppm", "kg kg-1", "g kg-1", "mol mol-1", "g g-1"],
    &["degrees_north", "radian", "arcminute", "degrees", "turn", "arc_second"],
    &["J kg-1", "m2 s-2", "cal/g", "kWh/kg", "eV/amu"],
    &["W m-2", "mW cm-2", "J m-2 day-1", "hp/acre"],
    &["days", "hours", "months", "years", "weeks", "common_years", "milliseconds"],
];

/// What the program `udunits2` says that one of a unit is, and where zero goes.
fn udunits(from: &str, to: &str) -> Option<(f64, f64)> {
    let output = Command::new("udunits2").args(["-H", from, "-W", to]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The second line is a formula: `x/to = slope*(x/from) + intercept`.
    let formula = text.lines().find(|line| line.starts_with("    x/"))?.split_once(" = ")?.1.to_owned();
    let slope = formula.split_once("*(").map_or(Ok(1.0), |(slope, _)| slope.parse()).ok()?;
    let after = formula.rsplit(')').next()?.trim();
    let intercept = match after.split_at_checked(1) {
        Some(("+", number)) => number.trim().parse().ok()?,
        Some(("-", number)) => -number.trim().parse::<f64>().ok()?,
        _ => 0.0,
    };
    Some((slope, intercept))
}

#[test]
fn udunits_converts_alike() {
    if program("udunits2").is_none() {
        return;
    }
    let mut compared = 0;
    for group in SAME {
        for from in group {
            for to in group {
                let Some(theirs) = udunits(from, to) else { continue };
                let ours = conversion((from, None), (to, None))
                    .map(|it| it.map_or((1.0, 0.0), |it| (it.slope, it.intercept)));
                let near = |one: f64, other: f64| (one - other).abs() <= 1e-5 * one.abs().max(1e-6);
                let alike = ours.as_ref().is_ok_and(|ours| near(ours.0, theirs.0) && near(ours.1, theirs.1));
                assert!(alike, "{from:?} to {to:?}: {ours:?}, UDUNITS {theirs:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "only {compared} pairs were compared");
}

const CFTIME: &str = r#"
import cftime, random
random.seed(1)
calendars = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
for calendar in calendars:
    for _ in range(150):
        unit = random.choice(["seconds", "minutes", "hours", "days"])
        year = random.choice([1, 850, 1581, 1582, 1583, 1700, 1850, 1899, 1900, 1970, 2000, 2400])
        units = f"{unit} since {year:04d}-{random.randint(1, 12):02d}-{random.randint(1, 9):02d} {random.randint(0, 23):02d}:30:00"
        number = random.randint(0, 200000) * random.choice([1, 0.25])
        try:
            date = cftime.num2date(number, units, calendar)
        except Exception:
            continue
        print("|".join([units, calendar, repr(float(number)), date.strftime("%Y-%m-%d %H:%M:%S"), str(date.year), str(date.month), str(date.day), str(date.hour), str(date.minute), str(date.second)]))
"#;

#[test]
fn cftime_reads_the_same_dates() {
    let Some(python) = peers_python() else { return };
    let output = Command::new(python).args(["-c", CFTIME]).output();
    let output =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut compared = 0;
    for line in output.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let number: f64 = fields[2].parse().unwrap_or(f64::NAN);
        let units = TimeUnits::parse(fields[0], Some(fields[1])).ok().flatten();
        let date = units.as_ref().and_then(|units| units.date(number));
        let ours = date.map(|it| {
            [it.year, it.month.into(), it.day.into(), it.hour.into(), it.minute.into(), it.second.into()]
        });
        let theirs: Vec<i64> = fields[4..].iter().filter_map(|field| field.parse().ok()).collect();
        assert_eq!(ours.as_ref().map(|ours| ours.as_slice()), Some(theirs.as_slice()), "{line}");
        compared += 1;
    }
    assert!(compared > 600, "only {compared} dates were compared");
}
