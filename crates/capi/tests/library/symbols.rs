//! What the library exports.
use super::library;
use std::collections::BTreeSet;
use std::process::Command;

/// The names that a library exports.
pub(super) fn dynamic_symbols(path: &std::path::Path) -> BTreeSet<String> {
    let output = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(2));
    names.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

#[test]
fn exported_are_the_functions_of_the_table_and_nothing_else() {
    let table: BTreeSet<String> = ncirrus_netcdf::functions().iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(table.len(), ncirrus_netcdf::functions().len(), "a name stands twice in the table");
    let variables = ["ncerr", "ncopts"].map(str::to_owned);
    assert_eq!(dynamic_symbols(&library()), table.into_iter().chain(variables).collect());
}

/// Zig, which links what is published, gets this list instead of `--exclude-libs`.
#[test]
fn the_version_script_for_zig_names_what_is_exported() {
    let script = include_str!("../../exports.map");
    let global = script.split("global:").nth(1).unwrap().split("local:").next().unwrap();
    let patterns: Vec<&str> = global.split(';').map(str::trim).filter(|name| !name.is_empty()).collect();
    let is_named = |name: &str| {
        let matches = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == *pattern,
        };
        patterns.iter().any(matches)
    };
    let lost: Vec<String> = dynamic_symbols(&library()).into_iter().filter(|name| !is_named(name)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn the_library_has_the_name_that_programs_load_and_needs_only_the_system() {
    let output = Command::new("objdump").args(["-p"]).arg(library()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("SONAME               libnetcdf.so.19"), "{text}");
    for foreign in ["hdf5", "curl", "xml2", "netcdf.so.1 "] {
        assert!(!text.lines().any(|line| line.contains("NEEDED") && line.contains(foreign)), "{text}");
    }
}

/// The functions that Debian's headers declare and its library has.
fn declared() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("all.c");
    let names = ["netcdf", "netcdf_dispatch", "netcdf_aux", "netcdf_filter", "netcdf_mem"];
    let includes: String = names.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    std::fs::write(&source, includes).unwrap();
    let output = Command::new("gcc").arg("-E").arg("-P").arg(&source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap().replace('\n', " ");
    let debians = dynamic_symbols(std::path::Path::new("/usr/lib/x86_64-linux-gnu/libnetcdf.so.19"));
    let before = |statement: &str| {
        Some(statement.split_once('(')?.0.rsplit([' ', '*']).find(|word| !word.is_empty())?.to_owned())
    };
    text.split(';').filter_map(before).filter(|name| debians.contains(name)).collect()
}

#[test]
fn all_functions_of_debians_headers_are_there() {
    let declared = declared();
    assert_eq!(declared.len(), 433);
    let own = dynamic_symbols(&library());
    let lost: Vec<&String> = declared.iter().filter(|name| !own.contains(*name)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}
