//! What programs and libraries of others import from netCDF's library is there.
use super::library;
use super::symbols::dynamic_symbols;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names that a program or library expects of others.
fn imported(path: &Path) -> BTreeSet<String> {
    let output = Command::new("nm").args(["--dynamic", "--undefined-only"]).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // Names with a version are of the system's libraries.
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(1));
    names.filter(|name| !name.contains('@')).map(str::to_owned).collect()
}

/// The file that the loader finds for a library of a program.
fn loaded_library(program: &str, name: &str) -> PathBuf {
    let output = Command::new("ldd").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    PathBuf::from(line.split_whitespace().nth(2).unwrap())
}

/// Fails unless the library exports all names, which are at least so many.
fn assert_exported(who: &str, names: &BTreeSet<String>, least: usize) {
    assert!(names.len() >= least, "{who} imports {names:?}");
    let own = dynamic_symbols(&library());
    let lost: Vec<&String> = names.difference(&own).collect();
    assert!(lost.is_empty(), "{who}: {lost:?}");
}

#[test]
fn debians_programs_and_libraries_find_every_name() {
    let program = |name: &str| Path::new("/usr/bin").join(name);
    let shared = |name: &str| Path::new("/usr/lib/x86_64-linux-gnu").join(name);
    let importers = [
        (program("ncdump"), 65),
        (program("nccopy"), 70),
        (program("ncgen"), 50),
        (program("ncgen3"), 20),
        (program("ncks"), 1),
        (loaded_library("/usr/bin/ncks", "libnco"), 240),
        (program("cdo"), 30),
        (loaded_library("/usr/bin/cdo", "libcdi"), 80),
        (shared("libnetcdff.so.7"), 230),
        (shared("libnetcdf_c++4.so.1"), 230),
    ];
    let debians = dynamic_symbols(&shared("libnetcdf.so.19"));
    for (importer, least) in importers {
        let names = imported(&importer).intersection(&debians).cloned().collect();
        assert_exported(&importer.to_string_lossy(), &names, least);
    }
}

/// It comes with a library of its own, which would be called for what ours does not have when ours is preloaded.
#[test]
fn the_wheel_of_netcdf4_python_finds_every_name() {
    let Some(python) = ncirrus_testkit::corpus::peers_python() else { return };
    let where_it_is = "import netCDF4._netCDF4 as module; print(module.__file__)";
    let output = Command::new(python).args(["-c", where_it_is]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let module = String::from_utf8(output.stdout).unwrap();
    let mut names = imported(Path::new(module.trim()));
    names.retain(|name| name.starts_with("nc"));
    assert_exported("the wheel", &names, 100);
}
