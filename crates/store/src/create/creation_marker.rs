//! The objects of a dataset whose creation was not completed.
use super::own;
use crate::marker;
use crate::store::{Store, StoreExt};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus_layout::{ObjectId, Result, Want};
use std::collections::BTreeSet;

/// Whether all objects below a folder can have been put by the writer of a Zarr dataset there.
pub(super) async fn is_alone(store: &dyn Store, root: &ObjectId) -> Result<bool> {
    let Some(all) = below(store, root).await? else { return Ok(false) };
    let count = all.len();
    Ok(own(store, &crate::key::folder(root.key()), all).await?.len() == count)
}

/// Every object below a prefix; `None` if there are keys that ncirrus never puts.
pub(super) async fn below(store: &dyn Store, prefix: &ObjectId) -> Result<Option<Vec<ObjectId>>> {
    let (mut objects, mut next): (Vec<ObjectId>, Option<String>) = (Vec::new(), None);
    loop {
        let Some(page) = store.objects(prefix, next.as_deref()) else {
            return listed_below(store, prefix).await.map(Some);
        };
        let page = page.await?;
        if !page.unnamed.is_empty() {
            return Ok(None);
        }
        objects.extend(page.objects.into_iter().map(|(object, _)| object));
        next = page.next;
        if next.is_none() {
            return Ok(Some(objects));
        }
    }
}

/// Every object below a prefix.
pub(super) async fn listed_below(store: &dyn Store, prefix: &ObjectId) -> Result<Vec<ObjectId>> {
    let (mut objects, mut prefixes) = (Vec::new(), vec![prefix.clone()]);
    while let Some(prefix) = prefixes.pop() {
        let mut page = None;
        loop {
            let listing = store.list(&prefix, page.as_deref()).await?;
            for entry in listing.entries {
                let list = if entry.is_prefix { &mut prefixes } else { &mut objects };
                list.push(prefix.child(&entry.name));
            }
            page = listing.next;
            if page.is_none() {
                break;
            }
        }
    }
    Ok(objects)
}

/// An object from a listing, and its size if listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedObject {
    pub(super) object: ObjectId,
    pub(super) size: Option<u64>,
}

/// Every object below a prefix with a valid name.
pub(super) async fn sized_below(store: &dyn Store, prefix: &ObjectId) -> Result<Vec<ListedObject>> {
    let (mut all, mut next): (Vec<ListedObject>, Option<String>) = (Vec::new(), None);
    loop {
        let Some(page) = store.objects(prefix, next.as_deref()) else {
            let below = listed_below(store, prefix).await?;
            return Ok(below.into_iter().map(|object| ListedObject { object, size: None }).collect());
        };
        let page = page.await?;
        all.extend(page.objects.into_iter().map(|(object, size)| ListedObject { object, size: Some(size) }));
        next = page.next;
        if next.is_none() {
            return Ok(all);
        }
    }
}

/// Of the objects below a dataset, those that are its own, judged by their names alone: objects below a root of
/// another dataset are not, as far as names show that it is one.
pub(super) fn of_dataset(root: &ObjectId, objects: Vec<ObjectId>) -> Vec<ObjectId> {
    let top = crate::key::folder(root.key());
    let is_other = |object: &&ObjectId| {
        let (folder, name) = parts(object.key());
        folder != top && OF_ROOTS.contains(&name)
    };
    let others: BTreeSet<String> =
        objects.iter().filter(is_other).map(|object| parts(object.key()).0.to_owned()).collect();
    let is_own = |object: &ObjectId| {
        let (folder, name) = parts(object.key());
        own::may_be_own(name) && ancestors(folder, &top).all(|above| !others.contains(above))
    };
    objects.into_iter().filter(is_own).collect()
}

/// Of the objects below a folder, those that the writer of a Zarr dataset there can have put: neither files that no
/// such dataset has nor datasets of their own, which came later or from elsewhere.
pub(super) async fn own(store: &dyn Store, folder: &str, objects: Vec<ObjectId>) -> Result<Vec<ObjectId>> {
    let others = datasets(store, folder, &objects).await?;
    let is_own = |object: &ObjectId| {
        let (parent, name) = parts(object.key());
        own::may_be_own(name) && ancestors(parent, folder).all(|above| !others.contains(above))
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
    let may_be_root = |object: &&ObjectId| {
        let parent = parts(object.key()).0;
        // An object in a member is not a dataset, or is removed with it.
        let is_known = ancestors(parent, folder).any(|above| found.contains(above));
        !is_known && !ancestors(parent, folder).skip(1).any(|above| described.contains(above))
    };
    let requested: Vec<&ObjectId> = documents.into_iter().filter(may_be_root).collect();
    let looks = requested.into_iter().map(|object| async move {
        Ok::<_, ncirrus_layout::Error>(is_of_root(store, object).await?.then(|| folder_of(object)))
    });
    let roots: Vec<Option<String>> = iter(looks).buffer_unordered(AT_ONCE).try_collect().await?;
    found.extend(roots.into_iter().flatten());
    Ok(found)
}

/// Whether a document is one that only roots of datasets have.
async fn is_of_root(store: &dyn Store, object: &ObjectId) -> Result<bool> {
    let Some(blob) = store.get(object, &Want::All).await? else { return Ok(false) };
    let text = String::from_utf8_lossy(&blob.bytes).to_ascii_lowercase();
    Ok(["nczarr_superblock\"", "\"consolidated_metadata\""].iter().any(|mark| text.contains(mark)))
}

/// Number of documents read concurrently.
const AT_ONCE: usize = 64;
/// Names of objects that only roots of datasets have.
const OF_ROOTS: [&str; 3] = [".zmetadata", ".nczarr", marker::CREATION];
/// Documents whose contents tell whether they are of a root.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zgroup", ".zattrs"];

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
