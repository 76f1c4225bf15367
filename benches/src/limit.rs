//! The limit: a bare loop over the chunk files, on two threads, directly into and out of the caller's array.
use crate::data::{POINT, SHAPE, STEP, STRIDE, codecs, field};
use crate::{Failure, Operation, remove, timed, timed_after};
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, CodecScratch, DecodedElement};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(crate) fn run(
    codec: &str,
    operation: Operation,
    folder: &str,
    runs: usize,
) -> Result<Vec<Duration>, Failure> {
    let shape = vec![1, SHAPE[1], SHAPE[2]];
    let info = ChunkInfo { shape, element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&codecs(codec).ok_or("unknown codec")?, &info)?;
    let array = Path::new(folder).join(format!("{codec}.zarr")).join("v");
    match operation {
        Operation::Write => {
            let values = field();
            let target = Path::new(folder).join("limit.tmp");
            let times = timed_after(runs, || remove(&target), || write(&chain, &values, &target));
            remove(&target)?;
            times
        }
        Operation::Read => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || read(&chain, &array, &mut out))
        }
        Operation::Series => timed(runs, || part(&chain, &array, 1, &[point()]).map(|_| ())),
        Operation::Strided => {
            timed(runs, || part(&chain, &array, usize_of(STRIDE), &strided_rows()).map(|_| ()))
        }
    }
}

pub(crate) fn usize_of(value: u64) -> usize {
    usize::try_from(value).unwrap_or(1)
}

/// The elements of one step that a selection needs: first, count, and stride.
type Row = (usize, usize, usize);

fn point() -> Row {
    (usize_of(POINT[0] * SHAPE[2] + POINT[1]), 1, 1)
}

fn strided_rows() -> Vec<Row> {
    (0..1024)
        .step_by(usize_of(STRIDE))
        .map(|row| (row * 1024, 1024 / usize_of(STRIDE), usize_of(STRIDE)))
        .collect()
}

fn chunk(array: &Path, step: usize) -> PathBuf {
    array.join(format!("{step}.0.0"))
}

/// Distributes the numbers below `count` to two threads, each with buffers of its own.
pub(crate) fn on_two_threads(
    count: usize,
    work: impl Fn(usize, &mut Buffers) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let thread = || {
        let mut buffers = Buffers::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            work(number, &mut buffers)?;
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(thread);
        thread().and(other.join().map_err(|_| "a thread panicked")?)
    })
}

#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) encoded: Vec<u8>,
    pub(crate) decoded: Vec<u8>,
    pub(crate) scratch: CodecScratch,
}

fn read_file(path: &Path, buffer: &mut Vec<u8>) -> Result<(), Failure> {
    use std::io::Read;
    buffer.clear();
    std::fs::File::open(path)?.read_to_end(buffer)?;
    Ok(())
}

fn read(chain: &CodecChain, array: &Path, out: &mut [f32]) -> Result<(), Failure> {
    let steps: Vec<std::sync::Mutex<&mut [f32]>> = out.chunks_mut(STEP).map(std::sync::Mutex::new).collect();
    on_two_threads(steps.len(), |step, buffers| {
        let mut slot = steps[step].lock().map_err(|_| "poisoned")?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut slot);
        if chain.is_identity() {
            use std::io::Read;
            std::fs::File::open(chunk(array, step))?.read_exact(bytes)?;
            return Ok(());
        }
        read_file(&chunk(array, step), &mut buffers.encoded)?;
        chain.decode_into(&buffers.encoded, 0, bytes, &mut buffers.scratch)?;
        Ok(())
    })
}

/// Every `every`-th step, and only these rows of it.
fn part(chain: &CodecChain, array: &Path, every: usize, rows: &[Row]) -> Result<usize, Failure> {
    let kept = AtomicUsize::new(0);
    on_two_threads(128usize.div_ceil(every), |number, buffers| {
        let path = chunk(array, number * every);
        let mut values = Vec::new();
        if chain.is_identity() {
            read_rows(&path, rows, &mut buffers.decoded, &mut values)?;
        } else {
            read_file(&path, &mut buffers.encoded)?;
            buffers.decoded.resize(STEP * 4, 0);
            let ranges: Vec<_> =
                rows.iter().map(|(first, count, by)| first * 4..(first + (count - 1) * by + 1) * 4).collect();
            chain.decode_ranges(&buffers.encoded, 0, &ranges, &mut buffers.decoded, &mut buffers.scratch)?;
            rows.iter().for_each(|row| gather(&buffers.decoded, *row, row.0, &mut values));
        }
        kept.fetch_add(values.len(), Ordering::Relaxed);
        Ok(())
    })?;
    Ok(kept.into_inner())
}

#[cfg(unix)]
fn read_rows(path: &Path, rows: &[Row], buffer: &mut Vec<u8>, values: &mut Vec<f32>) -> Result<(), Failure> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path)?;
    for row in rows {
        let (first, count, by) = *row;
        buffer.resize(((count - 1) * by + 1) * 4, 0);
        file.read_exact_at(buffer, first as u64 * 4)?;
        gather(buffer, (0, count, by), 0, values);
    }
    Ok(())
}

#[cfg(not(unix))]
fn read_rows(path: &Path, rows: &[Row], buffer: &mut Vec<u8>, values: &mut Vec<f32>) -> Result<(), Failure> {
    read_file(path, buffer)?;
    rows.iter().for_each(|row| gather(buffer, *row, row.0, values));
    Ok(())
}

fn gather(bytes: &[u8], (_, count, by): Row, first: usize, values: &mut Vec<f32>) {
    let all: &[f32] = bytemuck::cast_slice(bytes);
    values.extend(all.iter().skip(first).step_by(by).take(count));
}

fn write(chain: &CodecChain, values: &[f32], target: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(target)?;
    on_two_threads(128, |step, buffers| {
        let bytes: &[u8] = bytemuck::cast_slice(&values[step * STEP..(step + 1) * STEP]);
        Ok(std::fs::write(chunk(target, step), chain.encode_in(bytes, &mut buffers.scratch)?.0)?)
    })
}
