//! Whether the project compiles for other systems, as far as `cargo check` reports without their linkers and libraries.
use crate::run::{self, Outcome};
use std::path::Path;

/// The targets of Windows and macOS.
const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Checks the command for each target whose standard library is installed, and says for which it is not.
pub(crate) fn run(_: &[String]) -> Outcome {
    let root = run::output("rustc", &["--print", "sysroot"], &[])?;
    let libraries = Path::new(root.trim()).join("lib/rustlib");
    let mut failed = Vec::new();
    for target in TARGETS {
        if !libraries.join(target).join("lib").exists() {
            println!(
                "{target}: not checked: the toolchain has no standard library for it (`rustup target add {target}`)"
            );
            continue;
        }
        let check = ["check", "--locked", "--target", target, "--package", "ncirrus-cli"];
        match run::cargo(&check) {
            Ok(()) => println!("{target}: compiles"),
            Err(message) => failed.push(format!("{target}: {message}")),
        }
    }
    println!("the toolchain has standard libraries for: {}", installed(&libraries).join(", "));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n  ")) }
}

/// The targets with a standard library.
fn installed(libraries: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    let found = entries.filter(|entry| entry.path().join("lib").is_dir());
    let mut names: Vec<String> =
        found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
