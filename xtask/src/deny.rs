//! Licences, sources and duplicates of dependencies, and known vulnerabilities: `cargo deny` with `deny.toml`.
use crate::run::{Outcome, command};

/// Runs the checks that are named (`bans`, `licenses`, `sources`, `advisories`); all of them by default. Advisories are
/// fetched from GitHub; without access to it, name the others.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if command("cargo", &["deny", "--version"], &[]).is_err() {
        println!("installing cargo-deny, which takes minutes");
        command("cargo", &["install", "--locked", "cargo-deny"], &[])?;
    }
    let checks = arguments.iter().map(String::as_str);
    let all: Vec<&str> = ["deny", "--locked", "--workspace", "check", "--hide-inclusion-graph"]
        .into_iter()
        .chain(checks)
        .collect();
    command("cargo", &all, &[])
}
