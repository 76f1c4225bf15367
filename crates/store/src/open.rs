//! From an address to a store.
mod kind;
mod overlap;

pub(crate) use kind::is_zip_name;
pub use kind::{looks_like_zip, open_zip};
pub use overlap::{check_apart, is_same_place};

use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{DirectoryStore, StoreOptions, fault};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened address.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Where the bytes lie.
    pub store: Arc<dyn Store>,
    /// The dataset in it: an object, or the prefix of a tree.
    pub root: ObjectId,
    /// The address, with its modes.
    pub url: Url,
    /// Name of the dataset as `ncdump` prints it.
    pub name: String,
    /// The zip file that holds the dataset, and where it lies.
    pub container: Option<(Arc<dyn Store>, ObjectId)>,
    /// What was ignored or refused on opening, for the user to see.
    pub warnings: Vec<String>,
}

/// Opens an address for reading. Whether a local path is a directory, a zip or a file is told from what is there.
///
/// # Errors
/// `Invalid` for an address that is none, `NotFound` when there is nothing, `Denied`, `Io`, `Unsupported` when the
/// library was built without what the address needs.
pub async fn open(address: &str, options: &StoreOptions) -> Result<Opened> {
    open_url(&Url::parse(address)?, options).await
}

/// As [`open`], for an address that was read before.
///
/// # Errors
/// As [`open`].
pub async fn open_url(url: &Url, options: &StoreOptions) -> Result<Opened> {
    let mut opened = open_object(url, options)?;
    if let Some(cache) = &options.cache {
        opened.store = cache.before(opened.store, &opened.root);
    }
    let opened = kind::look_into_zip(opened, options).await?;
    crate::reference::look_into(opened, options).await
}

/// The object at an address, whatever is in it; no request is sent yet.
pub(crate) fn open_object(url: &Url, options: &StoreOptions) -> Result<Opened> {
    match url.scheme() {
        Scheme::File => open_path(url, options),
        Scheme::Memory => open_memory(url, options),
        _ => crate::remote::open(url, options),
    }
}

impl Opened {
    pub(crate) fn new(store: Arc<dyn Store>, root: ObjectId, url: &Url) -> Self {
        let name = url.name().to_owned();
        Self { store, root, url: url.clone(), name, container: None, warnings: Vec::new() }
    }
}

fn open_path(url: &Url, options: &StoreOptions) -> Result<Opened> {
    let url = as_it_is(url);
    let path = local_path(&url);
    let metadata = fs::metadata(&path).map_err(|error| path_error(error, &path))?;
    if metadata.is_dir() {
        let store = DirectoryStore::new(path).durable(options.durable);
        let root = store.root();
        return Ok(Opened::new(store.shared(), root, &url));
    }
    if !metadata.is_file() {
        return Err(Error::invalid("not a regular file").at_object(path.display()));
    }
    let (store, root) = DirectoryStore::of_file(&path)?;
    Ok(Opened::new(store.durable(options.durable).sharing(&options.handles).shared(), root, &url))
}

fn open_memory(url: &Url, options: &StoreOptions) -> Result<Opened> {
    let Some(store) = options.memory.find(url.host()) else {
        return Err(Error::not_found("no such store in memory").at_object(url));
    };
    let root = store.root().child(url.path().trim_matches('/'));
    Ok(Opened::new(store.shared(), root, url))
}

/// A file whose name has a `#` goes before a fragment.
pub(crate) fn as_it_is(url: &Url) -> Url {
    match url.whole_path() {
        Some(whole) if fs::symlink_metadata(whole).is_ok() => Url::of_path(whole),
        _ => url.clone(),
    }
}

/// The path of a local dataset, without a slash at the end.
pub(crate) fn local_path(url: &Url) -> PathBuf {
    let path = url.path();
    let trimmed = path.trim_end_matches('/');
    PathBuf::from(if trimmed.is_empty() { path } else { trimmed })
}

/// What an error at a path means; a file where a directory is needed is as good as nothing there. A name that is too long
/// is told of.
pub(crate) fn path_error(error: std::io::Error, path: &Path) -> Error {
    if fault::is_absence(&error) && error.kind() != std::io::ErrorKind::InvalidFilename {
        return Error::new(ErrorKind::NotFound, "no such file or directory")
            .at_object(path.display())
            .because(error);
    }
    fault::of_io(error, path.display())
}
