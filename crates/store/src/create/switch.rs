//! Replacing an old tree by a new one, in a store that cannot rename.
//!
//! 1. The marker records that it has begun: from here on the new tree is valid, and whoever finds the marker of a
//!    killed writer can complete the replacement.
//! 2. The documents of the old root are removed, first those that make it one: a reader never sees a mix of the two.
//! 3. The new objects are copied within the store; old ones without a successor are removed. A listing shows whether
//!    all arrived.
//! 4. The documents of the new root are put; those that make it one come last, and only if there is none.
//! 5. The marker is removed, then the folder.
use super::beside::{ReplacementPart, ReplacementTree};
use super::creation_marker::{self, ListedObject};
use super::lease::{LeaseStage, TreeLease};
use crate::marker;
use crate::store::{PutCondition, Store, StoreExt};
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, join, try_join, try_join_all};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Want};
use std::collections::{HashMap, HashSet};

/// The objects below the root.
#[derive(Default)]
struct SwitchListing {
    /// Objects of the folder, what they will become, and their sizes.
    new: Vec<(ObjectId, ObjectId, Option<u64>)>,
    documents: Vec<(ObjectId, ObjectId)>,
    /// Documents of the existing root.
    old_documents: Vec<ObjectId>,
    old: Vec<ListedObject>,
}

/// Puts a new tree, all of which is in its folder, in the place of the existing one. It can be restarted at any time.
///
/// # Errors
/// `Conflict` if another program took the location over, otherwise errors of requests; it can be completed later.
pub(super) async fn switch(
    store: &dyn Store,
    (root, beside): (&ObjectId, &ReplacementTree),
    lease: &TreeLease,
) -> Result<()> {
    let (entered, listed) =
        join(lease.enter(LeaseStage::Switching(beside.name().to_owned())), look(store, root, beside)).await;
    entered?;
    let listed = listed?;
    if listed.documents.is_empty() {
        return Err(Error::internal("a new tree without a root").at_object(root));
    }
    remove_root(store, &listed.old_documents).await?;
    let moved = try_join(copy_all(store, &listed), remove_rest(store, root, &listed));
    let (_, documents) = try_join(moved, read_all(store, &listed.documents)).await?;
    ensure_arrived(store, (root, beside), &listed).await?;
    lease.check().await?;
    put_documents(store, documents).await
}

async fn look(store: &dyn Store, root: &ObjectId, beside: &ReplacementTree) -> Result<SwitchListing> {
    let mut listed = SwitchListing::default();
    let sign = root.child(marker::CREATION);
    let folder = crate::key::folder(ReplacementTree::all(root).key());
    for found in creation_marker::sized_below(store, root).await? {
        match beside.part(&found.object) {
            Some(ReplacementPart::Document(target)) => listed.documents.push((found.object, target)),
            Some(ReplacementPart::Other(target)) => listed.new.push((found.object, target, found.size)),
            None if found.object == sign || found.object.key().starts_with(&folder) => {}
            None if marker::below(root).any(|marker| marker == found.object) => {
                listed.old_documents.push(found.object);
            }
            None => listed.old.push(found),
        }
    }
    Ok(listed)
}

/// Removes the documents of a root: first those that make it one.
async fn remove_root(store: &dyn Store, documents: &[ObjectId]) -> Result<()> {
    let (first, then): (Vec<&ObjectId>, Vec<&ObjectId>) =
        documents.iter().partition(|object| decides(object));
    try_join_all(first.into_iter().map(|document| store.delete(document))).await?;
    try_join_all(then.into_iter().map(|document| store.delete(document))).await.map(|_| ())
}

/// Whether a document makes a root: with any of these it is complete only if all others exist.
fn decides(document: &ObjectId) -> bool {
    [".zarray", ".zgroup", "zarr.json", ".zmetadata"].contains(&document.name())
}

async fn copy_all(store: &dyn Store, listed: &SwitchListing) -> Result<()> {
    let copies: Vec<BoxFuture<'_, Result<()>>> =
        listed.new.iter().map(|(from, to, _)| store.copy(from, to)).collect();
    iter(copies).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.map(|_| ())
}

/// Removes old objects without a successor, which would otherwise become part of the new tree.
async fn remove_rest(store: &dyn Store, root: &ObjectId, listed: &SwitchListing) -> Result<()> {
    let kept: HashSet<&ObjectId> = listed.new.iter().map(|(_, to, _)| to).collect();
    let rest = listed.old.iter().map(|found| found.object.clone());
    let rest: Vec<ObjectId> = rest.filter(|object| !kept.contains(object)).collect();
    let rest = creation_marker::of_dataset(root, rest);
    store.delete_many(&rest).await
}

/// Copies that a server claims to have made but has not are made by hand.
async fn ensure_arrived(
    store: &dyn Store,
    (root, beside): (&ObjectId, &ReplacementTree),
    listed: &SwitchListing,
) -> Result<()> {
    if listed.new.iter().all(|(_, _, size)| size.is_none()) {
        return Ok(());
    }
    let there = creation_marker::sized_below(store, root).await?;
    let there: HashMap<&ObjectId, Option<u64>> = there
        .iter()
        .filter(|found| beside.part(&found.object).is_none())
        .map(|found| (&found.object, found.size))
        .collect();
    let lost = listed.new.iter().filter(|(_, to, size)| there.get(to) != Some(size));
    let again: Vec<BoxFuture<'_, Result<()>>> =
        lost.map(|(from, to, _)| crate::store::copy_by_hand(store, from, to).boxed()).collect();
    iter(again).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await.map(|_| ())
}

type RootDocument = (ObjectId, Bytes);

async fn read_all(store: &dyn Store, documents: &[(ObjectId, ObjectId)]) -> Result<Vec<RootDocument>> {
    let reads = documents.iter().map(|(from, to)| async move {
        let found = store.get(from, &Want::All).await?;
        let found =
            found.ok_or_else(|| Error::internal("a document of a new root is gone").at_object(from))?;
        Ok((to.clone(), found.bytes))
    });
    try_join_all(reads).await
}

/// Puts the documents of a root, with those that make it one last, and only if there is none.
async fn put_documents(store: &dyn Store, documents: Vec<RootDocument>) -> Result<()> {
    let (last, first): (Vec<RootDocument>, Vec<RootDocument>) =
        documents.into_iter().partition(|(object, _)| decides(object));
    try_join_all(first.iter().map(|(object, body)| store.put(object, body.clone(), PutCondition::None)))
        .await?;
    let last = last.iter().map(|(object, body)| async move {
        match store.put(object, body.clone(), PutCondition::Absent).await {
            // Without conditions no other writer is excluded.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                store.put(object, body.clone(), PutCondition::None).await
            }
            put => put,
        }
    });
    try_join_all(last).await.map(|_| ())
}

/// Requests in flight at once.
const AT_ONCE: usize = 64;
