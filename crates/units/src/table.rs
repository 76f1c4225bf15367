//! Names, symbols and prefixes of units.
//!
//! Definitions follow the standards (SI brochure, NIST SP 811, UDUNITS-2 where those leave a choice, as for the year).
use crate::grammar;
use crate::unit::Unit;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Symbols of the base units, in the order of [`crate::unit::BasePowers`].
pub(crate) const BASE: [&str; 8] = ["m", "kg", "s", "A", "K", "mol", "cd", "rad"];

/// Maximum depth of references between definitions.
const DEPTH: u32 = 24;

/// The unit with that name or symbol, with or without a prefix. Names may be plural and in any case.
pub(crate) fn find(name: &str, depth: u32) -> Option<Unit> {
    if depth > DEPTH {
        return None;
    }
    let found = |name: &str| by_symbol(name, depth).or_else(|| by_name(name, depth));
    found(name).or_else(|| prefixed(name, found))
}

/// Whether a name is that of a logarithmic unit, without a reference.
pub(crate) fn is_logarithmic(name: &str) -> bool {
    ["dB", "B", "Np", "dBz"].contains(&name)
        || ["bel", "decibel", "neper", "bels", "decibels", "nepers"].contains(&name.to_lowercase().as_str())
}

fn prefixed(name: &str, found: impl Fn(&str) -> Option<Unit>) -> Option<Unit> {
    let by = |list: &[(&str, f64)], any_case: bool| {
        list.iter().find_map(|(prefix, factor)| {
            let begin = name.get(..prefix.len())?;
            let fits = begin == *prefix || any_case && begin.eq_ignore_ascii_case(prefix);
            let rest = name.get(prefix.len()..).filter(|rest| fits && !rest.is_empty())?;
            let unit = found(rest)?;
            Some(unit.scaled(*factor))
        })
    };
    by(&PREFIX_NAMES, true).or_else(|| by(&PREFIX_SYMBOLS, false))
}

fn by_symbol(symbol: &str, depth: u32) -> Option<Unit> {
    defined(index().symbols.get(symbol).copied()?, depth)
}

fn by_name(name: &str, depth: u32) -> Option<Unit> {
    let name = name.to_lowercase();
    let find = |name: &str| index().names.get(name).copied();
    let singular = find(&name)
        .or_else(|| find(name.strip_suffix('s')?))
        .or_else(|| find(name.strip_suffix("es")?))
        .or_else(|| find(&format!("{}y", name.strip_suffix("ies")?)))
        .or_else(|| find(&format!("degree{}", name.strip_prefix("degrees")?)))
        .or_else(|| find(&name.replace("feet", "foot")));
    defined(singular?, depth)
}

/// The unit of a row in the table.
fn defined(row: usize, depth: u32) -> Option<Unit> {
    let (_, symbols, definition) = UNITS.get(row)?;
    if !definition.is_empty() {
        return grammar::parse_shifted(definition, depth + 1).ok();
    }
    let mut unit = Unit::ONE;
    let base = symbols.split(' ').next()?;
    *unit.powers.get_mut(BASE.iter().position(|symbol| *symbol == base)?)? = 1;
    Some(unit)
}

/// Rows of the table by name and by symbol.
struct UnitIndex {
    names: HashMap<&'static str, usize>,
    symbols: HashMap<&'static str, usize>,
}

fn index() -> &'static UnitIndex {
    static INDEX: OnceLock<UnitIndex> = OnceLock::new();
    INDEX.get_or_init(|| {
        let words = |list: &'static str, row: usize| list.split_whitespace().map(move |word| (word, row));
        let rows = || UNITS.iter().enumerate();
        UnitIndex {
            names: rows().flat_map(|(row, (names, ..))| words(names, row)).collect(),
            symbols: rows().flat_map(|(row, (_, symbols, _))| words(symbols, row)).collect(),
        }
    })
}

