//! Writes the C headers into a folder: `ncirrus-netcdf-headers FOLDER`. `cargo xtask capi` calls it.
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else { return ExitCode::FAILURE };
    let folder = std::path::Path::new(&folder);
    let written = ncirrus_netcdf::HEADERS
        .iter()
        .try_for_each(|name| std::fs::write(folder.join(name), ncirrus_netcdf::header(name)));
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
