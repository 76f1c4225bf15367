//! Appends a day to the dataset that the example `write` makes, in place.
//!
//! `cargo run -p ncirrus --example append -- new.zarr`. Other readers see the old length or the new one, never a part.
use ncirrus::{Dataset, Result, Selection};

/// Appends a day and returns the new length.
pub(crate) fn append(url: &str) -> Result<u64> {
    let dataset = Dataset::update(url)?;
    let (time, field) = (dataset.variable("time")?, dataset.variable("field")?);
    let shape = field.shape();
    let (Some(&day), Some(&rows), Some(&columns)) = (shape.first(), shape.get(1), shape.get(2)) else {
        return Err(ncirrus::Error::new(ncirrus::ErrorKind::Invalid, "field has other dimensions"));
    };
    let values: Vec<f32> = (0..rows * columns).map(|at| 273.0 + day as f32 + at as f32 / 100.0).collect();
    time.write(&Selection::slab(&[day], &[1]), &[day as f64])?;
    field.write(&Selection::slab(&[day, 0, 0], &[1, rows, columns]), &values)?;
    // This commits what was written: data first, then the length.
    dataset.close()?;
    Ok(day + 1)
}

#[expect(clippy::print_stdout, reason = "this is what the example shows")]
pub(crate) fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "new.zarr".to_owned());
    println!("{} days", append(&url)?);
    Ok(())
}
