//! Programs on our C library and on Debian's, the same binary: `cargo xtask bench FOLDER ROUNDS capi`.
use super::cloud::Server;
use crate::capi::linked_folder;
use crate::peers;
use crate::run::{Outcome, command, project, target};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// MiB of values in the large files: `NCIRRUS_BENCH_MIB`.
const MIB: &str = "512";

/// Milliseconds that the server waits before each answer.
const LATENCY: &str = "50";

/// A row of the table: what it is called, and the command. `OUT` is a file for what it writes, `URL` the folder on a server, `BENCH` the
/// program of `benches/capi.c`, which prints the seconds of one call.
const CASES: [(&str, &str); 26] = [
    ("nccopy, classic", "nccopy big3.nc OUT"),
    ("nccopy, contiguous", "nccopy bigc.nc OUT"),
    ("nccopy, deflated", "nccopy big4.nc OUT"),
    ("nccopy, zstd", "nccopy bigz.nc OUT"),
    ("nccopy -d1 -s", "nccopy -d1 -s big4.nc OUT"),
    ("nccopy, rechunked", "nccopy -c y/500,x/20 big4.nc OUT"),
    ("ncdump, classic", "ncdump part3.nc"),
    ("ncdump, contiguous", "ncdump partc.nc"),
    ("ncdump, deflated", "ncdump part4.nc"),
    ("ncdump, zstd", "ncdump partz.nc"),
    ("ncra, deflated", "ncra -O big4.nc OUT"),
    ("timmean, deflated", "cdo -s -L -O timmean big4.nc OUT"),
    ("get one value, classic", "BENCH get1 small3.nc"),
    ("get one value, deflated", "BENCH get1 small4.nc"),
    ("put one value, classic", "BENCH put1 small3.nc"),
    ("put one value, deflated", "BENCH put1 small4.nc"),
    ("records of 4 variables, classic", "BENCH records3 OUT 100000"),
    ("records of 4 variables, netCDF-4", "BENCH records4 OUT 30000"),
    ("records of 4 x 100 values, classic", "BENCH rows3 OUT 20000"),
    ("records of 4 x 100 values, netCDF-4", "BENCH rows4 OUT 5000"),
    ("define mode for each record, netCDF-4", "BENCH rounds OUT 2000"),
    ("open and close, classic", "BENCH open tiny3.nc 20000"),
    ("open and close, netCDF-4", "BENCH open tiny4.nc 5000"),
    ("open 1,000 variables", "BENCH open many.nc 50"),
    ("point of 128 records, 50 ms away", "BENCH series URL/big4.nc#mode=bytes 128"),
    ("point of 128 records, local", "BENCH series big4.nc 128"),
];

/// Measures everything several times, alternating between libraries, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    peers::debian(&[
        ("nccopy", "netcdf-bin"),
        ("ncra", "nco"),
        ("cdo", "cdo"),
        ("nc-config", "libnetcdf-dev"),
        ("cc", "gcc"),
    ])?;
    crate::capi::build(&[])?;
    let folder = std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let plugins = plugins()?;
    let bench = made(&folder, &plugins)?;
    let server = Server::start("serve", &folder, LATENCY)?;
    let ours = linked_folder(&folder.join("lib"), &target().join("release/libncirrus_netcdf.so"))?;
    let newest = newest()?;
    let newer = linked_folder(&folder.join("newer"), &newest)?;
    let needed = newest.parent().unwrap_or(Path::new(""));
    let newer = PathBuf::from(format!("{}:{}", newer.display(), needed.display()));
    let place = CaseFiles { ours, newer, url: server.url.clone(), folder, bench, plugins };
    println!("\n| case | Debian's | ours | ratio |\n|---|---|---|---|");
    for (name, case) in CASES {
        let mut best = [None::<(f64, f64)>; 2];
        for _ in 0..rounds.max(1) {
            // Debian's library reads nothing by HTTP.
            let reference = case.contains("URL").then_some(place.newer.as_path());
            for (best, library) in best.iter_mut().zip([reference, Some(place.ours.as_path())]) {
                let Some((seconds, mib)) = place.figures(case, library) else { continue };
                let known = best.unwrap_or((f64::INFINITY, 0.0));
                *best = Some((known.0.min(seconds), known.1.max(mib)));
            }
        }
        let described = |cell: Option<(f64, f64)>| match cell {
            Some((seconds, mib)) => format!("{}, {mib:.0} MiB", super::described(seconds)),
            None => "-".to_owned(),
        };
        let ratio = best[0].zip(best[1]).map_or("-".to_owned(), |(a, b)| format!("{:.2}", a.0 / b.0));
        println!("| {name} | {} | {} | {ratio} |", described(best[0]), described(best[1]));
    }
    Ok(())
}

