//! Icechunk repositories on an S3 server that answers with a delay, beside icechunk's own Python with zarr-python; a million
//! virtual chunks, and references in Parquet, on this machine.
use super::Figures;
use super::cloud::Server;
use crate::run::Outcome;
use std::path::Path;

/// Milliseconds that the server waits before each answer.
const LATENCY: &str = "50";
const CASES: [&str; 3] = ["open", "series", "read"];
const PROGRAMS: [&str; 2] = ["ncirrus", "icechunk"];
const LOCAL: [&str; 6] =
    ["virtual-open", "virtual-value", "virtual-step", "parquet-open", "parquet-value", "parquet-step"];
/// Chunks of the data on this machine.
const CHUNKS: &str = "1000000";

/// Measures everything several times, alternating between programs, and prints tables in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let folder = folder.join("icechunk");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (form, more) in [("make", None), ("virtual", Some(CHUNKS)), ("parquet", Some(CHUNKS))] {
        let status = super::script("icechunk_peers").arg(form).arg(&folder).args(more).status();
        if !status.map_err(|error| error.to_string())?.success() {
            return Err(format!("the data cannot be made ({form})"));
        }
    }
    let server = Server::start("s3", &folder, LATENCY)?;
    let (mut remote, mut local) = (Figures::new(), Figures::new());
    for _ in 0..rounds {
        for (case, name) in CASES.iter().enumerate() {
            for (program, who) in PROGRAMS.iter().enumerate() {
                let found = super::figures_of(command(who).args([name, server.url.as_str(), "2"]));
                keep(&mut remote, (0, case, program), found);
            }
        }
        for (case, name) in LOCAL.iter().enumerate() {
            keep(
                &mut local,
                (0, case, 0),
                super::figures_of(command("ncirrus").arg(name).arg(&folder).arg("3")),
            );
        }
    }
    println!("\n### Icechunk on S3, {LATENCY} ms away");
    super::print_table(&remote, 0, &CASES, &PROGRAMS);
    println!("\n### A million virtual chunks, and a million references in Parquet, on this machine");
    super::print_table(&local, 0, &LOCAL, &["ncirrus"]);
    Ok(())
}

fn keep(figures: &mut Figures, at: (usize, usize, usize), found: Option<(f64, f64)>) {
    let Some((seconds, peak)) = found else { return };
    let best = figures.entry(at).or_insert((f64::INFINITY, 0.0));
    *best = (best.0.min(seconds), best.1.max(peak));
}

fn command(who: &str) -> std::process::Command {
    let (mut command, first) = match who {
        "ncirrus" => (super::program(), "icechunk"),
        other => (super::script("icechunk_peers"), other),
    };
    command.arg(first);
    command
}
