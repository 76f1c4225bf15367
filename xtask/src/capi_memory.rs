//! Programs with the C library under valgrind: no access to memory that was not allocated, no leaks: `cargo xtask capi-memory`.
use crate::netcdf_c::{self, loaded_from};
use crate::netcdf_source::configured;
use crate::run::{Outcome, command_in, ended_within, program, project, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Programs of `crates/capi/tests/c`, with their arguments: all that need neither a server nor a damaged file system.
const PROGRAMS: [(&str, &str); 50] = [
    ("bytes_of_names", "."),
    ("closing", ". 3"),
    ("closing", ". 4"),
    ("conversions", "."),
    ("data_text", "."),
    ("default_chunks", "."),
    ("default_slabs", "."),
    ("defining_types", "."),
    ("enddef_sizes", ". 211"),
    ("faults", ". classic"),
    ("faults", ". netCDF-4"),
    ("file_names", "."),
    ("fill_changes", "."),
    ("filters", "."),
    ("first_thread", "a.nc closes"),
    ("found_again", "."),
    ("fork_sessions", "."),
    ("forks", "."),
    ("found_by_hunting", "."),
    ("large_chunks", "."),
    ("late_calls", "."),
    ("late_fill", "."),
    ("lent", "."),
    ("limits", "."),
    ("locked", "."),
    ("locked_room", "."),
    ("moved", "."),
    ("narrowing", "."),
    ("newer", "."),
    ("nulls", "."),
    ("one_path", ". 4"),
    ("opens", ". 300 reading3.nc reading4.nc"),
    ("own", "."),
    ("places", "."),
    ("reading", "reading3.nc"),
    ("reading", "reading4.nc"),
    ("records", "."),
    ("sequences", "run . 0 20"),
    ("shared", "added a.nc 4"),
    ("shared", "writer a.nc 4"),
    ("shared", "abort a.nc 4"),
    ("signals", "."),
    ("small_puts", "."),
    ("threads", ". 3 4"),
    ("types", "types.nc"),
    ("unfilled", "."),
    ("user_formats", "."),
    ("version2", "."),
    ("version2_messages", "."),
    ("writing", "."),
];

/// What takes longer is not waited for.
const LONGEST: Duration = Duration::from_secs(1200);

/// Runs the own programs, or with `netcdf-c` those of netCDF-C's tests; all, or those whose name contains a text.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    crate::peers::debian(&[("valgrind", "valgrind"), ("nc-config", "libnetcdf-dev"), ("cc", "gcc")])?;
    crate::capi::build_checked()?;
    let only = arguments.get(1).map_or("", String::as_str);
    match arguments.first().map(String::as_str) {
        None | Some("own") => own_programs(only),
        Some("netcdf-c") => programs_of_netcdf_c(only),
        Some(other) => Err(format!("no programs {other:?}: own or netcdf-c")),
    }
}

