//! Shards of Zarr v3: `ncirrus-bench shards WHO CASE PLACE RUNS`. WHO is `limit`, `ncirrus` (shards) or `unsharded` (the
//! same chunks as single objects).
//!
//! - 512 MiB in shards of 64 MiB with chunks of 1 MiB (zstd) in the folder PLACE: `write`, `read`, `series` (one point of
//!   every step), `append` (one step, into a shard that is half full).
//! - 100,000 chunks of 1 KiB in ten shards: `small-write` and `small-read`, whose limit reads those that are single objects.
//!   PLACE is the folder, or the address that `ncirrus-bench s3 FOLDER MILLISECONDS` prints.
//!
//! `ncirrus-bench shards make FOLDER` creates what is read.
mod bare;

use crate::cloud;
use crate::data::{POINT, SHAPE, STEP, codecs, field};
use crate::ours::read_into;
use crate::{Failure, remove, timed, timed_after};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Region, Selection, Session, Shards,
    Storage,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lengths of a chunk (1 MiB) and of a shard (64 MiB).
const CHUNK: [u64; 3] = [1, 512, 512];
const SHARD: [u64; 3] = [16, 1024, 1024];
/// Steps of the array that is appended to: one and a half shards.
const APPENDED_TO: usize = 24;
/// Elements of a small chunk, its number in a shard, and of all.
const SMALL: u64 = 256;
const SMALL_PER_SHARD: u64 = 10_000;
const SMALL_COUNT: u64 = 100_000;
const SMALL_LEN: usize = 25_600_000;

pub(crate) fn run(who: &str, case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    match (who, case) {
        ("limit", _) => bare::run(case, place, runs),
        ("ncirrus" | "unsharded", "small-write" | "small-read") => small(who, case, place, runs),
        ("ncirrus" | "unsharded", _) => large(who, case, place, runs),
        _ => Err(format!("unknown program {who:?}").into()),
    }
}

/// Creates the datasets that are read.
pub(crate) fn make(folder: &str) -> Result<(), Failure> {
    let session = Session::builder().durable(false).build()?;
    let values = field();
    std::fs::create_dir_all(bucket(folder))?;
    for who in ["ncirrus", "unsharded"] {
        write(&text(&large_path(folder, who))?, &cube(who == "ncirrus", 128), &values, &session)?;
        let few = &values[..STEP * APPENDED_TO];
        write(&text(&base_path(folder, who))?, &cube(who == "ncirrus", APPENDED_TO as u64), few, &session)?;
        let small = text(&bucket(folder).join(small_name(who)))?;
        write(&small, &row(who == "ncirrus"), &values[..SMALL_LEN], &session)?;
    }
    Ok(())
}

/// An array: its shape, and those of its chunks and shards.
struct ArrayForm {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    shard: Option<Vec<u64>>,
}

fn cube(has_shards: bool, steps: u64) -> ArrayForm {
    let shape = vec![steps, SHAPE[1], SHAPE[2]];
    ArrayForm { shape, chunk: CHUNK.to_vec(), shard: has_shards.then(|| SHARD.to_vec()) }
}

fn row(has_shards: bool) -> ArrayForm {
    let shard = has_shards.then(|| vec![SMALL * SMALL_PER_SHARD]);
    ArrayForm { shape: vec![SMALL * SMALL_COUNT], chunk: vec![SMALL], shard }
}

fn text(path: &Path) -> Result<String, Failure> {
    Ok(path.to_str().ok_or("the folder's name is not UTF-8")?.to_owned())
}

/// The folder that the S3 server serves as the bucket `bench`.
fn bucket(folder: &str) -> PathBuf {
    Path::new(folder).join("bench")
}

fn large_path(folder: &str, who: &str) -> PathBuf {
    Path::new(folder).join(format!("shards-{who}.zarr"))
}

fn base_path(folder: &str, who: &str) -> PathBuf {
    Path::new(folder).join(format!("append-{who}.zarr"))
}

fn small_name(who: &str) -> String {
    format!("small-{who}.zarr")
}

