//! Which documents a commit puts, and in which order (`docs/formats/nczarr.md`, "Order of a commit").
use super::compose::{Document, Documents, Level};
use super::text;
use ncirrus_layout::{ObjectId, Phase, Put};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The documents that a store holds, by key.
pub(crate) type Committed = HashMap<String, Value>;

/// What a commit does and what the store holds afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commit {
    pub(crate) phases: Vec<Phase>,
    pub(crate) after: Committed,
}

/// How a commit is ordered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// Nothing of the dataset is there yet.
    pub(crate) is_new: bool,
    /// Consolidated metadata stay.
    pub(crate) consolidated: bool,
}

/// Compares the documents with what the store holds and orders the differences.
pub(crate) fn commit(
    root: &ObjectId,
    documents: Documents,
    committed: &Committed,
    removed: &[String],
    order: Order,
) -> Commit {
    let Documents { mut list, consolidated } = documents;
    let mut at_first = None;
    let mut at_last = None;
    let mut passing = None;
    if let Some(whole) = consolidated {
        let replaces = list.iter().position(|document| document.key == whole.key);
        if order.consolidated {
            match replaces {
                Some(at) => list[at] = whole,
                None if order.is_new => list.push(whole),
                None => at_last = Some(whole),
            }
        } else if differing(&list, committed) > 1 {
            // Readers that use it see one change instead of several; it goes when the others are done.
            match (replaces, order.is_new) {
                (Some(_), true) => {}
                (Some(_), false) => at_first = Some(whole),
                (None, true) => {
                    passing = Some(whole.key.clone());
                    list.push(whole);
                }
                (None, false) => {
                    passing = Some(whole.key.clone());
                    at_first = Some(whole);
                }
            }
        }
    }
    let overwritten = at_first.as_ref().map(|first| first.key.clone());
    let mut phases: Vec<Phase> = at_first.iter().map(|document| phase(vec![put(root, document)])).collect();
    phases.extend(by_level(root, &list, committed, overwritten.as_deref()));
    phases.extend(
        at_last.iter().filter(|last| differs(last, committed)).map(|last| phase(vec![put(root, last)])),
    );
    phases.extend(passing.iter().map(|key| phase(vec![Put::Delete { object: root.child(key) }])));
    let trees = removed.iter().map(|key| Put::DeleteTree { prefix: root.child(key) }).collect::<Vec<_>>();
    if !trees.is_empty() {
        phases.push(phase(trees));
    }
    let mut after: Committed =
        list.into_iter().chain(at_last).map(|document| (document.key, document.body)).collect();
    if let Some(key) = passing {
        after.remove(&key);
    }
    Commit { phases, after }
}

/// Changed documents in rising order of their levels; `forced` is put in any case.
fn by_level(root: &ObjectId, list: &[Document], committed: &Committed, forced: Option<&str>) -> Vec<Phase> {
    let mut levels: BTreeMap<Level, Vec<Put>> = BTreeMap::new();
    for document in
        list.iter().filter(|document| differs(document, committed) || forced == Some(&document.key))
    {
        levels.entry(document.level).or_default().push(put(root, document));
    }
    levels.into_values().map(phase).collect()
}

fn differs(document: &Document, committed: &Committed) -> bool {
    committed.get(&document.key) != Some(&document.body)
}

fn differing(list: &[Document], committed: &Committed) -> usize {
    list.iter().filter(|document| differs(document, committed)).count()
}

fn put(root: &ObjectId, document: &Document) -> Put {
    Put::Object { object: root.child(&document.key), body: text::render(&document.body) }
}

fn phase(puts: Vec<Put>) -> Phase {
    Phase { puts, rewrite: false }
}
