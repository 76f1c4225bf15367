//! Allowed dependencies between crates (docs/ARCHITECTURE.md, "Crates"). Direct dependencies between the project's
//! crates are read from their manifests; indirect ones of the pure crates from the dependency tree of a build. Any
//! other dependency is an error, and so are a dependency of tests on a crate above, an unknown cycle between the modules
//! of a folder (`circles.rs`) and a source file that no module declares (`unlisted.rs`).
use crate::run::{Outcome, project};
use crate::{circles, unlisted};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Each crate and the crates of the project that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("ncirrus-model", &[]),
    ("ncirrus-layout", &["ncirrus-model"]),
    ("ncirrus-codec", &["ncirrus-model"]),
    ("ncirrus-units", &["ncirrus-model"]),
    ("ncirrus-netcdf", &["ncirrus-model"]),
    ("ncirrus-cdl", &["ncirrus-model", "ncirrus-units"]),
    ("ncirrus-classic", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-zarr", &["ncirrus-model", "ncirrus-layout", "ncirrus-netcdf"]),
    ("ncirrus-icechunk", &["ncirrus-model", "ncirrus-layout", "ncirrus-zarr"]),
    ("ncirrus-hdf5", &["ncirrus-model", "ncirrus-layout", "ncirrus-netcdf"]),
    ("ncirrus-dap", &["ncirrus-model", "ncirrus-layout", "ncirrus-netcdf"]),
    ("ncirrus-aggregate", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-store", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-config", &["ncirrus-layout", "ncirrus-store"]),
    ("ncirrus-http", &["ncirrus-layout", "ncirrus-store", "ncirrus-config"]),
    ("ncirrus-cloud", &["ncirrus-layout", "ncirrus-store", "ncirrus-config", "ncirrus-http"]),
    (
        "ncirrus-engine",
        &["ncirrus-model", "ncirrus-layout", "ncirrus-codec", "ncirrus-store", "ncirrus-units"],
    ),
    (
        "ncirrus",
        &[
            "ncirrus-model",
            "ncirrus-layout",
            "ncirrus-codec",
            "ncirrus-store",
            "ncirrus-config",
            "ncirrus-http",
            "ncirrus-cloud",
            "ncirrus-engine",
            "ncirrus-units",
            "ncirrus-netcdf",
            "ncirrus-classic",
            "ncirrus-zarr",
            "ncirrus-icechunk",
            "ncirrus-hdf5",
            "ncirrus-dap",
            "ncirrus-aggregate",
        ],
    ),
    (
        "ncirrus-tools",
        &[
            "ncirrus-model",
            "ncirrus-layout",
            "ncirrus-codec",
            "ncirrus-store",
            "ncirrus-engine",
            "ncirrus-units",
            "ncirrus-netcdf",
            "ncirrus-zarr",
            "ncirrus-aggregate",
            "ncirrus-cdl",
            "ncirrus",
        ],
    ),
    ("ncirrus-capi", &["ncirrus"]),
    ("ncirrus-serve", &["ncirrus", "ncirrus-tools", "ncirrus-dap", "ncirrus-model"]),
    ("ncirrus-plot", &["ncirrus"]),
    ("ncirrus-cli", &["ncirrus", "ncirrus-tools", "ncirrus-plot", "ncirrus-serve"]),
    ("ncirrus-python", &["ncirrus", "ncirrus-tools", "ncirrus-plot", "ncirrus-cli"]),
    ("ncirrus-testkit", &["ncirrus-model", "ncirrus-layout"]),
    ("ncirrus-bench", &["ncirrus", "ncirrus-tools", "ncirrus-codec", "ncirrus-model", "ncirrus-testkit"]),
    (
        "ncirrus-fuzz",
        &[
            "ncirrus-model",
            "ncirrus-layout",
            "ncirrus-codec",
            "ncirrus-store",
            "ncirrus-config",
            "ncirrus-engine",
            "ncirrus-units",
            "ncirrus-classic",
            "ncirrus-zarr",
            "ncirrus-icechunk",
            "ncirrus-hdf5",
            "ncirrus-dap",
            "ncirrus-aggregate",
            "ncirrus-cdl",
            "ncirrus-testkit",
            "ncirrus",
            "ncirrus-tools",
            "ncirrus-serve",
        ],
    ),
    ("xtask", &["ncirrus"]),
];

/// Crates that formats, shapes and names must never depend on, directly or indirectly.
const PURE: &[&str] = &[
    "ncirrus-model",
    "ncirrus-layout",
    "ncirrus-classic",
    "ncirrus-hdf5",
    "ncirrus-zarr",
    "ncirrus-icechunk",
    "ncirrus-dap",
    "ncirrus-aggregate",
    "ncirrus-units",
    "ncirrus-netcdf",
    "ncirrus-cdl",
];
const IMPURE: &[&str] = &["tokio", "object_store", "rayon", "reqwest", "hyper", "mio"];

