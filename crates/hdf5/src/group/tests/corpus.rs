//! Trees of real files, compared with what h5py reads.
use super::described::describe;
use crate::group::{LinkTarget, links, lookup};
use crate::object::{ObjectRef, header, kind};
use crate::superblock::{find, load};
use crate::testing::{KEY, done, files, root, view};
use ncirrus_layout::{ErrorKind, View};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::{MemoryView, ObjectView};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn trees_are_those_of_the_truth() {
    let Some(folder) = corpus("hdf5") else { return };
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, bytes) in files(&folder) {
        let truth = folder.join("truth").join(format!("{}.json", path.replace('/', "__")));
        let Ok(truth) = std::fs::read(truth) else { continue };
        let truth: Value = serde_json::from_slice(&truth).expect("a JSON document");
        if truth["open"] != true {
            continue;
        }
        let view = view(bytes);
        let mut found = root(&view).map(|root| tree(&view, &root));
        let mut expected = expected(&truth);
        if let Ok(found) = &mut found {
            // What h5py cannot open is compared by name only.
            expected.iter_mut().filter(|(_, kind)| *kind == "ERR").for_each(|(path, kind)| {
                kind.clone_from(found.entry(path.clone()).or_default());
            });
        }
        match found {
            Ok(found) if found == expected => {}
            Ok(found) => {
                let differ = expected.iter().find(|(path, kind)| found.get(*path) != Some(kind));
                let more = found.iter().find(|(path, _)| !expected.contains_key(*path));
                wrong.push(format!("{path}: {differ:?} is not there, {more:?} is too much"));
            }
            Err(error) => wrong.push(format!("{path}: {error}")),
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{} of {checked}: {}", wrong.len(), wrong.join("\n"));
    assert!(checked >= 200, "only {checked} files were checked");
}

#[test]
fn superblocks_are_those_of_the_writers() {
    let Some(folder) = corpus("hdf5/gen") else { return };
    let facts = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).expect("a file of the corpus");
        let file = root(&view(bytes)).expect("it opens").file;
        (file.version, file.base, (file.sizes.offsets, file.sizes.lengths), file.page, file.warnings.len())
    };
    assert_eq!(facts("userblock_earliest.h5"), (0, 1024, (8, 8), None, 0));
    assert_eq!(facts("sizes_4_4.h5"), (2, 0, (4, 4), None, 0));
    assert_eq!(facts("sizes_4_8.h5"), (2, 0, (4, 8), None, 0));
    assert_eq!(facts("c_sizes_8_4.h5"), (1, 0, (8, 4), None, 0));
    assert_eq!(facts("c_sizes_4_4.h5"), (1, 0, (4, 4), None, 0));
    assert_eq!(facts("basic_v114.h5"), (3, 0, (8, 8), None, 0));
    assert_eq!(facts("fs_page_earliest.h5"), (2, 0, (8, 8), Some(4096), 0));
    assert_eq!(facts("swmr.h5"), (3, 0, (8, 8), None, 0));
}

#[test]
fn every_object_of_every_file_is_read() {
    let Some(folder) = corpus("hdf5") else { return };
    let (mut damaged, mut read) = (Vec::new(), 0);
    for (path, bytes) in files(&folder) {
        let view = view(bytes);
        if done(find(&view, &ObjectView::id(KEY))).expect("a search").is_none() {
            continue;
        }
        read += 1;
        let text = done(describe(&view)).unwrap_or_else(|error| format!("error: {error}"));
        let is_damage = |line: &&str| line.contains("error: ") || line.contains("cannot be read");
        damaged.extend(text.lines().find(is_damage).map(|line| format!("{path}: {line}")));
    }
    assert!(damaged.is_empty(), "{damaged:#?}");
    assert!(read >= 200, "only {read} files were read");
}

#[test]
fn soft_and_external_links_of_real_files_are_followed() {
    let Some(folder) = corpus("hdf5/gen") else { return };
    let view = MemoryView::new(ObjectView::from_dir(&folder).expect("a folder"));
    for (name, same, root_paths) in [
        (
            "links_soft_ext.h5",
            vec!["hard", "soft", "softrel/d", "a/loop/b/d", "cycle/a/loop/b/d"],
            ["cycle", "/cycle/cycle"],
        ),
        ("links_soft_ext_latest.h5", vec!["hard", "soft", "ünï/b/d", "cyc/b/d", "a/up/up/b/d"], ["/", "."]),
    ] {
        let file = done(load(&view, &ObjectView::id(name))).expect("a file");
        let root = ObjectRef { addr: file.root, file: Arc::clone(&file) };
        let to = |path: &str| done(lookup(&view, &root, path));
        let object = to("/a/b/d").expect("an object");
        for path in same {
            assert_eq!(to(path).expect("an object"), object, "{name} {path}");
        }
        for path in root_paths {
            assert_eq!(to(path).expect("the root"), root, "{name} {path}");
        }
        for path in ["dangling", "ext", "a/nothing"] {
            assert_eq!(to(path).expect_err("dangling").kind(), ErrorKind::NotFound, "{name} {path}");
        }
    }
}

/// Kinds of links and objects by path, as the truth has them.
fn expected(truth: &Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (path, object) in truth["objs"].as_object().expect("objects") {
        for (name, kind) in object["children"].as_object().into_iter().flatten() {
            let path = format!("{}/{name}", path.trim_end_matches('/'));
            let cycle = truth["objs"][&path]["kind"] == "cycle";
            let kind = if cycle { "cycle" } else { kind.as_str().expect("a kind") };
            all.insert(path, kind.to_owned());
        }
    }
    all
}

fn tree(view: &dyn View, root: &ObjectRef) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    walk(view, root, "", &mut Vec::new(), &mut all);
    all
}

fn walk(
    view: &dyn View,
    group: &ObjectRef,
    path: &str,
    above: &mut Vec<u64>,
    all: &mut BTreeMap<String, String>,
) {
    let found = match done(links(view, group)) {
        Ok(found) => found,
        Err(error) => {
            all.insert(path.to_owned(), error.to_string());
            return;
        }
    };
    above.push(group.addr.0);
    for loss in &found.losses {
        all.insert(format!("{path}/?"), loss.to_string());
    }
    for link in &found.list {
        let path = format!("{path}/{}", link.name);
        let LinkTarget::Hard(addr) = link.target else {
            let kind = match link.target {
                LinkTarget::Soft(_) => "soft",
                LinkTarget::External { .. } => "ext",
                _ => "udlink",
            };
            all.insert(path, kind.to_owned());
            continue;
        };
        let object = ObjectRef { file: Arc::clone(&group.file), addr };
        let kind = kind_of(view, &object);
        if kind == "group" && above.contains(&addr.0) {
            all.insert(path, "cycle".to_owned());
            continue;
        }
        if kind == "group" {
            walk(view, &object, &path, above, all);
        }
        all.insert(path, kind);
    }
    above.pop();
}

fn kind_of(view: &dyn View, object: &ObjectRef) -> String {
    let header = match done(header(view, object)) {
        Ok(header) => header,
        Err(error) => return error.to_string(),
    };
    let has = |kind| header.find(kind).is_some();
    assert_eq!(header.losses, Vec::<String>::new());
    let kind = if has(kind::LAYOUT) {
        "dataset"
    } else if has(kind::SYMBOL_TABLE) || has(kind::LINK_INFO) {
        "group"
    } else if has(kind::DATATYPE) {
        "type"
    } else {
        "nothing"
    };
    kind.to_owned()
}
