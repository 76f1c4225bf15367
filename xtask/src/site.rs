//! The documentation as a site, which MkDocs builds from `mkdocs.yml` in `target/site`.
use crate::run::{Outcome, program, project, target};
use std::path::Path;
use std::process::Command;

/// Builds the site. A page that is missing in the navigation, a link to a page or a heading that does not exist, or any
/// other warning is an error.
pub(crate) fn build(python: &Path) -> Outcome {
    let mkdocs = python.with_file_name(program("mkdocs"));
    let mut command = Command::new(&mkdocs);
    command.args(["build", "--strict", "--clean", "--site-dir"]).arg(target().join("site"));
    // The theme advertises its successor otherwise.
    command.current_dir(project()).env("NO_MKDOCS_2_WARNING", "1");
    let output = command.output().map_err(|error| format!("{} cannot be run: {error}", mkdocs.display()))?;
    if output.status.success() {
        return Ok(());
    }
    // With `--quiet` warnings would not be counted as errors.
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = report.lines().filter(|line| !line.starts_with("INFO")).collect();
    Err(format!("MkDocs: {}", lines.join("\n  ")))
}
