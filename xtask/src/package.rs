//! Packages as they would be published: each crate must build from its package alone.
use crate::run::{Outcome, cargo};

/// Crates for this repository only.
pub(crate) const OURS: &[&str] = &["ncirrus-testkit", "ncirrus-bench", "ncirrus-fuzz", "xtask"];

/// Packages and builds all of them; arguments are passed to `cargo package`: `--no-verify` only packages, `--list`
/// lists the files.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut all = vec!["package", "--workspace"];
    for name in OURS {
        all.extend(["--exclude", name]);
    }
    all.extend(arguments.iter().map(String::as_str));
    cargo(&all)
}
