//! The limit of shards: a bare loop on two threads, directly into and out of the caller's array, which knows where the
//! chunks are.
use super::{APPENDED_TO, CHUNK, SMALL, SMALL_LEN, base_path, bucket, copy, large_path, small_name, step};
use crate::data::{POINT, STEP, codecs, field};
use crate::limit::{Buffers, on_two_threads, usize_of};
use crate::{Failure, remove, timed, timed_after};
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, DecodedElement};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Steps of a shard, and chunks of a step along each axis of the map.
const STEPS: usize = 16;
const ROWS: usize = 512;
const ALONG: usize = 1024 / ROWS;
const PER_STEP: usize = ALONG * ALONG;
const PER_SHARD: usize = STEPS * PER_STEP;
/// Bytes of a chunk, and of the index with its checksum.
const CHUNK_BYTES: usize = ROWS * ROWS * 4;
const INDEX: usize = PER_SHARD * 16 + 4;
/// More bytes than a small chunk has when it is encoded.
const LONGEST_SMALL: usize = 4096;

pub(super) fn run(case: &str, folder: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    if case == "small-read" {
        let array = bucket(folder).join(small_name("unsharded")).join("v/c");
        let mut out = vec![0f32; SMALL_LEN];
        return timed(runs, || small_read(&array, &mut out));
    }
    let info = ChunkInfo { shape: CHUNK.to_vec(), element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&codecs("zstd").ok_or("unknown codec")?, &info)?;
    let array = large_path(folder, "ncirrus").join("v");
    let target = Path::new(folder).join("limit.tmp");
    let times = match case {
        "write" => {
            let values = field();
            timed_after(runs, || remove(&target), || write(&chain, &values, &target))?
        }
        "read" => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || read(&chain, &array, &mut out))?
        }
        "series" => timed(runs, || series(&chain, &array))?,
        "append" => {
            let (base, step) = (base_path(folder, "ncirrus"), step());
            timed_after(runs, || copy(&base, &target), || append(&chain, &target.join("v"), &step))?
        }
        other => return Err(format!("no limit of {other:?}").into()),
    };
    remove(&target)?;
    Ok(times)
}

fn object(array: &Path, shard: usize) -> PathBuf {
    array.join(format!("c/{shard}/0/0"))
}

/// The elements of a chunk of a step, as they are stored.
fn cut(step: &[f32], chunk: usize, buffer: &mut Vec<u8>) {
    let (row, column) = (chunk / ALONG * ROWS, chunk % ALONG * ROWS);
    buffer.clear();
    for line in row..row + ROWS {
        buffer.extend_from_slice(bytemuck::cast_slice(
            &step[line * 1024 + column..line * 1024 + column + ROWS],
        ));
    }
}

/// The object of a shard with these chunks.
fn assembled(chunks: &[Option<Vec<u8>>]) -> Vec<u8> {
    let len: usize = chunks.iter().flatten().map(Vec::len).sum();
    let (mut object, mut index) = (Vec::with_capacity(len + INDEX), Vec::with_capacity(INDEX));
    for chunk in chunks {
        let (at, len) =
            chunk.as_ref().map_or((u64::MAX, u64::MAX), |chunk| (object.len() as u64, chunk.len() as u64));
        index.extend_from_slice(&at.to_le_bytes());
        index.extend_from_slice(&len.to_le_bytes());
        chunk.iter().for_each(|chunk| object.extend_from_slice(chunk));
    }
    // The loop does not compute the checksum of the index, which takes a few microseconds.
    index.extend_from_slice(&[0; 4]);
    object.extend_from_slice(&index);
    object
}

