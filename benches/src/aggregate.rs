//! An aggregation of many files: `ncirrus-bench aggregate CASE FOLDER RUNS`; CASE one of `step` (opening and one step)
//! and `whole` (opening and all steps). `ncirrus-bench aggregate make FOLDER COUNT` makes FOLDER/m.nca (CF-1.13) and
//! COUNT netCDF-4 files of one step each; beyond a hundred thousand only the one in the middle.
use crate::{Failure, timed};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session, Values,
};
use std::path::Path;
use std::time::Duration;

/// Rows and columns of a step.
const SIDE: u64 = 16;
/// Maximum number of fragments that are created.
const MAX_STEPS: u64 = 100_000;

pub(crate) fn run(case: &str, folder: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let master = format!("{folder}/m.nca");
    timed(runs, || {
        let session = Session::builder().chunk_cache(0).build()?;
        let variable = Dataset::open_with(&master, &OpenOptions::default(), &session)?.variable("v")?;
        let steps = variable.shape().first().copied().ok_or("no steps")?;
        let (start, count) = match case {
            "step" => (steps / 2, 1),
            "whole" => (0, steps),
            other => return Err(format!("unknown case {other:?}").into()),
        };
        let selection = Selection::slab(&[start, 0, 0], &[count, SIDE, SIDE]);
        let values = variable.read_selection::<f32>(&selection)?;
        let is_right =
            values.first() == Some(&value(start)) && values.last() == Some(&value(start + count - 1));
        if is_right { Ok(()) } else { Err("wrong values".into()) }
    })
}

/// The value of all elements of a step.
#[expect(clippy::cast_precision_loss, reason = "a remainder of less than 2^24")]
fn value(step: u64) -> f32 {
    (step % 100_000) as f32
}

/// Creates the master and its fragments.
pub(crate) fn make(folder: &str, count: u64) -> Result<(), Failure> {
    let session = Session::builder().durable(false).build()?;
    let fragments = Path::new(folder).join("f");
    std::fs::create_dir_all(&fragments)?;
    let steps = if count > MAX_STEPS { count / 2..count / 2 + 1 } else { 0..count };
    for step in steps {
        fragment(&format!("{folder}/{}", name(step)), step, &session)?;
    }
    master(&format!("{folder}/m.nca"), count, &session)
}

fn name(step: u64) -> String {
    format!("f/{step:07}.nc")
}

fn options() -> CreateOptions {
    CreateOptions::new().kind(Kind::Nc4).overwrite(true)
}

fn fragment(path: &str, step: u64, session: &Session) -> Result<(), Failure> {
    let dataset = Dataset::create_with(path, &options(), session)?;
    let root = dataset.root();
    for (name, len) in [("time", 1), ("lat", SIDE), ("lon", SIDE)] {
        root.add_dimension(name, DimensionLen::Fixed(len))?;
    }
    let variable = root.add_variable("v", Atomic::Float, &["time", "lat", "lon"])?;
    variable.write_all(&vec![value(step); usize::try_from(SIDE * SIDE)?])?;
    Ok(dataset.close()?)
}

fn master(path: &str, count: u64, session: &Session) -> Result<(), Failure> {
    let dataset = Dataset::create_with(path, &options(), session)?;
    let root = dataset.root();
    root.set_attribute(Attribute::text("Conventions", "CF-1.13"))?;
    let lens = [("time", count), ("lat", SIDE), ("lon", SIDE)];
    let grid = [("a_time", count), ("a_lat", 1), ("a_lon", 1), ("j", 3), ("i", count)];
    for (name, len) in lens.into_iter().chain(grid) {
        root.add_dimension(name, DimensionLen::Fixed(len))?;
    }
    let variable = root.add_variable("v", Atomic::Float, &[])?;
    variable.set_attribute(Attribute::text("aggregated_dimensions", "time lat lon"))?;
    let data = "map: fragment_map uris: fragment_uris identifiers: fragment_identifiers";
    variable.set_attribute(Attribute::text("aggregated_data", data))?;
    let map = root.add_variable("fragment_map", Atomic::Int, &["j", "i"])?;
    let side = i32::try_from(SIDE)?;
    map.set_attribute(Attribute::atomic("_FillValue", Values::Int(vec![-1])))?;
    let len = usize::try_from(count)?;
    let mut sizes = vec![1i32; len];
    for _ in 0..2 {
        sizes.push(side);
        sizes.extend(std::iter::repeat_n(-1, len - 1));
    }
    map.write_all(&sizes)?;
    let uris = root.add_variable("fragment_uris", Atomic::String, &["a_time", "a_lat", "a_lon"])?;
    let names = (0..count).map(|step| Some(name(step))).collect();
    uris.write_values(&Selection::all(&[count, 1, 1]), &Values::String(names))?;
    let identifiers = root.add_variable("fragment_identifiers", Atomic::String, &[])?;
    identifiers.write_values(&Selection::all(&[]), &Values::String([Some("v")].into_iter().collect()))?;
    Ok(dataset.close()?)
}
