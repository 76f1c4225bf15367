//! HDF5 files, local and remote: `ncirrus-bench hdf5 WHO CASE PLACE RUNS`; WHO is `ncirrus` or `limit`, PLACE the
//! folder or URL where `hdf5.py` has created the files, CASE one of `raw`, `zstd`, `deflate` (512 MiB, read whole) or
//! the name of another file with such a variable, `series` (one point through 30 of 1470 chunks) and `open` (all
//! metadata of 1,000 variables).
use crate::data::{STEP, codecs};
use crate::{Failure, timed};
use ncirrus::{Dataset, Location, OpenOptions, Selection, Session};
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, CodecScratch, DecodedElement};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::http::Client;

/// The shape of the variable that is read whole; for the variable from which a series is read: number of steps, side of
/// a tile, and the point.
const WHOLE: [u64; 3] = [128, 1024, 1024];
const STEPS: u64 = 30;
const POINT: [u64; 2] = [517, 301];
/// Number of connections of the limit to a remote server.
const CONNECTIONS: usize = 32;

pub(crate) fn run(who: &str, case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    match who {
        "ncirrus" => ours(case, place, runs),
        "limit" => limit(case, place, runs),
        other => Err(format!("unknown program {other:?}").into()),
    }
}

fn file(case: &str, place: &str) -> String {
    if case.contains('.') {
        return format!("{place}/{case}");
    }
    let ending = if matches!(case, "series" | "open") { "nc" } else { "h5" };
    format!("{place}/{case}.{ending}")
}

/// Opening is included in the measured time, and no cache outlives it.
fn ours(case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let session = Session::builder().chunk_cache(0).build()?;
    let open = || Dataset::open_with(&file(case, place), &OpenOptions::default(), &session);
    match case {
        "open" => timed(runs, || {
            let dataset = open()?;
            let variables = dataset.model()?.variables().len();
            if variables == 1000 { Ok(()) } else { Err(format!("{variables} variables").into()) }
        }),
        "series" => timed(runs, || {
            let values = open()?.variable("v")?.read_selection::<f32>(&point())?;
            if values.len() as u64 == STEPS { Ok(()) } else { Err("too few values".into()) }
        }),
        _ => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || Ok(open()?.variable("v")?.read_into(&Selection::all(&WHOLE), &mut out)?))
        }
    }
}

/// One element of a chunk that is in memory, repeated for a measurable time: seconds for one.
pub(crate) fn element(file: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    const TIMES: u32 = 2000;
    let variable = Dataset::open(file)?.variable("v")?;
    let selection = Selection::slab(&[0, POINT[0], POINT[1]], &[1, 1, 1]);
    let mut out = [0f32];
    let read = |out: &mut [f32]| variable.read_into(&selection, out);
    read(&mut out)?;
    let times = timed(runs, || Ok((0..TIMES).try_for_each(|_| read(&mut out))?))?;
    Ok(times.into_iter().map(|time| time / TIMES).collect())
}

fn point() -> Selection {
    Selection::slab(&[0, POINT[0], POINT[1]], &[STEPS, 1, 1])
}

/// A bare loop over chunks whose locations are known: with as many threads as cores for local files, as connections for
/// remote ones. Opening has no bare loop.
fn limit(case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let selection = match case {
        "open" => return Err("opening has no limit".into()),
        "series" => point(),
        _ => Selection::all(&WHOLE),
    };
    let path = file(case, place);
    let dataset = Dataset::open(&path)?;
    let variable = dataset.variable("v")?;
    let ranges = ranges(&variable.chunks(&selection)?, case)?;
    let (names, shape) = match case {
        "raw" => ("raw", vec![1, 1024, 1024]),
        "zstd" => ("zstd", vec![1, 1024, 1024]),
        "deflate" => ("shuffle-zlib", vec![1, 1024, 1024]),
        _ => ("shuffle-zlib", vec![1, 165, 165]),
    };
    let element_count: u64 = shape.iter().product();
    let info = ChunkInfo { shape, element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&codecs(names).ok_or("unknown codec")?, &info)?;
    let mut out = vec![0f32; usize::try_from(element_count)? * ranges.len()];
    timed(runs, || loop_over(&path, &ranges, &chain, &mut out))
}

/// A contiguous variable has no chunks: its data are at the end of the file.
fn ranges(chunks: &[ncirrus::StoredChunk], case: &str) -> Result<Vec<Range<u64>>, Failure> {
    let place = |chunk: &ncirrus::StoredChunk| match &chunk.stored.location {
        Location::Bytes(_, range) => Ok(range.clone()),
        other => Err(Failure::from(format!("a chunk at {other:?}"))),
    };
    if case == "raw" {
        let step = (STEP * 4) as u64;
        return Ok((0..128)
            .map(|number| CONTIGUOUS + number * step..CONTIGUOUS + (number + 1) * step)
            .collect());
    }
    chunks.iter().map(place).collect()
}

/// Offset of the data in the contiguous file; any offset measures the same.
const CONTIGUOUS: u64 = 2048;

fn loop_over(path: &str, ranges: &[Range<u64>], chain: &CodecChain, out: &mut [f32]) -> Result<(), Failure> {
    let each = out.len() / ranges.len().max(1);
    let slots: Vec<Mutex<&mut [f32]>> = out.chunks_mut(each).map(Mutex::new).collect();
    let (next, far) = (AtomicUsize::new(0), path.starts_with("http"));
    let threads = if far { CONNECTIONS } else { 2 };
    let work = || -> Result<(), Failure> {
        let mut place = Place::open(path, far)?;
        let (mut encoded, mut scratch) = (Vec::new(), CodecScratch::default());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(range), Some(slot)) = (ranges.get(number), slots.get(number)) else { return Ok(()) };
            let mut slot = slot.lock().map_err(|_| "poisoned")?;
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut slot);
            if chain.is_identity() {
                place.read(range, target)?;
            } else {
                encoded.resize(usize::try_from(range.end - range.start)?, 0);
                place.read(range, &mut encoded)?;
                chain.decode_into(&encoded, 0, target, &mut scratch)?;
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        others.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Where a thread of the bare loop reads.
enum Place {
    Local(std::fs::File),
    Far(Client),
}

impl Place {
    fn open(path: &str, far: bool) -> Result<Self, Failure> {
        Ok(if far {
            Self::Far(Client::connect(path)?)
        } else {
            Self::Local(std::fs::File::open(Path::new(path))?)
        })
    }

    fn read(&mut self, range: &Range<u64>, out: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Local(file) => local(file, range.start, out),
            Self::Far(client) => client.get(range, out),
        }
    }
}

#[cfg(unix)]
fn local(file: &std::fs::File, start: u64, out: &mut [u8]) -> Result<(), Failure> {
    Ok(std::os::unix::fs::FileExt::read_exact_at(file, out, start)?)
}

#[cfg(not(unix))]
fn local(mut file: &std::fs::File, start: u64, out: &mut [u8]) -> Result<(), Failure> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(start))?;
    Ok(file.read_exact(out)?)
}
