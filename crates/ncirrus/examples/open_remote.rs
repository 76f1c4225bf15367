//! Reads a few values of a dataset, local or remote, and prints what that cost.
//!
//! `cargo run -p ncirrus --example open_remote -- s3://bucket/sst.zarr sst` (or a path, or an `https://` address).
use ncirrus::{Dataset, OpenOptions, Result, Selection, Session};

/// The result: the shape of the variable, the series, and how many bytes were fetched for it.
#[derive(Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Vec<f64>,
    pub(crate) fetched: u64,
}

/// The series at the first point: all of the first axis, one index of the others.
pub(crate) fn read_series(url: &str, variable: &str) -> Result<Series> {
    // One session for all datasets: it owns the threads, the caches, and the connections.
    let session = Session::builder().memory(256 << 20).build()?;
    let dataset = Dataset::open_with(url, &OpenOptions::default(), &session)?;
    let variable = dataset.variable(variable)?;
    let shape = variable.shape();
    let (start, mut count) = (vec![0; shape.len()], vec![1; shape.len()]);
    if let (Some(count), Some(len)) = (count.first_mut(), shape.first()) {
        *count = *len;
    }
    // Only the chunks that the series touches are fetched, all concurrently.
    let values = variable.read_selection::<f64>(&Selection::slab(&start, &count))?;
    let fetched = session.statistics().bytes_fetched;
    Ok(Series { shape, values: values.to_vec(), fetched })
}

#[expect(clippy::print_stdout, reason = "this is what the example shows")]
pub(crate) fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "examples/sst.nc".to_owned());
    let name = arguments.next().unwrap_or_else(|| "sst".to_owned());
    let series = read_series(&url, &name)?;
    println!("{name} {:?}: {} values, {} bytes fetched", series.shape, series.values.len(), series.fetched);
    println!("{:?}", series.values);
    Ok(())
}
