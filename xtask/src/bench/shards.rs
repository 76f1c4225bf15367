//! Shards of Zarr v3, compared with the same chunks as single objects, zarr-python, zarrs and tensorstore; and many small
//! chunks with and without shards, in a directory and on an S3 server that responds with a delay.
use super::Figures;
use super::cloud::Server;
use crate::run::Outcome;
use std::path::Path;

/// Milliseconds that the server waits before each response.
const LATENCY: &str = "50";
const CASES: [&str; 4] = ["write", "read", "series", "append"];
const PROGRAMS: [&str; 6] = ["limit", "ncirrus", "unsharded", "zarr-python", "zarrs-python", "tensorstore"];
const SMALL: [&str; 2] = ["small-write", "small-read"];
const SMALL_PEERS: [&str; 5] = ["limit", "unsharded", "zarr-python", "zarrs-python", "tensorstore"];
/// The first one is the reference.
const FORMS: [&str; 2] = ["ncirrus", "unsharded"];

/// Measures everything several times, alternating between programs, and prints tables in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let made = super::program().args(["shards", "make"]).arg(folder).status();
    if !made.map_err(|error| error.to_string())?.success() {
        return Err("the data cannot be made".to_owned());
    }
    let place = folder.to_string_lossy().into_owned();
    table("Shards", &place, &CASES, &PROGRAMS, (rounds, "3"));
    table("100,000 chunks of 1 KiB", &place, &SMALL, &FORMS, (rounds, "2"));
    table("100,000 objects of 1 KiB", &place, &["small-read"], &SMALL_PEERS, (rounds, "2"));
    let server = Server::start("s3", folder, LATENCY)?;
    table("100,000 chunks of 1 KiB, 50 ms away", &server.url, &SMALL, &FORMS, (1, "1"));
    Ok(())
}

/// Cases by programs, alternating, in rounds of some runs each.
fn table(title: &str, place: &str, cases: &[&str], programs: &[&str], (rounds, runs): (usize, &str)) {
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (row, case) in cases.iter().enumerate() {
            for (column, who) in programs.iter().enumerate() {
                let Some((seconds, peak)) = measure(who, case, place, runs) else { continue };
                let best = figures.entry((0, row, column)).or_insert((f64::INFINITY, 0.0));
                *best = (best.0.min(seconds), best.1.max(peak));
            }
        }
    }
    println!("\n### {title}");
    super::print_table(&figures, 0, cases, programs);
}

fn measure(who: &str, case: &str, place: &str, runs: &str) -> Option<(f64, f64)> {
    let is_ours = matches!(who, "limit" | "ncirrus" | "unsharded");
    let mut command = if is_ours { super::program() } else { super::script("shards") };
    if is_ours {
        command.arg("shards");
    }
    super::figures_of(command.args([who, case, place, runs]))
}
