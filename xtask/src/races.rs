//! Races of writers: `cargo xtask races [RACES] [CELL..]` runs 1,000 of each kind of change, at each kind of place, with the
//! command, the Python package, xarray and the C library, and prints a table (`crates/python/tests/race_table.py`).
//!
//! `target/races/table.tsv` has a row for each cell that was run. Cells that were right are not run again at the same commit.
use crate::capi::{self, linked_folder};
use crate::long::commit;
use crate::run::{self, Outcome, program, project, target};
use crate::{peers, python};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    peers::debian(&[("cc", "gcc"), ("nc-config", "libnetcdf-dev")])?;
    // The package, the server of the benchmarks and the C library; then the command.
    python::build()?;
    capi::build(&[])?;
    let (release, checked) = (target().join("release"), target().join("checked"));
    let home = target().join("races");
    std::fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let compiled = compile(&home)?;
    let library = linked_folder(&home.join("lib"), &release.join("libncirrus_netcdf.so"))?;
    let (races, cells) = match arguments.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.as_str(), rest),
        _ => ("1000", arguments),
    };
    let driver = project().join("crates/python/tests/race_table.py");
    let commit = commit()?;
    let paths = [
        ("--record", home.join("table.tsv")),
        ("--folder", home),
        ("--command", release.join(program("ncirrus"))),
        ("--server", checked.join(program("ncirrus-bench"))),
        ("--c-program", compiled),
        ("--c-library", library),
    ];
    let paths: Vec<(&str, String)> =
        paths.iter().map(|(option, path)| (*option, path.to_string_lossy().into_owned())).collect();
    let driver = driver.to_string_lossy();
    let mut line = vec![&*driver, "--races", races, "--commit", &commit];
    line.extend(paths.iter().flat_map(|(option, path)| [*option, path.as_str()]));
    line.extend(cells.iter().map(String::as_str));
    run::command(&peers::python().to_string_lossy(), &line, &[])
}

/// The C program, with Debian's headers: it finds the library when it starts.
fn compile(folder: &Path) -> Result<PathBuf, String> {
    let source = project().join("crates/capi/tests/c/races.c");
    let compiled = folder.join("races");
    let (from, to) = (source.to_string_lossy(), compiled.to_string_lossy());
    run::command("cc", &["-O1", "-Wall", "-Werror", "-o", &to, &from, "-lnetcdf", "-pthread"], &[])?;
    Ok(compiled)
}
