//! `ncirrus generate`: datasets from CDL text, as a user makes them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(arguments: &[&str], folder: &Path) -> String {
    let output = ncirrus(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", messages(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn example() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc")
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_dump_becomes_the_same_dataset_in_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let dump = |name: &str| printed(&["dump", "-p", "9,17", "-n", "sst", name], folder.path());
    let text = dump(example());
    std::fs::write(folder.path().join("sst.cdl"), &text).unwrap();
    for target in ["a.nc", "a.nc4", "a.zarr"] {
        printed(&["generate", "sst.cdl", target], folder.path());
        assert_eq!(dump(target), text, "{target}");
    }
    let kind = |name: &str| printed(&["dump", "-k", name], folder.path());
    assert_eq!((kind("a.nc").trim(), kind("a.nc4").trim()), ("classic", "netCDF-4"));
}

#[test]
fn a_pipe_is_read_and_more_than_the_memory_waits_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<String> = (0..1_000_000).map(|at| at.to_string()).collect();
    let text = format!(
        "netcdf t {{ dimensions: t = UNLIMITED; variables: int v(t); data: v = {};}}",
        values.join(",\n")
    );
    let mut child = crate::program::command()
        .args(["--memory", "8M", "generate", "-", "b.nc"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let header = printed(&["dump", "-h", "b.nc"], folder.path());
    assert!(header.contains("t = UNLIMITED ; // (1000000 currently)"), "{header}");
    let dump = printed(&["dump", "b.nc"], folder.path());
    assert!(dump.contains("999998, 999999 ;"));
}

#[test]
fn a_fault_is_reported_with_its_place_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf t {\ndimensions:\n\tx = 3 ;\nvariables:\n\tint v(x) ;\n\tint w(x) ;\ndata:\n v = 1, 2, 3 ;\n w = 1, 99999999999 ;\n}\n";
    std::fs::write(folder.path().join("t.cdl"), text).unwrap();
    for arguments in
        [["generate", "t.cdl", "t.nc"], ["generate", "t.cdl", "t.zarr"], ["generate", "--check", "t.cdl"]]
    {
        let output = ncirrus(&arguments, folder.path());
        assert_eq!(output.status.code(), Some(5), "{}", messages(&output));
        let expected = "t.cdl:9:9: 99999999999 does not fit int\n w = 1, 99999999999 ;\n        ^\n";
        assert!(messages(&output).contains(expected), "{}", messages(&output));
        assert_eq!(names(folder.path()), ["t.cdl"]);
    }
}

#[test]
fn a_text_is_checked_without_a_target() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.cdl"), "netcdf t { variables: int v; data: v = 5; }").unwrap();
    let output = ncirrus(&["generate", "--check", "t.cdl"], folder.path());
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(names(folder.path()), ["t.cdl"]);
    assert_eq!(ncirrus(&["generate", "t.cdl"], folder.path()).status.code(), Some(2));
    assert_eq!(ncirrus(&["generate", "nope.cdl", "t.nc"], folder.path()).status.code(), Some(3));
}

#[test]
fn a_target_that_exists_is_kept_by_default() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.cdl"), "netcdf t { variables: int v; data: v = 5; }").unwrap();
    std::fs::write(folder.path().join("x.nc"), "a letter").unwrap();
    for overwrite in [&[][..], &["--overwrite"], &["--overwrite=any"]] {
        let arguments: Vec<&str> = ["generate", "t.cdl", "x.nc"].iter().chain(overwrite).copied().collect();
        assert_eq!(ncirrus(&arguments, folder.path()).status.code(), Some(7), "{arguments:?}");
        assert_eq!(std::fs::read(folder.path().join("x.nc")).unwrap(), b"a letter");
    }
    printed(&["generate", "t.cdl", "y.nc"], folder.path());
    assert_eq!(ncirrus(&["generate", "t.cdl", "y.nc"], folder.path()).status.code(), Some(7));
    printed(&["generate", "--overwrite", "t.cdl", "y.nc"], folder.path());
}
