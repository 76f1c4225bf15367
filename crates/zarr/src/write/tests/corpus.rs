//! Datasets of other programs are changed in place and keep what was not changed.
use super::fixtures::put;
use super::round_trips::described;
use super::*;
use ncirrus_layout::ErrorKind;
use ncirrus_testkit::corpus::corpus;
use std::path::{Path, PathBuf};

#[test]
fn datasets_of_other_programs_keep_what_is_not_changed() {
    let Some(root) = corpus("nczarr") else { return };
    let (mut changed, mut refused) = (0, 0);
    for folder in datasets(&root.join("cases")) {
        let objects = ObjectView::from_dir(&folder).unwrap();
        match change(objects, &folder) {
            Some(true) => changed += 1,
            Some(false) => refused += 1,
            None => {}
        }
    }
    assert!(changed > 100, "only {changed} datasets were changed, {refused} are read-only");
}

/// Whether the dataset could be changed; `None` if there is none.
fn change(objects: ObjectView, folder: &Path) -> Option<bool> {
    let old = opened(&objects)?;
    let view = MemoryView::new(objects.clone());
    let placer = match ZarrWriter::default().update(&view, &ObjectView::id(""), &old) {
        Ok(placer) => placer,
        Err(ncirrus_layout::Stall::Fail(error)) if error.kind() == ErrorKind::Unsupported => {
            return Some(false);
        }
        Err(other) => panic!("{}: {other:?}", folder.display()),
    };
    let mut hand = HandPlacer { placer, objects, history: Vec::new() };
    let mut model = (*old).clone();
    hand.define(&model);
    hand.commit(&model);
    assert_eq!(hand.history.len(), 0, "{}: nothing changed", folder.display());
    let global = NodeId::Group(model.root());
    // An array at the root has no group to which anything could be added.
    let document = std::fs::read_to_string(folder.join("zarr.json")).unwrap_or_default();
    let document: String = document.split_whitespace().collect();
    if folder.join(".zarray").exists() || document.contains("\"node_type\":\"array\"") {
        return Some(false);
    }
    if model.attributes(global).and_then(|state| state.known()).is_none() {
        return Some(false);
    }
    put(&mut model, global, Attribute::text("added_attribute", "here"));
    model.add_variable(model.root(), "added_variable", Atomic::Short.into(), &[]).unwrap();
    hand.define(&model);
    hand.commit(&model);
    let new = opened(&hand.objects).unwrap_or_else(|| panic!("{}: gone", folder.display()));
    compare(&old, &new, folder);
    Some(true)
}

fn compare(old: &Model, new: &Model, folder: &Path) {
    let lines = |model: &Model| -> Vec<String> {
        let mut lines: Vec<String> =
            described(model).into_iter().filter(|line| !line.contains("added_")).collect();
        lines.retain(|line| !line.starts_with("group / "));
        lines.sort();
        lines
    };
    let (old_lines, new_lines) = (lines(old), lines(new));
    for (old, new) in old_lines.iter().zip(&new_lines) {
        assert_eq!(new, old, "{}", folder.display());
    }
    assert_eq!(old_lines.len(), new_lines.len(), "{}", folder.display());
    assert!(new.variable_at("added_variable").is_some(), "{}", folder.display());
}

/// Folders that hold a Zarr dataset.
fn datasets(folder: &Path) -> Vec<PathBuf> {
    let markers = [".zgroup", ".zattrs", ".zarray", ".zmetadata", "zarr.json", ".nczarr"];
    if markers.iter().any(|name| folder.join(name).exists()) {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.iter().flat_map(|path| datasets(path)).collect()
}
