//! The command and the C library for any Linux on x86-64 whose glibc is not older than 2.28, by zig.
use super::tools;
use crate::run::{self, target};
use std::path::PathBuf;

/// The architecture.
pub(super) const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// The oldest glibc, as for the wheel (`manylinux_2_28`).
pub(super) const OLDEST: (u32, u32) = (2, 28);

/// Builds both at once: alone, each would build all other crates again, for another kind of linking. Returns the folder
/// with the program and the libraries.
pub(super) fn build() -> Result<PathBuf, String> {
    let path = tools::path_with_zig()?;
    let triple = format!("{TRIPLE}.{}.{}", OLDEST.0, OLDEST.1);
    let packages = ["--package", "ncirrus-cli", "--package", "ncirrus-capi", "--lib", "--bin", "ncirrus"];
    let build = ["zigbuild", "--quiet", "--release", "--locked", "--target", &triple];
    run::command("cargo", &[&build[..], &packages].concat(), &[("PATH", &path)])?;
    Ok(folder())
}

/// The folder that cargo builds in for the architecture.
pub(super) fn folder() -> PathBuf {
    target().join(TRIPLE).join("release")
}