/// Crates that access networks only through openers, and the libraries that would bypass these.
const WITHOUT_NETWORK: &[&str] = &["ncirrus-store", "ncirrus-config", "ncirrus-engine"];
const NETWORKS: &[&str] = &["object_store", "reqwest", "hyper", "rustls"];

/// The crate that depends on all the others, as it is shipped.
const SHIPPED: &str = "ncirrus-cli";

/// Checks all dependencies between the project's crates, and that the pure ones stay pure.
pub(crate) fn check() -> Outcome {
    let mut wrong = wrong_arrows(&project())?;
    wrong.extend(impure(&Tree::of(&project(), SHIPPED)?)?);
    wrong.extend(circles::wrong()?);
    wrong.extend(unlisted::wrong()?);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("this does not fit the architecture:\n  {}", wrong.join("\n  ")))
    }
}

/// Dependencies between the project's own crates that are not allowed.
fn wrong_arrows(folder: &Path) -> Result<Vec<String>, String> {
    let metadata = cargo(folder, &["metadata", "--format-version", "1", "--no-deps"])?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(metadata["packages"].as_array().into_iter().flatten().flat_map(wrong_arrows_of).collect())
}

fn wrong_arrows_of(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name} is not a crate of the architecture")];
    };
    let mut wrong = Vec::new();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let to = dependency["name"].as_str().unwrap_or_default();
        let is_own = to.starts_with("ncirrus") || to == "xtask";
        match dependency["kind"].as_str() {
            None if is_own && !allowed.contains(&to) => wrong.push(format!("{name} -> {to}")),
            Some("dev") if is_above(to, name) => {
                wrong.push(format!("{name} -> {to} (for tests, which belong to {to})"));
            }
            _ => {}
        }
    }
    wrong
}

/// Whether a crate may use another, directly or indirectly.
fn is_above(upper: &str, lower: &str) -> bool {
    let allowed = ALLOWED.iter().find(|(known, _)| *known == upper).map_or(&[][..], |(_, allowed)| *allowed);
    allowed.iter().any(|next| *next == lower || is_above(next, lower))
}

/// The paths from pure crates to impure ones, the shortest of each.
fn impure(tree: &Tree) -> Result<Vec<String>, String> {
    let mut ways = Vec::new();
    for pure in PURE {
        if !tree.arrows.contains_key(*pure) {
            return Err(format!(
                "{pure} is not in the tree of {SHIPPED}: nothing is known of what it pulls in"
            ));
        }
        ways.extend(IMPURE.iter().filter_map(|impure| tree.way(pure, impure)));
    }
    for local in WITHOUT_NETWORK {
        ways.extend(NETWORKS.iter().filter_map(|network| tree.way(local, network)));
    }
    Ok(ways)
}

/// What each crate of a build uses when the program runs, on any platform, with the features that are enabled in it.
struct Tree {
    arrows: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    fn of(folder: &Path, package: &str) -> Result<Self, String> {
        let edges = ["--edges", "normal,no-proc-macro", "--target", "all"];
        let shape = ["--prefix", "depth", "--format", " {p}"];
        let text = cargo(folder, &[&["tree", "--package", package], &edges[..], &shape[..]].concat())?;
        Ok(Self::parse(&text))
    }

    /// Lines `DEPTH NAME vVERSION ..`; the dependencies of a crate follow its first line only.
    fn parse(text: &str) -> Self {
        let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut above: Vec<&str> = Vec::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(Ok(depth)), Some(name)) = (words.next().map(str::parse), words.next()) else {
                continue;
            };
            above.truncate(depth);
            if let Some(parent) = above.last() {
                arrows.entry((*parent).to_owned()).or_default().insert(name.to_owned());
            }
            arrows.entry(name.to_owned()).or_default();
            above.push(name);
        }
        Self { arrows }
    }

    /// The shortest path between two crates, as `a -> b -> c`.
    fn way(&self, from: &str, to: &str) -> Option<String> {
        let mut seen = BTreeSet::from([from]);
        let mut ways = vec![vec![from]];
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let next = way.last().and_then(|last| self.arrows.get(*last)).into_iter().flatten();
                for name in next.filter(|name| seen.insert(name)) {
                    let way = [&way[..], &[name.as_str()]].concat();
                    if name == to {
                        return Some(way.join(" -> "));
                    }
                    longer.push(way);
                }
            }
            ways = longer;
        }
        None
    }
}

/// The standard output of cargo.
fn cargo(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("cargo {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
    }
}

#[cfg(test)]
mod tests;
