//! What belongs to a dataset whose creation was begun and not ended.
use crate::marker;
use crate::store::Store;
use ncirrus_layout::{ObjectId, Result, Want};
use std::collections::BTreeSet;

/// Those of the objects below a folder that the writer of a Zarr dataset there can have put: neither files that no such
/// dataset has nor datasets of their own, which came later or from elsewhere.
pub(super) async fn own(store: &dyn Store, folder: &str, objects: Vec<ObjectId>) -> Result<Vec<ObjectId>> {
    let others = datasets(store, folder, &objects).await?;
    let is_own = |object: &ObjectId| {
        let (parent, name) = parts(object.key());
        is_name_of_zarr(name) && ancestors(parent, folder).all(|above| !others.contains(above))
    };
    Ok(objects.into_iter().filter(is_own).collect())
}

/// Folders below that one that hold datasets of their own.
async fn datasets(store: &dyn Store, folder: &str, objects: &[ObjectId]) -> Result<BTreeSet<String>> {
    let below = |object: &&ObjectId| parts(object.key()).0 != folder;
    let has_name =
        |names: &'static [&'static str]| move |object: &&ObjectId| names.contains(&parts(object.key()).1);
    let folder_of = |object: &ObjectId| parts(object.key()).0.to_owned();
    let mut found: BTreeSet<String> =
        objects.iter().filter(below).filter(has_name(&OF_ROOTS)).map(folder_of).collect();
    let documents: Vec<&ObjectId> = objects.iter().filter(below).filter(has_name(&DOCUMENTS)).collect();
    let described: BTreeSet<String> = documents.iter().map(|object| folder_of(object)).collect();
    for object in documents {
        let parent = parts(object.key()).0;
        // What lies in a member is none, or goes with it.
        let is_known = ancestors(parent, folder).any(|above| found.contains(above));
        let is_deeper = ancestors(parent, folder).skip(1).any(|above| described.contains(above));
        if !is_known && !is_deeper && is_of_root(store, object).await? {
            found.insert(parent.to_owned());
        }
    }
    Ok(found)
}

/// Whether a document is one that only roots of datasets have.
async fn is_of_root(store: &dyn Store, object: &ObjectId) -> Result<bool> {
    let Some(blob) = store.get(object, &Want::All).await? else { return Ok(false) };
    let text = String::from_utf8_lossy(&blob.bytes).to_ascii_lowercase();
    Ok(["nczarr_superblock\"", "\"consolidated_metadata\""].iter().any(|mark| text.contains(mark)))
}

/// Names of objects that only roots of datasets have.
const OF_ROOTS: [&str; 3] = [".zmetadata", ".nczarr", marker::BEGUN];
/// Documents that tell whether they are of a root.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zgroup", ".zattrs"];

/// Whether a Zarr dataset has objects of that name: metadata, chunks, and signs of writers.
fn is_name_of_zarr(name: &str) -> bool {
    let place = name.strip_prefix('c').unwrap_or(name);
    let is_chunk = !name.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_of_others = [".nc", ".z"].iter().any(|start| name.starts_with(start));
    is_chunk || is_of_others || name == "zarr.json"
}

/// The folder, with its slash, and the name.
fn parts(key: &str) -> (&str, &str) {
    key.split_at(key.rfind('/').map_or(0, |slash| slash + 1))
}

/// A folder and those around it, as far as they lie below another one.
fn ancestors<'a>(folder: &'a str, top: &str) -> impl Iterator<Item = &'a str> {
    let len = top.len();
    let inner = Some(folder).filter(move |folder| folder.len() > len);
    std::iter::successors(inner, move |folder| {
        let outer = folder.strip_suffix('/')?;
        Some(parts(outer).0).filter(|outer| outer.len() > len)
    })
}
