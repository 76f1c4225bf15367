//! The same operations through the library.
use crate::data::{POINT, SHAPE, STEP, STRIDE, codecs, field};
use crate::{Failure, Operation, remove, timed, timed_after};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Storage};
use std::path::Path;
use std::time::Duration;

pub(crate) fn run(
    codec: &str,
    operation: Operation,
    folder: &str,
    runs: usize,
) -> Result<Vec<Duration>, Failure> {
    let path = Path::new(folder).join(format!("{codec}.zarr"));
    let path = path.to_str().ok_or("the folder's name is not UTF-8")?;
    // Like the peers: without waiting for stable storage. Small reads are not served from a cache of earlier runs.
    let session = Session::builder().durable(false).chunk_cache(0).build()?;
    match operation {
        Operation::Write => {
            let values = field();
            timed_after(runs, || remove(Path::new(path)), || write(codec, path, &values, &session))
        }
        Operation::Read => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || read_into(path, &Selection::all(&SHAPE), &mut out, &session))
        }
        Operation::Series => {
            let selection = Selection::slab(&[0, POINT[0], POINT[1]], &[SHAPE[0], 1, 1]);
            let mut out = vec![0f32; 128];
            timed(runs, || read_into(path, &selection, &mut out, &session))
        }
        Operation::Strided => {
            let count = SHAPE.map(|len| len / STRIDE);
            let selection = Selection::strided(&[0; 3], &count, &[STRIDE; 3]);
            let mut out = vec![0f32; usize::try_from(count.iter().product::<u64>())?];
            timed(runs, || read_into(path, &selection, &mut out, &session))
        }
    }
}

/// A whole variable, into an array that is used again (`read`) or into a new one (`fresh`).
pub(crate) fn whole(way: &str, path: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let session = Session::builder().chunk_cache(0).build()?;
    let all = Selection::all(&SHAPE);
    if way == "read" {
        let mut out = vec![0f32; STEP * 128];
        return timed(runs, || read_into(path, &all, &mut out, &session));
    }
    timed(runs, || {
        let dataset = Dataset::open_with(path, &ncirrus::OpenOptions::default(), &session)?;
        let values = dataset.variable("v")?.read_selection::<f32>(&all)?;
        if values.len() == STEP * 128 { Ok(()) } else { Err("too few values".into()) }
    })
}

/// Opens a dataset and reads its variable.
pub(crate) fn read_into(
    path: &str,
    selection: &Selection,
    out: &mut [f32],
    session: &Session,
) -> Result<(), Failure> {
    let dataset = Dataset::open_with(path, &ncirrus::OpenOptions::default(), session)?;
    Ok(dataset.variable("v")?.read_into(selection, out)?)
}

/// Creates a dataset, or replaces it, with one variable.
pub(crate) fn write(codec: &str, path: &str, values: &[f32], session: &Session) -> Result<(), Failure> {
    let options = CreateOptions::new().kind(Kind::Zarr2).overwrite(true);
    let dataset = Dataset::create_with(path, &options, session)?;
    let root = dataset.root();
    for (name, len) in ["t", "y", "x"].into_iter().zip(SHAPE) {
        root.add_dimension(name, DimensionLen::Fixed(len))?;
    }
    let variable = root.add_variable("v", Atomic::Float, &["t", "y", "x"])?;
    let chunks = Storage::Chunked(vec![1, SHAPE[1], SHAPE[2]]);
    variable.set_storage(chunks, codecs(codec).ok_or("unknown codec")?)?;
    variable.write_all(values)?;
    Ok(dataset.close()?)
}
