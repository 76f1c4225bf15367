//! Changing datasets that exist.
use super::lock::{FileLock, LockingMode};
use super::{CommitAction, DirectCommit, StagedDataset};
use crate::locate::{as_it_is, local_path, path_error};
use crate::open::open_for_changing;
use crate::url::{Scheme, Url};
use crate::{StoreContext, platform};
use futures_util::future::BoxFuture;
use ncirrus_layout::Result;
use std::fs::{self, OpenOptions};

/// Gives access for changing the dataset at an address. Directories, files and remote trees are changed in place; a
/// zip file is rewritten and replaces the old one on commit, and so is a single remote file with
/// [`StoreOptions::rewrite`](crate::StoreOptions::rewrite).
///
/// # Errors
/// As [`open`](crate::open), `Conflict` for a file that another program has open, `Denied` for what cannot be
/// written, `Unsupported` if objects can only be read.
pub async fn update(address: &str, context: &StoreContext) -> Result<StagedDataset> {
    let url = Url::parse(address)?;
    // Locked before anything is read: what is read is what is changed.
    let lock = if url.scheme() == Scheme::File { lock(&as_it_is(&url))? } else { None };
    let opened = open_for_changing(&url, context).await?;
    if let Some((store, object)) = &opened.container {
        return update_zip(store.as_ref(), object, (&opened.url, lock), context).await;
    }
    if !opened.store.facts().writable {
        return Err(super::remote::read_only(opened.store.as_ref()).at_object(&url));
    }
    let rewrites = context.options.rewrite && opened.store.facts().writable && opened.store.local().is_none();
    if rewrites && let Some(staged) = super::rewrite::rewrite(&opened, context).await? {
        return Ok(staged);
    }
    Ok(match lock {
        Some(lock) => StagedDataset::new(opened.store, opened.root, &opened.url, LockedFile(lock)),
        None => StagedDataset::new(opened.store, opened.root, &opened.url, DirectCommit),
    })
}

/// A file that is changed in place, and locked until then.
struct LockedFile(FileLock);

impl CommitAction for LockedFile {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn synced(&self) -> Result<()> {
        self.0.share()
    }
}

/// Keeps other programs from changing a file; a directory has no lock. A missing write permission is better reported
/// now than after the work.
fn lock(url: &Url) -> Result<Option<FileLock>> {
    let path = local_path(url);
    let failed = |error| path_error(error, &path);
    if !fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
        platform::check_writable(&path).map_err(failed)?;
        return Ok(None);
    }
    OpenOptions::new().write(true).open(&path).map_err(failed)?;
    FileLock::take(&path, LockingMode::of_environment())
}

#[cfg(feature = "zip")]
use super::rezip::update_zip;

#[cfg(not(feature = "zip"))]
async fn update_zip(
    _: &dyn crate::Store,
    _: &ncirrus_layout::ObjectId,
    (url, _): (&Url, Option<FileLock>),
    _: &StoreContext,
) -> Result<StagedDataset> {
    Err(super::no_zip(url))
}
