//! What would be published, packed as it would be: each crate alone must build from its package.
use crate::run::{Outcome, cargo};

/// Crates that are for this repository only.
const OURS: &[&str] = &["ncirrus-testkit", "ncirrus-bench", "ncirrus-fuzz", "xtask"];

/// Packs and builds all of them; arguments go to `cargo package`: `--no-verify` packs only, `--list` names the files.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut all = vec!["package", "--workspace"];
    for name in OURS {
        all.extend(["--exclude", name]);
    }
    all.extend(arguments.iter().map(String::as_str));
    cargo(&all)
}
