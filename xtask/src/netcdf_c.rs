//! The C programs of netCDF-C's tests, compiled against Debian's headers and library and run with it and with ours:
//! `cargo xtask netcdf-c`.
use crate::capi::{build_checked, linked_folder};
use crate::comparison::{PassedTests, compare};
use crate::netcdf_source::{compile, configured};
use crate::run::{Outcome, ended_within, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Folders with programs.
const FOLDERS: [&str; 7] =
    ["nc_test", "nc_test4", "unit_test", "nczarr_test", "h5_test", "libdap2", "examples/C"];

/// A program that takes longer hangs; some write files of many GiB.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// Further sources of a program, where it has some.
const SOURCES: &[(&str, &[&str])] = &[
    ("nc_test/nc_test", &["error.c", "test_get.c", "test_put.c", "test_read.c", "test_write.c", "util.c"]),
    ("nc_test/t_nc", &[]),
    ("nczarr_test/ut_map", &["ut_util.c", "ut_test.c"]),
    ("nczarr_test/ut_mapapi", &["ut_util.c", "ut_test.c"]),
    ("nczarr_test/ut_json", &["ut_util.c", "ut_test.c"]),
    ("nczarr_test/ut_projections", &["ut_util.c", "ut_test.c"]),
    ("nczarr_test/ut_chunking", &["ut_util.c", "ut_test.c"]),
];

/// Programs that pass with Debian's library and not with ours, each with the reason.
const EXCEPTIONS: &str = include_str!("netcdf_c_exceptions.tsv");

/// Runs every program with both libraries and compares.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    build_checked()?;
    let only = arguments.first().map_or("", String::as_str);
    let source = configured()?;
    let library = loaded_from(&source)?;
    let (mut compiled_count, mut reference, mut found) = (0, PassedTests::new(), PassedTests::new());
    for name in programs(&source)?.iter().filter(|name| name.contains(only)) {
        let Some((folder, program)) = compiled(&source, name)? else { continue };
        compiled_count += 1;
        let folder = source.join(folder);
        if passes(&folder, program, None, LONGEST)? {
            reference.insert(name.clone(), true);
            found.insert(name.clone(), passes(&folder, program, Some(&library), LONGEST)?);
        }
        remove_large(&folder);
    }
    println!("{compiled_count} compile");
    compare(&reference, &found, EXCEPTIONS)
}

/// Files that programs leave in their folder, and that are larger, are removed: some have many GiB, and no other program reads them.
const LARGEST_LEFT: u64 = 256 << 20;

fn remove_large(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.metadata().is_ok_and(|found| found.is_file() && found.len() > LARGEST_LEFT) {
            // One that stays takes room, nothing else.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder and the name of a program, if it compiles.
pub(crate) fn compiled<'a>(source: &Path, name: &'a str) -> Result<Option<(&'a str, &'a str)>, String> {
    let (folder, program) = name.rsplit_once('/').unwrap_or((".", name));
    let others = SOURCES.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, others)| *others);
    let is_there = source.join(name).exists() || compile(source, folder, program, others)?;
    Ok(is_there.then_some((folder, program)))
}

/// A folder beside the source in which our library has the name that programs load.
pub(crate) fn loaded_from(source: &Path) -> Result<PathBuf, String> {
    linked_folder(&source.with_file_name("lib"), &target().join("checked/libncirrus_netcdf.so"))
}

/// All sources with a main function, in the order of their names; those that make files for others come first.
pub(crate) fn programs(source: &Path) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(source.join(folder)) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let text =
                if path.extension().is_some_and(|end| end == "c") { fs::read(&path) } else { continue };
            let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
            if String::from_utf8_lossy(&text).contains("main(") {
                names.push(format!("{folder}/{stem}"));
            }
        }
    }
    let makes = |name: &str| {
        !["tst_create_files", "tst_xplatform2", "tst_h_files"].iter().any(|first| name.ends_with(first))
    };
    names.sort_by_key(|name| (makes(name), name.clone()));
    Ok(names)
}

/// Runs a program without arguments, in its folder; what it prints goes to a file beside it.
pub(crate) fn passes(
    folder: &Path,
    program: &str,
    library: Option<&Path>,
    longest: Duration,
) -> Result<bool, String> {
    let who = if library.is_some() { "ours" } else { "debian" };
    let said = folder.join(format!("{program}.{who}.out"));
    let file = fs::File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
    let both = file.try_clone().map_err(|error| format!("{}: {error}", said.display()))?;
    let mut command = Command::new(folder.join(program));
    command.current_dir(folder).stdin(Stdio::null()).stdout(file).stderr(both);
    if let Some(library) = library {
        command.env("LD_LIBRARY_PATH", library).env("NCIRRUS_STRICT", "1");
    }
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let ended = ended_within(&mut child, longest).map_err(|error| format!("{program}: {error}"))?;
    Ok(ended.is_some_and(|status| status.success()))
}
