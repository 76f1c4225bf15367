//! Changing zip files: rewritten beside the old ones.
use super::lock::FileLock;
use super::scratch::ScratchFile;
use super::{OverwritePolicy, StagedDataset};
use crate::StoreContext;
use crate::locate::local_path;
use crate::store::Store;
use crate::url::{Scheme, Url};
use ncirrus_layout::{ObjectId, Result};

/// The entries stay as they are: the file is copied, and new entries are appended.
pub(super) async fn update_zip(
    store: &dyn Store,
    zip: &ObjectId,
    (url, lock): (&Url, Option<FileLock>),
    context: &StoreContext,
) -> Result<StagedDataset> {
    let mut scratch = match url.scheme() {
        Scheme::File => {
            ScratchFile::beside(&local_path(url), OverwritePolicy::Replace, context.options.durable)?
        }
        _ => {
            let (store, object) = super::remote::writable(url, context)?;
            super::remote::scratch(store, object, OverwritePolicy::Replace, context)?
        }
    };
    let fetched = super::rewrite::fetch(store, zip, scratch.path()).await?;
    scratch.only_over(fetched);
    scratch.hold(lock);
    let writer = crate::zip::ZipWriterStore::append(scratch.path(), &context.options.limits)?;
    Ok(super::zip_in_scratch(&writer, scratch, url))
}
