//! An aggregation of 20,000 files compared with cfdm, CFAPyX, xarray and kerchunk, as masters of S3netCDF4, too, and one of a
//! million.
use super::Figures;
use crate::peers;
use crate::run::{Outcome, project};
use std::path::Path;
use std::process::Command;

const CASES: [&str; 2] = ["step", "whole"];
const PROGRAMS: [&str; 8] =
    ["limit", "ncirrus", "s3Dataset-0.4", "s3Dataset-0.5", "cfdm", "cfapyx", "xarray", "kerchunk"];
const COUNT: &str = "20000";
const MANY: &str = "1000000";

/// Measures everything several times, alternating between programs, and prints tables in Markdown. There is no bare
/// loop.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    crate::python::build()?;
    let (few, many) = (folder.join("few"), folder.join("many"));
    make(&few, COUNT)?;
    make(&many, MANY)?;
    let (mut figures, mut large) = (Figures::new(), Figures::new());
    for _ in 0..rounds {
        for (case, name) in CASES.iter().enumerate() {
            for (program, who) in PROGRAMS.iter().enumerate() {
                keep(&mut figures, case, program, measure(who, name, &few));
            }
        }
        keep(&mut large, 0, 1, measure("ncirrus", "step", &many));
    }
    println!("\n### Aggregation of {COUNT} files");
    super::print_table(&figures, 0, &CASES, &PROGRAMS);
    println!("\n### Aggregation of {MANY} files");
    super::print_table(&large, 0, &CASES[..1], &PROGRAMS[..2]);
    Ok(())
}

fn keep(figures: &mut Figures, case: usize, program: usize, measured: Option<(f64, f64)>) {
    let Some((seconds, peak)) = measured else { return };
    let best = figures.entry((0, case, program)).or_insert((f64::INFINITY, 0.0));
    *best = (best.0.min(seconds), best.1.max(peak));
}

fn make(folder: &Path, count: &str) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let made = super::program().args(["aggregate", "make"]).arg(folder).arg(count).status();
    if made.map_err(|error| error.to_string())?.success() {
        Ok(())
    } else {
        Err(format!("{count} fragments cannot be made"))
    }
}

fn measure(who: &str, case: &str, folder: &Path) -> Option<(f64, f64)> {
    let mut command = match who {
        "limit" => return None,
        "ncirrus" => {
            let mut program = super::program();
            program.args(["aggregate", case]);
            program
        }
        who => {
            let python = if who.starts_with("cf") { peers::cfa_python() } else { peers::python() };
            let mut python = Command::new(python);
            python.arg(project().join("benches/aggregate.py")).args([who, case]);
            python
        }
    };
    super::figures_of(command.arg(folder).arg(if case == "step" { "2" } else { "1" }))
}
