//! Which documents a commit puts, and in which order (`docs/formats/zarr-writing.md`, "Order of a commit").
use super::compose::{ComposedDocuments, DocumentLevel, MetadataDocument};
use super::text;
use ncirrus_layout::{ObjectId, PhaseForm, PutPhase, StorePut};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The documents that a store holds, by key.
pub(crate) type CommittedDocuments = HashMap<String, Value>;

/// The actions of a commit, and what the store holds afterwards.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommitPlan {
    pub(crate) phases: Vec<PutPhase>,
    pub(crate) after: CommittedDocuments,
}

/// How a commit is ordered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommitOrder {
    /// The dataset does not exist yet.
    pub(crate) is_new: bool,
    /// There are consolidated metadata.
    pub(crate) consolidated: bool,
    /// A consolidated document hides the intermediate states of a commit.
    pub(crate) guarded: bool,
}

/// Compares the documents with what the store holds and orders the differences.
pub(crate) fn commit(
    root: &ObjectId,
    documents: ComposedDocuments,
    committed: &CommittedDocuments,
    removed: &[String],
    order: CommitOrder,
) -> CommitPlan {
    let changes = differing(&documents.list, committed);
    let trees = removed.iter().map(|key| StorePut::DeleteTree { prefix: root.child(key) }).collect();
    if order.consolidated {
        consolidated(root, documents, committed, trees, order.is_new)
    } else if documents.consolidated.is_some() && (changes > 1 || !removed.is_empty() || order.guarded) {
        covered(root, documents, committed, trees, order.is_new)
    } else {
        CommitPlan {
            phases: by_level(root, &documents.list, committed, order.is_new),
            after: kept(documents.list),
        }
    }
}

/// Consolidated metadata are the commit object: they come before the objects by which a new dataset is recognised,
/// and last in an update.
fn consolidated(
    root: &ObjectId,
    documents: ComposedDocuments,
    committed: &CommittedDocuments,
    trees: Vec<StorePut>,
    is_new: bool,
) -> CommitPlan {
    let ComposedDocuments { mut list, consolidated } = documents;
    let Some(mut whole) = consolidated else { return CommitPlan::default() };
    if !is_new {
        whole.level = DocumentLevel::Last;
    }
    match list.iter_mut().find(|document| document.key == whole.key) {
        Some(same) => *same = whole,
        None => list.push(whole),
    }
    let phases = by_level(root, &list, committed, is_new).into_iter().chain(phase(trees)).collect();
    CommitPlan { phases, after: kept(list) }
}

/// Several objects change, or some are removed, without consolidated metadata: a consolidated document covers them
/// until all are done.
fn covered(
    root: &ObjectId,
    documents: ComposedDocuments,
    committed: &CommittedDocuments,
    trees: Vec<StorePut>,
    is_new: bool,
) -> CommitPlan {
    let ComposedDocuments { list, consolidated } = documents;
    let Some(cover) = consolidated else { return CommitPlan::default() };
    let (same, others): (Vec<MetadataDocument>, Vec<MetadataDocument>) =
        list.iter().cloned().partition(|document| document.key == cover.key);
    let is_root = !same.is_empty();
    let mut puts = levels(root, &others, committed);
    // A new dataset does not exist before its cover or, in Zarr v3, before its root.
    if !(is_new && is_root) {
        let level = if is_new { DocumentLevel::Consolidated } else { DocumentLevel::First };
        puts.insert(level, vec![put(root, &cover)]);
    }
    let mut phases = in_phases(puts, is_new);
    phases.extend(phase(trees));
    let uncover = match same.first() {
        Some(document) => put(root, document),
        None => StorePut::Delete { object: root.child(&cover.key) },
    };
    phases.extend(phase(vec![uncover]));
    CommitPlan { phases, after: kept(list) }
}

/// What a store holds that has exactly these documents.
pub(crate) fn after(documents: ComposedDocuments, consolidated: bool) -> CommittedDocuments {
    // The later of two documents with one key wins.
    let whole = documents.consolidated.filter(|_| consolidated);
    kept(documents.list.into_iter().chain(whole).collect())
}

fn kept(list: Vec<MetadataDocument>) -> CommittedDocuments {
    list.into_iter().map(|document| (document.key, document.body)).collect()
}

/// Changed documents in rising order of their levels.
fn by_level(
    root: &ObjectId,
    list: &[MetadataDocument],
    committed: &CommittedDocuments,
    is_new: bool,
) -> Vec<PutPhase> {
    in_phases(levels(root, list, committed), is_new)
}

/// A phase for each level. Those of a new dataset before its root are one phase: each phase costs a round trip to a
/// distant store.
fn in_phases(mut levels: BTreeMap<DocumentLevel, Vec<StorePut>>, is_new: bool) -> Vec<PutPhase> {
    let decisive =
        if is_new { levels.split_off(&DocumentLevel::Consolidated) } else { std::mem::take(&mut levels) };
    let unseen = levels.into_values().flatten().collect();
    phase(unseen).into_iter().chain(decisive.into_values().filter_map(phase)).collect()
}

fn levels(
    root: &ObjectId,
    list: &[MetadataDocument],
    committed: &CommittedDocuments,
) -> BTreeMap<DocumentLevel, Vec<StorePut>> {
    let mut levels: BTreeMap<DocumentLevel, Vec<StorePut>> = BTreeMap::new();
    for document in list.iter().filter(|document| differs(document, committed)) {
        levels.entry(document.level).or_default().push(put(root, document));
    }
    levels
}

/// Whether a document differs from what the store holds.
pub(crate) fn differs(document: &MetadataDocument, committed: &CommittedDocuments) -> bool {
    committed.get(&document.key) != Some(&document.body)
}

fn differing(list: &[MetadataDocument], committed: &CommittedDocuments) -> usize {
    list.iter().filter(|document| differs(document, committed)).count()
}

/// A document as it is put.
pub(crate) fn put(root: &ObjectId, document: &MetadataDocument) -> StorePut {
    StorePut::Object { object: root.child(&document.key), body: text::render(&document.body) }
}

/// A phase, unless there is nothing to put.
fn phase(puts: Vec<StorePut>) -> Option<PutPhase> {
    (!puts.is_empty()).then_some(PutPhase { puts, form: PhaseForm::Separate })
}
