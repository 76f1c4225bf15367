//! Measures one operation of ncirrus, or of a bare loop that represents the limit, and prints the figures as one line
//! of JSON.
//!
//! `ncirrus-bench WHO CODEC OPERATION FOLDER RUNS`: WHO is `ncirrus` or `limit`; CODEC one of `raw`, `zstd`, `blosc`,
//! `zlib`, `shuffle-zlib`; OPERATION one of `write`, `read`, `series`, `strided`. The data are 128 steps of 1024 x 1024
//! float32, one chunk per step, as plain Zarr v2 in FOLDER/CODEC.zarr. The time is the smallest of RUNS.
//!
//! `ncirrus-bench hdf5 WHO CASE PLACE RUNS`: see [`hdf5`]; `ncirrus-bench hdf5-write WHO CASE FOLDER RUNS STEPS`: see
//! [`hdf5_write`]; `ncirrus-bench cloud WHO CASE ENDPOINT RUNS`: see [`cloud`];
//! `ncirrus-bench aggregate CASE FOLDER RUNS`: see [`aggregate`]; `ncirrus-bench element FILE RUNS`: one cached element
//! of the variable `v`; `ncirrus-bench whole read|fresh PATH RUNS`: all of it, into an array that is there or a new one;
//! `ncirrus-bench dap WHO CASE SERVER RUNS`: see [`dap`]; `ncirrus-bench icechunk CASE PLACE RUNS`: see [`icechunk`];
//! `ncirrus-bench members CASE KIND MEMBERS FOLDER COUNT RUNS`: see [`members`];
//! `ncirrus-bench shards WHO CASE PLACE RUNS`: see [`shards`]; `ncirrus-bench trees WHO FOLDER COUNT RUNS`: see [`trees`];
//! `ncirrus-bench s3 FOLDER MILLISECONDS`: an S3 server that answers with a delay;
//! `ncirrus-bench serve FOLDER MILLISECONDS`: a file server that answers with a delay.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports to whoever started it"
)]

mod aggregate;
mod cloud;
mod dap;
mod data;
mod hdf5;
mod hdf5_write;
mod http;
mod icechunk;
mod limit;
mod members;
mod ours;
mod s3;
mod shards;
mod trees;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Any error, for the terminal.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// The whole array, from memory.
    Write,
    /// The whole array, into memory.
    Read,
    /// One point of every step.
    Series,
    /// Every fourth element along every axis.
    Strided,
}

impl Operation {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "write" => Self::Write,
            "read" => Self::Read,
            "series" => Self::Series,
            "strided" => Self::Strided,
            _ => return None,
        })
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match measure(&arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("ncirrus-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &[String]) -> Result<String, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["serve", folder, latency] = words[..] {
        return serve(folder, latency);
    }
    if let ["s3", folder, latency] = words[..] {
        let latency = Duration::from_millis(latency.parse()?);
        s3::serve(folder, latency, |endpoint| println!("{endpoint}"))?;
    }
    if let ["aggregate", "make", folder, count] = words[..] {
        aggregate::make(folder, count.parse()?)?;
        return Ok(String::new());
    }
    if let ["aggregate", case, folder, runs] = words[..] {
        return Ok(figures(&aggregate::run(case, folder, runs.parse()?)?));
    }
    if let ["cloud", "make", folder] = words[..] {
        cloud::make(folder)?;
        return Ok(String::new());
    }
    if let ["cloud", who, case, endpoint, runs] = words[..] {
        return Ok(figures(&cloud::run(who, case, endpoint, runs.parse()?)?));
    }
    if let ["icechunk", case, place, runs] = words[..] {
        return Ok(figures(&icechunk::run(case, place, runs.parse()?)?));
    }
    if let ["dap-serve", _, latency] = words[..] {
        return dap::serve(Duration::from_millis(latency.parse()?));
    }
    if let ["dap", who, case, server, runs] = words[..] {
        return Ok(figures(&dap::run(who, case, server, runs.parse()?)?));
    }
    if let ["hdf5", who, case, place, runs] = words[..] {
        return Ok(figures(&hdf5::run(who, case, place, runs.parse()?)?));
    }
    if let ["members", case, kind, of, folder, count, runs] = words[..] {
        return Ok(figures(&members::run([case, kind, of, folder], count.parse()?, runs.parse()?)?));
    }
    if let ["shards", "make", folder] = words[..] {
        shards::make(folder)?;
        return Ok(String::new());
    }
    if let ["shards", who, case, place, runs] = words[..] {
        return Ok(figures(&shards::run(who, case, place, runs.parse()?)?));
    }
    if let ["trees", who, folder, count, runs] = words[..] {
        return Ok(figures(&trees::run(who, folder, count.parse()?, runs.parse()?)?));
    }
    if let ["element", file, runs] = words[..] {
        return Ok(figures(&hdf5::element(file, runs.parse()?)?));
    }
    if let ["whole", way, path, runs] = words[..] {
        return Ok(figures(&ours::whole(way, path, runs.parse()?)?));
    }
    if let ["hdf5-write", who, case, folder, runs, steps] = words[..] {
        return Ok(figures(&hdf5_write::run(who, case, folder, runs.parse()?, steps.parse()?)?));
    }
    let [who, codec, operation, folder, runs] = words[..] else {
        return Err("usage: ncirrus-bench WHO CODEC OPERATION FOLDER RUNS".into());
    };
    let operation = Operation::parse(operation).ok_or("unknown operation")?;
    let runs: usize = runs.parse()?;
    let times = match who {
        "ncirrus" => ours::run(codec, operation, folder, runs)?,
        "limit" => limit::run(codec, operation, folder, runs)?,
        other => return Err(format!("unknown program {other:?}").into()),
    };
    Ok(figures(&times))
}

/// The smallest time, and the memory, as JSON.
fn figures(times: &[Duration]) -> String {
    let seconds = times.iter().min().copied().unwrap_or_default().as_secs_f64();
    serde_json::json!({"seconds": seconds, "peak_kib": data::peak_kib()}).to_string()
}

/// Serves a folder, with a delay of `latency` milliseconds for every answer, until standard input ends.
fn serve(folder: &str, latency: &str) -> Result<String, Failure> {
    println!("{}", http::serve(folder, Duration::from_millis(latency.parse()?))?);
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(String::new())
}

/// Runs something several times and keeps the times.
fn timed(runs: usize, run: impl FnMut() -> Result<(), Failure>) -> Result<Vec<Duration>, Failure> {
    timed_after(runs, || Ok(()), run)
}

/// As [`timed`], with a preparation before each run that is not measured.
fn timed_after(
    runs: usize,
    mut before: impl FnMut() -> Result<(), Failure>,
    mut run: impl FnMut() -> Result<(), Failure>,
) -> Result<Vec<Duration>, Failure> {
    (0..runs)
        .map(|_| {
            before()?;
            let start = Instant::now();
            run().map(|()| start.elapsed())
        })
        .collect()
}

/// Removes a folder that may be absent.
fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
