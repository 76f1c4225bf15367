//! A Zarr store on an S3 server that answers with a delay, compared with xarray, zarr-python and tensorstore.
use super::Figures;
use crate::run::Outcome;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

/// Milliseconds that the server waits before each answer.
const LATENCY: &str = "50";
const CASES: [&str; 5] = ["open", "series", "read", "create", "write"];
const PROGRAMS: [&str; 7] =
    ["limit", "ncirrus", "xarray-s3fs", "xarray-obstore", "zarr-s3fs", "zarr-obstore", "tensorstore"];

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let made = super::program().args(["cloud", "make"]).arg(folder).status();
    if !made.map_err(|error| error.to_string())?.success() {
        return Err("the data cannot be made".to_owned());
    }
    let server = Server::start("s3", folder, LATENCY)?;
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (case, name) in CASES.iter().enumerate() {
            for (program, who) in PROGRAMS.iter().enumerate() {
                let Some((seconds, peak)) = measure(who, name, &server.url) else { continue };
                let best = figures.entry((0, case, program)).or_insert((f64::INFINITY, 0.0));
                *best = (best.0.min(seconds), best.1.max(peak));
            }
        }
    }
    println!("\n### Zarr on S3, {LATENCY} ms away");
    super::print_table(&figures, 0, &CASES, &PROGRAMS);
    Ok(())
}

fn measure(who: &str, case: &str, endpoint: &str) -> Option<(f64, f64)> {
    super::figures_of(super::measuring(who, "cloud").args([who, case, endpoint, "2"]))
}

/// A server; stopped when this is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
}

impl Server {
    /// Starts `ncirrus-bench KIND FOLDER MILLISECONDS`, which prints its address.
    pub(super) fn start(kind: &str, folder: &Path, latency: &str) -> Result<Self, String> {
        let mut command = super::program();
        command.arg(kind).arg(folder).arg(latency).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("the server cannot be started: {error}"))?;
        let mut url = String::new();
        let out = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(out).read_line(&mut url).map_err(|error| error.to_string())?;
        Ok(Self { child, url: url.trim().to_owned() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
