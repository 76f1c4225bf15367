//! The Python package compared with Rust, and with the other engines of xarray and Dask.
use super::Figures;
use super::cloud::Server;
use crate::run::Outcome;
use std::path::Path;

/// Milliseconds that servers wait before each answer.
const LATENCY: &str = "50";
/// The library without Python.
const RUST: &str = "Rust";
const ZARR: [&str; 4] = ["raw", "zstd", "blosc", "shuffle-zlib"];
const NETCDF: [&str; 3] = ["raw", "zstd", "deflate"];
const WAYS: [(&str, &str); 2] = [("read", "into an array that is there"), ("fresh", "into a new array")];
const ENGINES: [&str; 4] = ["open", "whole", "series", "points"];
const DASK: [&str; 4] = ["mean-threads", "mean-processes", "write-threads", "write-processes"];
const FILES: [&str; 3] = ["ncirrus", "netcdf4", "h5netcdf"];
const TREES: [&str; 2] = ["ncirrus-zarr", "zarr"];
const FAR_TREES: [&str; 3] = ["ncirrus-zarr", "zarr-s3fs", "zarr-obstore"];
const CALLERS: [&str; 6] = [RUST, "ncirrus", "h5py", "netcdf4", "h5netcdf", "zarr"];

/// Measures everything several times, alternating between programs, and prints tables in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    crate::python::build()?;
    let made = super::script("python").arg("make").arg(folder).status().map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("the files cannot be made".to_owned());
    }
    for codec in ZARR {
        let written = super::measure("ncirrus", codec, "write", folder);
        written.ok_or_else(|| format!("{codec}: the data cannot be written"))?;
    }
    let here = folder.to_string_lossy().into_owned();
    reads(&here, rounds);
    table("Small things", &["element", "import"], &CALLERS, &here, rounds);
    table("xarray, netCDF-4, local", &ENGINES, &FILES, &here, rounds);
    table("xarray, Zarr, local", &ENGINES, &TREES, &here, rounds);
    let bucket = folder.join("bench");
    let files = Server::start("serve", &bucket, LATENCY)?;
    table("xarray, netCDF-4, 50 ms away (HTTP)", &ENGINES, &FILES, &files.url, rounds);
    let trees = Server::start("s3", folder, LATENCY)?;
    let there = format!("{}/bench", trees.url);
    table("xarray, Zarr, 50 ms away (S3)", &ENGINES, &FAR_TREES, &there, rounds);
    table("Dask, netCDF-4", &DASK, &FILES, &here, rounds);
    table("Dask, Zarr", &DASK, &TREES, &here, rounds);
    table("1,000 files", &["many"], &FILES, &here, rounds);
    Ok(())
}

/// Whole reads, in Rust and through Python.
fn reads(here: &str, rounds: usize) {
    let trees = ZARR.iter().map(|codec| ((*codec).to_owned(), format!("{here}/{codec}.zarr")));
    let files = NETCDF.iter().map(|codec| (format!("nc-{codec}"), format!("{here}/bench/{codec}.nc")));
    let cases: Vec<(String, String)> = trees.chain(files).collect();
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (row, (case, path)) in cases.iter().enumerate() {
            for (table, (way, _)) in WAYS.iter().enumerate() {
                let rust = super::figures_of(super::program().args(["whole", way, path, "3"]));
                keep(&mut figures, (table, row, 0), rust);
                keep(&mut figures, (table, row, 1), of_python("ncirrus", &format!("{way}-{case}"), here));
            }
        }
    }
    let cases: Vec<&str> = cases.iter().map(|(case, _)| case.as_str()).collect();
    for (table, (_, title)) in WAYS.iter().enumerate() {
        println!("\n### Whole reads of 512 MiB, {title}");
        super::print_table(&figures, table, &cases, &[RUST, "Python"]);
    }
}

/// Cases by programs, alternating.
fn table(title: &str, cases: &[&str], programs: &[&str], place: &str, rounds: usize) {
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (row, case) in cases.iter().enumerate() {
            for (column, who) in programs.iter().enumerate() {
                keep(&mut figures, (0, row, column), of_python(who, case, place));
            }
        }
    }
    println!("\n### {title}");
    super::print_table(&figures, 0, cases, programs);
}

/// The module of netCDF4-python's classes and the original.
const MODULES: [&str; 2] = ["ncirrus", "netcdf4"];
const CALLS: [&str; 12] = [
    "stored-contiguous",
    "stored-deflate",
    "stored-zstd",
    "masked-contiguous",
    "masked-deflate",
    "masked-zstd",
    "packed",
    "row",
    "lists",
    "strides",
    "write",
    "open",
];

/// Measures the calls of netCDF4-python by both modules, and prints tables in Markdown.
pub(super) fn run_netcdf4(folder: &Path, rounds: usize) -> Outcome {
    crate::python::build()?;
    let made =
        super::script("netcdf4").arg("make").arg(folder).status().map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("the files cannot be made".to_owned());
    }
    let here = folder.to_string_lossy().into_owned();
    let files = Server::start("serve", folder, LATENCY)?;
    let tables = [("local", &here, CALLS.as_slice()), ("50 ms away (HTTP)", &files.url, &["series"])];
    for (title, place, cases) in tables {
        let mut figures = Figures::new();
        for _ in 0..rounds {
            for (row, case) in cases.iter().enumerate() {
                for (column, who) in MODULES.iter().enumerate() {
                    let figure =
                        super::figures_of(super::script("netcdf4").args([who, *case, place.as_str(), "3"]));
                    keep(&mut figures, (0, row, column), figure);
                }
            }
        }
        println!("\n### Calls of netCDF4-python, {title}");
        super::print_table(&figures, 0, cases, &MODULES);
    }
    Ok(())
}

fn keep(figures: &mut Figures, at: (usize, usize, usize), figure: Option<(f64, f64)>) {
    let Some((seconds, peak)) = figure else { return };
    let best = figures.entry(at).or_insert((f64::INFINITY, 0.0));
    *best = (best.0.min(seconds), best.1.max(peak));
}

fn of_python(who: &str, case: &str, place: &str) -> Option<(f64, f64)> {
    if who == RUST {
        let file = format!("{place}/bench/deflate.nc");
        return (case == "element")
            .then(|| super::figures_of(super::program().args(["element", &file, "3"])))?;
    }
    super::figures_of(super::script("python").args([who, case, place, "3"]))
}
