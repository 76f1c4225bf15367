//! Writes a new dataset: dimensions, attributes, a compressed variable in chunks.
//!
//! `cargo run -p ncirrus --example write -- new.zarr` (or `new.nc4`, `new.zip`, `s3://bucket/new.zarr`): the name
//! determines the kind. Nothing exists under that name before `close`.
use ncirrus::{Atomic, Attribute, CodecSpec, Dataset, DimensionLen, Result, Selection, Storage};

const DAYS: u64 = 4;
const ROWS: u64 = 30;
const COLUMNS: u64 = 40;

/// Four days of an invented field.
pub(crate) fn write(url: &str) -> Result<()> {
    let dataset = Dataset::create(url)?;
    let root = dataset.root();
    root.set_attribute(Attribute::text("Conventions", "CF-1.11"))?;
    root.add_dimension("time", DimensionLen::Unlimited(0))?;
    root.add_dimension("lat", DimensionLen::Fixed(ROWS))?;
    root.add_dimension("lon", DimensionLen::Fixed(COLUMNS))?;
    let time = root.add_variable("time", Atomic::Double, &["time"])?;
    time.set_attribute(Attribute::text("units", "days since 2026-01-01"))?;
    let field = root.add_variable("field", Atomic::Float, &["time", "lat", "lon"])?;
    field.set_attribute(Attribute::text("units", "K"))?;
    // One day per chunk. Filters are given by their numbers in HDF5: shuffle (2) of 4 bytes and deflate (1) of level 4
    // are supported by everything that reads netCDF or Zarr.
    let filters = vec![CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[4])];
    field.set_storage(Storage::Chunked(vec![1, ROWS, COLUMNS]), filters)?;
    for day in 0..DAYS {
        time.write(&Selection::slab(&[day], &[1]), &[day as f64])?;
        // The unlimited dimension grows as data are written.
        field.write(&Selection::slab(&[day, 0, 0], &[1, ROWS, COLUMNS]), &values_of(day))?;
    }
    dataset.close()
}

/// The field of a day.
pub(crate) fn values_of(day: u64) -> Vec<f32> {
    (0..ROWS * COLUMNS).map(|at| 273.0 + day as f32 + at as f32 / 100.0).collect()
}

pub(crate) fn main() -> Result<()> {
    write(&std::env::args().nth(1).unwrap_or_else(|| "new.zarr".to_owned()))
}
