//! `ncirrus fragments`, and fragments in the output of other commands.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
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
fn a_check_reports_which_fragments_are_not_what_they_should_be() {
    let Some((folder, master)) = case("cf1.13/cfdm-concat-rel") else { return };
    assert!(ncirrus(&["fragments", "--check", &master]).status.success());
    std::fs::remove_file(folder.path().join("b.nc")).unwrap();
    let output = ncirrus(&["fragments", "--check", &master]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("it is not there"), "{}", text(&output.stdout));
}

#[test]
fn filled_in_fragments_are_reported() {
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

/// A master whose 20,000 fragments do not exist.
fn many(folder: &Path) -> String {
    let (count, master) = (20_000, folder.join("m.nca"));
    let session = ncirrus::Session::new().unwrap();
    let create = ncirrus::CreateOptions::new().kind(ncirrus::Kind::Nc4);
    let dataset = ncirrus::Dataset::create_with(master.to_str().unwrap(), &create, &session).unwrap();
    let root = dataset.root();
    for (name, len) in [("time", count), ("a_time", count), ("a_map_j1", 1), ("a_map_i", count)] {
        root.add_dimension(name, ncirrus::DimensionLen::Fixed(len)).unwrap();
    }
    let data = root.add_variable("data", ncirrus::Atomic::Float, &[]).unwrap();
    for (name, text) in [
        ("aggregated_dimensions", "time"),
        ("aggregated_data", "map: fragment_map uris: fragment_uris identifiers: fragment_identifiers"),
    ] {
        data.set_attribute(ncirrus::Attribute::text(name, text)).unwrap();
    }
    let map = root.add_variable("fragment_map", ncirrus::Atomic::Int, &["a_map_j1", "a_map_i"]).unwrap();
    let uris = root.add_variable("fragment_uris", ncirrus::Atomic::String, &["a_time"]).unwrap();
    let identifiers = root.add_variable("fragment_identifiers", ncirrus::Atomic::String, &[]).unwrap();
    map.write_all(&vec![1i32; 20_000]).unwrap();
    let names: Vec<String> = (0..count).map(|number| format!("parts/{number}.nc")).collect();
    let strings = |texts: &[String]| ncirrus::Values::String(texts.iter().map(Some).collect());
    uris.write_values(&ncirrus::Selection::all(&[count]), &strings(&names)).unwrap();
    identifiers.write_values(&ncirrus::Selection::all(&[]), &strings(&["data".to_owned()])).unwrap();
    dataset.close().unwrap();
    master.to_str().unwrap().to_owned()
}

#[test]
fn lists_of_very_many_fragments_are_printed_while_they_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let master = many(folder.path());
    let run = |arguments: &[&str]| {
        let output = ncirrus(&[&["--memory", "64M"], arguments, &[&master]].concat());
        assert!(output.status.code().unwrap() < 2, "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let shown = run(&["fragments"]);
    let rows: Vec<&str> = shown.lines().collect();
    assert_eq!(rows.len(), 20_002);
    assert!(rows[1].contains("[0:1]") && rows[20_000].contains("/parts/19999.nc"), "{}", rows[20_000]);
    assert_eq!(rows[20_001], "  20000 fragments");
    let listed: Value = serde_json::from_str(&run(&["fragments", "--json"])).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 20_000);
    assert!(listed.iter().enumerate().all(|(at, entry)| entry["index"][0] == at));
    let checked = run(&["fragments", "--check"]);
    assert!(checked.ends_with("  20000 fragments, 20000 with faults\n"));
    let places = checked.lines().filter(|line| line.starts_with("  ["));
    assert!(places.eq(shown.lines().filter(|line| line.starts_with("  ["))), "the order is another");
}
