//! The object at an address, whatever its contents.
use crate::directory::HeldFor;
use crate::opened::Opened;
use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{DirectoryStore, StoreContext, fault, path_text, platform};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The object at an address; no request is sent yet.
pub(crate) fn open_object(url: &Url, context: &StoreContext) -> Result<Opened> {
    open_object_for(url, context, context.options.holds_files.then_some(HeldFor::Reading))
}

/// As [`open_object`]; a local file is held.
pub(crate) fn open_object_for(url: &Url, context: &StoreContext, held: Option<HeldFor>) -> Result<Opened> {
    match url.scheme() {
        Scheme::File => open_path(url, context, held),
        Scheme::Memory => open_memory(url, context),
        _ => open_remote(url, context),
    }
}

/// An address of a registered scheme; no request is sent yet.
pub(crate) fn open_remote(url: &Url, context: &StoreContext) -> Result<Opened> {
    let (store, root): (Arc<dyn Store>, ObjectId) = context.schemes.open(url, &context.options)?;
    Ok(Opened::new(store, root, url))
}

fn open_path(url: &Url, context: &StoreContext, held: Option<HeldFor>) -> Result<Opened> {
    let (url, is_durable) = (as_it_is(url), context.options.durable);
    let path = local_path(&url);
    let (metadata, file) = match look_at(&path, held) {
        // The responses of a dataset are beside its name, which need not be a file.
        Err(_) if url.is_computed() => {
            let (store, root) = DirectoryStore::of_file_with(&path, &context.handles, true)?;
            return Ok(Opened::new(store.shared(), root, &url.anchored()));
        }
        found => found.map_err(|error| path_error(error, &path))?,
    };
    if metadata.is_dir() {
        let store = DirectoryStore::new(path).durable(is_durable);
        let root = store.root();
        return Ok(Opened::new(store.shared(), root, &url.anchored()));
    }
    if !metadata.is_file() {
        return Err(Error::invalid("not a regular file").at_object(path.display()));
    }
    let (store, root) = DirectoryStore::of_file_with(&path, &context.handles, is_durable)?;
    let store = match (held, file) {
        (Some(_), Some(file)) => store.reading_on(&root, file, &metadata),
        (Some(held), None) => store.holding(&root, held)?,
        (None, _) => store,
    };
    Ok(Opened::new(store.shared(), root, &url.anchored()))
}

/// What is at a path. What is held for reading is opened at once, as that and its state cost one call of the system less than its
/// state, the file, and its state again.
fn look_at(path: &Path, held: Option<HeldFor>) -> std::io::Result<(Metadata, Option<File>)> {
    if held == Some(HeldFor::Reading)
        && let Ok(file) = platform::open(path)
    {
        return Ok((file.metadata()?, Some(file)));
    }
    // Why a file cannot be opened is reported by whoever holds it: other things are not opened at all.
    Ok((fs::metadata(path)?, None))
}

fn open_memory(url: &Url, context: &StoreContext) -> Result<Opened> {
    let Some(store) = context.memory.find(url.host()) else {
        return Err(Error::not_found("no such store in memory").at_object(url));
    };
    let root = store.root().child(&url.memory_key());
    Ok(Opened::new(store.shared(), root, url))
}

/// A file whose name contains a `#` takes precedence over a fragment.
pub(crate) fn as_it_is(url: &Url) -> Url {
    match url.whole_path() {
        Some(whole) if fs::symlink_metadata(path_text::to_path(whole)).is_ok() => Url::of_path(whole),
        _ => url.clone(),
    }
}

/// The path of a local dataset, without a slash at the end.
pub(crate) fn local_path(url: &Url) -> PathBuf {
    let path = url.path();
    let trimmed = path.trim_end_matches('/');
    path_text::to_path(if trimmed.is_empty() { path } else { trimmed }).into_owned()
}

/// Whether a name is that of a zip file.
pub(crate) fn is_zip_name(path: &str) -> bool {
    path.trim_end_matches('/').to_ascii_lowercase().ends_with(".zip")
}

/// The error at a path; a file where a directory is needed means that nothing is there. A name that is too long is
/// reported.
pub(crate) fn path_error(error: std::io::Error, path: &Path) -> Error {
    if fault::is_absence(&error) && error.kind() != std::io::ErrorKind::InvalidFilename {
        return Error::new(ErrorKind::NotFound, "no such file or directory")
            .at_object(path.display())
            .because(error);
    }
    fault::of_io(error, path.display())
}
