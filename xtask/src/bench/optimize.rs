//! `ncirrus optimize` beside `cmip7repack` and `h5repack`, each a process of its own (`benches/optimize.py`).
use crate::peers;
use crate::run::{Outcome, cargo};
use std::path::Path;

/// Measures everything several times, alternating between programs, and prints tables in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    peers::debian(&[("h5repack", "hdf5-tools")])?;
    cargo(&["build", "--release", "--quiet", "--package", "ncirrus-cli"])?;
    let status = super::script("optimize")
        .arg(folder.join("optimize"))
        .arg(rounds.to_string())
        .env("NCIRRUS_BINARY", crate::run::target().join("release/ncirrus"))
        .status()
        .map_err(|error| format!("benches/optimize.py: {error}"))?;
    if status.success() { Ok(()) } else { Err("benches/optimize.py failed".to_owned()) }
}
