//! Removing datasets.
use super::creation_marker::listed_below;
use super::own::OwnKeys;
use super::remote;
use crate::locate::{as_it_is, local_path, path_error};
use crate::open::open_url;
use crate::store::{Store, StoreExt};
use crate::url::{Scheme, Url};
use crate::{StoreContext, marker};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Want};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A dataset that is to be removed: its keys, and nothing else.
#[derive(Debug)]
pub struct DatasetRemoval {
    /// Names of the files or objects to be removed.
    pub keys: Vec<String>,
    /// Names of foreign objects among them that the format does not define; they stay, unless everything is to be
    /// removed.
    pub others: Vec<String>,
    /// Whether there are markers of a dataset of many objects.
    pub is_tree: bool,
    place: RemovalPlace,
}

#[derive(Debug)]
enum RemovalPlace {
    /// Everything there.
    Path(PathBuf),
    /// Some files in a folder.
    Files(PathBuf, Vec<PathBuf>),
    /// Everything at and below a prefix.
    Remote(Arc<dyn Store>, ObjectId),
    /// Some objects below a prefix.
    Objects(Arc<dyn Store>, ObjectId, Vec<ObjectId>),
    Object(Arc<dyn Store>, ObjectId),
}

/// An object below a root.
struct KeyBelow {
    /// Its name for display.
    name: String,
    /// Its key relative to the root.
    key: String,
    /// The object, if it has a valid name.
    object: Option<ObjectId>,
}

/// The objects that belong to a dataset, and the foreign ones.
fn parted(below: Vec<KeyBelow>, is_tree: bool) -> (Vec<KeyBelow>, Vec<KeyBelow>) {
    let keys: Vec<String> = below.iter().map(|one| one.key.clone()).collect();
    let own = OwnKeys::of(keys.iter().map(String::as_str));
    below.into_iter().partition(|one| !is_tree || own.has(&one.key))
}

fn sorted_names(list: &[KeyBelow]) -> Vec<String> {
    let mut names: Vec<String> = list.iter().map(|one| one.name.clone()).collect();
    names.sort();
    names
}

/// Determines what removing the dataset at an address would remove; nothing is removed yet.
///
/// # Errors
/// `NotFound` if there is nothing, `Conflict` for a whole bucket, the root directory, the current directory and its
/// parents, `Unsupported` if nothing can be removed.
pub async fn removal(address: &str, context: &StoreContext) -> Result<DatasetRemoval> {
    let url = as_it_is(&Url::parse(address)?);
    if url.scheme() == Scheme::File {
        return of_path(local_path(&url));
    }
    let opened = open_url(&url, context).await?;
    // A dataset in a zip file is removed with it.
    let (store, root) = opened.container.unwrap_or((opened.store, opened.root));
    if !store.facts().writable {
        return Err(Error::unsupported("removing from a read-only store").at_object(&url));
    }
    if root.key().is_empty() {
        return Err(whole(&root));
    }
    let is_tree = remote::has_marker(store.as_ref(), &root).await?;
    // A dataset of a single object is only that object, whatever lies below its name.
    if !is_tree && store.get(&root, &Want::Range(0..1)).await?.is_some() {
        let (keys, place) = (vec![root.to_string()], RemovalPlace::Object(store, root));
        return Ok(DatasetRemoval { keys, others: Vec::new(), is_tree, place });
    }
    let all = match all_below(store.as_ref(), &root).await? {
        Some(all) => all,
        None => listed_below(store.as_ref(), &root)
            .await?
            .into_iter()
            .map(|object| named(object, &root))
            .collect(),
    };
    if all.is_empty() {
        return Err(Error::not_found("nothing is there").at_object(&root));
    }
    let (own, others) = parted(all, is_tree);
    let (keys, others) = (sorted_names(&own), sorted_names(&others));
    let place = if others.is_empty() {
        RemovalPlace::Remote(store, root)
    } else {
        RemovalPlace::Objects(store, root, own.into_iter().filter_map(|one| one.object).collect())
    };
    Ok(DatasetRemoval { keys, others, is_tree, place })
}

/// An object below a root.
fn named(object: ObjectId, root: &ObjectId) -> KeyBelow {
    let key = object.key().get(crate::key::folder(root.key()).len()..).unwrap_or_default().to_owned();
    KeyBelow { name: object.to_string(), key, object: Some(object) }
}

fn whole(root: &ObjectId) -> Error {
    Error::new(ErrorKind::Conflict, "a whole bucket is not removed").at_object(root)
}

fn of_path(path: PathBuf) -> Result<DatasetRemoval> {
    let metadata = fs::symlink_metadata(&path).map_err(|error| path_error(error, &path))?;
    if metadata.is_dir() {
        check_place(&path)?;
    }
    let mut files = Vec::new();
    let is_tree = metadata.is_dir() && marker::NAMES.iter().any(|name| path.join(name).exists());
    files_below(&path, metadata.is_dir(), &mut files)?;
    let below = files.into_iter().map(|file| KeyBelow {
        name: file.display().to_string(),
        key: key_of(&file, &path),
        object: None,
    });
    let (own, others) = parted(below.collect(), is_tree);
    let (keys, others) = (sorted_names(&own), sorted_names(&others));
    let place = if others.is_empty() {
        RemovalPlace::Path(path)
    } else {
        let own = own.iter().map(|one| path.join(&one.key)).collect();
        RemovalPlace::Files(path, own)
    };
    Ok(DatasetRemoval { keys, others, is_tree, place })
}

