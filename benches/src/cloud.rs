//! A remote Zarr store: `ncirrus-bench cloud WHO CASE ENDPOINT RUNS`; WHO is `ncirrus` or `limit`, ENDPOINT the address
//! that `ncirrus-bench s3 FOLDER MILLISECONDS` prints, CASE one of `open` (all metadata of 1,000 variables,
//! consolidated), `series` (one point of 128 chunks), `read` (512 MiB, zstd), `create` (the same at a new location),
//! `write` (the same over an existing dataset).
//!
//! `ncirrus-bench cloud make FOLDER` creates the data in the bucket `bench` of a folder that the server serves.
use crate::data::{POINT, SHAPE, STEP, codecs, field};
use crate::http::Client;
use crate::ours::{read_into, write};
use crate::{Failure, timed};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session,
};
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, CodecScratch, DecodedElement};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Number of connections of the limit.
const CONNECTIONS: usize = 32;
const VARIABLES: usize = 1000;
/// The dataset that is read.
const DATA: &str = "s3://bench/data.zarr";

pub(crate) fn run(who: &str, case: &str, endpoint: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    match who {
        "ncirrus" => ours(case, endpoint, runs),
        "limit" => limit(case, endpoint, runs),
        other => Err(format!("unknown program {other:?}").into()),
    }
}

/// Creates the dataset that is read.
pub(crate) fn make(folder: &str) -> Result<(), Failure> {
    let bucket = Path::new(folder).join("bench");
    std::fs::create_dir_all(&bucket)?;
    let name =
        |name: &str| bucket.join(name).to_str().map(str::to_owned).ok_or("the folder's name is not UTF-8");
    let session = Session::builder().durable(false).build()?;
    write("zstd", &name("data.zarr")?, &field(), &session)?;
    let options = CreateOptions::new().kind(Kind::Zarr2).overwrite(true);
    let dataset = Dataset::create_with(&name("open.zarr")?, &options, &session)?;
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(1000))?;
    for number in 0..VARIABLES {
        let variable = root.add_variable(&format!("v{number}"), Atomic::Float, &["x"])?;
        for attribute in ["units", "long_name", "standard_name", "comment", "source"] {
            variable.set_attribute(Attribute::text(attribute, &format!("{attribute} of {number}")))?;
        }
    }
    Ok(dataset.close()?)
}

/// A session that finds the server.
pub(crate) fn session(endpoint: &str) -> Result<Session, Failure> {
    let mut stores = ncirrus::store::StoreOptions::default();
    let settings = [("aws_endpoint", endpoint), ("aws_region", "us-east-1"), ("aws_skip_signature", "true")];
    stores.settings.extend(settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(Session::builder().chunk_cache(0).stores(stores).build()?)
}

fn ours(case: &str, endpoint: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let session = || session(endpoint);
    match case {
        "open" => timed(runs, || {
            let dataset = Dataset::open_with("s3://bench/open.zarr", &OpenOptions::default(), &session()?)?;
            let variables = dataset.model()?.variables().len();
            if variables >= VARIABLES { Ok(()) } else { Err(format!("{variables} variables").into()) }
        }),
        "series" => {
            let mut out = vec![0f32; 128];
            let point = Selection::slab(&[0, POINT[0], POINT[1]], &[SHAPE[0], 1, 1]);
            timed(runs, || read_into(DATA, &point, &mut out, &session()?))
        }
        "read" => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || read_into(DATA, &Selection::all(&SHAPE), &mut out, &session()?))
        }
        "write" => {
            let values = field();
            timed(runs, || write("zstd", "s3://bench/ours.zarr", &values, &session()?))
        }
        "create" => {
            let values = field();
            timed(runs, || write("zstd", &format!("s3://bench/{}", new("ours")), &values, &session()?))
        }
        other => Err(format!("unknown case {other:?}").into()),
    }
}

/// The same chunks, fetched or put by a bare client over many connections; opening requests the two objects that it
/// needs, one after the other.
fn limit(case: &str, endpoint: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let info = ChunkInfo { shape: vec![1, SHAPE[1], SHAPE[2]], element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&codecs("zstd").ok_or("unknown codec")?, &info)?;
    match case {
        "open" => timed(runs, || {
            let mut client = Client::connect(&format!("{endpoint}/bench"))?;
            for _ in 0..2 {
                let body = client.whole("bench/open.zarr/.zmetadata")?;
                serde_json::from_slice::<serde_json::Value>(&body)?;
            }
            Ok(())
        }),
        "series" | "read" => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || fetch(endpoint, &chain, &mut out))
        }
        "write" => {
            let values = field();
            timed(runs, || put(endpoint, &chain, &values, "limit.zarr"))
        }
        "create" => {
            let values = field();
            timed(runs, || put(endpoint, &chain, &values, &new("limit")))
        }
        other => Err(format!("unknown case {other:?}").into()),
    }
}

fn fetch(endpoint: &str, chain: &CodecChain, out: &mut [f32]) -> Result<(), Failure> {
    let cores = Cores::new()?;
    let slots: Vec<Mutex<&mut [f32]>> = out.chunks_mut(STEP).map(Mutex::new).collect();
    on_connections(endpoint, slots.len(), |client, number, scratch| {
        let body = client.whole(&format!("bench/data.zarr/v/{number}.0.0"))?;
        let mut slot = slots[number].lock().map_err(|_| "poisoned")?;
        let decode = || chain.decode_into(&body, 0, bytemuck::cast_slice_mut(&mut slot), scratch);
        cores.with(decode)?;
        Ok(())
    })
}

/// The name of a store that does not exist yet.
pub(crate) fn new(who: &str) -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    format!("{who}-{}-{}.zarr", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

fn put(endpoint: &str, chain: &CodecChain, values: &[f32], store: &str) -> Result<(), Failure> {
    let cores = Cores::new()?;
    on_connections(endpoint, 128, |client, number, scratch| {
        let bytes: &[u8] = bytemuck::cast_slice(&values[number * STEP..(number + 1) * STEP]);
        let body = cores.with(|| chain.encode(bytes, scratch))?.0;
        client.put(&format!("bench/{store}/v/{number}.0.0"), &body)
    })
}

/// Lets at most as many threads compute at once as there are cores: more would evict each other's cache lines.
struct Cores {
    idle: Mutex<usize>,
    freed: Condvar,
}

impl Cores {
    fn new() -> Result<Self, Failure> {
        let idle = Mutex::new(std::thread::available_parallelism()?.get());
        Ok(Self { idle, freed: Condvar::new() })
    }

    fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = self.freed.wait_while(idle, |idle| *idle == 0);
        *idle.unwrap_or_else(PoisonError::into_inner) -= 1;
        let done = work();
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
        done
    }
}

/// Distributes the numbers below `count` to threads with one connection each.
fn on_connections(
    endpoint: &str,
    count: usize,
    work: impl Fn(&mut Client, usize, &mut CodecScratch) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let thread = || -> Result<(), Failure> {
        let mut client = Client::connect(&format!("{endpoint}/bench"))?;
        let mut scratch = CodecScratch::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            work(&mut client, number, &mut scratch)?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}
