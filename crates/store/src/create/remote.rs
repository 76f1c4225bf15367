//! New remote datasets. There is no rename there: a tree is written in place, its root metadata last, or beside the
//! one that it replaces; a single object is sent when it is complete.
//!
//! While a tree is written, a creation marker beside its metadata, renewed by its writer, says so: only one of two
//! programs creates the dataset, and the remains of a killed one can be distinguished from foreign objects.
use super::beside::{FOLDER, ReplacementTree};
use super::clearing::{ClearingStore, TreeSite};
use super::joint::JointPlace;
use super::lease::{self, LeaseStage, TreeLease};
use super::owner::{self, WriterMark};
use super::scratch::ScratchFile;
use super::switch::switch;
use super::{CommitAction, OverwritePolicy, StagedDataset, creation_marker, exists};
use crate::store::{Store, StoreExt};
use crate::{StoreContext, Url, fault, marker};
use futures_util::future::{BoxFuture, join, join3, try_join_all};
use ncirrus_layout::{Error, ListEntry, Listing, ObjectBytes, ObjectId, Result, Want};
use std::sync::Arc;

/// A tree that is written in place, or beside the one that it replaces.
struct TreeFinish {
    store: Arc<dyn Store>,
    root: ObjectId,
    /// `None` if other programs are excluded in another way.
    site: Option<TreeSite>,
    /// Whether a single object of that name is removed.
    has_object: bool,
}

