//! The sdist and the wheel.
use super::report::StepOutput;
use super::{folder, licences, stage};
use crate::python;
use crate::run::project;
use std::fs;
use std::path::PathBuf;

/// Builds both, with the licences of what is linked in.
pub(super) fn make() -> Result<StepOutput, String> {
    let notices = project().join("crates/python/python/ncirrus").join(NOTICES);
    let described = |error: std::io::Error| format!("{}: {error}", notices.display());
    fs::write(&notices, licences::text()?).map_err(described)?;
    // It is not a file of the repository: it is removed even if the build fails.
    let built = python::build_wheel();
    fs::remove_file(&notices).map_err(described)?;
    let (sdist, wheel) = built?;
    let mut names = Vec::new();
    for made in [sdist, wheel] {
        let name = made.file_name().unwrap_or_default().to_string_lossy().into_owned();
        stage::copy(&made, &folder().join(&name))?;
        names.push(name);
    }
    Ok(StepOutput::of(names))
}

/// In the folder of the package, all of whose files are packed.
pub(super) const NOTICES: &str = "THIRD-PARTY.md";

/// The wheel among the artefacts.
pub(super) fn path() -> Result<PathBuf, String> {
    let folder = folder();
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    found.ok_or_else(|| {
        format!("{}: has no wheel; make it with `cargo xtask release wheel`", folder.display())
    })
}
