//! Repositories of the corpus: what is opened does not depend on how bytes arrive, and takes few rounds of requests.
use crate::IcechunkDriver;
use ncirrus_layout::{Driver, OpenOptions, View, Want};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::{ObjectView, StallingView, drive, law};

/// The objects of a repository below `repo`.
pub(super) fn objects(case: &str) -> Option<ObjectView> {
    let folder = corpus("icechunk")?.join(case);
    let mut objects = ObjectView::new();
    let inside = ObjectView::from_dir(&folder.join("repo")).unwrap();
    for key in inside.keys() {
        objects.put(&format!("repo/{key}"), inside.find(key).unwrap().clone());
    }
    Some(objects)
}

#[test]
fn what_is_opened_does_not_depend_on_how_bytes_arrive() {
    for case in [
        "single-v2",
        "history-v1",
        "inline-v1",
        "shapes",
        "manifests-split",
        "empty-repo-v2",
        "array-at-root",
    ] {
        let Some(objects) = objects(case) else { return };
        let found = law::availability(&IcechunkDriver::default(), &objects, "repo", 3);
        assert!(found.contains("probe Ok(\"Yes\")") && !found.contains("open Err"), "{case}: {found}");
    }
}

#[test]
fn a_repository_is_opened_in_two_rounds_of_requests() {
    // Before spec version 2 the branch is an object of its own, which is requested after `repo`.
    for (case, name, expected_rounds, expected) in [
        ("single-v2", "repo", 2, 4),
        ("single-v2", "repo.icechunk", 2, 5),
        ("single-v2", "repo.zarr", 3, 5),
        ("history-v1", "repo", 3, 6),
        ("history-v1", "repo.icechunk", 2, 6),
    ] {
        let Some(found) = objects(case) else { return };
        let mut objects = ObjectView::new();
        for key in found.keys() {
            objects.put(&key.replacen("repo", name, 1), found.find(key).unwrap().clone());
        }
        let rounds = StallingView::new(objects);
        let root = ObjectView::id(name);
        drive(&rounds, |view| IcechunkDriver::default().probe(view, &root)).unwrap();
        drive(&rounds, |view| IcechunkDriver::default().open(view, &root, &OpenOptions::default())).unwrap();
        assert_eq!(
            (rounds.rounds(), rounds.requests().len()),
            (expected_rounds, expected),
            "{case}: {:?}",
            rounds.requests()
        );
    }
}

#[test]
fn only_the_manifest_of_the_chunks_that_are_read_is_fetched() {
    let Some(objects) = objects("manifests-split") else { return };
    let rounds = StallingView::new(objects);
    let root = ObjectView::id("repo");
    let catalog =
        drive(&rounds, |view| IcechunkDriver::default().open(view, &root, &OpenOptions::default())).unwrap();
    let model = drive(&rounds, |view| catalog.tree(view)).unwrap();
    let mut split = 0;
    for variable in model.variables() {
        let source = drive(&rounds, |view| catalog.source(view, variable)).unwrap();
        let ncirrus_layout::Layout::Grid { index, .. } = &source.layout else { panic!("not chunked") };
        let before = rounds.requests().len();
        let mut cells = ncirrus_layout::CellList::new(source.extent.len());
        cells.push(&vec![0; source.extent.len()]);
        drive(&rounds, |view| index.locate(view, &cells)).unwrap();
        let requests = rounds.requests()[before..].to_vec();
        assert!(requests.len() <= 1, "{requests:?}");
        assert!(requests.iter().all(|(key, _)| key.contains("/manifests/")), "{requests:?}");
        split += requests.len();
    }
    assert!(split > 0);
}

#[test]
fn the_documents_of_nodes_are_those_of_the_snapshot() {
    let Some(objects) = objects("groups-v2") else { return };
    let view = ncirrus_testkit::MemoryView::new(objects);
    let root = ObjectView::id("repo");
    let catalog = IcechunkDriver::default().open(&view, &root, &OpenOptions::default()).unwrap();
    assert!(catalog.writing().is_none());
    assert!(catalog.rejection().message().contains("icechunk package"));
    assert!(view.read(&root.child("repo"), Want::All).unwrap().is_some());
    let history = catalog.history(&view, true).unwrap().unwrap();
    assert!(history.branches.iter().any(|branch| branch.name == "main"));
    assert_eq!(history.snapshots.last().unwrap().message, "Repository initialized");
    assert!(
        history
            .snapshots
            .iter()
            .any(|entry| entry.changes.as_ref().is_some_and(|found| found.new_groups > 0))
    );
}