/// The key of a file below a root.
fn key_of(file: &Path, root: &Path) -> String {
    let parts = file.strip_prefix(root).unwrap_or(Path::new(""));
    let parts = parts.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.collect::<Vec<_>>().join("/")
}

/// The files in a folder that are not a Zarr dataset's own, relative to that folder. Links are not followed.
///
/// # Errors
/// Errors of reading the folder.
pub(super) fn others_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    files_below(folder, true, &mut files)?;
    let keys: Vec<String> = files.iter().map(|file| key_of(file, folder)).collect();
    let own = OwnKeys::of(keys.iter().map(String::as_str));
    let others = files.iter().zip(&keys).filter(|(_, key)| !own.has(key));
    Ok(others.filter_map(|(file, _)| file.strip_prefix(folder).ok().map(Path::to_path_buf)).collect())
}

/// Removing the root directory, or the current one, is never intended.
fn check_place(path: &Path) -> Result<()> {
    let absolute = fs::canonicalize(path).map_err(|error| path_error(error, path))?;
    let is_around = |here: PathBuf| here.canonicalize().unwrap_or(here).starts_with(&absolute);
    if absolute.parent().is_none() || std::env::current_dir().is_ok_and(is_around) {
        let message = "the root directory, the current directory and those above it are not removed";
        return Err(Error::new(ErrorKind::Conflict, message).at_object(path.display()));
    }
    Ok(())
}

/// Links are not followed.
fn files_below(path: &Path, is_folder: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    if !is_folder {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| path_error(error, &folder))? {
            let entry = entry.map_err(|error| path_error(error, &folder))?;
            let kind = entry.file_type().map_err(|error| path_error(error, &entry.path()))?;
            if kind.is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    Ok(())
}

/// Every object below a prefix, if the store lists all at once: also those whose keys cannot be named.
async fn all_below(store: &dyn Store, prefix: &ObjectId) -> Result<Option<Vec<KeyBelow>>> {
    let (mut keys, mut next): (Vec<KeyBelow>, Option<String>) = (Vec::new(), None);
    let folder = crate::key::folder(prefix.key());
    loop {
        let Some(page) = store.objects(prefix, next.as_deref()) else { return Ok(None) };
        let page = page.await?;
        keys.extend(page.objects.into_iter().map(|(object, _)| named(object, prefix)));
        keys.extend(page.unnamed.into_iter().map(|(key, _)| KeyBelow {
            name: format!("{}/{key}", prefix.store.as_str()),
            key: key.strip_prefix(&folder).unwrap_or_default().to_owned(),
            object: None,
        }));
        next = page.next;
        if next.is_none() {
            return Ok(Some(keys));
        }
    }
}

impl DatasetRemoval {
    /// Everything at and below the address, whatever it is.
    #[must_use]
    pub fn of_everything(mut self) -> Self {
        self.place = match self.place {
            RemovalPlace::Files(path, _) => RemovalPlace::Path(path),
            RemovalPlace::Objects(store, root, _) => RemovalPlace::Remote(store, root),
            place => place,
        };
        self.keys.append(&mut self.others);
        self.keys.sort();
        self
    }

    /// Removes it: the markers of a tree first, so that what is left at any moment is not a dataset.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn run(self) -> Result<()> {
        match self.place {
            RemovalPlace::Remote(store, root) => remote::remove_dataset(store.as_ref(), &root).await,
            RemovalPlace::Object(store, object) => store.delete(&object).await,
            RemovalPlace::Objects(store, root, objects) => {
                remote::remove_markers(store.as_ref(), &root).await?;
                store.delete_many(&objects).await
            }
            RemovalPlace::Files(path, files) => {
                for name in marker::NAMES {
                    remove_path(&path.join(name))?;
                }
                for file in &files {
                    remove_path(file)?;
                }
                remove_emptied(&path, &files);
                Ok(())
            }
            RemovalPlace::Path(path) => {
                for name in marker::NAMES.iter().filter(|_| self.is_tree) {
                    remove_path(&path.join(name))?;
                }
                remove_path(&path)
            }
        }
    }
}

/// Removes the folders of removed files if they are empty.
fn remove_emptied(root: &Path, files: &[PathBuf]) {
    let above =
        files.iter().flat_map(|file| file.ancestors().skip(1).take_while(|path| path.starts_with(root)));
    let folders: BTreeSet<&Path> = above.collect();
    // Nested folders come first.
    folders.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
}

pub(super) fn remove_path(path: &Path) -> Result<()> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if !crate::fault::is_absence(&error) => Err(path_error(error, path)),
        _ => Ok(()),
    }
}
