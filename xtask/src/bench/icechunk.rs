//! Icechunk repositories on an S3 server that responds with a delay, beside icechunk's own Python with zarr-python; a million
//! virtual chunks, and references in Parquet and JSON, on this machine; and netCDF-4 files on a web server that are scanned for
//! references, beside VirtualiZarr.
use super::Figures;
use super::cloud::Server;
use crate::run::Outcome;
use std::path::Path;

/// Milliseconds that the server waits before each response.
const LATENCY: &str = "50";
const CASES: [&str; 3] = ["open", "series", "read"];
const PROGRAMS: [&str; 2] = ["ncirrus", "icechunk"];
const LOCAL: [&str; 7] = [
    "virtual-open",
    "virtual-value",
    "virtual-step",
    "parquet-open",
    "parquet-value",
    "parquet-step",
    "json-open",
];
/// Chunks of the data on this machine.
const CHUNKS: &str = "1000000";
/// Chunks of the manifest that is read in blocks.
const MANY_CHUNKS: &str = "17000000";
/// Files that are scanned, and milliseconds that their server waits before each response.
const FILES: &str = "1000";
const FILE_LATENCY: &str = "20";
const SCANNERS: [&str; 2] = ["ncirrus", "virtualizarr"];

/// Measures everything several times, alternating between programs, and prints tables in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    // The addresses of virtual chunks are absolute, and scripts run in another folder.
    let folder = std::path::absolute(folder.join("icechunk")).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    make("make", &folder, None)?;
    for form in ["virtual", "parquet", "json"] {
        make(form, &folder, Some(CHUNKS))?;
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
    println!("\n### A million virtual chunks, and a million references in Parquet and JSON, on this machine");
    super::print_table(&local, 0, &LOCAL, &["ncirrus"]);
    scans(&folder.join("files"), rounds)
}

/// One value of a repository whose only manifest has 17 million virtual chunks, on this machine.
pub(super) fn long_manifest(folder: &Path) -> Outcome {
    let folder = std::path::absolute(folder.join("manifest")).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    make("virtual", &folder, Some(MANY_CHUNKS))?;
    let mut figures = Figures::new();
    for (case, name) in ["virtual-open", "virtual-value"].iter().enumerate() {
        let found = super::figures_of(command("ncirrus").arg(name).arg(&folder).arg("1"));
        keep(&mut figures, (0, case, 0), found);
    }
    println!("\n### {MANY_CHUNKS} virtual chunks in one manifest, on this machine");
    super::print_table(&figures, 0, &["open", "open and one value"], &["ncirrus"]);
    Ok(())
}

/// References for many files on a web server.
fn scans(folder: &Path, rounds: usize) -> Outcome {
    make("files", folder, Some(FILES))?;
    let server = Server::start("serve", folder, FILE_LATENCY)?;
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (program, who) in SCANNERS.iter().enumerate() {
            let mut command = command(who);
            command.args(["scan", server.url.as_str(), "1"]);
            if *who != "ncirrus" {
                command.arg(FILES);
            }
            keep(&mut figures, (0, 0, program), super::figures_of(&mut command));
        }
    }
    println!("\n### References for {FILES} netCDF-4 files on a web server, {FILE_LATENCY} ms away");
    super::print_table(&figures, 0, &["scan"], &SCANNERS);
    Ok(())
}

/// Makes data by the script of the peers.
fn make(form: &str, folder: &Path, count: Option<&str>) -> Outcome {
    let status = super::script("icechunk_peers").arg(form).arg(folder).args(count).status();
    if status.map_err(|error| error.to_string())?.success() {
        Ok(())
    } else {
        Err(format!("the data cannot be made ({form})"))
    }
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
