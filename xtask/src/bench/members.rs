//! Datasets of 1,000, 10,000 and 100,000 variables, dimensions, groups, attributes and types: created, with a value after each new
//! variable, updated, opened, copied, printed, generated; and defined one by one in Python, beside netCDF4-python. Work that is
//! linear takes ten times as long from one column to the next. In Rust there are no peers.
use super::Figures;
use crate::run::Outcome;
use std::path::Path;
use std::process::Command;

const KINDS: [&str; 3] = ["classic", "nc4", "nczarr"];
const MEMBERS: [&str; 5] = ["variables", "dimensions", "groups", "attributes", "types"];
const CASES: [&str; 7] = ["create", "write", "update", "open", "copy", "dump", "generate"];
const COUNTS: [&str; 3] = ["1000", "10000", "100000"];
/// What is defined in Python: "values" are variables, each with a value before the next.
const DEFINED: [&str; 5] = ["variables", "values", "dimensions", "groups", "attributes"];
const CALLERS: [&str; 3] = ["ncirrus", "ncirrus.netCDF4", "netcdf4"];

/// Measures everything several times, and prints a table for each kind in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let folder = folder.join("members");
    for kind in KINDS {
        head(kind, "members | case");
        for of in MEMBERS.into_iter().filter(|of| kind != "classic" || !matches!(*of, "groups" | "types")) {
            for case in CASES.into_iter().filter(|case| *case != "write" || of == "variables") {
                let measured = |count| {
                    let mut command = super::program();
                    command.args(["members", case, kind, of]).arg(&folder).args([count, "1"]);
                    best_of(rounds, command)
                };
                println!("| {of} | {case} | {} |", COUNTS.map(|count| cell(&measured(count))).join(" | "));
            }
            // Hundreds of thousands of files.
            std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
    }
    run_python(&folder, rounds)
}

/// Definitions one by one, by the package and by netCDF4-python. netCDF-C has no room for 100,000 groups.
fn run_python(folder: &Path, rounds: usize) -> Outcome {
    crate::python::build()?;
    head("defined one by one in Python", "members | by");
    for of in DEFINED {
        for who in CALLERS {
            let measured = |count: &str| {
                let mut command = super::script("members");
                command.args([who, of]).arg(folder).args([count, "1"]);
                best_of(rounds, command)
            };
            println!("| {of} | {who} | {} |", COUNTS.map(|count| cell(&measured(count))).join(" | "));
        }
    }
    Ok(())
}

fn head(title: &str, columns: &str) {
    println!(
        "\n### Many members, {title}\n\n| {columns} | 1,000 | 10,000 | 100,000 |\n|---|---|---|---|---|"
    );
}

fn best_of(rounds: usize, mut command: Command) -> Figures {
    let mut figures = Figures::new();
    for _ in 0..rounds {
        if let Some((seconds, peak)) = super::figures_of(&mut command) {
            let best = figures.entry((0, 0, 0)).or_insert((f64::INFINITY, 0.0));
            *best = (best.0.min(seconds), best.1.max(peak));
        }
    }
    figures
}

fn cell(figures: &Figures) -> String {
    match figures.values().next() {
        Some((seconds, _)) if seconds.is_infinite() => format!("over {} s", super::MAX_SECONDS),
        Some((seconds, peak)) => format!("{}, {peak:.0} MiB", super::described(*seconds)),
        None => "-".to_owned(),
    }
}
