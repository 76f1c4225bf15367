//! `THIRD-PARTY.md`: the crates that are linked into what ships, and the texts of their licences.
//!
//! The texts come from the packages of the crates, including those of the C code in them. Tools that recognise licences by
//! their text leave out what is in subfolders, or fetch texts from a service.
mod files;
#[cfg(test)]
mod tests;

use super::{VERSION, linux};
use crate::run;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The packages that ship.
pub(super) const SHIPPED: &[&str] = &["ncirrus-cli", "ncirrus-capi", "ncirrus-python"];

/// A crate with the texts of its licences.
struct Crate {
    name: String,
    version: String,
    licence: String,
    home: String,
    has_c: bool,
    texts: Vec<Text>,
}

/// The text of a licence, and its path in the package of the crate.
struct Text {
    path: String,
    text: String,
}

/// The document.
pub(super) fn text() -> Result<String, String> {
    let packages = packages()?;
    let mut crates = Vec::new();
    for (name, version) in linked()? {
        let key = (name.clone(), version.clone());
        let package = packages.get(&key).ok_or_else(|| format!("cargo metadata lacks {name} {version}"))?;
        if package["source"].is_null() {
            continue;
        }
        crates.push(described(name, version, package)?);
    }
    Ok(document(&crates))
}

/// What is linked in, without macros and build scripts, which run when it is compiled only.
pub(super) fn linked() -> Result<BTreeSet<(String, String)>, String> {
    let mut arguments =
        vec!["tree", "--locked", "--target", linux::TRIPLE, "--edges", "normal,no-proc-macro"];
    arguments.extend(["--prefix", "none", "--format", "{p}"]);
    SHIPPED.iter().for_each(|name| arguments.extend(["--package", name]));
    Ok(names_and_versions(&run::output("cargo", &arguments, &[])?))
}

/// From lines such as `libc v0.2.1 (*)`.
fn names_and_versions(tree: &str) -> BTreeSet<(String, String)> {
    let words = tree.lines().map(|line| line.split_whitespace());
    let pairs = words.filter_map(|mut words| Some((words.next()?, words.next()?.strip_prefix('v')?)));
    pairs.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// All packages that cargo knows, by name and version.
fn packages() -> Result<BTreeMap<(String, String), Value>, String> {
    let text = run::output("cargo", &["metadata", "--locked", "--format-version", "1"], &[])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let all = metadata["packages"].as_array().cloned().unwrap_or_default();
    let key = |package: &Value| {
        Some((package["name"].as_str()?.to_owned(), package["version"].as_str()?.to_owned()))
    };
    Ok(all.into_iter().filter_map(|package| Some((key(&package)?, package))).collect())
}

fn described(name: String, version: String, package: &Value) -> Result<Crate, String> {
    let of = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut folder = PathBuf::from(of("manifest_path"));
    folder.pop();
    let licence = of("license");
    let found = files::of_package(&folder)?;
    let mut texts = files::chosen(&licence, found.texts);
    if texts.is_empty() {
        texts.push(files::kept(&name)?);
    }
    let home = if package["repository"].is_null() { of("homepage") } else { of("repository") };
    Ok(Crate { name, version, licence, home, has_c: found.has_c, texts })
}

/// The table of crates, then each text once with the crates that have it.
fn document(crates: &[Crate]) -> String {
    let mut texts: Vec<(&str, Vec<String>)> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = String::new();
    for one in crates {
        let mut links = Vec::new();
        for text in &one.texts {
            let words: Vec<&str> = text.text.split_whitespace().collect();
            let number = *numbers.entry(words.join(" ")).or_insert_with(|| {
                texts.push((&text.text, Vec::new()));
                texts.len()
            });
            if let Some((_, users)) = texts.get_mut(number - 1) {
                users.push(format!("{} {} (`{}`)", one.name, one.version, text.path));
            }
            links.push(format!("[{number}](#text-{number})"));
        }
        let name =
            if one.home.is_empty() { one.name.clone() } else { format!("[{}]({})", one.name, one.home) };
        let c = if one.has_c { "yes" } else { "" };
        _ = writeln!(
            rows,
            "| {name} | {} | {} | {c} | {} |",
            one.version,
            one.licence.replace('|', "\\|"),
            links.join(", ")
        );
    }
    let mut text = format!(
        "# Software of others in ncirrus {VERSION}\n\n\
         The command, the C library and the Python extension module contain the crates of this table, and the C or \
         assembler code in some of them. The last column refers to the texts of their licences below. Of alternative \
         licences the text of MIT is given, where it is one of them.\n\n\
         They also contain Rust's standard library, which is under MIT or Apache-2.0; `RUST-LIBRARY.html` has its \
         notices.\n\n| crate | version | licence | C code | texts |\n|---|---|---|---|---|\n{rows}"
    );
    for (number, (licence, users)) in (1..).zip(&texts) {
        _ = write!(text, "\n## Text {number}\n\n{}\n\n", users.join(", "));
        licence.trim_end().lines().for_each(|line| _ = writeln!(text, "    {}", line.trim_end()));
    }
    text
}

/// The notices of Rust's standard library, if the toolchain has them.
pub(super) fn of_standard_library() -> Result<Option<PathBuf>, String> {
    let root = run::output("rustc", &["--print", "sysroot"], &[])?;
    let path = PathBuf::from(root.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    Ok(path.exists().then_some(path))
}
