//! Programs on our C library and on Debian's, the same binary: `cargo xtask bench FOLDER ROUNDS capi`.
use crate::peers;
use crate::run::{Outcome, cargo, command, project, target};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// MiB of values in the large files: `NCIRRUS_BENCH_MIB`.
const MIB: &str = "512";

/// A row of the table: what it is called, and the command. `OUT` is a file for what it writes, `BENCH` the program of
/// `benches/capi.c`, which prints the seconds of one call.
const CASES: [(&str, &str); 14] = [
    ("nccopy, classic", "nccopy big3.nc OUT"),
    ("nccopy, deflated", "nccopy big4.nc OUT"),
    ("nccopy -d1 -s", "nccopy -d1 -s big4.nc OUT"),
    ("nccopy, rechunked", "nccopy -c y/500,x/20 big4.nc OUT"),
    ("ncdump, classic", "ncdump part3.nc"),
    ("ncdump, deflated", "ncdump part4.nc"),
    ("ncra, deflated", "ncra -O big4.nc OUT"),
    ("get one value, classic", "BENCH get1 small3.nc"),
    ("get one value, deflated", "BENCH get1 small4.nc"),
    ("put one value, classic", "BENCH put1 small3.nc"),
    ("put one value, deflated", "BENCH put1 small4.nc"),
    ("open and close, classic", "BENCH open tiny3.nc 20000"),
    ("open and close, netCDF-4", "BENCH open tiny4.nc 5000"),
    ("open 1,000 variables", "BENCH open many.nc 50"),
];

/// Measures everything several times, alternating between libraries, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    peers::debian(&[
        ("nccopy", "netcdf-bin"),
        ("ncra", "nco"),
        ("nc-config", "libnetcdf-dev"),
        ("cc", "gcc"),
    ])?;
    cargo(&["build", "--release", "--quiet", "--package", "ncirrus-capi"])?;
    let folder = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let library = loaded_from(&folder)?;
    let bench = made(&folder)?;
    println!("\n| case | Debian's | ours | ratio |\n|---|---|---|---|");
    for (name, case) in CASES {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds.max(1) {
            for (best, library) in best.iter_mut().zip([None, Some(&library)]) {
                *best = best.min(seconds(&folder, case, &bench, library.map(PathBuf::as_path))?);
            }
        }
        let [debian, ours] = best;
        println!("| {name} | {} | {} | {:.2} |", super::told(debian), super::told(ours), debian / ours);
    }
    Ok(())
}

/// A folder in which our library has the name that programs load.
#[cfg(unix)]
fn loaded_from(folder: &Path) -> Result<PathBuf, String> {
    let place = folder.join("lib");
    std::fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let link = place.join("libnetcdf.so.19");
    _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(target().join("release/libncirrus_netcdf.so"), &link)
        .map_err(|error| format!("{}: {error}", link.display()))?;
    Ok(place)
}

#[cfg(not(unix))]
fn loaded_from(folder: &Path) -> Result<PathBuf, String> {
    Err(format!("{}: Debian's library is for Linux", folder.display()))
}

/// Compiles the program and makes the files, with Debian's library.
fn made(folder: &Path) -> Result<PathBuf, String> {
    let bench = folder.join("capi");
    let (program, source) = (bench.to_string_lossy(), project().join("benches/capi.c"));
    command("cc", &["-O2", "-o", &program, &source.to_string_lossy(), "-lnetcdf"], &[])?;
    let mib = std::env::var("NCIRRUS_BENCH_MIB").unwrap_or_else(|_| MIB.to_owned());
    let files = [
        ("big3.nc", "classic", mib.as_str()),
        ("big4.nc", "deflated", mib.as_str()),
        ("part3.nc", "classic", "64"),
        ("part4.nc", "deflated", "64"),
        ("small3.nc", "classic", "4"),
        ("small4.nc", "deflated", "4"),
        ("tiny3.nc", "tiny", "3"),
        ("tiny4.nc", "tiny", "4"),
        ("many.nc", "many", "1"),
    ];
    for (file, kind, size) in files {
        command(&program, &[kind, &folder.join(file).to_string_lossy(), size], &[])?;
    }
    Ok(bench)
}

/// The seconds of a command, or those of one call that it prints.
fn seconds(folder: &Path, case: &str, bench: &Path, library: Option<&Path>) -> Result<f64, String> {
    let words = case.split_whitespace().map(|word| match word {
        "OUT" => folder.join("out.nc"),
        "BENCH" => bench.to_owned(),
        other => PathBuf::from(other),
    });
    let words: Vec<PathBuf> = words.collect();
    let Some((program, arguments)) = words.split_first() else { return Err("no command".to_owned()) };
    let is_own = program == bench;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(if is_own { Stdio::piped() } else { Stdio::null() });
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library);
    }
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("{case}: {error}"))?;
    let all = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("{case}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    if !is_own {
        return Ok(all);
    }
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.parse().map_err(|_| format!("{case}: {text:?} is no time"))
}
