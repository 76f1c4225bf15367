//! ncirrus compared with its peers and with a bare loop, in one run:
//! `cargo xtask bench [FOLDER [ROUNDS [aggregate|capi|cloud|dap|hdf5|icechunk|manifest|members|memory|netcdf4|optimize|python|shards|tools|write|zarr]]]`.
mod aggregate;
mod capi;
mod cloud;
mod dap;
mod hdf5;
mod hdf5_write;
mod icechunk;
mod members;
mod optimize;
mod python;
mod shards;
mod tools;

use crate::peers;
use crate::run::{Outcome, cargo, ended_within, project};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const CODECS: [&str; 5] = ["raw", "zstd", "blosc", "zlib", "shuffle-zlib"];
const OPERATIONS: [&str; 4] = ["read", "write", "series", "strided"];
const PROGRAMS: [&str; 7] =
    ["limit", "ncirrus", "zarr-python", "zarr-fused", "zarrs-python", "tensorstore", "netcdf-c"];

/// Smallest time in seconds and peak memory in MiB, by table, case and program.
type Figures = BTreeMap<(usize, usize, usize), (f64, f64)>;

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    peers::install()?;
    peers::python_packages("peers/bench.txt")?;
    cargo(&["build", "--release", "--quiet", "--package", "ncirrus-bench"])?;
    let folder = arguments.first().map_or_else(|| project().join("target/bench-data"), PathBuf::from);
    let rounds: usize =
        arguments.get(1).map_or(Ok(3), |text| text.parse()).map_err(|_| "ROUNDS is not a number")?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let only = arguments.get(2).map(String::as_str);
    let requested = |part| only.is_none_or(|only| only == part);
    if requested("zarr") {
        zarr(&folder, rounds)?;
    }
    if requested("zarr") || requested("shards") {
        shards::run(&folder, rounds)?;
    }
    if requested("aggregate") {
        aggregate::run(&folder, rounds)?;
    }
    if requested("cloud") {
        cloud::run(&folder, rounds)?;
    }
    if requested("dap") {
        dap::run(&folder, rounds)?;
    }
    if requested("hdf5") {
        hdf5::run(&folder, rounds)?;
    }
    if requested("icechunk") {
        icechunk::run(&folder, rounds)?;
    }
    if requested("python") {
        python::run(&folder, rounds)?;
    }
    if requested("netcdf4") {
        python::run_netcdf4(&folder, rounds)?;
    }
    if requested("write") {
        hdf5_write::run(&folder, rounds)?;
    }
    if requested("tools") {
        tools::run(&folder, rounds)?;
    }
    if requested("optimize") {
        optimize::run(&folder, rounds)?;
    }
    if requested("capi") {
        capi::run(&folder, rounds)?;
    }
    // Many files: only by name.
    if only == Some("members") {
        members::run(&folder, rounds)?;
    }
    // icechunk takes 12 GB of memory to make the data: only by name.
    if only == Some("manifest") {
        icechunk::long_manifest(&folder)?;
    }
    // Many gigabytes: only by name.
    if only == Some("memory") {
        tools::memory(&folder)?;
    }
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn zarr(folder: &Path, rounds: usize) -> Outcome {
    for codec in CODECS {
        measure("ncirrus", codec, "write", folder)
            .ok_or_else(|| format!("{codec}: the data cannot be written"))?;
    }
    let mut figures = Figures::new();
    for _ in 0..rounds {
        one_round(folder, &mut figures);
    }
    for (o, operation) in OPERATIONS.iter().enumerate() {
        println!("\n### {operation}");
        print_table(&figures, o, &CODECS, &PROGRAMS);
    }
    Ok(())
}

/// Every program once for every case, alternating, so that a busy moment of the machine affects all alike.
fn one_round(folder: &Path, figures: &mut Figures) {
    for (o, operation) in OPERATIONS.iter().enumerate() {
        for (c, codec) in CODECS.iter().enumerate() {
            for (p, program) in PROGRAMS.iter().enumerate() {
                let Some((seconds, peak)) = measure(program, codec, operation, folder) else { continue };
                let best = figures.entry((o, c, p)).or_insert((f64::INFINITY, 0.0));
                *best = (best.0.min(seconds), best.1.max(peak));
            }
        }
    }
}

fn measure(name: &str, codec: &str, operation: &str, folder: &Path) -> Option<(f64, f64)> {
    let runs = if operation == "write" { "2" } else { "5" };
    let ours = matches!(name, "ncirrus" | "limit");
    let mut command = if ours { program() } else { script("peers") };
    figures_of(command.args([name, codec, operation]).arg(folder).arg(runs))
}

/// The program that measures the library and the bare loop.
fn program() -> Command {
    Command::new(crate::run::target().join("release/ncirrus-bench"))
}

/// A script that measures peers, `benches/NAME.py`.
fn script(name: &str) -> Command {
    let mut command = Command::new(peers::python());
    command.arg(format!("benches/{name}.py")).current_dir(project());
    command
}

/// What measures `who`: the program, by its subcommand, or the script of that name.
fn measuring(who: &str, name: &str) -> Command {
    if !matches!(who, "ncirrus" | "limit") {
        return script(&name.replace('-', "_"));
    }
    let mut command = program();
    command.arg(name);
    command
}

/// What the runs of one case by one program may take together, in seconds.
const MAX_SECONDS: u64 = 120;

/// The seconds and MiB that a program prints; `None` if it fails, infinite seconds if it takes longer than [`MAX_SECONDS`].
fn figures_of(command: &mut Command) -> Option<(f64, f64)> {
    // A group of its own: what the program has started ends with it, else it would disturb what is measured next.
    let mut program = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    if ended_within(&mut program, Duration::from_secs(MAX_SECONDS)).ok()?.is_none() {
        _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", program.id())]).status();
        return Some((f64::INFINITY, 0.0));
    }
    let output = program.wait_with_output().ok()?;
    let line: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some((line["seconds"].as_f64()?, line["peak_kib"].as_f64()? / 1024.0))
}

/// One table: a row per case, a column per program, the first of which is the limit.
fn print_table(figures: &Figures, table: usize, cases: &[&str], programs: &[&str]) {
    println!("\n| case | {} |", programs.join(" | "));
    println!("|---|{}", "---|".repeat(programs.len()));
    for (c, case) in cases.iter().enumerate() {
        let limit = figures.get(&(table, c, 0)).map(|figure| figure.0);
        let cell = |p: usize| match (figures.get(&(table, c, p)), limit) {
            (Some((seconds, _)), _) if seconds.is_infinite() => format!("over {MAX_SECONDS} s for all runs"),
            (Some((seconds, peak)), Some(limit)) => {
                format!("{} ({:.2}), {peak:.0} MiB", described(*seconds), seconds / limit)
            }
            (Some((seconds, peak)), None) => format!("{}, {peak:.0} MiB", described(*seconds)),
            (None, _) => "-".to_owned(),
        };
        println!("| {case} | {} |", (0..programs.len()).map(cell).collect::<Vec<_>>().join(" | "));
    }
}

/// A time with three significant digits.
fn described(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-6 => format!("{:.0} ns", seconds * 1e9),
        seconds if seconds < 0.001 => format!("{:.1} us", seconds * 1e6),
        seconds if seconds < 0.01 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.3} s"),
    }
}
