//! Removing datasets, and what killed writers left.
#[cfg(feature = "cloud")]
use super::beside::{FOLDER, ReplacementTree};
#[cfg(feature = "cloud")]
use super::creation_marker;
#[cfg(feature = "cloud")]
use super::lease::LeaseStage;
use super::own::OwnKeys;
#[cfg(feature = "cloud")]
use super::owner;
use super::remote;
use crate::open::{as_it_is, local_path, open_url, path_error};
use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{StoreOptions, marker, temporary};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Want};
use std::collections::BTreeSet;
#[cfg(feature = "cloud")]
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A dataset that is to be removed: its keys, and nothing else.
#[derive(Debug)]
pub struct DatasetRemoval {
    /// Names of the files or objects that go.
    pub keys: Vec<String>,
    /// Names of those between them that the format does not define; they stay, unless everything is to go.
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

/// What lies below a root.
struct KeyBelow {
    /// Its name as it is told.
    name: String,
    /// Its key from the root on.
    key: String,
    /// The object, where it can be named.
    object: Option<ObjectId>,
}

/// What is a dataset's own, and what is not.
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

/// What a killed writer left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// What it is, for people.
    pub what: String,
    /// Where it is.
    pub place: String,
    /// When it was changed last.
    pub since: SystemTime,
    how: CleanupAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CleanupAction {
    #[cfg(feature = "cloud")]
    Upload(crate::cloud::UnfinishedUpload),
    #[cfg(feature = "cloud")]
    Tree(ObjectId),
    #[cfg(feature = "cloud")]
    Objects(Vec<ObjectId>),
    #[cfg(feature = "cloud")]
    Sign(ObjectId),
    /// What a replacement left beside the dataset, the sign included.
    #[cfg(feature = "cloud")]
    Beside(ObjectId),
    /// A replacement that is to be ended.
    #[cfg(feature = "cloud")]
    Switch(ObjectId),
    Path(PathBuf),
}

/// Finds out what removing the dataset at an address would remove; nothing is removed yet.
///
/// # Errors
/// `NotFound` when there is nothing, `Conflict` for a whole bucket, the root directory, and the current directory and
/// those above it, `Unsupported` where nothing can be removed.
pub async fn removal(address: &str, options: &StoreOptions) -> Result<DatasetRemoval> {
    let url = as_it_is(&Url::parse(address)?);
    if url.scheme() == Scheme::File {
        return of_path(local_path(&url));
    }
    let opened = open_url(&url, options).await?;
    // A dataset in a zip file is removed with it.
    let (store, root) = opened.container.unwrap_or((opened.store, opened.root));
    if !store.facts().writable {
        return Err(Error::unsupported("removing what can only be read").at_object(&url));
    }
    if root.key().is_empty() {
        return Err(whole(&root));
    }
    let is_tree = remote::has_marker(store.as_ref(), &root).await?;
    // A dataset of a single object is nothing but that, whatever lies below its name.
    if !is_tree && store.get(&root, &Want::Range(0..1)).await?.is_some() {
        let (keys, place) = (vec![root.to_string()], RemovalPlace::Object(store, root));
        return Ok(DatasetRemoval { keys, others: Vec::new(), is_tree, place });
    }
    let all = match all_below(store.as_ref(), &root).await? {
        Some(all) => all,
        None => below(store.as_ref(), &root).await?.into_iter().map(|object| named(object, &root)).collect(),
    };
    if all.is_empty() {
        return Err(Error::not_found("nothing is there").at_object(&root));
    }
    let (own, others) = parted(all, is_tree);
    let (keys, others) = (sorted_names(&own), sorted_names(&others));
    let place = match others.is_empty() {
        true => RemovalPlace::Remote(store, root),
        false => RemovalPlace::Objects(store, root, own.into_iter().filter_map(|one| one.object).collect()),
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
    let place = match others.is_empty() {
        true => RemovalPlace::Path(path),
        false => {
            let own = own.iter().map(|one| path.join(&one.key)).collect();
            RemovalPlace::Files(path, own)
        }
    };
    Ok(DatasetRemoval { keys, others, is_tree, place })
}

/// The key of a file below a root.
fn key_of(file: &Path, root: &Path) -> String {
    let parts = file.strip_prefix(root).unwrap_or(Path::new(""));
    let parts = parts.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.collect::<Vec<_>>().join("/")
}

/// The files in a folder that are no Zarr dataset's own, from that folder on. Links are not followed.
///
/// # Errors
/// What reading the folder fails with.
pub(super) fn others_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    files_below(folder, true, &mut files)?;
    let keys: Vec<String> = files.iter().map(|file| key_of(file, folder)).collect();
    let own = OwnKeys::of(keys.iter().map(String::as_str));
    let others = files.iter().zip(&keys).filter(|(_, key)| !own.has(key));
    Ok(others.filter_map(|(file, _)| file.strip_prefix(folder).ok().map(Path::to_path_buf)).collect())
}

/// Nobody means the root directory, or the one that they are in.
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
            match kind.is_dir() {
                true => folders.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    Ok(())
}

/// Every object below a prefix, where the store lists all at once: also those whose keys cannot be named.
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

/// Every object below a prefix.
pub(super) async fn below(store: &dyn Store, prefix: &ObjectId) -> Result<Vec<ObjectId>> {
    let (mut objects, mut prefixes) = (Vec::new(), vec![prefix.clone()]);
    while let Some(prefix) = prefixes.pop() {
        let mut page = None;
        loop {
            let listing = store.list(&prefix, page.as_deref()).await?;
            for entry in listing.entries {
                let list = if entry.is_prefix { &mut prefixes } else { &mut objects };
                list.push(prefix.child(&entry.name));
            }
            page = listing.next;
            if page.is_none() {
                break;
            }
        }
    }
    Ok(objects)
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

    /// Removes it: the markers of a tree first, so that what is left at any moment is no dataset.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn run(self) -> Result<()> {
        match self.place {
            RemovalPlace::Remote(store, root) => remote::remove_dataset(store.as_ref(), &root).await,
            RemovalPlace::Object(store, object) => store.delete(&object).await,
            RemovalPlace::Objects(store, root, objects) => {
                remote::remove_markers(store.as_ref(), &root).await?;
                let removed = objects.iter().map(|object| store.delete(object));
                iter(removed).buffer_unordered(AT_ONCE).try_collect::<()>().await
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

/// Objects that are removed at once.
const AT_ONCE: usize = 16;

/// Removes the folders of files that are gone, as far as nothing else lies in them.
fn remove_emptied(root: &Path, files: &[PathBuf]) {
    let above =
        files.iter().flat_map(|file| file.ancestors().skip(1).take_while(|path| path.starts_with(root)));
    let folders: BTreeSet<&Path> = above.collect();
    // Those inside others come behind them.
    folders.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
}

fn remove_path(path: &Path) -> Result<()> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if !crate::fault::is_absence(&error) => Err(path_error(error, path)),
        _ => Ok(()),
    }
}

/// Finds what killed writers left below (and at) an address, and what could not be looked for; nothing is removed.
///
/// # Errors
/// `Unsupported` where nothing can be removed, else what listing fails with.
pub async fn leftovers(address: &str, options: &StoreOptions) -> Result<(Vec<Leftover>, Vec<String>)> {
    let url = as_it_is(&Url::parse(address)?);
    match url.scheme() {
        Scheme::File => Ok((in_folder(&local_path(&url))?, Vec::new())),
        Scheme::Memory => Ok((Vec::new(), Vec::new())),
        _ => in_bucket(&url, options).await,
    }
}

/// Temporary files and directories directly in a folder.
fn in_folder(folder: &Path) -> Result<Vec<Leftover>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| path_error(error, folder))? {
        let path = entry.map_err(|error| path_error(error, folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if temporary::is_temporary(&name) {
            let since = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
            let since = since.map_err(|error| path_error(error, &path))?;
            let (what, place) = ("unfinished file".to_owned(), path.display().to_string());
            found.push(Leftover { what, place, since, how: CleanupAction::Path(path) });
        }
    }
    found.sort_by(|one, other| one.place.cmp(&other.place));
    Ok(found)
}

#[cfg(not(feature = "cloud"))]
async fn in_bucket(url: &Url, _: &StoreOptions) -> Result<(Vec<Leftover>, Vec<String>)> {
    Err(Error::unsupported("object stores: built without the feature \"cloud\"").at_object(url))
}

#[cfg(feature = "cloud")]
async fn in_bucket(url: &Url, options: &StoreOptions) -> Result<(Vec<Leftover>, Vec<String>)> {
    let (store, root) = bucket(url, options)?;
    let (mut found, mut notes) = (begun_below(&store, &root).await?, Vec::new());
    match store.unfinished(&root).await {
        Ok(Some(uploads)) => found.extend(uploads.into_iter().map(|upload| Leftover {
            what: "unfinished upload".to_owned(),
            place: upload.object.to_string(),
            since: upload.since,
            how: CleanupAction::Upload(upload),
        })),
        Ok(None) => {
            notes.push("unfinished uploads are not looked for: the provider ends them itself".to_owned());
        }
        Err(error) => notes.push(error.to_string()),
    }
    Ok((found, notes))
}

/// Datasets whose creation was begun.
#[cfg(feature = "cloud")]
async fn begun_below(store: &crate::CloudStore, root: &ObjectId) -> Result<Vec<Leftover>> {
    let objects = store.dated_below(root).await?;
    let is_sign = |object: &ObjectId| object.name() == marker::BEGUN;
    let mut found = Vec::new();
    found.extend(orphans(&objects));
    for (sign, since) in objects.iter().filter(|(object, _)| is_sign(object)) {
        let key = sign.key().strip_suffix(marker::BEGUN).unwrap_or_default().trim_end_matches('/');
        let dataset = ObjectId::new(sign.store.clone(), key);
        if key.is_empty() {
            continue;
        }
        let text = store.get(sign, &Want::All).await?;
        if text.is_some_and(|text| owner::stage_of(&text.bytes) != LeaseStage::Making) {
            let what =
                "a dataset that is whole and was about to replace another one: this is ended".to_owned();
            let place = dataset.to_string();
            found.push(Leftover { what, place, since: *since, how: CleanupAction::Switch(dataset) });
            continue;
        }
        let is_whole =
            objects.iter().any(|(object, _)| marker::below(&dataset).any(|marker| marker == *object));
        let place = dataset.to_string();
        found.push(match is_whole {
            // Nothing but the sign is left over, and what was to replace the dataset.
            true if has_beside(&objects, &dataset) => Leftover {
                what: "unfinished replacement".to_owned(),
                place,
                since: *since,
                how: CleanupAction::Beside(dataset),
            },
            true => Leftover {
                what: "sign of a creation that was ended".to_owned(),
                place,
                since: *since,
                how: CleanupAction::Sign(sign.clone()),
            },
            false => unfinished(store, dataset, &objects).await?,
        });
    }
    Ok(found)
}

/// Whether something lies beside a dataset that was to replace it.
#[cfg(feature = "cloud")]
fn has_beside(objects: &[(ObjectId, SystemTime)], dataset: &ObjectId) -> bool {
    let folder = crate::key::folder(ReplacementTree::all(dataset).key());
    objects.iter().any(|(object, _)| object.key().starts_with(&folder))
}

/// What replacements left that were ended but for that: no sign is there any more.
#[cfg(feature = "cloud")]
fn orphans(objects: &[(ObjectId, SystemTime)]) -> Vec<Leftover> {
    let mut since: BTreeMap<ObjectId, SystemTime> = BTreeMap::new();
    let folder = format!("/{FOLDER}/");
    for (object, time) in objects {
        if let Some((key, _)) = object.key().split_once(&folder) {
            let newest = since.entry(ObjectId::new(object.store.clone(), key)).or_insert(*time);
            *newest = (*newest).max(*time);
        }
    }
    let has_sign =
        |dataset: &ObjectId| objects.iter().any(|(object, _)| *object == dataset.child(marker::BEGUN));
    let lone = since.into_iter().filter(|(dataset, _)| !has_sign(dataset));
    let leftover = |(dataset, since): (ObjectId, SystemTime)| Leftover {
        what: "what a replacement left that was ended".to_owned(),
        place: dataset.to_string(),
        since,
        how: CleanupAction::Beside(dataset),
    };
    lone.map(leftover).collect()
}

/// A dataset whose creation was not ended, without what others put below it.
#[cfg(feature = "cloud")]
async fn unfinished(
    store: &crate::CloudStore,
    dataset: ObjectId,
    objects: &[(ObjectId, SystemTime)],
) -> Result<Leftover> {
    let folder = crate::key::folder(dataset.key());
    let below = objects.iter().filter(|(object, _)| object.key().starts_with(&folder));
    let all: Vec<ObjectId> = below.clone().map(|(object, _)| object.clone()).collect();
    let count = all.len();
    let mut own = creation_marker::own(store, &folder, all).await?;
    let is_own: HashSet<&ObjectId> = own.iter().collect();
    let since = below.filter(|(object, _)| is_own.contains(object)).map(|(_, since)| *since).max();
    let (what, place) = (format!("unfinished dataset of {} objects", own.len()), dataset.to_string());
    let how = if own.len() == count && creation_marker::below(store, &dataset).await?.is_some() {
        CleanupAction::Tree(dataset)
    } else {
        // The sign last: what is left at any moment is known to be unfinished.
        own.sort_by_key(|object| object.name() == marker::BEGUN);
        CleanupAction::Objects(own)
    };
    Ok(Leftover { what, place, since: since.unwrap_or_else(SystemTime::now), how })
}

impl Leftover {
    /// Removes it.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a path is known without them"))]
    pub async fn remove(&self, address: &str, options: &StoreOptions) -> Result<()> {
        #[cfg(feature = "cloud")]
        let store = || bucket(&Url::parse(address)?, options).map(|(store, _)| store);
        match &self.how {
            CleanupAction::Path(path) => remove_path(path),
            #[cfg(feature = "cloud")]
            CleanupAction::Upload(upload) => store()?.abandon(upload).await,
            #[cfg(feature = "cloud")]
            CleanupAction::Tree(root) => remote::remove_dataset(&store()?, root).await,
            #[cfg(feature = "cloud")]
            CleanupAction::Objects(objects) => {
                let store = store()?;
                for object in objects {
                    store.delete(object).await?;
                }
                Ok(())
            }
            #[cfg(feature = "cloud")]
            CleanupAction::Sign(sign) => store()?.delete(sign).await,
            #[cfg(feature = "cloud")]
            CleanupAction::Beside(root) => {
                let store = store()?;
                store.delete_tree(&ReplacementTree::all(root)).await?;
                store.delete(&root.child(marker::BEGUN)).await
            }
            #[cfg(feature = "cloud")]
            CleanupAction::Switch(root) => remote::end_switch(Arc::new(store()?), root).await,
        }
    }
}

/// The bucket of an address, and what lies there.
#[cfg(feature = "cloud")]
fn bucket(url: &Url, options: &StoreOptions) -> Result<(crate::CloudStore, ObjectId)> {
    let found = crate::remote::bucket(url, options)?;
    found.ok_or_else(|| Error::unsupported("removing what can only be read").at_object(url))
}
