//! Who may depend on whom (architecture, "The rooms"): read from `cargo metadata`, any other arrow is an error.
use crate::run::{Outcome, project};
use serde_json::Value;
use std::process::Command;

/// Each crate and the crates of the project that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ncirrus-model", &[]),
    ("ncirrus-layout", &["ncirrus-model"]),
    ("ncirrus-codec", &["ncirrus-model"]),
    ("ncirrus-cdl", &["ncirrus-model"]),
    ("ncirrus-classic", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-zarr", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-hdf5", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-aggregate", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-store", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-engine", &["ncirrus-model", "ncirrus-layout", "ncirrus-codec", "ncirrus-store"]),
    (
        "ncirrus",
        &[
            "ncirrus-model",
            "ncirrus-layout",
            "ncirrus-codec",
            "ncirrus-store",
            "ncirrus-engine",
            "ncirrus-classic",
            "ncirrus-zarr",
            "ncirrus-hdf5",
            "ncirrus-aggregate",
            "ncirrus-cdl",
        ],
    ),
    ("ncirrus-cli", &["ncirrus"]),
    ("ncirrus-testkit", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-bench", &["ncirrus", "ncirrus-codec"]),
    ("xtask", &["ncirrus"]),
];

/// What formats, shapes and words must never pull in, whatever the way.
const PURE: &[&str] = &[
    "ncirrus-model",
    "ncirrus-layout",
    "ncirrus-classic",
    "ncirrus-hdf5",
    "ncirrus-zarr",
    "ncirrus-aggregate",
    "ncirrus-cdl",
];
const IMPURE: &[&str] = &["tokio", "object_store", "rayon", "reqwest", "hyper", "mio"];

/// Checks every arrow between the project's crates, and that the pure ones stay pure.
pub(crate) fn check() -> Outcome {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(project())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        wrong.extend(wrong_arrows(package));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("arrows that the architecture does not have:\n  {}", wrong.join("\n  ")))
    }
}

fn wrong_arrows(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name} is not a crate of the architecture")];
    };
    let ordinary = package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].is_null());
    let to = ordinary.filter_map(|dependency| dependency["name"].as_str());
    to.filter(|to| {
        let foreign_room = (to.starts_with("ncirrus") || *to == "xtask") && !allowed.contains(to);
        foreign_room || (PURE.contains(&name) && IMPURE.contains(to))
    })
    .map(|to| format!("{name} -> {to}"))
    .collect()
}
