//! `ncirrus fragments` and what other commands say of fragments.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn ncirrus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ncirrus")).args(arguments).output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

/// A copy of a case of the corpus.
fn case(id: &str) -> Option<(tempfile::TempDir, String)> {
    let from = corpus("cfa")?.join(id);
    let folder = tempfile::tempdir().unwrap();
    copy(&from, folder.path());
    let master = folder.path().join("m.nca").to_str().unwrap().to_owned();
    Some((folder, master))
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn fragments_are_listed_for_people_and_programs() {
    let Some((_folder, master)) = case("cf1.13/cfdm-concat-rel") else { return };
    let shown = text(&ncirrus(&["fragments", &master]).stdout);
    assert!(shown.contains("/pt") && shown.contains("a.nc") && shown.contains("b.nc"), "{shown}");
    let listed: Value = serde_json::from_slice(&ncirrus(&["fragments", "--json", &master]).stdout).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0]["kind"], "dataset");
    assert_eq!(listed[0]["start"], serde_json::json!([0, 0, 0]));
    let part = ncirrus(&["fragments", "--json", &master, "pt[0:2]"]);
    let part: Value = serde_json::from_slice(&part.stdout).unwrap();
    assert_eq!(part.as_array().unwrap().len(), 1);
}

#[test]
fn a_check_tells_which_fragments_are_not_what_they_should_be() {
    let Some((folder, master)) = case("cf1.13/cfdm-concat-rel") else { return };
    assert!(ncirrus(&["fragments", "--check", &master]).status.success());
    std::fs::remove_file(folder.path().join("b.nc")).unwrap();
    let output = ncirrus(&["fragments", "--check", &master]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("it is not there"), "{}", text(&output.stdout));
}

#[test]
fn filled_in_fragments_are_told_of() {
    let Some((folder, master)) = case("cf1.13/cfdm-concat-rel") else { return };
    std::fs::remove_file(folder.path().join("b.nc")).unwrap();
    let refused = ncirrus(&["dump", "-v", "pt", &master]);
    assert!(!refused.status.success());
    assert!(text(&refused.stderr).contains("is not there"), "{}", text(&refused.stderr));
    let filled = ncirrus(&["dump", "-v", "pt", "--absent", "fill", &master]);
    assert!(filled.status.success(), "{}", text(&filled.stderr));
    assert!(text(&filled.stderr).contains("1 fragment is not there"), "{}", text(&filled.stderr));
}

#[test]
fn plans_count_fragments() {
    let Some((_folder, master)) = case("cf1.13/cfdm-concat-rel") else { return };
    let shown = text(&ncirrus(&["explain", &master, "pt"]).stdout);
    assert!(shown.contains("fragments   2 in 2 parts"), "{shown}");
}
