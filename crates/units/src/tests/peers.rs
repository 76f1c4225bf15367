//! Comparison with UDUNITS and cftime.
use super::super::{TimeUnits, conversion};
use ncirrus_testkit::corpus::{peers_python, program};
use ncirrus_testkit::law::RandomSource;
use std::process::Command;

/// Units that measure the same quantity, as they occur in data.
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

/// Parts of units: with prefixes, powers, scales and shifted zeros.
const PARTS: [&str; 16] = [
    "m", "gram", "s", "K", "Pa", "W", "Hz", "liter", "mole", "volt", "newton", "bar", "eV", "day", "ohm",
    "tesla",
];
const PREFIXES: [&str; 8] = ["", "kilo", "milli", "micro", "MEGA", "centi", "hecto", "nano"];
const POWERS: [&str; 6] = ["", "2", "-1", "^-2", "**3", "²"];

/// Logarithms, reciprocals, origins, notations, and times since dates with zones and fractions.
const PAIRS: &[[&str; 2]] = &[
    ["s", "Hz"],
    ["hour", "Hz"],
    ["m", "km-1"],
    ["m s-1", "s km-1"],
    ["degC", "K-1"],
    ["K-1", "degF"],
    ["s/rad", "Hz"],
    ["Pa", "m2 N-1"],
    ["dBZ", "mm6 m-3"],
    ["mm6 m-3", "dBZ"],
    ["BZ", "dBZ"],
    ["dBm", "W"],
    ["kW", "dBm"],
    ["dBW", "dBm"],
    ["dBm", "dBW"],
    ["lg(re 1 mW)", "W"],
    ["lg(re: 1 mW)", "dBm"],
    ["ln(re 1 Pa)", "Pa"],
    ["Pa", "lb(re 1 Pa)"],
    ["ln(re 1 Pa)", "lg(re 2 hPa)"],
    ["lg(re 2 m)", "km"],
    ["lg(re 1)", "1"],
    ["lg(re 1 degC)", "K"],
    ["dBm @ 3", "W"],
    ["dBW from 2", "dBm"],
    ["dB_SPL", "Pa"],
    ["dBV", "mV"],
    ["dBv", "dBV"],
    ["dBµV", "V"],
    ["(10 dBm)", "W"],
    ["(0.5 dBm)", "dBW"],
    ["K from 273.15", "degC"],
    ["degC after 3", "degF"],
    ["(K @ 273.15) @ 3", "K"],
    ["degC @ 10", "K"],
    ["(2 degC)", "K"],
    ["degC/m", "K/km"],
    ["m-s", "m s"],
    ["s/m/2", "s/m"],
    ["Degrees_Celsius", "kelvins"],
    ["℃", "℉"],
    ["°C²", "K2"],
    ["kilowatt hours", "MJ"],
    ["inch/hour", "mm day-1"],
    ["dobson", "mol/m2"],
    ["(10⁻³) m", "mm"],
    ["MILLIBARS", "Pa"],
    ["hours since 2000-01-01 06:00 +6", "hours since 2000-01-01"],
    ["hours since 2000-01-01 12:00:30.5", "minutes since 2000-01-01 12:00"],
    ["days since 1999-12-31T18:00:00Z", "hours since 2000-01-01"],
    ["hours since 2000-01-01 00:00:00 -3:30", "minutes since 2000-01-01"],
    ["seconds since 1992-10-8 15:15:42.5 -6:00", "seconds since 1992-10-08 21:00"],
    ["days since 1582-10-15", "days since 1582-10-4"],
    ["hours since 20000102T0630", "hours since 2000-01-01"],
    ["days since 2000-02-29 0:0 UTC", "days since 2000-03-01"],
    // If one of them refuses a pair, the other does, too.
    ["dBZ", "dBm"],
    ["dBm", "J"],
    ["dBm2", "W2"],
    ["dBm s", "J"],
    ["dBm dBm", "W2"],
    ["lg(re 1 mW)^2", "W2"],
    ["lg(1 mW)", "W"],
    ["dB", "1"],
    ["Np", "1"],
    ["radian", "s"],
    ["Pa", "Hz"],
    ["days since 2000-01-01", "Hz"],
    ["PA", "Pa"],
    ["hpa", "Pa"],
    ["psu", "1"],
];

/// The result of the program `udunits2` for a number in a unit; `None` if it refuses.
fn udunits(number: f64, from: &str, to: &str) -> Option<f64> {
    let said = format!("{number} {from}");
    let output = Command::new("udunits2").args(["-U", "-H", &said, "-W", to]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The first line is `    20 degC = 293.15 K`.
    let (_, result) = text.lines().next()?.split_once(" = ")?;
    result.split_whitespace().next()?.parse().ok()
}

/// The difference between the results, if there is one.
fn difference(number: f64, from: &str, to: &str) -> Option<String> {
    let theirs = udunits(number, from, to);
    let ours = conversion((from, None), (to, None));
    let ours = ours.map(|it| it.map_or(number, |it| it.apply(number)));
    let near = |one: f64, other: f64| (one - other).abs() <= 2e-5 * one.abs() + 1e-30;
    let alike = match (&ours, theirs) {
        (Ok(ours), Some(theirs)) => near(*ours, theirs),
        // It does not support every unit that occurs in data.
        (ours, None) => ours.is_err() || from.contains("kWh") || to.contains("kWh"),
        _ => false,
    };
    (!alike).then(|| format!("{number} {from:?} to {to:?}: {ours:?}, UDUNITS {theirs:?}"))
}

#[test]
fn udunits_converts_alike() {
    if program("udunits2").is_none() {
        return;
    }
    let mut differences = Vec::new();
    for group in SAME {
        for from in group {
            differences.extend(group.iter().filter_map(|to| difference(2.5, from, to)));
        }
    }
    differences.extend(PAIRS.iter().filter_map(|[from, to]| difference(7.5, from, to)));
    assert_eq!(differences, [""; 0]);
}

#[test]
fn udunits_knows_the_same_prefixes_powers_and_products() {
    if program("udunits2").is_none() {
        return;
    }
    let mut random = RandomSource(5);
    let mut any = |list: &[&'static str]| list[usize::try_from(random.below(list.len() as u64)).unwrap_or(0)];
    let mut differences = Vec::new();
    for _ in 0..250 {
        let mut part = || {
            let (unit, power) = (any(&PARTS), any(&POWERS));
            // Prefixes of names are combined with names.
            let prefix = if unit.len() > 2 { any(&PREFIXES) } else { "" };
            (format!("{prefix}{unit}{power}"), format!("{unit}{power}"))
        };
        let ((one, plain_one), (other, plain_other)) = (part(), part());
        let sign = any(&[" ", ".", "/", "*", " per "]);
        let product = format!("{one}{sign}{other}");
        differences.extend(difference(3.25, &product, &format!("{plain_one}{sign}{plain_other}")));
        differences.extend(difference(3.25, &one, &other));
    }
    assert_eq!(differences, [""; 0]);
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
