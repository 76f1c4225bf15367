//! Writing netCDF-4 files: `ncirrus-bench hdf5-write WHO CASE FOLDER RUNS STEPS`; WHO is `ncirrus` or `limit`, CASE one
//! of `raw` (contiguous), `zstd`, `deflate` (STEPS steps of 4 MiB, a chunk each) and `rechunk` (`maps.nc`, which
//! `hdf5_write.py` has created in FOLDER, to chunks along time).
use crate::data::{SHAPE, STEP, codecs, field};
use crate::{Failure, timed_after};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session, Storage};
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_tools::{ChunkRule, CopyOptions, copy};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Rows and columns of a chunk of the rechunked copy.
const TILE: u64 = 32;
/// Bytes that rechunking may hold per step: a quarter of the data.
const MEMORY: usize = 1 << 20;

pub(crate) fn run(
    who: &str,
    case: &str,
    folder: &str,
    runs: usize,
    steps: usize,
) -> Result<Vec<Duration>, Failure> {
    let path = Path::new(folder).join(format!("{who}-{case}.nc"));
    let target = path.to_str().ok_or("the folder's name is not UTF-8")?;
    let before = || remove(&path);
    let times = match (who, case) {
        ("ncirrus", "rechunk") => timed_after(runs, before, || rechunk(folder, target, steps)),
        ("ncirrus", _) => {
            let values = values(steps)?;
            timed_after(runs, before, || write(case, target, &values))
        }
        ("limit", "raw" | "zstd" | "deflate") => {
            let (values, chain) = (values(steps)?, chain(case)?);
            timed_after(runs, before, || bare(&chain, &path, &values))
        }
        ("limit", _) => Err("rechunking has no limit".into()),
        (other, _) => Err(format!("unknown program {other:?}").into()),
    };
    remove(&path)?;
    times
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn values(steps: usize) -> Result<Vec<f32>, Failure> {
    let mut values = field();
    if steps * STEP > values.len() {
        return Err("too many steps".into());
    }
    values.truncate(steps * STEP);
    Ok(values)
}

fn codec_name(case: &str) -> &str {
    if case == "deflate" { "shuffle-zlib" } else { case }
}

fn chain(case: &str) -> Result<CodecChain, Failure> {
    let info = ChunkInfo { shape: vec![1, SHAPE[1], SHAPE[2]], element: DecodedElement::sized(Some(4)) };
    Ok(CodecRegistry::builtin().bind(&codecs(codec_name(case)).ok_or("unknown codec")?, &info)?)
}

/// Like the peers: without waiting for stable storage.
fn write(case: &str, path: &str, values: &[f32]) -> Result<(), Failure> {
    let session = Session::builder().durable(false).chunk_cache(0).build()?;
    let options = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(path, &options, &session)?;
    let root = dataset.root();
    let shape = [(values.len() / STEP) as u64, SHAPE[1], SHAPE[2]];
    for (name, len) in ["t", "y", "x"].into_iter().zip(shape) {
        root.add_dimension(name, DimensionLen::Fixed(len))?;
    }
    let variable = root.add_variable("v", Atomic::Float, &["t", "y", "x"])?;
    let filters = codecs(codec_name(case)).ok_or("unknown codec")?;
    let chunked = Storage::Chunked(vec![1, SHAPE[1], SHAPE[2]]);
    variable.set_storage(if case == "raw" { Storage::Contiguous } else { chunked }, filters)?;
    variable.write(&Selection::all(&shape), values)?;
    Ok(dataset.close()?)
}

fn rechunk(folder: &str, target: &str, steps: usize) -> Result<(), Failure> {
    let session = Session::builder().durable(false).chunk_cache(0).memory(steps * MEMORY).build()?;
    let source = Dataset::open_with(&format!("{folder}/maps.nc"), &OpenOptions::default(), &session)?;
    let options = CopyOptions::new()
        .create(CreateOptions::new().kind(Kind::Nc4))
        .chunks(vec![ChunkRule::Shape { variable: "v".to_owned(), shape: vec![steps as u64, TILE, TILE] }]);
    copy(&source, target, &options, &session)?;
    Ok(())
}

/// Two threads encode chunks and append them to one file.
fn bare(chain: &CodecChain, path: &Path, values: &[f32]) -> Result<(), Failure> {
    let file = std::fs::File::create(path)?;
    let (next, end) = (AtomicUsize::new(0), AtomicU64::new(4096));
    let work = || -> Result<(), Failure> {
        let mut scratch = CodecScratch::default();
        while let Some(step) = values.chunks(STEP).nth(next.fetch_add(1, Ordering::Relaxed)) {
            let bytes: &[u8] = bytemuck::cast_slice(step);
            let encoded;
            let body = if chain.is_identity() {
                bytes
            } else {
                encoded = chain.encode(bytes, &mut scratch)?.0;
                &encoded
            };
            put(&file, end.fetch_add(body.len() as u64, Ordering::Relaxed), body)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        work().and(other.join().map_err(|_| "a thread panicked")?)
    })
}

#[cfg(unix)]
fn put(file: &std::fs::File, start: u64, body: &[u8]) -> Result<(), Failure> {
    Ok(std::os::unix::fs::FileExt::write_all_at(file, body, start)?)
}

#[cfg(not(unix))]
fn put(mut file: &std::fs::File, start: u64, body: &[u8]) -> Result<(), Failure> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(start))?;
    Ok(file.write_all(body)?)
}
