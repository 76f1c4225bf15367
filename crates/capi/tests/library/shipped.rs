//! The installed library, as it ships: programs find it by pkg-config, `nc-config` and CMake, and are linked with it.
//!
//! `NCIRRUS_PREFIX` names the folder that `cargo xtask capi` installed to, otherwise it is `prefix` in cargo's folder.
use super::library;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `tests/installed/small.c` prints.
const SMALL: &str = "7 8 9\nsame version: 1\nncirrus: 1\n";

/// The name that programs ask the loader for.
const SONAME: &str = "libnetcdf.so.19";

/// Where the library is installed.
fn prefix() -> Option<PathBuf> {
    let usual = || library().ancestors().nth(3).unwrap().join("prefix");
    let prefix = std::env::var_os("NCIRRUS_PREFIX").map_or_else(usual, PathBuf::from);
    if prefix.join("lib").join(SONAME).exists() {
        return Some(prefix);
    }
    ncirrus_testkit::corpus::left_out("an installed C library (NCIRRUS_PREFIX)");
    None
}

/// A source of the tests.
fn source(name: &str) -> String {
    format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What a program prints that succeeds; it finds what is installed.
fn answered(prefix: &Path, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    printed_by(command.env("LD_LIBRARY_PATH", prefix.join("lib")))
}

fn printed_by(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said)).join("\n");
    assert!(output.status.success(), "{command:?}: {}: {said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles a source to `folder/program`; options follow it.
fn compile(folder: &Path, compiler: &str, source: &str, options: &str) {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Werror", "-o", "program", source]).args(options.split_whitespace());
    printed_by(command.current_dir(folder));
}

/// The libraries that a program asks the loader for.
fn needed(program: &Path) -> Vec<String> {
    let text = printed_by(Command::new("readelf").arg("-d").arg(program));
    let lines = text.lines().filter(|line| line.contains("(NEEDED)"));
    lines.map(|line| line.split(['[', ']']).nth(1).unwrap().to_owned()).collect()
}

/// Fails unless a program runs on the installed library, which it loads.
fn assert_shared(prefix: &Path, folder: &Path, program: &str) -> String {
    let program = folder.join(program).to_string_lossy().into_owned();
    let said = answered(prefix, "ldd", &[&program]);
    let mut lines = said.lines().filter_map(|line| line.trim().split_once(" => "));
    let place = lines.find(|(name, _)| *name == SONAME).map(|(_, place)| Path::new(place));
    assert!(place.is_some_and(|place| place.starts_with(prefix.join("lib"))), "{said}");
    assert_eq!(said.lines().filter(|line| line.contains("libnetcdf.so")).count(), 1, "{said}");
    answered(prefix, &program, &[&folder.to_string_lossy()])
}

/// Fails unless a program runs without a shared library of netCDF.
fn assert_static(folder: &Path, program: &str) -> String {
    let program = folder.join(program);
    let needed = needed(&program);
    assert!(!needed.iter().any(|name| name.contains("libnetcdf.so") || name.contains("hdf5")), "{needed:?}");
    printed_by(Command::new(&program).arg(folder))
}

#[test]
fn pkg_config_finds_the_shared_library() {
    let (Some(prefix), folder) = (prefix(), tempfile::tempdir().unwrap()) else { return };
    let options = answered(&prefix, "pkg-config", &["--cflags", "--libs", "netcdf"]);
    compile(folder.path(), "gcc", &source("installed/small.c"), &options);
    assert_eq!(assert_shared(&prefix, folder.path(), "program"), SMALL);
    assert_eq!(answered(&prefix, "pkg-config", &["--modversion", "netcdf"]), "4.9.0\n");
}

#[test]
fn pkg_config_tells_what_the_static_library_needs() {
    let (Some(prefix), folder) = (prefix(), tempfile::tempdir().unwrap()) else { return };
    let options = answered(&prefix, "pkg-config", &["--static", "--cflags", "--libs", "netcdf"]);
    compile(folder.path(), "gcc", &source("installed/small.c"), &archived(&options));
    assert_eq!(assert_static(folder.path(), "program"), SMALL);
}

/// Options by which the linker takes the static library of two that stand side by side.
fn archived(options: &str) -> String {
    options.replace("-lnetcdf ", "-l:libnetcdf.a ").replace("-lnetcdf\n", "-l:libnetcdf.a\n")
}

#[test]
fn nc_config_tells_how_programs_are_linked() {
    let (Some(prefix), folder) = (prefix(), tempfile::tempdir().unwrap()) else { return };
    let asked =
        |options: &[&str]| answered(&prefix, &prefix.join("bin/nc-config").to_string_lossy(), options);
    let options = asked(&["--cflags", "--libs"]);
    compile(folder.path(), "gcc", &source("installed/small.c"), &options);
    assert_eq!(assert_shared(&prefix, folder.path(), "program"), SMALL);
    let all = asked(&["--cflags", "--libs", "--static"]);
    compile(folder.path(), "gcc", &source("installed/small.c"), &archived(&all));
    assert_eq!(assert_static(folder.path(), "program"), SMALL);
    let cxx = asked(&["--cxx4flags", "--cxx4libs"]);
    compile(folder.path(), "g++", &source("cxx/groups.cpp"), &cxx);
    assert!(assert_shared(&prefix, folder.path(), "program").lines().count() > 30);
    let fortran = asked(&["--fflags", "--flibs"]);
    compile(folder.path(), "gfortran", &source("fortran/model.f90"), &fortran);
    assert!(assert_shared(&prefix, folder.path(), "program").lines().count() > 30);
}

/// The static libraries of C++ and Fortran, and the own one.
#[test]
fn programs_in_cxx_and_fortran_are_linked_with_the_static_library() {
    let (Some(prefix), folder) = (prefix(), tempfile::tempdir().unwrap()) else { return };
    let options = answered(&prefix, "pkg-config", &["--static", "--cflags", "--libs", "netcdf"]);
    let options = archived(&options);
    let cxx = format!("-l:libnetcdf_c++4.a {options}");
    compile(folder.path(), "g++", &source("cxx/groups.cpp"), &cxx);
    assert!(assert_static(folder.path(), "program").lines().count() > 30);
    let fortran = format!("-I/usr/include -l:libnetcdff.a {options}");
    compile(folder.path(), "gfortran", &source("fortran/model.f90"), &fortran);
    assert!(assert_static(folder.path(), "program").lines().count() > 30);
}

#[test]
fn cmake_finds_both_libraries() {
    let (Some(prefix), folder) = (prefix(), tempfile::tempdir().unwrap()) else { return };
    let (from, build) = (source("installed"), folder.path().to_string_lossy().into_owned());
    let found = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    answered(&prefix, "cmake", &["-S", &from, "-B", &build, &found]);
    answered(&prefix, "cmake", &["--build", &build]);
    for program in ["shared", "variables"] {
        assert_eq!(assert_shared(&prefix, folder.path(), program), SMALL);
    }
    assert_eq!(assert_static(folder.path(), "static"), SMALL);
    for program in ["cxx", "fortran"] {
        assert!(assert_shared(&prefix, folder.path(), program).lines().count() > 30);
    }
}
