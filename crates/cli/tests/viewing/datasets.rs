//! The datasets of the pictures: small, with few colours, the same on every machine.
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Storage,
    Values,
};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// When all files were changed: 2026-01-02 03:04:05 UTC.
const CHANGED: Duration = Duration::from_secs(1_767_323_045);

const TIMES: u64 = 4;
const ROWS: u64 = 18;
const COLUMNS: u64 = 36;

/// A folder of two datasets and a folder.
pub(super) fn make(folder: &Path) {
    let session = Session::new().unwrap();
    std::fs::create_dir(folder.join("monthly")).unwrap();
    climate(&folder.join("climate.nc"), &session);
    station(&folder.join("station.nc"), &session);
    station(&folder.join("monthly/station.nc"), &session);
    for name in ["climate.nc", "station.nc", "monthly"] {
        let changed = SystemTime::UNIX_EPOCH + CHANGED;
        File::open(folder.join(name)).unwrap().set_modified(changed).unwrap();
    }
}

fn create(path: &Path, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(Kind::Nc4);
    Dataset::create_with(&path.to_string_lossy(), &options, session).unwrap()
}

fn with_text(variable: &ncirrus::Variable, attributes: &[(&str, &str)]) {
    for (name, text) in attributes {
        variable.set_attribute(Attribute::text(*name, text)).unwrap();
    }
}

/// Temperatures on a map at four times, of which some chunks are not written, and an image without coordinates.
fn climate(path: &Path, session: &Session) {
    let dataset = create(path, session);
    let root = dataset.root();
    root.set_attribute(Attribute::text("title", "Temperatures that a test makes")).unwrap();
    root.set_attribute(Attribute::text("Conventions", "CF-1.11")).unwrap();
    for (name, len) in [("time", TIMES), ("lat", ROWS), ("lon", COLUMNS), ("row", 12), ("column", 16)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let time = root.add_variable("time", Atomic::Int, &["time"]).unwrap();
    with_text(&time, &[("units", "days since 2026-01-01"), ("standard_name", "time")]);
    let lat = root.add_variable("lat", Atomic::Float, &["lat"]).unwrap();
    with_text(&lat, &[("units", "degrees_north"), ("standard_name", "latitude")]);
    let lon = root.add_variable("lon", Atomic::Float, &["lon"]).unwrap();
    with_text(&lon, &[("units", "degrees_east"), ("standard_name", "longitude")]);
    let t = root.add_variable("t", Atomic::Float, &["time", "lat", "lon"]).unwrap();
    t.set_storage(Storage::Chunked(vec![1, 6, 6]), vec![CodecSpec::hdf5(1, &[4])]).unwrap();
    with_text(&t, &[("units", "K"), ("long_name", "air temperature")]);
    t.set_attribute(Attribute::atomic("_FillValue", Values::Float(vec![-1.0]))).unwrap();
    let image = root.add_variable("image", Atomic::UByte, &["row", "column"]).unwrap();
    time.write_all(&[0_i32, 1, 2, 3]).unwrap();
    lat.write_all(&(0..18_u8).map(|at| f32::from(at) * 10.0 - 85.0).collect::<Vec<_>>()).unwrap();
    lon.write_all(&(0..36_u16).map(|at| f32::from(at) * 10.0 - 175.0).collect::<Vec<_>>()).unwrap();
    // The last six rows of the first time have no values.
    let part: Vec<f32> =
        (0..12_u8).flat_map(|row| (0..36_u8).map(move |column| temperature(row, column))).collect();
    t.write(&Selection::slab(&[0, 0, 0], &[1, 12, COLUMNS]), &part).unwrap();
    image.write_all(&(0..192_u8).map(|at| (at / 16) * 8 + (at % 16) * 8).collect::<Vec<_>>()).unwrap();
    dataset.close().unwrap();
}

/// Steps, so that there are few colours.
fn temperature(row: u8, column: u8) -> f32 {
    let across = if column < 18 { column } else { 35 - column };
    (250.0 + 4.0 * f32::from(row) + f32::from(across)).floor()
}

/// A line.
fn station(path: &Path, session: &Session) {
    let dataset = create(path, session);
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Fixed(24)).unwrap();
    let time = root.add_variable("time", Atomic::Int, &["time"]).unwrap();
    with_text(&time, &[("units", "hours since 2026-01-01")]);
    let t = root.add_variable("t", Atomic::Float, &["time"]).unwrap();
    with_text(&t, &[("units", "K"), ("long_name", "air temperature at the station")]);
    time.write_all(&(0..24).collect::<Vec<i32>>()).unwrap();
    let values: Vec<f32> =
        (0..24_u8).map(|at| 270.0 + f32::from(if at < 14 { at } else { 28 - at })).collect();
    t.write_all(&values).unwrap();
    dataset.close().unwrap();
}
