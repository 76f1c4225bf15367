//! The fixtures of the round trips.
use ncirrus_testkit::corpus::program;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The source of each fixture: `nc3` and `nc5` are made from its text, the others are cases of the corpus.
pub(crate) const FIXTURES: [(&str, &str); 14] = [
    ("basic", "nc3"),
    ("json", "nc3"),
    ("scalar", "nc3"),
    ("special", "nc3"),
    ("types", "nc5"),
    ("fills", "nc5"),
    ("chunks", "cases/nczarr-4.10.1/chunks/data"),
    ("filters", "cases/nczarr-4.10.1/filters/data"),
    ("filters_builtin", "cases/nczarr-4.10.1/filters_builtin/data"),
    ("groups", "cases/zipmap-4.10.1/groups/data.zip"),
    ("quantize", "cases/nczarr-4.9.2/quantize/data"),
    ("strings", "cases/nczarr-4.10.1/strings/data"),
    ("unlim", "cases/nczarr-4.10.1/unlim/data"),
    ("unlim_default", "cases/nczarr-4.9.3/unlim_default/data"),
];

/// A fixture as a file or tree; `None` if a program that makes it is missing.
pub(crate) fn source(root: &Path, temp: &Path, name: &str, from: &str) -> Option<PathBuf> {
    if from.starts_with("cases") {
        return Some(root.join(from));
    }
    let ncgen = program("ncgen")?;
    let made = temp.join(format!("{name}.nc"));
    let cdl = root.join("cdl").join(format!("{name}.cdl"));
    let status = Command::new(ncgen).args(["-k", from, "-o"]).args([&made, &cdl]).status().unwrap();
    assert!(status.success(), "ncgen does not take {name}");
    Some(made)
}
