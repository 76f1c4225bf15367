//! `ncirrus log`, and what other commands show of Icechunk repositories.
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

fn run(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

fn repository(corpus: &Path, case: &str) -> String {
    corpus.join(case).join("repo").display().to_string()
}

#[test]
fn the_log_lists_snapshots_from_the_latest_to_the_first() {
    let Some(root) = corpus("icechunk") else { return };
    for case in ["history", "history-v1"] {
        let address = format!("{}#tag=v1.0", repository(&root, case));
        let history = json(&printed(&["log", "--json", &address]));
        assert_eq!(names(&history["branches"]), BTreeSet::from(["dev", "main"]), "{case}");
        assert_eq!(names(&history["tags"]), BTreeSet::from(["dev tag", "v1.0"]), "{case}");
        let snapshots = history["snapshots"].as_array().unwrap();
        let first = snapshots.last().unwrap();
        assert_eq!((&first["parent"], &first["message"]), (&Value::Null, &"Repository initialized".into()));
        assert!(snapshots.windows(2).all(|pair| pair[0]["time"].as_str() >= pair[1]["time"].as_str()));
        assert!(snapshots.iter().all(|snapshot| snapshot.get("changes").is_none()));
        assert!(snapshots.iter().any(|snapshot| snapshot["id"] == history["shown"]));

        let text = printed(&["log", &address]);
        let shown = history["shown"].as_str().unwrap();
        let marked: Vec<&str> = text.lines().filter(|line| line.starts_with("* ")).collect();
        assert!(marked.len() == 1 && marked[0].contains(shown) && marked[0].contains("tag v1.0"), "{text}");
        let heads = text.lines().filter(|line| !line.starts_with("    ")).count();
        assert_eq!(heads, snapshots.len(), "{text}");
        assert!(text.contains("Repository initialized") && text.contains("parent none"), "{text}");
    }
}

#[test]
fn the_log_counts_what_each_snapshot_changed() {
    let Some(root) = corpus("icechunk") else { return };
    for case in ["history", "history-v1"] {
        let address = repository(&root, case);
        let history = json(&printed(&["log", "--changes", "--json", &address]));
        let snapshots = history["snapshots"].as_array().unwrap();
        let sum = |name: &str| -> u64 {
            snapshots.iter().filter_map(|snapshot| snapshot["changes"][name].as_u64()).sum()
        };
        assert!(sum("chunks") > 0 && sum("new_arrays") >= 2 && sum("new_groups") >= 1, "{case}: {history}");
        let text = printed(&["log", "--changes", &address]);
        assert!(text.contains("new arrays") && text.contains("chunks of"), "{case}: {text}");
    }
}

#[test]
fn other_datasets_have_no_log() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let output = run(&["log", example]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not an Icechunk repository"), "{output:?}");
}

/// An array of 2^80 elements.
#[test]
fn a_huge_array_is_described_and_its_values_are_not_printed() {
    let Some(root) = corpus("icechunk") else { return };
    let address = repository(&root, "damaged/huge-shape-v2");
    let output = run(&["dump", &address]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("too many elements to print"), "{output:?}");
    assert!(text.trim_end().ends_with('}') && text.len() < 10_000, "{text}");
    assert!(run(&["dump", "-h", &address]).status.success());
}

#[test]
fn repositories_are_listed_as_datasets() {
    let Some(root) = corpus("icechunk") else { return };
    let all = printed(&["ls", "-r", "--json", &root.display().to_string()]);
    let found: Vec<Value> = all.lines().map(json).collect();
    for case in ["single-v2", "history-v1", "empty-repo-v2", "empty-uncommitted-v1", "upgraded"] {
        let path = format!("{case}/repo");
        let place = found.iter().find(|place| place["path"] == path.as_str());
        assert_eq!(place.map(|place| &place["kind"]), Some(&"Icechunk".into()), "{case}");
    }
    // What is in a repository is not a dataset of its own.
    let is_inside = |place: &&Value| place["path"].as_str().unwrap().contains("/repo/");
    assert_eq!(found.iter().find(is_inside), None);
    let one = json(&printed(&["ls", "--json", &repository(&root, "history")]));
    assert_eq!((&one["path"], &one["kind"]), (&"".into(), &"Icechunk".into()));
}

/// Keys of `.ncrc` choose the state of addresses that name none.
#[test]
fn settings_choose_the_state() {
    let Some(root) = corpus("icechunk") else { return };
    let address = repository(&root, "history");
    let shown = |settings: &str, address: &str| {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".ncrc"), settings).unwrap();
        let mut command = crate::program::command();
        command.args(["log", "--json", address]).current_dir(home.path()).env("HOME", home.path());
        json(&String::from_utf8(command.output().unwrap().stdout).unwrap())["shown"].clone()
    };
    let of = |state: &str| shown("", &format!("{address}{state}"));
    assert_ne!(of(""), of("#tag=v1.0"));
    assert_eq!(shown("ICECHUNK.TAG=v1.0\n", &address), of("#tag=v1.0"));
    assert_eq!(shown("ICECHUNK.BRANCH=dev\n", &address), of("#branch=dev"));
    assert_eq!(shown("ICECHUNK.TAG=v1.0\n", &format!("{address}#branch=main")), of(""));
    let snapshot = of("#tag=v1.0");
    let id = snapshot.as_str().unwrap();
    assert_eq!(shown(&format!("ICECHUNK.SNAPSHOT={id}\n"), &address), snapshot);
}
