//! HDF5 files, local and on a server that answers with a delay, compared with h5py, netCDF4-python and h5netcdf.
use super::Figures;
use super::cloud::Server;
use crate::run::Outcome;
use std::path::Path;

/// Milliseconds that the server waits before each answer.
const LATENCY: &str = "50";
const CASES: [&str; 5] = ["raw", "zstd", "deflate", "series", "open"];
const PLACES: [&str; 2] = ["local", "50 ms away"];
const PROGRAMS: [&str; 5] = ["limit", "ncirrus", "h5py", "netcdf4", "h5netcdf"];

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let made = super::script("hdf5").arg("make").arg(folder).status().map_err(|error| error.to_string())?;
    if !made.success() {
        return Err("the HDF5 files cannot be made".to_owned());
    }
    let server = Server::start("serve", folder, LATENCY)?;
    let places = [folder.to_string_lossy().into_owned(), server.url.clone()];
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (place, at) in places.iter().enumerate() {
            for (case, name) in CASES.iter().enumerate() {
                for (program, who) in PROGRAMS.iter().enumerate() {
                    let Some((seconds, peak)) = measure(who, name, at) else { continue };
                    let best = figures.entry((place, case, program)).or_insert((f64::INFINITY, 0.0));
                    *best = (best.0.min(seconds), best.1.max(peak));
                }
            }
        }
    }
    for (place, title) in PLACES.iter().enumerate() {
        println!("\n### HDF5, {title}");
        super::print_table(&figures, place, &CASES, &PROGRAMS);
    }
    Ok(())
}

fn measure(who: &str, case: &str, place: &str) -> Option<(f64, f64)> {
    let mut command = super::measuring(who, "hdf5");
    super::figures_of(command.args([who, case, place, "3"]))
}