fn ranges(index: &[u8]) -> Vec<Option<Range<usize>>> {
    let number =
        |at: usize| index.get(at..at + 8).and_then(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
    let range = |slot: usize| {
        let at = usize::try_from(number(slot * 16)?).ok()?;
        Some(at..at.checked_add(usize::try_from(number(slot * 16 + 8)?).ok()?)?)
    };
    (0..PER_SHARD).map(range).collect()
}

fn write(chain: &CodecChain, values: &[f32], target: &Path) -> Result<(), Failure> {
    let shards: Vec<Mutex<Vec<Option<Vec<u8>>>>> =
        (0..128 / STEPS).map(|_| Mutex::new(vec![None; PER_SHARD])).collect();
    on_two_threads(128 * PER_STEP, |number, buffers| {
        let (step, chunk) = (number / PER_STEP, number % PER_STEP);
        cut(&values[step * STEP..(step + 1) * STEP], chunk, &mut buffers.decoded);
        let encoded = chain.encode_in(&buffers.decoded, &mut buffers.scratch)?.0;
        let whole = {
            let mut shard = shards[step / STEPS].lock().map_err(|_| "poisoned")?;
            shard[step % STEPS * PER_STEP + chunk] = Some(encoded.to_vec());
            shard.iter().all(Option::is_some).then(|| std::mem::take(&mut *shard))
        };
        let Some(chunks) = whole else { return Ok(()) };
        let path = object(target, step / STEPS);
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        Ok(std::fs::write(path, assembled(&chunks))?)
    })
}

fn read(chain: &CodecChain, array: &Path, out: &mut [f32]) -> Result<(), Failure> {
    let indexes: Vec<(File, Vec<Option<Range<usize>>>)> =
        (0..128 / STEPS).map(|shard| opened(&object(array, shard))).collect::<Result<_, _>>()?;
    let steps: Vec<Mutex<&mut [f32]>> = out.chunks_mut(STEP).map(Mutex::new).collect();
    on_two_threads(steps.len(), |step, buffers| {
        let mut slot = steps[step].lock().map_err(|_| "poisoned")?;
        let (file, ranges) = &indexes[step / STEPS];
        for chunk in 0..PER_STEP {
            let range = ranges[step % STEPS * PER_STEP + chunk].clone().ok_or("an absent chunk")?;
            decode(chain, file, range, buffers)?;
            let values: &[f32] = bytemuck::cast_slice(&buffers.decoded);
            let (row, column) = (chunk / ALONG * ROWS, chunk % ALONG * ROWS);
            for (line, from) in (row..).zip(values.chunks_exact(ROWS)) {
                slot[line * 1024 + column..line * 1024 + column + ROWS].copy_from_slice(from);
            }
        }
        Ok(())
    })
}

/// The places of the chunks of a shard; none for those that are absent.
type ChunkRanges = Vec<Option<Range<usize>>>;

fn opened(path: &Path) -> Result<(File, ChunkRanges), Failure> {
    let file = File::open(path)?;
    let mut index = vec![0; INDEX];
    file.read_exact_at(&mut index, file.metadata()?.len() - INDEX as u64)?;
    Ok((file, ranges(&index)))
}

fn fetch(file: &File, range: &Range<usize>, buffers: &mut Buffers) -> Result<(), Failure> {
    buffers.encoded.resize(range.len(), 0);
    Ok(file.read_exact_at(&mut buffers.encoded, range.start as u64)?)
}

fn decode(
    chain: &CodecChain,
    file: &File,
    range: Range<usize>,
    buffers: &mut Buffers,
) -> Result<(), Failure> {
    fetch(file, &range, buffers)?;
    buffers.decoded.resize(CHUNK_BYTES, 0);
    chain.decode_into(&buffers.encoded, 0, &mut buffers.decoded, &mut buffers.scratch)?;
    Ok(())
}

fn series(chain: &CodecChain, array: &Path) -> Result<(), Failure> {
    let indexes: Vec<(File, Vec<Option<Range<usize>>>)> =
        (0..128 / STEPS).map(|shard| opened(&object(array, shard))).collect::<Result<_, _>>()?;
    let (row, column) = (usize_of(POINT[0]), usize_of(POINT[1]));
    let chunk = row / ROWS * ALONG + column / ROWS;
    let at = (row % ROWS * ROWS + column % ROWS) * 4;
    on_two_threads(128, |step, buffers| {
        let (file, ranges) = &indexes[step / STEPS];
        let range = ranges[step % STEPS * PER_STEP + chunk].clone().ok_or("an absent chunk")?;
        fetch(file, &range, buffers)?;
        buffers.decoded.resize(CHUNK_BYTES, 0);
        let point = at..at + 4;
        let points = std::slice::from_ref(&point);
        chain.decode_ranges(&buffers.encoded, 0, points, &mut buffers.decoded, &mut buffers.scratch)?;
        Ok(())
    })
}

/// Chunks that are single objects: each is opened, read, closed and decoded.
fn small_read(array: &Path, out: &mut [f32]) -> Result<(), Failure> {
    let info = ChunkInfo { shape: vec![SMALL], element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&codecs("zstd").ok_or("unknown codec")?, &info)?;
    let chunks: Vec<Mutex<&mut [f32]>> = out.chunks_mut(usize_of(SMALL)).map(Mutex::new).collect();
    on_two_threads(chunks.len(), |chunk, buffers| {
        let mut slot = chunks[chunk].lock().map_err(|_| "poisoned")?;
        buffers.encoded.resize(LONGEST_SMALL, 0);
        let len = File::open(array.join(chunk.to_string()))?.read(&mut buffers.encoded)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut slot);
        chain.decode_into(&buffers.encoded[..len], 0, bytes, &mut buffers.scratch)?;
        Ok(())
    })
}

/// One step more in the last shard, whose other chunks are taken over.
fn append(chain: &CodecChain, array: &Path, step: &[f32]) -> Result<(), Failure> {
    let path = object(array, APPENDED_TO / STEPS);
    let mut old = Vec::new();
    File::open(&path)?.read_to_end(&mut old)?;
    let index = old.len().checked_sub(INDEX).ok_or("a shard without an index")?;
    let mut chunks: Vec<Option<Vec<u8>>> =
        ranges(&old[index..]).into_iter().map(|range| Some(old.get(range?)?.to_vec())).collect();
    let new: Vec<Mutex<Vec<u8>>> = (0..PER_STEP).map(|_| Mutex::default()).collect();
    on_two_threads(PER_STEP, |chunk, buffers| {
        cut(step, chunk, &mut buffers.decoded);
        *new[chunk].lock().map_err(|_| "poisoned")? =
            chain.encode(&buffers.decoded, &mut buffers.scratch)?.0.to_vec();
        Ok(())
    })?;
    for (slot, chunk) in (APPENDED_TO % STEPS * PER_STEP..).zip(new) {
        chunks[slot] = Some(chunk.into_inner().map_err(|_| "poisoned")?);
    }
    Ok(std::fs::write(path, assembled(&chunks))?)
}
