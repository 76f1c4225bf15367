//! Shared libraries in C for tests.
use crate::corpus::program;
use std::path::Path;
use std::process::Command;

/// Compiles a source file to a shared library; `None` (with a note) without a C compiler.
///
/// # Panics
/// If the source does not compile, and with `CI=true` in the environment if there is no compiler.
#[expect(clippy::panic, reason = "a test cannot go on")]
pub fn shared_library(source: &Path, library: &Path) -> Option<()> {
    let cc = program("cc")?;
    // Another run of the test may have loaded the old one: it is replaced, not changed.
    let new = library.with_extension(std::process::id().to_string());
    let mut command = Command::new(cc);
    command.args(["-std=c99", "-O1", "-Wall", "-shared", "-fPIC", "-o"]).arg(&new).arg(source);
    let compiled = command.status().is_ok_and(|status| status.success());
    if !compiled || std::fs::rename(&new, library).is_err() {
        panic!("{} does not compile to {}", source.display(), library.display());
    }
    Some(())
}
