//! Lists of what is linked into each artefact, as CycloneDX, by cargo-cyclonedx.
use super::report::StepOutput;
use super::{VERSION, commit_time, folder, licences, linux, stage, tools};
use crate::run::{self, Outcome, project};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const TOOL: (&str, &str) = ("cargo-cyclonedx", "0.5.9");

/// The folders of the packages that ship.
const FOLDERS: &[&str] = &["cli", "capi", "python"];

/// Makes a list for each package that ships.
pub(super) fn make() -> Result<StepOutput, String> {
    let path = tools::cargo_tool(TOOL.0, TOOL.1)?;
    // A name that no file of the project has: the tool writes beside every manifest.
    let written = run_tool(&path).and_then(|()| collected());
    let removed = remove_others();
    let lists = written?;
    removed?;
    check(&lists)?;
    Ok(StepOutput::of(lists.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy())))
}

fn run_tool(path: &str) -> Outcome {
    let time = commit_time()?;
    let cyclonedx =
        ["cyclonedx", "--quiet", "--format", "json", "--spec-version", "1.5", "--target", linux::TRIPLE];
    let rest = ["--override-filename", NAME];
    run::command("cargo", &[&cyclonedx[..], &rest].concat(), &[("PATH", path), ("SOURCE_DATE_EPOCH", &time)])
}

const NAME: &str = "ncirrus-release-sbom";

fn file() -> String {
    format!("{NAME}.json")
}

fn collected() -> Result<Vec<PathBuf>, String> {
    let mut lists = Vec::new();
    for name in FOLDERS {
        let to = folder().join(format!("ncirrus-{name}-{VERSION}.cdx.json"));
        stage::copy(&project().join("crates").join(name).join(file()), &to)?;
        lists.push(to);
    }
    Ok(lists)
}

/// Removes what the tool wrote beside the manifests.
fn remove_others() -> Outcome {
    let root = project();
    let crates = root.join("crates");
    let entries = fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let others = ["benches", "fuzz", "xtask"].map(|name| root.join(name));
    for path in entries.flatten().map(|entry| entry.path()).chain(others).map(|folder| folder.join(file())) {
        if path.exists() {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// The lists must have every crate that is linked in.
fn check(lists: &[PathBuf]) -> Outcome {
    let mut listed = BTreeSet::new();
    for path in lists {
        listed.extend(components(path)?);
    }
    let linked = licences::linked()?;
    let missing: Vec<String> = linked
        .difference(&listed)
        .filter(|(name, _)| !name.starts_with("ncirrus"))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no list has {}", missing.join(", "))) }
}

/// The names and versions in a list.
fn components(path: &Path) -> Result<BTreeSet<(String, String)>, String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| at(&error))?;
    let list: Value = serde_json::from_str(&text).map_err(|error| at(&error))?;
    if list["bomFormat"] != "CycloneDX" {
        return Err(at(&"is not a list of CycloneDX"));
    }
    let all = list["components"].as_array().cloned().unwrap_or_default();
    let key = |one: &Value| Some((one["name"].as_str()?.to_owned(), one["version"].as_str()?.to_owned()));
    Ok(all.iter().filter_map(key).collect())
}
