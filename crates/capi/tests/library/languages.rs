//! Programs in C++ and Fortran, compiled with Debian's libraries for them, on both libraries.
use super::writing::assert_alike_on;
use std::path::Path;
use std::process::Command;

/// Compiles a program of `tests` with the compiler, and the options, of its language.
fn compiled(folder: &Path, compiler: &str, source: &str, options: &[&str]) -> String {
    let source = format!("{}/tests/{source}", env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("program");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Werror", "-I/usr/include", "-o"]).arg(&program).arg(&source).args(options);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program.to_str().unwrap().to_owned()
}

#[test]
fn a_program_in_cxx_does_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "g++", "cxx/groups.cpp", &["-lnetcdf_c++4", "-lnetcdf"]);
    assert_alike_on(folder.path(), &program, &["groups.nc"]);
}

#[test]
fn a_program_in_fortran_90_does_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "gfortran", "fortran/model.f90", &["-lnetcdff"]);
    assert_alike_on(folder.path(), &program, &["model.nc", "classic.nc"]);
}

#[test]
fn a_program_in_fortran_77_does_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "gfortran", "fortran/fixed.f", &["-std=legacy", "-lnetcdff"]);
    assert_alike_on(folder.path(), &program, &["fixed.nc", "second.nc"]);
}
