//! Source files that no module declares: the compiler does not see them, and tests in them do not run. Crates with
//! `autotests = false` list their test programs, so that a new file below `tests` is easily forgotten.
use crate::run::project;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Folders of a crate whose files must be part of one of its targets.
const FOLDERS: [&str; 4] = ["src", "tests", "examples", "programs"];

/// Programs that a test compiles by itself, each with the test.
const COMPILED_BY_TESTS: [(&str, &str); 1] =
    [("crates/hdf5/tests/optimised/version.rs", "crates/hdf5/tests/optimised.rs")];

/// One line for each file that no target of the workspace reaches.
pub(crate) fn wrong() -> Result<Vec<String>, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(project())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    if packages.is_empty() {
        return Err("cargo metadata names no packages".to_owned());
    }
    let targets = packages.iter().filter_map(|package| package["targets"].as_array()).flatten();
    let roots = targets.filter_map(|target| target["src_path"].as_str()).map(PathBuf::from);
    let manifests = packages.iter().filter_map(|package| package["manifest_path"].as_str());
    let crates = manifests.filter_map(|path| Path::new(path).parent()).map(Path::to_owned);
    let lost = unreached(&roots.collect::<Vec<_>>(), &crates.collect::<Vec<_>>())?;
    let shown = |path: &PathBuf| path.strip_prefix(project()).unwrap_or(path).display().to_string();
    Ok(reported(&lost.iter().map(shown).collect::<Vec<_>>(), &COMPILED_BY_TESTS))
}

/// What is wrong: files that are lost and not known, and known ones that are not lost.
fn reported(lost: &[String], known: &[(&str, &str)]) -> Vec<String> {
    let is_known = |path: &str| known.iter().any(|(known, _)| *known == path);
    let unknown = lost.iter().filter(|path| !is_known(path));
    let unknown = unknown.map(|path| format!("{path}: no module declares this file"));
    let stale = known.iter().filter(|(path, _)| !lost.iter().any(|lost| lost == path));
    let stale =
        stale.map(|(path, by)| format!("{path}: not a program that {by} compiles: take it off the list"));
    unknown.chain(stale).collect()
}

/// Source files of some crates that cannot be reached from the roots of targets by declarations of modules.
fn unreached(roots: &[PathBuf], crates: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut reached = BTreeSet::new();
    for root in roots {
        reach(&plain(root), true, &mut reached)?;
    }
    let mut sources = BTreeSet::new();
    for folder in crates {
        for below in FOLDERS.iter().map(|below| folder.join(below)).filter(|below| below.is_dir()) {
            collect(&below, &mut sources)?;
        }
    }
    let reached: BTreeSet<PathBuf> = reached.into_iter().map(|(path, _)| path).collect();
    Ok(sources.difference(&reached).cloned().collect())
}

/// Adds a file and all files that it declares. A file that owns its folder has its modules beside it (`lib.rs`, `mod.rs`,
/// and what `#[path]` names), any other has them in a folder of its own name.
fn reach(file: &Path, owns_folder: bool, reached: &mut BTreeSet<(PathBuf, bool)>) -> Result<(), String> {
    if !reached.insert((file.to_owned(), owns_folder)) {
        return Ok(());
    }
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let beside = file.parent().unwrap_or(Path::new(""));
    let modules = if owns_folder { beside.to_owned() } else { file.with_extension("") };
    for declared in declarations(&text) {
        match declared {
            Declared::Module { outer, name } => {
                let folder = modules.join(outer.iter().collect::<PathBuf>());
                let (simple, folded) = (folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs"));
                if simple.is_file() {
                    reach(&plain(&simple), false, reached)?;
                } else if folded.is_file() {
                    reach(&plain(&folded), true, reached)?;
                }
            }
            // Inside of an inline module, paths begin at the folder that the inline module would have.
            Declared::Path { outer, path } => {
                let folder = if outer.is_empty() {
                    beside.to_owned()
                } else {
                    modules.join(outer.iter().collect::<PathBuf>())
                };
                let named = folder.join(path);
                if named.is_file() {
                    reach(&plain(&named), true, reached)?;
                }
            }
        }
    }
    Ok(())
}

/// What a file says about other files; `outer` are the inline modules around the declaration.
#[derive(Debug, PartialEq, Eq)]
enum Declared {
    /// `mod name;`
    Module { outer: Vec<String>, name: String },
    /// `#[path = "path"] mod name;` or `include!("path")`
    Path { outer: Vec<String>, path: String },
}

/// The declarations of a formatted file: each is a line of its own, and an inline module ends at a brace that is as
/// far from the margin as its first line.
fn declarations(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut inline: Vec<(usize, String)> = Vec::new();
    let mut path: Option<String> = None;
    for line in text.lines() {
        let item = line.trim();
        let indent = line.len() - line.trim_start().len();
        if item == "}" && inline.last().is_some_and(|(begun, _)| *begun == indent) {
            inline.pop();
        }
        let outer = || inline.iter().map(|(_, name)| name.clone()).collect();
        if let Some(named) = quoted(item, "#[path = \"") {
            path = Some(named);
        } else if let Some(named) = quoted(item, "include!(\"") {
            found.push(Declared::Path { outer: outer(), path: named });
        } else if let Some((name, is_inline)) = module(item) {
            match path.take() {
                _ if is_inline => inline.push((indent, name)),
                Some(path) => found.push(Declared::Path { outer: outer(), path }),
                None => found.push(Declared::Module { outer: outer(), name }),
            }
        } else if !item.is_empty() && !item.starts_with("#[") && !item.starts_with("//") {
            path = None;
        }
    }
    found
}

/// The text in quotes that follows a beginning.
fn quoted(item: &str, begin: &str) -> Option<String> {
    let (named, _) = item.strip_prefix(begin)?.split_once('"')?;
    Some(named.to_owned())
}

/// The name in `mod name;` or `mod name {`, of any visibility, and whether it is the latter.
fn module(item: &str) -> Option<(String, bool)> {
    let item = match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => item,
    };
    let rest = item.strip_prefix("mod ")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = (rest.get(..end)?, rest.get(end..)?.trim_start());
    (rest.starts_with(';') || rest == "{").then(|| (name.to_owned(), rest == "{"))
}

/// Every source file below a folder.
fn collect(folder: &Path, sources: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(plain(&path));
        }
    }
    Ok(())
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
