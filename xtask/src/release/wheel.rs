//! The sdist and the wheel.
use super::report::StepOutput;
use super::{folder, stage};
use crate::python;
use std::path::PathBuf;

/// Builds both.
pub(super) fn make() -> Result<StepOutput, String> {
    let (sdist, wheel) = python::build_wheel()?;
    let mut names = Vec::new();
    for made in [sdist, wheel] {
        let name = made.file_name().unwrap_or_default().to_string_lossy().into_owned();
        stage::copy(&made, &folder().join(&name))?;
        names.push(name);
    }
    Ok(StepOutput::of(names))
}

/// The wheel among the artefacts.
pub(super) fn path() -> Result<PathBuf, String> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    found.ok_or_else(|| {
        format!("{}: has no wheel; make it with `cargo xtask release wheel`", folder.display())
    })
}