#[rustfmt::skip]
const PREFIX_NAMES: [(&str, f64); 21] = [
    ("yotta", 1e24), ("zetta", 1e21), ("exa", 1e18), ("peta", 1e15), ("tera", 1e12), ("giga", 1e9), ("mega", 1e6),
    ("kilo", 1e3), ("hecto", 1e2), ("deca", 1e1), ("deka", 1e1), ("deci", 1e-1), ("centi", 1e-2), ("milli", 1e-3),
    ("micro", 1e-6), ("nano", 1e-9), ("pico", 1e-12), ("femto", 1e-15), ("atto", 1e-18), ("zepto", 1e-21),
    ("yocto", 1e-24),
];

#[rustfmt::skip]
const PREFIX_SYMBOLS: [(&str, f64); 22] = [
    ("da", 1e1), ("Y", 1e24), ("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3),
    ("h", 1e2), ("d", 1e-1), ("c", 1e-2), ("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6), ("n", 1e-9),
    ("p", 1e-12), ("f", 1e-15), ("a", 1e-18), ("z", 1e-21), ("y", 1e-24),
];

/// Names in lower case, symbols, and the definition in other units; base units have none.
#[rustfmt::skip]
const UNITS: [(&str, &str, &str); 166] = [
    // Base units.
    ("meter metre", "m", ""),
    ("kilogram", "kg", ""),
    ("second sec", "s", ""),
    ("ampere amp", "A", ""),
    ("kelvin degree_kelvin degree_k degreek deg_k degk", "K °K", ""),
    ("mole einstein", "mol", ""),
    ("candela candle", "cd", ""),
    ("radian", "rad", ""),
    // Named units of the SI.
    ("gram", "g", "1e-3 kg"),
    ("steradian", "sr", "rad2"),
    ("hertz baud", "Hz Bd bps", "s-1"),
    ("newton", "N", "kg.m/s2"),
    ("pascal", "Pa", "N/m2"),
    ("joule", "J", "N.m"),
    ("watt", "W", "J/s"),
    ("coulomb", "C", "A.s"),
    ("volt", "V", "W/A"),
    ("farad", "F", "C/V"),
    ("ohm", "Ω Ω", "V/A"),
    ("siemens", "S", "A/V"),
    ("weber", "Wb", "V.s"),
    ("tesla", "T", "Wb/m2"),
    ("henry", "H", "Wb/A"),
    ("degree_celsius celsius degree_c degreec deg_c degc", "°C ℃", "K @ 273.15"),
    ("lumen", "lm", "cd.sr"),
    ("lux", "lx", "lm/m2"),
    ("katal", "kat", "mol/s"),
    ("becquerel", "Bq", "s-1"),
    ("gray", "Gy", "J/kg"),
    ("sievert", "Sv", "J/kg"),
    // Numbers.
    ("percent", "%", "0.01"),
    ("pi", "π", "3.141592653589793238462643383279"),
    ("count bit", "ppv", "1"),
    ("octet byte", "", "8"),
    ("", "‰", "1e-3"),
    ("", "ppm ppmv", "1e-6"),
    ("", "ppb ppbv", "1e-9"),
    ("", "ppt pptv", "1e-12"),
    ("", "ppq ppqv", "1e-15"),
    ("avogadro_constant", "", "6.02214179e23/mol"),
    ("molecule molec nucleon nuc", "", "1/avogadro_constant"),
    // Angles.
    ("arc_degree degree angular_degree arcdeg degree_north degree_n degreen degree_east degree_e degreee degree_true \
      degree_t degreet", "°", "(pi/180) rad"),
    ("degree_west degree_w degreew", "", "-1 degree_east"),
    ("arc_minute arcminute arcmin angular_minute", "' ′", "arc_degree/60"),
    ("arc_second arcsecond arcsec angular_second", "\" ″", "arc_minute/60"),
    ("circle cycle turn revolution rotation", "", "2 pi rad"),
    ("grade", "", "0.9 arc_degree"),
    ("rotation_per_second", "rps cps", "rotation/second"),
    ("", "rpm", "rotation/minute"),
    // Time.
    ("minute", "min", "60 s"),
    ("hour", "h hr", "60 min"),
    ("day", "d", "24 h"),
    ("week", "", "7 day"),
    ("fortnight", "", "14 day"),
    ("month", "", "year/12"),
    ("year tropical_year", "yr", "3.15569259747e7 s"),
    ("common_year", "", "365 day"),
    ("leap_year", "", "366 day"),
    ("julian_year", "", "365.25 day"),
    ("gregorian_year", "", "365.2425 day"),
    ("sidereal_day", "", "8.616409e4 s"),
    ("sidereal_year", "", "3.155815e7 s"),
    ("lunar_month", "", "29.530589 day"),
    ("eon", "", "1e9 year"),
    ("jiffy", "", "0.01 s"),
    ("shake", "", "1e-8 s"),
    // Length.
    ("angstrom ångström", "Å Å", "1e-10 m"),
    ("micron", "", "1e-6 m"),
    ("fermi", "", "1e-15 m"),
    ("astronomical_unit", "au", "1.49597870700e11 m"),
    ("light_year", "", "9.46073e15 m"),
    ("parsec", "", "3.085678e16 m"),
    ("nautical_mile nmile", "", "1852 m"),
    ("inch international_inch", "in", "2.54 cm"),
    ("foot international_foot", "ft", "12 inch"),
    ("yard international_yard", "yd", "3 foot"),
    ("mile international_mile", "mi", "5280 foot"),
    ("us_survey_foot", "", "(1200/3937) m"),
    ("us_survey_mile us_statute_mile", "", "5280 us_survey_foot"),
    ("fathom", "", "6 us_survey_foot"),
    ("furlong", "", "660 us_survey_foot"),
    ("mil", "", "2.54e-5 m"),
    // Area and volume.
    ("are", "a", "100 m2"),
    ("hectare", "", "100 are"),
    ("barn", "b", "1e-28 m2"),
    ("acre", "", "160 (16.5 us_survey_foot)2"),
    ("darcy", "", "9.869233e-13 m2"),
    ("liter litre", "L l", "1e-3 m3"),
    ("stere", "", "m3"),
    ("acre_foot", "", "1.233489e3 m3"),
    ("", "cc", "cm3"),
    ("gallon us_liquid_gallon liquid_gallon", "", "3.785412e-3 m3"),
    ("uk_liquid_gallon canadian_liquid_gallon", "", "4.546090e-3 m3"),
    ("barrel", "bbl", "42 gallon"),
    ("bushel", "bu", "3.523907e-2 m3"),
    ("quart us_liquid_quart liquid_quart", "", "gallon/4"),
    ("pint us_liquid_pint liquid_pint", "pt", "gallon/8"),
    ("cup us_liquid_cup liquid_cup", "", "gallon/16"),
    ("fluid_ounce us_fluid_ounce liquid_ounce us_liquid_ounce", "oz floz", "gallon/128"),
    // Mass.
    ("metric_ton tonne", "t", "1000 kg"),
    ("unified_atomic_mass_unit atomic_mass_unit atomicmassunit amu", "u", "1.6605402e-27 kg"),
    ("pound avoirdupois_pound", "lb", "4.5359237e-1 kg"),
    ("avoirdupois_ounce", "", "2.834952e-2 kg"),
    ("ton short_ton", "", "2000 pound"),
    ("long_ton", "", "2240 pound"),
    ("slug", "", "14.59390 kg"),
    ("carat", "", "2e-4 kg"),
    ("grain", "gr", "6.479891e-5 kg"),
    ("troy_ounce apothecary_ounce", "", "3.110348e-2 kg"),
    // Speed, acceleration, flow.
    ("knot international_knot knot_international", "kt kts", "nautical_mile/hour"),
    ("gal", "", "cm/s2"),
    ("gravity standard_free_fall force", "", "9.806650 m/s2"),
    ("geopotential dynamic", "gp", "gravity"),
    ("sverdrup", "", "1e6 m3/s"),
    ("potential_vorticity_unit", "PVU", "1e-6 m2 s-1 K kg-1"),
    ("dobson", "DU", "446.2 micromole/meter2"),
    ("kayser", "", "100/m"),
    // Force and pressure.
    ("dyne", "", "1e-5 N"),
    ("pond", "", "9.806650e-3 N"),
    ("kilogram_force force_kilogram", "kgf", "9.806650 N"),
    ("gram_force force_gram", "gf", "gram force"),
    ("pound_force force_pound", "lbf", "4.4482216152605 N"),
    ("bar", "", "1000 hPa"),
    ("atmosphere standard_atmosphere", "atm", "1.01325e5 Pa"),
    ("technical_atmosphere", "at", "1 kg gravity/cm2"),
    ("barie barye", "", "0.1 N/m2"),
    ("water conventional_water", "H2O h2o", "gravity 1000 kg/m3"),
    ("mercury_0c mercury_32f conventional_mercury", "Hg", "gravity 13595.10 kg/m3"),
    ("", "cmH2O cm_H2O", "cm water"),
    ("", "cmHg cm_Hg", "cm conventional_mercury"),
    ("torr millimeter_hg", "mmHg mm_Hg mmhg mm_hg", "mm conventional_mercury"),
    ("inch_hg", "inHg in_Hg", "inch conventional_mercury"),
    ("", "psi", "pound gravity/inch2"),
    // Viscosity.
    ("poise", "", "1e-1 Pa.s"),
    ("stokes", "St", "1e-4 m2/s"),
    // Energy and power.
    ("electronvolt electron_volt", "eV", "1.60217733e-19 J"),
    ("erg", "", "1e-7 J"),
    ("calorie it_calorie", "cal", "4.1868 J"),
    ("thermochemical_calorie", "", "4.184 J"),
    ("btu it_btu", "", "1.05505585262e3 J"),
    ("therm us_therm", "thm", "1.054804e8 J"),
    ("watthour", "", "watt.hour"),
    ("voltampere", "VA", "V.A"),
    ("horsepower shaft_horsepower", "hp", "7.456999e2 W"),
    ("metric_horsepower", "", "7.35499e2 W"),
    ("langley", "", "4.184e4 J/m2"),
    ("clo", "", "1.55e-1 K.m2/W"),
    // Temperature.
    ("degree_rankine degreer degree_r degr deg_r", "°R", "K/1.8"),
    ("fahrenheit degree_fahrenheit degreef degree_f degf deg_f", "°F ℉", "°R @ 459.67"),
    // Radiation, electricity, light.
    ("curie", "Ci", "3.7e10 Bq"),
    ("roentgen", "R", "2.58e-4 C/kg"),
    ("rem", "", "1e-2 Sv"),
    ("gauss", "", "1e-4 T"),
    ("gamma", "", "1e-9 T"),
    ("maxwell", "", "1e-8 Wb"),
    ("oersted", "Oe", "7.957747e1 A/m"),
    ("", "e", "1.602176487e-19 C"),
    ("footcandle", "", "1.076391e-1 lx"),
    ("phot", "ph", "1e4 lm/m2"),
    // Logarithms.
    ("", "BZ", "lg(re 1e-18 m3)"),
    ("", "Bm", "lg(re 1 mW)"),
    ("", "BW", "lg(re 1 W)"),
    ("", "BV", "lg(re 1 V)"),
    ("", "Bv", "lg(re 0.775 V)"),
    ("", "BµV BμV", "lg(re 1e-6 V)"),
    ("", "B_SPL", "lg(re 20e-6 Pa)"),
];
