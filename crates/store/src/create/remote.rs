//! New datasets on other machines. There is no rename there: a tree is written in place, its root metadata last; a
//! single object is sent when it is complete.
//!
//! While a tree is written an object beside its metadata says so: of two programs one makes the dataset, and what a
//! killed one left is told from what is none of ours. What is replaced is removed when the first chunk is ready, before it is
//! put.
use super::clearing::{Clearing, Site};
use super::scratch::Scratch;
use super::{Clobber, Finish, Staged, begun, exists};
use crate::store::{Precondition, Store};
use crate::{StoreOptions, Url, fault, marker};
use bytes::Bytes;
use futures_util::future::{BoxFuture, join, try_join_all};
use ncirrus_layout::{Blob, Entry, Error, ErrorKind, ObjectId, Result, Tag, Want};
use std::sync::Arc;

/// A tree that is written in place.
struct TreeFinish {
    store: Arc<dyn Store>,
    root: ObjectId,
    /// None where other programs are kept out otherwise.
    site: Option<Site>,
}

pub(super) async fn create_tree(url: &Url, clobber: Clobber, options: &StoreOptions) -> Result<Staged> {
    let (store, root) = writable(url, options)?;
    start_tree(store, root, url, clobber).await
}

/// Makes room for a tree: removes what is replaced, and nothing that is no dataset.
pub(super) async fn start_tree(
    store: Arc<dyn Store>,
    root: ObjectId,
    url: &Url,
    clobber: Clobber,
) -> Result<Staged> {
    let sign = root.child(marker::BEGUN);
    let (listed, sign_there) = join(store.list(&root, None), store.get(&sign, &Want::All)).await;
    let sign_there = sign_there?;
    let is_there = match &listed {
        Ok(all) if all.next.is_none() => all.entries.iter().any(is_marker),
        _ => has_marker(store.as_ref(), &root).await?,
    };
    if clobber == Clobber::Never {
        refuse((is_there, sign_there.is_some()), &root)?;
    }
    let is_ours = is_there || sign_there.is_some();
    if !is_ours && !listed?.entries.is_empty() {
        return Err(fault::conflict("holds objects but no zarr marker and is not replaced", &root));
    }
    if is_ours && !is_there && !begun::is_alone(store.as_ref(), &root).await? {
        return Err(fault::conflict(AMONG_OTHERS, &root));
    }
    if store.local().is_some() {
        if is_ours {
            remove_dataset(store.as_ref(), &root).await?;
        }
        let finish = TreeFinish { store: Arc::clone(&store), root: root.clone(), site: None };
        return Ok(Staged::new(store, root, url, finish));
    }
    let (to_announce, to_clear, old) = (Arc::clone(&store), Arc::clone(&store), root.clone());
    let announce = async move { announce(to_announce.as_ref(), &sign, sign_there).await };
    let clear = async move {
        match is_ours {
            true => remove_all_but_sign(to_clear.as_ref(), &old).await,
            false => Ok(()),
        }
    };
    let site = Site::new(announce, clear).await?;
    let clearing = Arc::new(Clearing { inner: Arc::clone(&store), site: site.clone() });
    let finish = TreeFinish { store, root: root.clone(), site: Some(site) };
    Ok(Staged::new(clearing, root, url, finish))
}

/// Refuses what is there, and what another program is making.
fn refuse((is_there, is_begun): (bool, bool), root: &ObjectId) -> Result<()> {
    match (is_there, is_begun) {
        (true, _) => Err(exists(root)),
        (false, true) => Err(fault::conflict(BEGUN_BY_OTHERS, root)),
        (false, false) => Ok(()),
    }
}

/// Says that a tree is being written, and tells the state of the object that does; one of two programs that do so at once
/// is refused.
async fn announce(store: &dyn Store, sign: &ObjectId, before: Option<Blob>) -> Result<Option<Tag>> {
    let is_there = before.is_some();
    let when = before.map_or(Precondition::Absent, |blob| Precondition::Matches(blob.tag));
    let unique = Bytes::from(crate::temporary::unique());
    let put = store.put(sign, unique.clone(), when).await;
    match put {
        Err(error) if error.kind() == ErrorKind::Conflict => Err(fault::conflict(BEGUN_BY_OTHERS, sign)),
        // What a killed program left is one's own from here on, and goes at the end.
        Err(error) if error.kind() == ErrorKind::Unsupported && is_there => {
            store.put(sign, unique, Precondition::None).await.map(Some)
        }
        // The store does not know conditions.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        put => put.map(Some),
    }
}

const BEGUN_BY_OTHERS: &str = "another program is making this dataset, or was killed while it did: wait for it, or \
                               replace what it left, or remove it by \"ncirrus clean\"";

