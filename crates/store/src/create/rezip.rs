//! Changing zip files: written anew beside the old ones.
use super::scratch::Scratch;
use super::{Clobber, Staged};
use crate::open::{local_path, path_error};
use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{StoreOptions, fault};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Want};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The entries stay as they are: the file is copied, and what is new comes after them.
pub(super) async fn update_zip(
    store: &dyn Store,
    zip: &ObjectId,
    url: &Url,
    options: &StoreOptions,
) -> Result<Staged> {
    let scratch = match url.scheme() {
        Scheme::File => Scratch::beside(&local_path(url), Clobber::Replace, options.durable)?,
        _ => {
            let (store, object) = super::remote::room_for_object(url, Clobber::Replace, options).await?;
            super::remote::scratch(store, object, Clobber::Replace, options)?
        }
    };
    copy(store, zip, scratch.path()).await?;
    let writer = crate::zip::ZipWriterStore::append(scratch.path(), &options.limits)?;
    Ok(super::zip_in_scratch(&writer, scratch, url))
}

/// Copies an object to a file, a piece at a time.
async fn copy(store: &dyn Store, object: &ObjectId, path: &Path) -> Result<()> {
    let mut file = OpenOptions::new().write(true).open(path).map_err(|error| path_error(error, path))?;
    let mut state = None;
    let mut offset = 0;
    loop {
        let Some(blob) = store.get(object, &Want::Range(offset..offset + PIECE)).await? else {
            return Err(Error::not_found("no such object").at_object(object));
        };
        if *state.get_or_insert_with(|| blob.tag.clone()) != blob.tag {
            return Err(Error::new(ErrorKind::Changed, "changed while it was read").at_object(object));
        }
        file.write_all(&blob.bytes).map_err(|error| fault::of_io(error, path.display()))?;
        offset += blob.bytes.len() as u64;
        if offset >= blob.size || blob.bytes.is_empty() {
            return Ok(());
        }
    }
}

/// Bytes copied at a time.
const PIECE: u64 = 8 << 20;
