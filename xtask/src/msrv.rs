//! The oldest Rust that builds the project (`rust-version`), compared with what everything that is shipped requires.
use crate::run::{Outcome, command, project};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The crates that are shipped, each with its dependencies.
const SHIPPED: &[&str] = &["ncirrus-cli"];

/// Fails if something that is shipped requires a newer Rust than the project states; builds with the oldest one if
/// rustup has it.
pub(crate) fn run(_: &[String]) -> Outcome {
    let metadata = metadata()?;
    let packages = Packages::of(&metadata)?;
    let said = packages.version_of(packages.named("ncirrus")?)?;
    let shipped = packages.below(SHIPPED, &["normal", "build"])?;
    let mut newer = Vec::new();
    for id in &shipped {
        let needs = packages.version_of(id)?;
        if needs > said {
            newer.push(format!("{} needs {}", packages.label(id), needs));
        }
    }
    if !newer.is_empty() {
        return Err(format!("the project says Rust {said}, but\n  {}", newer.join("\n  ")));
    }
    let floor = packages.newest(shipped.iter().filter(|id| !packages.is_ours(id)))?;
    println!("the project says Rust {said}; of all that is shipped {floor} is the newest that is needed");
    let tests = packages.below(&packages.ours(), &["normal", "build", "dev"])?;
    println!("with what tests use: {}", packages.newest(tests.iter())?);
    build(said)
}

/// Builds with the oldest compiler; whether it is installed depends on the machine.
fn build(version: Version) -> Outcome {
    let toolchain = format!("+{version}");
    let there =
        Command::new("cargo").args([&toolchain, "--version"]).env("RUSTUP_AUTO_INSTALL", "0").output();
    if !there.is_ok_and(|output| output.status.success()) {
        println!("rustup has no toolchain {version}: not built with it");
        return Ok(());
    }
    command("cargo", &[&toolchain, "check", "--locked", "--package", "ncirrus-cli"], &[])
}

fn metadata() -> Result<Value, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(project())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The output of `cargo metadata` on packages, by their identifiers.
struct Packages<'a> {
    packages: BTreeMap<&'a str, &'a Value>,
    nodes: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Packages<'a> {
    fn of(metadata: &'a Value) -> Result<Self, String> {
        let by_id = |list: &'a Value| -> BTreeMap<&'a str, &'a Value> {
            let all = list.as_array().into_iter().flatten();
            all.filter_map(|one| Some((one["id"].as_str()?, one))).collect()
        };
        let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
        if nodes.is_empty() {
            Err("cargo metadata resolves nothing".into())
        } else {
            Ok(Self { packages, nodes })
        }
    }

    fn is_ours(&self, id: &str) -> bool {
        self.packages.get(id).is_some_and(|package| package["source"].is_null())
    }

    fn ours(&self) -> Vec<&'a str> {
        let ours = self.packages.iter().filter(|(id, _)| self.is_ours(id));
        ours.filter_map(|(_, package)| package["name"].as_str()).collect()
    }

    fn named(&self, name: &str) -> Result<&'a str, String> {
        let found = self.packages.iter().find(|(id, package)| package["name"] == name && self.is_ours(id));
        found.map(|(id, _)| *id).ok_or_else(|| format!("no package {name}"))
    }

    fn label(&self, id: &str) -> String {
        let of = |key: &str| self.packages.get(id).and_then(|package| package[key].as_str()).unwrap_or("?");
        format!("{} {}", of("name"), of("version"))
    }

    /// The Rust version that a package requires; 1.0 if it states none.
    fn version_of(&self, id: &str) -> Result<Version, String> {
        let Some(text) = self.packages.get(id).and_then(|package| package["rust_version"].as_str()) else {
            return Ok(Version(1, 0));
        };
        let mut numbers = text.split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Version(major, minor)),
            _ => Err(format!("{} needs Rust {text:?}, which is no version", self.label(id))),
        }
    }

    fn newest<'b>(&self, ids: impl Iterator<Item = &'b &'a str>) -> Result<String, String>
    where
        'a: 'b,
    {
        let all: Vec<_> = ids.map(|id| Ok((self.version_of(id)?, *id))).collect::<Result<_, String>>()?;
        let newest = all.into_iter().max().ok_or("nothing is used")?;
        Ok(format!("{} ({})", newest.0, self.label(newest.1)))
    }

    /// Packages and all their dependencies of the given kinds. Dependencies of tests count for the first packages only.
    fn below(&self, names: &[&str], kinds: &[&str]) -> Result<BTreeSet<&'a str>, String> {
        let mut open: Vec<&str> = names.iter().map(|name| self.named(name)).collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let uses = self.nodes.get(id).and_then(|node| node["deps"].as_array());
                let uses = uses.into_iter().flatten().filter(|used| is_of(used, kinds));
                open.extend(uses.filter_map(|used| used["pkg"].as_str()));
            }
        }
        Ok(seen)
    }
}

/// Whether a dependency is of one of the kinds; cargo names the ordinary one `null`.
fn is_of(used: &Value, kinds: &[&str]) -> bool {
    let mut all = used["dep_kinds"].as_array().into_iter().flatten();
    all.any(|kind| kinds.contains(&kind["kind"].as_str().unwrap_or("normal")))
}