const AMONG_OTHERS: &str = "holds what a killed program left, and objects of others, which are not replaced: \"ncirrus clean\" \
                            removes the former";

/// Where a single object goes; it is made sure that it may.
pub(super) async fn room_for_object(
    url: &Url,
    clobber: Clobber,
    options: &StoreOptions,
) -> Result<(Arc<dyn Store>, ObjectId)> {
    let (store, object) = writable(url, options)?;
    if clobber == Clobber::Never && store.get(&object, &Want::Range(0..1)).await?.is_some() {
        return Err(exists(&object));
    }
    Ok((store, object))
}

/// A scratch file for an object that is sent when it is complete.
pub(super) fn scratch(
    store: Arc<dyn Store>,
    object: ObjectId,
    clobber: Clobber,
    options: &StoreOptions,
) -> Result<Scratch> {
    let folder = options.scratch_folder();
    Scratch::for_upload(&folder, store, object, clobber)
}

fn writable(url: &Url, options: &StoreOptions) -> Result<(Arc<dyn Store>, ObjectId)> {
    let opened = match url.scheme() {
        crate::Scheme::Memory => {
            let store = options.memory.create(url.host());
            let root = store.root().child(url.path().trim_matches('/'));
            return Ok((store.shared(), root));
        }
        _ => crate::remote::open(url, options)?,
    };
    if !opened.store.facts().writable {
        return Err(read_only(opened.store.as_ref()).at_object(url));
    }
    Ok((opened.store, opened.root))
}

/// What is said where nothing can be written.
pub(super) fn read_only(store: &dyn Store) -> Error {
    let is_version = store.id().as_str().contains("?versionId=");
    match is_version {
        true => Error::unsupported("an old version is read-only"),
        false => fault::read_only_protocol(),
    }
}

fn is_marker(entry: &Entry) -> bool {
    !entry.is_prefix && marker::NAMES.contains(&entry.name.as_str())
}

pub(super) async fn has_marker(store: &dyn Store, root: &ObjectId) -> Result<bool> {
    let markers: Vec<ObjectId> = marker::below(root).collect();
    let want = Want::Range(0..1);
    let found = try_join_all(markers.iter().map(|marker| store.get(marker, &want))).await?;
    Ok(found.iter().any(Option::is_some))
}

/// Removes a dataset; its markers first, so that what is left of it at any moment is no dataset.
pub(super) async fn remove_dataset(store: &dyn Store, root: &ObjectId) -> Result<()> {
    remove_markers(store, root).await?;
    store.delete_tree(root).await
}

/// As [`remove_dataset`], but for what says that another one is being written there.
async fn remove_all_but_sign(store: &dyn Store, root: &ObjectId) -> Result<()> {
    remove_markers(store, root).await?;
    store.delete_tree_but(root, &root.child(marker::BEGUN)).await
}

async fn remove_markers(store: &dyn Store, root: &ObjectId) -> Result<()> {
    if root.key().is_empty() {
        return Err(fault::conflict("the whole bucket is not replaced", root));
    }
    let markers: Vec<ObjectId> = marker::below(root).collect();
    try_join_all(markers.iter().map(|marker| store.delete(marker))).await?;
    Ok(())
}

impl TreeFinish {
    fn sign(&self) -> ObjectId {
        self.root.child(marker::BEGUN)
    }

    /// The state of the sign, where there is one.
    async fn announced(site: Option<&Site>) -> Result<Option<Tag>> {
        match site {
            Some(site) => site.announced().await,
            None => Ok(None),
        }
    }
}

impl Finish for TreeFinish {
    fn check(&self) -> BoxFuture<'static, Result<()>> {
        let (store, site) = (Arc::clone(&self.store), self.site.clone());
        let (root, sign) = (self.root.clone(), self.sign());
        Box::pin(async move {
            let Some(begun) = Self::announced(site.as_ref()).await? else { return Ok(()) };
            match store.get(&sign, &Want::Range(0..1)).await? {
                Some(blob) if blob.tag == begun => Ok(()),
                _ => Err(fault::conflict("was taken over by another program meanwhile", &root)),
            }
        })
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            match Self::announced(self.site.as_ref()).await? {
                Some(_) => self.store.delete(&self.sign()).await,
                None => Ok(()),
            }
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            // Where another program was first, or took over, nothing is taken back.
            self.check().await?;
            let begun = Self::announced(self.site.as_ref()).await?;
            match (self.site.as_ref().is_none_or(Site::is_touched), begun) {
                (true, _) => remove_dataset(self.store.as_ref(), &self.root).await,
                (false, Some(_)) => self.store.delete(&self.sign()).await,
                (false, None) => Ok(()),
            }
        })
    }
}