pub(super) async fn create_tree(
    url: &Url,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<StagedDataset> {
    let (store, root) = writable(url, context)?;
    start_tree(store, root, url, clobber).await
}

/// What exists at the location of a new tree.
struct TreePlace {
    listed: Result<Listing>,
    sign: Option<ObjectBytes>,
    is_tree: bool,
    is_object: bool,
}

impl TreePlace {
    async fn look(store: &dyn Store, root: &ObjectId, sign: &ObjectId) -> Result<Self> {
        let (listed, sign, is_object) =
            join3(store.list(root, None), store.get(sign, &Want::All), has_object(store, root)).await;
        // If nothing is there the markers are not requested one by one.
        let sign = sign?;
        let is_tree = match &listed {
            Ok(all) if all.next.is_none() => all.entries.iter().any(is_marker),
            _ => has_marker(store, root).await?,
        };
        Ok(Self { listed, sign, is_tree, is_object })
    }

    /// Refuses what must not be replaced.
    async fn check(&self, store: &dyn Store, root: &ObjectId, clobber: OverwritePolicy) -> Result<()> {
        if clobber == OverwritePolicy::Never {
            refuse((self.is_tree || self.is_object, self.sign.is_some()), root)?;
        }
        if let Some(sign) = &self.sign {
            lease::check_gone(store, &root.child(marker::CREATION), sign).await?;
        }
        if self.is_tree || self.is_switched() {
            return Ok(());
        }
        match (&self.sign, &self.listed) {
            (Some(_), _) if creation_marker::is_alone(store, root).await? => Ok(()),
            (Some(_), _) => Err(fault::conflict(AMONG_OTHERS, root)),
            // Chunks that wait for the end of a joint writing do not disturb other programs.
            (None, Ok(listed))
                if listed.entries.iter().all(|entry| entry.is_prefix && entry.name == FOLDER) =>
            {
                Ok(())
            }
            (None, Ok(_)) => {
                Err(fault::conflict("holds objects but no Zarr metadata and is not replaced", root))
            }
            (None, Err(error)) => Err(error.clone()),
        }
    }

    /// Whether a tree was about to replace another one when its writer was killed.
    fn is_switched(&self) -> bool {
        self.sign.as_ref().is_some_and(|sign| owner::stage_of(&sign.bytes) != LeaseStage::Making)
    }
}

/// Makes room for a tree: removes what a killed writer left, and nothing that is not part of a dataset.
pub(super) async fn start_tree(
    store: Arc<dyn Store>,
    root: ObjectId,
    url: &Url,
    clobber: OverwritePolicy,
) -> Result<StagedDataset> {
    let sign = root.child(marker::CREATION);
    let place = TreePlace::look(store.as_ref(), &root, &sign).await?;
    place.check(store.as_ref(), &root, clobber).await?;
    let has_object = place.is_object;
    // In a local store what is there is removed at once; elsewhere it stays readable until the new tree is complete.
    if store.local().is_some() || store.facts().isolated {
        if place.is_tree || place.sign.is_some() {
            remove_own(store.as_ref(), &root, None).await?;
        }
        let finish = TreeFinish { store: Arc::clone(&store), root: root.clone(), site: None, has_object };
        return Ok(StagedDataset::new(store, root, url, finish));
    }
    let mark = WriterMark::new();
    // A replacement is written beside the old dataset, which stays readable until the switch.
    let replaces = place.is_tree || place.is_switched();
    let beside = replaces.then(|| ReplacementTree::new(&root, mark.name()));
    let is_left = !replaces && place.sign.is_some();
    let (to_take, to_clear, old) = (Arc::clone(&store), Arc::clone(&store), root.clone());
    let take = {
        let root = root.clone();
        async move {
            let lease = take(Arc::clone(&to_take), &root, mark, place.sign).await?;
            // Another program may have created it, and ended, between the look and the lease.
            if !replaces && has_tree(to_take.as_ref(), &root).await? {
                lease.end().await?;
                return Err(exists(&root));
            }
            Ok(lease)
        }
    };
    let clear = async move {
        if is_left {
            remove_own(to_clear.as_ref(), &old, Some(&old.child(marker::CREATION))).await
        } else {
            Ok(())
        }
    };
    let site = TreeSite::new(take, clear, beside).await?;
    let clearing =
        Arc::new(ClearingStore { inner: Arc::clone(&store), root: root.clone(), site: site.clone() });
    let finish = TreeFinish { store, root: root.clone(), site: Some(site), has_object };
    Ok(StagedDataset::new(clearing, root, url, finish))
}

/// Whether there is a dataset.
async fn has_tree(store: &dyn Store, root: &ObjectId) -> Result<bool> {
    match store.list(root, None).await {
        Ok(all) if all.next.is_none() => Ok(all.entries.iter().any(is_marker)),
        _ => has_marker(store, root).await,
    }
}

/// Acquires a location, and completes what a killed writer had nearly finished there.
async fn take(
    store: Arc<dyn Store>,
    root: &ObjectId,
    mark: WriterMark,
    before: Option<ObjectBytes>,
) -> Result<Arc<TreeLease>> {
    let stage = before.as_ref().map_or(LeaseStage::Making, |sign| owner::stage_of(&sign.bytes));
    let lease = TreeLease::take(Arc::clone(&store), root.child(marker::CREATION), mark, before).await?;
    if let LeaseStage::Switching(folder) = stage {
        switch(store.as_ref(), (root, &ReplacementTree::new(root, &folder)), &lease).await?;
        lease.enter(LeaseStage::Making).await?;
    }
    lease.keep();
    Ok(lease)
}

/// Completes what a killed writer had nearly finished.
///
/// # Errors
/// `Conflict` if another program is at work there.
pub(super) async fn end_switch(store: Arc<dyn Store>, root: &ObjectId) -> Result<()> {
    let sign = root.child(marker::CREATION);
    let Some(before) = store.get(&sign, &Want::All).await? else { return Ok(()) };
    lease::check_gone(store.as_ref(), &sign, &before).await?;
    let lease = take(Arc::clone(&store), root, WriterMark::new(), Some(before)).await?;
    lease.end().await?;
    store.delete_tree(&ReplacementTree::all(root)).await
}

/// Whether there is a single object; if that cannot be determined, there is none.
async fn has_object(store: &dyn Store, root: &ObjectId) -> bool {
    !root.key().is_empty() && store.holds(root).await.unwrap_or(false)
}

/// Refuses existing datasets, and those that another program is creating.
fn refuse((is_there, is_begun): (bool, bool), root: &ObjectId) -> Result<()> {
    match (is_there, is_begun) {
        (true, _) => Err(exists(root)),
        (false, true) => Err(fault::conflict(lease::CREATION_BY_OTHERS, root)),
        (false, false) => Ok(()),
    }
}

const AMONG_OTHERS: &str = "holds leftovers of a killed program, and objects of other programs, which are not replaced: \
                            \"ncirrus clean\" removes the leftovers";

/// The target of a single object, after checking that it may be written. Also whether a tree of that name is removed
/// on commit.
pub(super) async fn room_for_object(
    url: &Url,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<(Arc<dyn Store>, ObjectId, bool)> {
    let (store, object) = writable(url, context)?;
    if object.key().is_empty() && store.facts().lists {
        let message = "the address names a bucket and no object in it: a single file needs a key";
        return Err(Error::invalid(message).at_object(url));
    }
    let listed = async { if !store.facts().lists { None } else { store.list(&object, None).await.ok() } };
    let first = async {
        match clobber {
            OverwritePolicy::Never => store.get(&object, &Want::Range(0..1)).await,
            OverwritePolicy::Replace => Ok(None),
        }
    };
    let (first, listed) = join(first, listed).await;
    let is_ours = |entry: &ListEntry| is_marker(entry) || entry.name == marker::CREATION;
    let has_tree = listed.is_some_and(|listed| listed.entries.iter().any(is_ours));
    if clobber == OverwritePolicy::Never && (has_tree || first?.is_some()) {
        return Err(exists(&object));
    }
    Ok((store, object, has_tree))
}

/// A single object that replaces a tree of the same name, which would otherwise be opened instead.
pub(super) struct InsteadOfTree {
    pub(super) finish: Box<dyn CommitAction>,
    pub(super) store: Arc<dyn Store>,
    pub(super) root: ObjectId,
}

impl CommitAction for InsteadOfTree {
    fn check(&self) -> BoxFuture<'static, Result<()>> {
        self.finish.check()
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.finish.commit().await?;
            remove_own(self.store.as_ref(), &self.root, None).await
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        self.finish.abort()
    }

    fn check_sync(&self) -> Result<()> {
        self.finish.check_sync()
    }

    fn synced(&self) -> Result<()> {
        self.finish.synced()
    }
}

/// A scratch file for an object that is sent when it is complete.
pub(super) fn scratch(
    store: Arc<dyn Store>,
    object: ObjectId,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<ScratchFile> {
    let folder = context.options.scratch_folder();
    ScratchFile::for_upload(&folder, store, object, clobber)
}

/// The store for a new dataset.
///
/// # Errors
/// `Unsupported` if it is not writable.
pub(super) fn writable(url: &Url, context: &StoreContext) -> Result<(Arc<dyn Store>, ObjectId)> {
    let opened = match url.scheme() {
        crate::Scheme::Memory => {
            let store = context.memory.create(url.host());
            let root = store.root().child(&url.memory_key());
            return Ok((store.shared(), root));
        }
        _ => crate::locate::open_remote(url, context)?,
    };
    if !opened.store.facts().writable {
        return Err(read_only(opened.store.as_ref()).at_object(url));
    }
    Ok((opened.store, opened.root))
}

/// The error for stores that cannot be written.
pub(super) fn read_only(store: &dyn Store) -> Error {
    let is_version = store.id().as_str().contains("?versionId=");
    if is_version { Error::unsupported("an old version is read-only") } else { fault::read_only_protocol() }
}

fn is_marker(entry: &ListEntry) -> bool {
    !entry.is_prefix && marker::NAMES.contains(&entry.name.as_str())
}

pub(super) async fn has_marker(store: &dyn Store, root: &ObjectId) -> Result<bool> {
    let markers: Vec<ObjectId> = marker::below(root).collect();
    let want = Want::Range(0..1);
    let found = try_join_all(markers.iter().map(|marker| store.get(marker, &want))).await?;
    Ok(found.iter().any(Option::is_some))
}

/// Removes a dataset; its markers first, so that what is left at any moment is not a dataset.
pub(super) async fn remove_dataset(store: &dyn Store, root: &ObjectId) -> Result<()> {
    remove_markers(store, root).await?;
    store.delete_tree(root).await
}

/// Removes the objects of the dataset below a name except the one to be kept; neither the object of that name nor
/// foreign objects are removed.
async fn remove_own(store: &dyn Store, root: &ObjectId, kept: Option<&ObjectId>) -> Result<()> {
    remove_markers(store, root).await?;
    remove_rest(store, root, |object| Some(object) != kept).await
}

/// Removes what was put of a new dataset, except its creation marker; its markers first. At the root of a bucket, which was
/// empty before, others may have put datasets since.
async fn remove_begun(store: &dyn Store, root: &ObjectId, site: &TreeSite) -> Result<()> {
    delete_markers(store, root).await?;
    let kept = root.child(marker::CREATION);
    let is_bucket = root.key().is_empty();
    let is_own = |object: &ObjectId| *object != kept && (!is_bucket || site.has_put_beside(root, object));
    remove_rest(store, root, is_own).await
}

/// Removes those of the objects of a dataset that are wanted.
async fn remove_rest(
    store: &dyn Store,
    root: &ObjectId,
    is_wanted: impl Fn(&ObjectId) -> bool,
) -> Result<()> {
    let all = creation_marker::sized_below(store, root).await?.into_iter().map(|found| found.object);
    store
        .delete_many(&creation_marker::of_dataset(root, all.filter(|object| is_wanted(object)).collect()))
        .await
}

pub(super) async fn remove_markers(store: &dyn Store, root: &ObjectId) -> Result<()> {
    if root.key().is_empty() && !store.facts().isolated {
        return Err(fault::conflict("the whole bucket is not replaced", root));
    }
    delete_markers(store, root).await
}

async fn delete_markers(store: &dyn Store, root: &ObjectId) -> Result<()> {
    let markers: Vec<ObjectId> = marker::below(root).collect();
    try_join_all(markers.iter().map(|marker| store.delete(marker))).await?;
    Ok(())
}

impl CommitAction for TreeFinish {
    fn check(&self) -> BoxFuture<'static, Result<()>> {
        let site = self.site.clone();
        Box::pin(async move {
            match site {
                Some(site) => site.lease().await?.renew().await,
                None => Ok(()),
            }
        })
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let (store, root) = (self.store.as_ref(), &self.root);
            let Some(site) = &self.site else { return Ok(()) };
            let lease = site.lease().await?;
            if let Some(beside) = site.beside() {
                switch(store, (root, beside), &lease).await?;
            }
            if self.has_object {
                store.delete(root).await?;
            }
            lease.end().await?;
            match site.beside() {
                Some(_) => store.delete_tree(&ReplacementTree::all(root)).await,
                None => Ok(()),
            }
        })
    }

    fn joint_place(&self) -> BoxFuture<'static, Result<Option<JointPlace>>> {
        let site = self.site.clone();
        Box::pin(async move {
            let Some(site) = site else { return Ok(None) };
            let lease = site.lease().await?;
            // Whoever joins looks at the sign: without one nothing would keep them out of another writer's place.
            lease.renew().await?;
            let place = JointPlace::of_tree(lease.mark(), site.beside());
            Ok(lease.has_sign().await.then_some(place))
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let (store, root) = (self.store.as_ref(), &self.root);
            let Some(site) = &self.site else { return remove_dataset(store, root).await };
            // If another program was first, or took over, nothing is rolled back.
            let lease = site.lease().await?;
            lease.renew().await?;
            match site.beside() {
                Some(beside) => store.delete_tree(beside.folder()).await?,
                // The place was empty, or had only what a killed writer left.
                None if site.is_touched() => {
                    remove_begun(store, root, site).await?;
                }
                None => {}
            }
            lease.end().await
        })
    }
}