/// Each must have no error.
fn own_programs(only: &str) -> Outcome {
    let folder = target().join("capi-memory/programs");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let library = loaded_from(&folder)?;
    let include = folder.to_string_lossy();
    let headers = target().join("checked").join(program("ncirrus-netcdf-headers"));
    command_in(&folder, &headers.to_string_lossy(), &[&include])?;
    for (kind, name) in [("classic", "reading3"), ("netCDF-4", "reading4"), ("netCDF-4", "types")] {
        let text = if name == "types" { TYPES } else { READING };
        let path = folder.join("text.cdl");
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        command_in(&folder, "ncgen", &["-k", kind, "-o", &format!("{name}.nc"), "text.cdl"])?;
    }
    let mut wrong = Vec::new();
    for (name, arguments) in PROGRAMS.iter().filter(|(name, _)| name.contains(only)) {
        compile(&folder, name, &library)?;
        let mut command = valgrind(&folder, name, options(name));
        command.args(arguments.split(' ')).env("LD_LIBRARY_PATH", &library).env("NCIRRUS_FAULT", "");
        let errors = errors_of(&mut command, &folder, name)?;
        println!("{name} {arguments}: {}", described(errors));
        if errors != Some(0) {
            wrong.push(format!("{name} {arguments}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("errors of memory: {}", wrong.join(", "))) }
}

/// Options of valgrind for a program.
fn options(name: &str) -> &'static [&'static str] {
    match name {
        // Children of a process with threads have none of them, and lose what those held.
        "fork_sessions" | "forks" | "shared" => &["--child-silent-after-fork=yes"],
        // They keep strings and memory that they got.
        "conversions" | "sequences" => &["--leak-check=no"],
        _ => &[],
    }
}

/// What `reading` and `types` ask.
const READING: &str = include_str!("capi_memory/reading.cdl");
const TYPES: &str = include_str!("capi_memory/types.cdl");

fn compile(folder: &Path, name: &str, library: &Path) -> Outcome {
    let source = project().join(format!("crates/capi/tests/c/{name}.c"));
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Werror", "-g", "-I.", "-o", name]).arg(source).arg("-L").arg(library);
    command.args(["-l:libnetcdf.so.19", "-lpthread", "-lm"]).current_dir(folder);
    let status = command.status().map_err(|error| format!("cc cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}.c does not compile")) }
}

/// Runs every program that passes with Debian's library. Many lose memory themselves, so none may have more errors with
/// ours than with Debian's.
fn programs_of_netcdf_c(only: &str) -> Outcome {
    let source = configured()?;
    let library = loaded_from(&source)?;
    let mut names = netcdf_c::programs(&source)?;
    // They ask HDF5 only.
    names.retain(|name| !name.starts_with("h5_test/"));
    let mut wrong = Vec::new();
    for name in names.iter().filter(|name| name.contains(only)) {
        let Some((folder, program)) = netcdf_c::compiled(&source, name)? else { continue };
        let folder = source.join(folder);
        let passes = |library| netcdf_c::passes(&folder, program, library, netcdf_c::LONGEST);
        if !passes(None)? || !passes(Some(library.as_path()))? {
            continue;
        }
        let mut command = valgrind(&folder, program, &[]);
        let errors = errors_of(command.env("LD_LIBRARY_PATH", &library), &folder, program)?;
        let reference = match errors {
            Some(0) | None => Some(0),
            Some(_) => errors_of(&mut valgrind(&folder, program, &[]), &folder, program)?,
        };
        println!("{name}: {}, {} with Debian's library", described(errors), described(reference));
        if errors > reference {
            wrong.push(name.as_str());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("errors of memory: {}", wrong.join(", "))) }
}

fn described(errors: Option<usize>) -> String {
    errors.map_or("no end".to_owned(), |errors| format!("{errors} errors"))
}

/// A program in its folder under valgrind, which writes a file for each process.
fn valgrind(folder: &Path, program: &str, more: &[&str]) -> Command {
    let mut command = Command::new("valgrind");
    let log = folder.join(format!("{program}.%p.valgrind"));
    command.args(["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    command.arg(format!("--log-file={}", log.display())).args(more);
    command.arg(folder.join(program)).current_dir(folder);
    command
}

/// How many errors valgrind found in a program and its children, or nothing if it did not end in time.
fn errors_of(command: &mut Command, folder: &Path, program: &str) -> Result<Option<usize>, String> {
    for log in logs(folder, program)? {
        fs::remove_file(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("valgrind cannot be run: {error}"))?;
    if ended_within(&mut child, LONGEST).map_err(|error| format!("{program}: {error}"))?.is_none() {
        return Ok(None);
    }
    let mut errors = 0;
    for log in logs(folder, program)? {
        let text = fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        errors += contexts(&String::from_utf8_lossy(&text));
    }
    Ok(Some(errors))
}

fn logs(folder: &Path, program: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_log = |name: &str| name.starts_with(&format!("{program}.")) && name.ends_with(".valgrind");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| is_log(name)).map(|name| folder.join(name)).collect())
}

/// The number of different errors that valgrind reports at the end. A process that is killed has no end.
fn contexts(log: &str) -> usize {
    let described = log.lines().rev().find_map(|line| line.split_once(" errors from ")?.1.split(' ').next());
    described.and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::contexts;

    #[test]
    fn the_last_summary_of_valgrind_counts() {
        let line = "==7== ERROR SUMMARY: 5 errors from 2 contexts (suppressed: 0 from 0)\n";
        assert_eq!(contexts(line), 2);
        assert_eq!(contexts(&format!("{line}{}", line.replace("2 contexts", "3 contexts"))), 3);
        assert_eq!(contexts("==7== Memcheck, a memory error detector\n"), 0);
    }
}
