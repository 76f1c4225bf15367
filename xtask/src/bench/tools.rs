//! The commands and tools compared with Debian's and with CDO, and the memory that they take.
use super::Figures;
use crate::peers;
use crate::run::{Outcome, cargo, command};
use std::path::Path;

const CASES: [&str; 7] = ["dump-classic", "dump-deflate", "generate", "nccopy", "start", "compare", "check"];
/// The last one reads the same values with the library alone.
const PROGRAMS: [&str; 4] = ["ncirrus", "debian", "cdo", "whole read"];
const LARGE: [&str; 5] = ["large-dump", "large-check", "large-compare", "large-generate", "large-copy"];
/// GiB of values that the large commands read.
const GIB: &str = "8";

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let binaries = links(folder)?;
    made(&["make"], folder, &[])?;
    table("Commands and tools", folder, &CASES, &PROGRAMS, rounds, &binaries);
    Ok(())
}

/// Measures once how much memory commands take over `NCIRRUS_BENCH_GIB` (8) GiB of values, with `--memory 256M`.
pub(super) fn memory(folder: &Path) -> Outcome {
    let binaries = links(folder)?;
    let gib = std::env::var("NCIRRUS_BENCH_GIB").unwrap_or_else(|_| GIB.to_owned());
    made(&["large"], folder, &[&gib])?;
    table("Memory within a budget of 256 MiB", folder, &LARGE, &["ncirrus"], 1, &binaries);
    Ok(())
}

/// The released command, and its links by the tools' names.
fn links(folder: &Path) -> Result<String, String> {
    peers::debian(&[("cdo", "cdo")])?;
    cargo(&["build", "--release", "--quiet", "--package", "ncirrus-cli"])?;
    let links = folder.join("bin").to_string_lossy().into_owned();
    std::fs::create_dir_all(&links).map_err(|error| format!("{links}: {error}"))?;
    let program = crate::run::target().join("release/ncirrus");
    let name = folder.join("bin/ncirrus");
    std::fs::copy(&program, &name).map_err(|error| format!("{}: {error}", name.display()))?;
    command(&name.to_string_lossy(), &["link", &links], &[])?;
    Ok(links)
}

fn made(words: &[&str], folder: &Path, rest: &[&str]) -> Outcome {
    let status = super::script("tools")
        .args(words)
        .arg(folder)
        .args(rest)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("the files cannot be made".to_owned()) }
}

/// Cases by programs, alternating; ratios are to ours.
fn table(title: &str, folder: &Path, cases: &[&str], programs: &[&str], rounds: usize, binaries: &str) {
    let mut figures = Figures::new();
    for _ in 0..rounds {
        for (row, case) in cases.iter().enumerate() {
            for (column, who) in programs.iter().enumerate() {
                let Some((seconds, peak)) = measure(who, case, folder, binaries) else { continue };
                let best = figures.entry((0, row, column)).or_insert((f64::INFINITY, 0.0));
                *best = (best.0.min(seconds), best.1.max(peak));
            }
        }
    }
    println!("\n### {title}");
    super::print_table(&figures, 0, cases, programs);
}

fn measure(who: &str, case: &str, folder: &Path, binaries: &str) -> Option<(f64, f64)> {
    if who == "whole read" {
        let read = || {
            super::figures_of(super::program().args(["hdf5", "ncirrus", "deflate.nc"]).arg(folder).arg("3"))
        };
        return if case == "check" { read() } else { None };
    }
    super::figures_of(super::script("tools").args([who, case]).arg(folder).args(["1", binaries]))
}
