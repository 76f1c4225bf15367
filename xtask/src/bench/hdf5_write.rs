//! Writing netCDF-4 files, and rechunking them from maps to series, compared with h5py, netCDF4-python, nccopy, xarray
//! and rechunker.
use super::Figures;
use crate::run::Outcome;
use std::path::Path;

const CASES: [&str; 3] = ["raw", "zstd", "deflate"];
const PROGRAMS: [&str; 4] = ["limit", "ncirrus", "h5py", "netcdf4"];
const RECHUNKERS: [&str; 5] = ["limit", "ncirrus", "nccopy", "xarray", "rechunker"];
/// Steps of 4 MiB that are written, and that are rechunked.
const STEPS: [&str; 2] = ["128", "512"];

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let steps =
        std::env::var("NCIRRUS_BENCH_STEPS").map_or(STEPS.map(str::to_owned), |few| [few.clone(), few]);
    let made = super::script("hdf5_write")
        .arg("make")
        .arg(folder)
        .arg(&steps[1])
        .status()
        .map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("the file to be rechunked cannot be made".to_owned());
    }
    let mut figures = Figures::new();
    let tables = [(&CASES[..], &PROGRAMS[..]), (&["rechunk"][..], &RECHUNKERS[..])];
    for _ in 0..rounds {
        for (table, (cases, programs)) in tables.iter().enumerate() {
            for (case, name) in cases.iter().enumerate() {
                for (program, who) in programs.iter().enumerate() {
                    let Some((seconds, peak)) = measure(who, name, folder, &steps[table]) else { continue };
                    let best = figures.entry((table, case, program)).or_insert((f64::INFINITY, 0.0));
                    *best = (best.0.min(seconds), best.1.max(peak));
                }
            }
        }
    }
    for (table, (title, (cases, programs))) in ["written", "rechunked"].iter().zip(tables).enumerate() {
        println!("\n### netCDF-4, {title}");
        super::print_table(&figures, table, cases, programs);
    }
    Ok(())
}

fn measure(who: &str, case: &str, folder: &Path, steps: &str) -> Option<(f64, f64)> {
    let mut command = super::measuring(who, "hdf5-write");
    let runs = if case == "rechunk" { "1" } else { "2" };
    super::figures_of(command.args([who, case]).arg(folder).args([runs, steps]))
}