fn write(path: &str, form: &ArrayForm, values: &[f32], session: &Session) -> Result<(), Failure> {
    let options = CreateOptions::new().kind(Kind::Zarr3).overwrite(true);
    let dataset = Dataset::create_with(path, &options, session)?;
    let filters = codecs("zstd").ok_or("unknown codec")?;
    dataset.edit(|model| {
        let root = model.root();
        let mut dims = Vec::new();
        for (name, len) in ["t", "y", "x"].into_iter().zip(&form.shape) {
            dims.push(model.add_dimension(root, name, DimensionLen::Fixed(*len))?);
        }
        let var = model.add_variable(root, "v", Atomic::Float.into(), &dims)?;
        if let Some(variable) = model.variable_mut(var) {
            variable.storage = Storage::Chunked(form.chunk.clone());
            variable.shards = form.shard.clone().map(Shards::new);
            variable.filters = filters;
        }
        Ok(())
    })?;
    dataset.variable("v")?.write_all(values)?;
    Ok(dataset.close()?)
}

fn large(who: &str, case: &str, folder: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    // Like the peers: without waiting for stable storage. Small reads are not served from a cache of earlier runs.
    let session = Session::builder().durable(false).chunk_cache(0).build()?;
    let (path, target) = (text(&large_path(folder, who))?, Path::new(folder).join(format!("{who}.tmp")));
    match case {
        "write" => {
            let (values, form, to) = (field(), cube(who == "ncirrus", 128), text(&target)?);
            let times = timed_after(runs, || remove(&target), || write(&to, &form, &values, &session));
            remove(&target)?;
            times
        }
        "read" => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || read_into(&path, &Selection::all(&SHAPE), &mut out, &session))
        }
        "series" => {
            let selection = Selection::slab(&[0, POINT[0], POINT[1]], &[SHAPE[0], 1, 1]);
            let mut out = vec![0f32; 128];
            timed(runs, || read_into(&path, &selection, &mut out, &session))
        }
        "append" => {
            let (base, to, step) = (base_path(folder, who), text(&target)?, step());
            let times = timed_after(runs, || copy(&base, &target), || append(&to, &step, &session));
            remove(&target)?;
            times
        }
        other => Err(format!("unknown case {other:?}").into()),
    }
}

/// The step that is appended.
fn step() -> Vec<f32> {
    let mut values = field();
    values.truncate(STEP);
    values
}

/// Copies a tree over another one.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    remove(to)?;
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn append(path: &str, values: &[f32], session: &Session) -> Result<(), Failure> {
    let dataset = Dataset::update_with(path, &OpenOptions::default(), session)?;
    let variable = dataset.variable("v")?;
    let old = variable.shape();
    let var = variable.id();
    dataset.edit(|model| {
        let time = model.variable(var).and_then(|variable| variable.dims.first().copied());
        if let Some(time) = time {
            model.set_dimension_len(time, DimensionLen::Unlimited(old[0]))?;
        }
        Ok(())
    })?;
    let region = Region { start: vec![old[0], 0, 0], count: vec![1, old[1], old[2]] };
    variable.write(&region.into(), values)?;
    Ok(dataset.close()?)
}

fn small(who: &str, case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let is_far = place.starts_with("http");
    let session = match is_far {
        true => cloud::session(place)?,
        false => Session::builder().durable(false).chunk_cache(0).build()?,
    };
    let local = |name: &str| text(&bucket(place).join(name));
    if case == "small-read" {
        let name = small_name(who);
        let path = if is_far { format!("s3://bench/{name}") } else { local(&name)? };
        let mut out = vec![0f32; SMALL_LEN];
        let all = Selection::all(&[SMALL_LEN as u64]);
        return timed(runs, || read_into(&path, &all, &mut out, &session));
    }
    let mut values = field();
    values.truncate(SMALL_LEN);
    let form = row(who == "ncirrus");
    if is_far {
        return timed(runs, || write(&format!("s3://bench/{}", cloud::new(who)), &form, &values, &session));
    }
    let path = local(&format!("{who}.tmp"))?;
    let times = timed_after(runs, || remove(Path::new(&path)), || write(&path, &form, &values, &session));
    remove(Path::new(&path))?;
    times
}
