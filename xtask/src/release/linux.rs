//! The command and the C library for any Linux on x86-64 whose glibc is not older than 2.28, by zig.
use super::{elf, tools};
use crate::run::{self, Outcome, target};
use std::path::{Path, PathBuf};

/// The architecture.
pub(super) const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// The oldest glibc, as for the wheel (`manylinux_2_28`).
pub(super) const OLDEST: (u32, u32) = (2, 28);

/// Builds both at once: alone, each would build all other crates again, for another kind of linking. Returns the folder
/// with the program and the libraries.
pub(super) fn build() -> Result<PathBuf, String> {
    if let Some(built) = built_elsewhere() {
        return Ok(built);
    }
    let path = tools::path_with_zig()?;
    let triple = format!("{TRIPLE}.{}.{}", OLDEST.0, OLDEST.1);
    let packages = ["--package", "ncirrus-cli", "--package", "ncirrus-capi", "--lib", "--bin", "ncirrus"];
    let build = ["zigbuild", "--quiet", "--release", "--locked", "--target", &triple];
    run::command("cargo", &[&build[..], &packages].concat(), &[("PATH", &path)])?;
    Ok(target().join(TRIPLE).join("release"))
}

/// A folder with programs and libraries that are built already, in `NCIRRUS_RELEASE_BUILT`: they try the recipe itself.
pub(super) fn built_elsewhere() -> Option<PathBuf> {
    std::env::var_os("NCIRRUS_RELEASE_BUILT").map(PathBuf::from)
}

/// Fails if a file does not run on the oldest Linux; one that was built elsewhere may be newer.
pub(super) fn check(file: &Path) -> Outcome {
    match elf::check(file, OLDEST) {
        Ok(found) => println!("{}: {found}", file.display()),
        Err(message) if built_elsewhere().is_some() => println!("not for other systems: {message}"),
        Err(message) => return Err(message),
    }
    Ok(())
}