/// What the commands work with.
struct CaseFiles {
    folder: PathBuf,
    bench: PathBuf,
    ours: PathBuf,
    /// With netCDF-C 4.10.1; then what this needs.
    newer: PathBuf,
    url: String,
    plugins: String,
}

/// The library that netCDF4-python brings along: netCDF-C 4.10.1.
fn newest() -> Result<PathBuf, String> {
    let program = "import netCDF4, pathlib; folder = pathlib.Path(netCDF4.__file__).parents[1] / 'netcdf4.libs'; \
                   print(next(folder.glob('libnetcdf-*')))";
    answered(program).map(PathBuf::from)
}

/// Compiles the program and makes the files, with Debian's library.
fn made(folder: &Path, plugins: &str) -> Result<PathBuf, String> {
    let bench = folder.join("capi");
    let (program, source) = (bench.to_string_lossy(), project().join("benches/capi.c"));
    command("cc", &["-O2", "-o", &program, &source.to_string_lossy(), "-lnetcdf"], &[])?;
    let mib = std::env::var("NCIRRUS_BENCH_MIB").unwrap_or_else(|_| MIB.to_owned());
    let kinds = [("3", "classic"), ("c", "contiguous"), ("4", "deflated"), ("z", "zstd")];
    let large = kinds.into_iter().map(|(end, kind)| (format!("big{end}.nc"), kind, mib.as_str()));
    let parts = kinds.into_iter().map(|(end, kind)| (format!("part{end}.nc"), kind, "64"));
    let small = [
        ("small3.nc", "classic", "4"),
        ("small4.nc", "deflated", "4"),
        ("tiny3.nc", "tiny", "3"),
        ("tiny4.nc", "tiny", "4"),
        ("many.nc", "many", "1"),
    ];
    let small = small.into_iter().map(|(file, kind, size)| (file.to_owned(), kind, size));
    for (file, kind, size) in large.chain(parts).chain(small) {
        let file = folder.join(file);
        command(&program, &[kind, &file.to_string_lossy(), size], &[("HDF5_PLUGIN_PATH", plugins)])?;
    }
    Ok(bench)
}

/// HDF5's plug-ins, which Debian's library needs for Zstandard.
fn plugins() -> Result<String, String> {
    answered("import hdf5plugin; print(hdf5plugin.PLUGINS_PATH)")
}

/// The line that a program of Python prints.
fn answered(program: &str) -> Result<String, String> {
    let output = Command::new(peers::python()).args(["-c", program]).output();
    let output = output.map_err(|error| format!("Python cannot be run: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl CaseFiles {
    /// The seconds of a command, or those of one call that it prints, and the peak of its memory in MiB. `None` if it fails.
    fn figures(&self, case: &str, library: Option<&Path>) -> Option<(f64, f64)> {
        let words = case.split_whitespace().map(|word| match word {
            "OUT" => self.folder.join("out.nc").into_os_string(),
            other => other.replace("URL", self.url.trim_end_matches('/')).into(),
        });
        let mut command = Command::new(&self.bench);
        command.current_dir(&self.folder).stdin(Stdio::null()).env("HDF5_PLUGIN_PATH", &self.plugins);
        if case.starts_with("BENCH ") {
            command.args(words.skip(1))
        } else {
            command.arg("run").args(words)
        };
        if let Some(library) = library {
            command.env("LD_LIBRARY_PATH", library);
        }
        super::figures_of(&mut command)
    }
}
