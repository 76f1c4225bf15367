//! New datasets on other machines. There is no rename there: a tree is written in place, its root metadata last; a
//! single object is sent when it is complete.
use super::scratch::Scratch;
use super::{Clobber, Finish, Staged, exists};
use crate::store::Store;
use crate::{StoreOptions, Url, fault, marker};
use futures_util::future::{BoxFuture, try_join_all};
use ncirrus_layout::{Error, ObjectId, Result, Want};
use std::sync::Arc;

/// A tree that is written in place.
struct TreeFinish {
    store: Arc<dyn Store>,
    root: ObjectId,
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
    if has_marker(store.as_ref(), &root).await? {
        if clobber == Clobber::Never {
            return Err(exists(&root));
        }
        remove_dataset(store.as_ref(), &root).await?;
    } else if !store.list(&root, None).await?.entries.is_empty() {
        return Err(fault::conflict("holds objects but no zarr marker and is not replaced", &root));
    }
    let finish = TreeFinish { store: Arc::clone(&store), root: root.clone() };
    Ok(Staged::new(store, root, url, finish))
}

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
    let folder = options.scratch.clone().unwrap_or_else(std::env::temp_dir);
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
        return Err(Error::unsupported("plain HTTP is read-only").at_object(url));
    }
    Ok((opened.store, opened.root))
}

async fn has_marker(store: &dyn Store, root: &ObjectId) -> Result<bool> {
    let markers: Vec<ObjectId> = marker::below(root).collect();
    let want = Want::Range(0..1);
    let found = try_join_all(markers.iter().map(|marker| store.get(marker, &want))).await?;
    Ok(found.iter().any(Option::is_some))
}

/// Removes a dataset; its markers first, so that what is left of it at any moment is no dataset.
async fn remove_dataset(store: &dyn Store, root: &ObjectId) -> Result<()> {
    if root.key().is_empty() {
        return Err(fault::conflict("the whole bucket is not replaced", root));
    }
    for marker in marker::below(root) {
        store.delete(&marker).await?;
    }
    store.delete_tree(root).await
}

impl Finish for TreeFinish {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move { remove_dataset(self.store.as_ref(), &self.root).await })
    }
}
