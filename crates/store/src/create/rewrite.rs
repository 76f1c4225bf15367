//! Changing single remote files: fetched whole, changed here, and put back whole.
use super::{OverwritePolicy, StagedDataset, remote};
use crate::locate::path_error;
use crate::opened::Opened;
use crate::store::Store;
use crate::{DirectoryStore, StoreContext, fault};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Tag, Want};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// A scratch file with the bytes of an object, which it replaces on commit unless the object has changed meanwhile;
/// `None` if there is no such object: a tree, whose objects are changed one by one.
pub(super) async fn rewrite(opened: &Opened, context: &StoreContext) -> Result<Option<StagedDataset>> {
    let (store, object) = (&opened.store, &opened.root);
    let Some(first) = store.get(object, &Want::Range(0..1)).await? else { return Ok(None) };
    let mut scratch =
        remote::scratch(std::sync::Arc::clone(store), object.clone(), OverwritePolicy::Replace, context)?;
    scratch.only_over(fetch(store.as_ref(), object, scratch.path()).await?);
    let (store, root) = DirectoryStore::of_file(scratch.path())?;
    let mut staged =
        StagedDataset::new(store.durable(context.options.durable).shared(), root, &opened.url, scratch);
    staged
        .warnings
        .push(format!("{object}: all of its {} bytes are downloaded and uploaded again", first.size));
    Ok(Some(staged))
}

/// Copies an object to a file, a piece at a time, and returns its tag.
pub(super) async fn fetch(store: &dyn Store, object: &ObjectId, path: &Path) -> Result<Tag> {
    let mut file = OpenOptions::new().write(true).open(path).map_err(|error| path_error(error, path))?;
    let mut state = None;
    let mut offset = 0;
    loop {
        let Some(blob) = store.get(object, &Want::Range(offset..offset + PIECE)).await? else {
            return Err(Error::not_found("no such object").at_object(object));
        };
        let state = state.get_or_insert_with(|| blob.tag.clone());
        if *state != blob.tag {
            return Err(Error::new(ErrorKind::Changed, "changed while it was read").at_object(object));
        }
        file.write_all(&blob.bytes).map_err(|error| fault::of_io(error, path.display()))?;
        offset += blob.bytes.len() as u64;
        if offset >= blob.size || blob.bytes.is_empty() {
            return Ok(state.clone());
        }
    }
}

/// Bytes copied at a time.
const PIECE: u64 = 8 << 20;
