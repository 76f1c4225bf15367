//! Programs that the steps use, installed below cargo's build folder.
use super::linux;
use crate::run::{self, target};
use crate::{peers, python};
use std::path::{Path, PathBuf};

/// The path on which zig's and Python's tools are found first.
pub(super) fn path_with_zig() -> Result<String, String> {
    Ok(python::path_of_tools(&peers::release_python()?))
}

/// A program for cargo, in a pinned version. Its folder is to be first on the path.
pub(super) fn cargo_tool(name: &str, version: &str) -> Result<String, String> {
    let root = target().join("tools");
    if !is_installed(&root, name, version) {
        println!("installing {name} {version}, which takes minutes");
        let root = root.to_string_lossy();
        let install = ["install", "--locked", "--force", "--root", &root, "--version", version, name];
        // They run for seconds: it is not worth while to optimise them across crates.
        let quick = [("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")];
        run::command("cargo", &install, &quick)
            .map_err(|error| format!("{name} {version} cannot be installed: {error}"))?;
    }
    let rest = std::env::var("PATH").unwrap_or_default();
    Ok(format!("{}:{rest}", root.join("bin").display()))
}

/// Whether cargo's list of what it installed in a folder has a program in a version.
fn is_installed(root: &Path, name: &str, version: &str) -> bool {
    let list = std::fs::read_to_string(root.join(".crates.toml")).unwrap_or_default();
    list.contains(&format!("\"{name} {version} "))
}

/// The local server of Amazon's protocol, and the program that writes the C headers: they run here only, so they are not
/// built as what ships is.
pub(super) fn helpers() -> Result<PathBuf, String> {
    if let Some(built) = linux::built_elsewhere() {
        return Ok(built);
    }
    let packages = ["--package", "ncirrus-bench", "--package", "ncirrus-capi"];
    let programs = ["--bin", "ncirrus-bench", "--bin", "ncirrus-netcdf-headers"];
    run::cargo(&[&["build", "--quiet"], &packages[..], &programs].concat())?;
    Ok(target().join("debug"))
}
