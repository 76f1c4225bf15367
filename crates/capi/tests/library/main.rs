//! The library as programs see it: Debian's programs and own ones in C, loaded with it instead of Debian's library.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod arguments;
mod bad_input;
mod calls;
mod closing;
mod conversions;
mod dumps;
mod exceptions;
mod faults;
mod handles;
mod headers;
mod imports;
mod languages;
mod linear;
mod nulls;
mod opendap;
mod operators;
mod page;
mod pieces;
mod refusals;
mod refused_files;
mod sequences;
mod shipped;
mod symbols;
mod system_calls;
mod threads;
mod unscaled;
mod writing;
mod wrong_arguments;
mod zarr_names;
mod zarr_text;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The shared library that was built with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libncirrus_netcdf.so");
    assert!(library.exists(), "{} was not built", library.display());
    library
}

/// A folder in which the library has the name that programs load.
fn loaded_from(folder: &Path) -> PathBuf {
    let place = folder.join("lib");
    std::fs::create_dir_all(&place).unwrap();
    let link = place.join("libnetcdf.so.19");
    if !link.exists() {
        std::os::unix::fs::symlink(library(), &link).unwrap();
        std::os::unix::fs::symlink(library(), place.join("libnetcdf.so")).unwrap();
    }
    place
}

/// Which library a program runs on.
#[derive(Clone, Copy, PartialEq)]
enum Library {
    Debian,
    Own,
}

/// Runs a program on one of the libraries.
fn run(library: Library, folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    if library == Library::Own {
        command.env("LD_LIBRARY_PATH", loaded_from(folder));
    }
    command.output().unwrap()
}

/// What a program printed, if it succeeded.
fn printed(library: Library, folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = run(library, folder, program, arguments);
    let said = [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said)).join("\n");
    assert!(output.status.success(), "{program} {arguments:?}: {}: {said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
