//! The crates, as they would be published.
use super::VERSION;
use super::report::StepOutput;
use crate::package;
use crate::run::{self, target};
use serde_json::Value;
use std::path::Path;

/// Checks the manifests, then does everything that publishing does but the upload: all crates in order, each built from
/// its package.
pub(super) fn check() -> Result<StepOutput, String> {
    let text = run::output("cargo", &["metadata", "--no-deps", "--locked", "--format-version", "1"], &[])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let wrong: Vec<String> = packages.iter().flat_map(wrong).collect();
    if !wrong.is_empty() {
        return Err(format!("manifests are incomplete:\n  {}", wrong.join("\n  ")));
    }
    // In one folder: by default, cargo builds each package in its own, and all dependencies with it.
    let folder = target().join("publish").to_string_lossy().into_owned();
    let mut publish = vec!["publish", "--dry-run", "--workspace", "--locked", "--allow-dirty"];
    publish.extend(["--target-dir", &folder]);
    package::OURS.iter().for_each(|name| publish.extend(["--exclude", name]));
    run::command("cargo", &publish, &[("CARGO_PROFILE_DEV_DEBUG", "false")])?;
    Ok(StepOutput::default())
}

/// What a manifest lacks, or has in another version than the others.
fn wrong(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut wrong = Vec::new();
    if package["version"] != VERSION {
        wrong.push(format!("{name}: version {}, not {VERSION}", package["version"]));
    }
    // An empty list: it is published nowhere.
    if package["publish"].as_array().is_some_and(Vec::is_empty) {
        return wrong;
    }
    for key in ["description", "license", "repository", "documentation", "readme", "rust_version"] {
        if package[key].as_str().is_none_or(str::is_empty) {
            wrong.push(format!("{name}: no {key}"));
        }
    }
    for key in ["keywords", "categories"] {
        if package[key].as_array().is_none_or(Vec::is_empty) {
            wrong.push(format!("{name}: no {key}"));
        }
    }
    if package["metadata"]["docs"]["rs"].is_null() {
        wrong.push(format!("{name}: no [package.metadata.docs.rs]"));
    }
    // Cargo packages files of the crate's own folder only: in it are links to the licences of the project.
    let folder = package["manifest_path"].as_str().and_then(|path| Path::new(path).parent());
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if folder.is_none_or(|folder| !folder.join(file).exists()) {
            wrong.push(format!("{name}: no {file} beside its manifest"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn manifests_need_what_readers_of_a_registry_look_for() {
        let mut package = json!({
            "name": "a", "version": VERSION, "publish": null, "description": "d", "license": "MIT",
            "repository": "r", "documentation": "d", "readme": "README.md", "rust_version": "1.89",
            "keywords": ["k"], "categories": ["science"], "metadata": {"docs": {"rs": {"all-features": true}}},
            "manifest_path": run::project().join("crates/model/Cargo.toml"),
        });
        assert_eq!(wrong(&package), Vec::<String>::new());
        package["repository"] = Value::Null;
        package["version"] = "0.0.9".into();
        package["metadata"] = Value::Null;
        package["manifest_path"] = json!(run::project().join("xtask/Cargo.toml"));
        let expected = [
            format!("a: version \"0.0.9\", not {VERSION}"),
            "a: no repository".into(),
            "a: no [package.metadata.docs.rs]".into(),
            "a: no LICENSE-APACHE beside its manifest".into(),
            "a: no LICENSE-MIT beside its manifest".into(),
        ];
        assert_eq!(wrong(&package), expected);
        package["publish"] = json!([]);
        assert_eq!(wrong(&package).len(), 1);
    }
}
