//! Makes `examples/sst.nc`: a small sea-surface temperature data set that follows the CF conventions.
//!
//! `cargo xtask example` runs this; the values are computed, not measured.
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Group, Kind, Result, Selection, Session, Values,
};

const MONTHS: u64 = 12;
const ROWS: u64 = 18;
const COLUMNS: u64 = 36;
const FILL: f32 = -999.0;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "examples/sst.nc".to_owned());
    let options = CreateOptions::new().kind(Kind::Nc3).overwrite(true);
    let dataset = Dataset::create_with(&path, &options, &Session::new()?)?;
    let root = dataset.root();
    for (name, text) in [
        ("Conventions", "CF-1.11"),
        ("title", "Sea-surface temperature of an invented ocean"),
        ("institution", "the ncirrus project"),
        ("source", "computed by `cargo xtask example`: no measurement, no model"),
        ("license", "CC0-1.0"),
    ] {
        root.set_attribute(Attribute::text(name, text))?;
    }
    root.add_dimension("time", DimensionLen::Unlimited(0))?;
    root.add_dimension("lat", DimensionLen::Fixed(ROWS))?;
    root.add_dimension("lon", DimensionLen::Fixed(COLUMNS))?;
    coordinates(&root)?;
    temperature(&root)?;
    dataset.close()
}

fn texts(variable: &ncirrus::Variable, attributes: &[(&str, &str)]) -> Result<()> {
    attributes.iter().try_for_each(|(name, text)| variable.set_attribute(Attribute::text(*name, text)))
}

fn coordinates(root: &Group) -> Result<()> {
    let time = root.add_variable("time", Atomic::Double, &["time"])?;
    texts(
        &time,
        &[
            ("standard_name", "time"),
            ("units", "days since 2026-01-01 00:00:00"),
            ("calendar", "noleap"),
            ("axis", "T"),
        ],
    )?;
    let lat = root.add_variable("lat", Atomic::Float, &["lat"])?;
    texts(&lat, &[("standard_name", "latitude"), ("units", "degrees_north"), ("axis", "Y")])?;
    let lon = root.add_variable("lon", Atomic::Float, &["lon"])?;
    texts(&lon, &[("standard_name", "longitude"), ("units", "degrees_east"), ("axis", "X")])?;
    let days: Vec<f64> = (0..12u8).map(|month| f64::from(month) * 365.0 / 12.0 + 15.0).collect();
    time.write(&Selection::slab(&[0], &[MONTHS]), &days)?;
    lat.write_all(&(0..18u8).map(|row| f32::from(row) * 10.0 - 85.0).collect::<Vec<_>>())?;
    lon.write_all(&(0..36u8).map(|column| f32::from(column) * 10.0 + 5.0).collect::<Vec<_>>())
}

fn temperature(root: &Group) -> Result<()> {
    let sst = root.add_variable("sst", Atomic::Float, &["time", "lat", "lon"])?;
    sst.set_fill(Values::Float(vec![FILL]))?;
    texts(
        &sst,
        &[
            ("standard_name", "sea_surface_temperature"),
            ("long_name", "monthly mean sea-surface temperature"),
            ("units", "degree_Celsius"),
            ("cell_methods", "time: mean"),
        ],
    )?;
    let mut values = Vec::new();
    for month in 0..12u8 {
        for row in 0..18u8 {
            for column in 0..36u8 {
                values.push(celsius(f32::from(month), f32::from(row), f32::from(column)));
            }
        }
    }
    sst.write(&Selection::slab(&[0, 0, 0], &[MONTHS, ROWS, COLUMNS]), &values)
}

/// Warm at the equator, with seasons, to a tenth of a degree; two invented continents are missing values.
fn celsius(month: f32, row: f32, column: f32) -> f32 {
    let (lat, lon) = (row * 10.0 - 85.0, column * 10.0 + 5.0);
    let on = |west: f32, east: f32, south: f32, north: f32| {
        (west..east).contains(&lon) && (south..north).contains(&lat)
    };
    if lat < -70.0 || on(20.0, 50.0, -35.0, 35.0) || on(280.0, 310.0, -50.0, 60.0) {
        return FILL;
    }
    let season = (std::f32::consts::TAU * (month - 7.0) / 12.0).cos() * lat.to_radians().sin() * 4.0;
    let value = 29.0 - 0.004 * lat * lat + season + (lon.to_radians() * 3.0).sin() * 0.6;
    (value.max(-1.8) * 10.0).round() / 10.0
}
