//! What killed writers left behind.
use super::beside::{FOLDER, ReplacementTree};
use super::creation_marker;
use super::lease::LeaseStage;
use super::owner;
use super::remote;
use super::removal::remove_path;
use crate::locate::{as_it_is, local_path, path_error};
use crate::marker;
use crate::upkeep::{StoreUpkeep, UnfinishedUpload};
use crate::url::{Scheme, Url};
use crate::{StoreContext, temporary};
use ncirrus_layout::{Error, Result};
use ncirrus_layout::{ObjectId, Want};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What a killed writer left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its description.
    pub what: String,
    /// Where it is.
    pub place: String,
    /// When it was last modified.
    pub since: SystemTime,
    how: CleanupAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CleanupAction {
    Upload(UnfinishedUpload),
    Tree(ObjectId),
    Objects(Vec<ObjectId>),
    Sign(ObjectId),
    /// Remains of a replacement beside the dataset, including the marker.
    Beside(ObjectId),
    /// A replacement that is to be completed.
    Switch(ObjectId),
    Path(PathBuf),
}

/// Finds what killed writers left below (and at) an address, and what could not be searched for; nothing is removed.
///
/// # Errors
/// `Unsupported` if nothing can be removed, otherwise errors of listing.
pub async fn leftovers(address: &str, context: &StoreContext) -> Result<(Vec<Leftover>, Vec<String>)> {
    let url = as_it_is(&Url::parse(address)?);
    match url.scheme() {
        Scheme::File => Ok((in_folder(&local_path(&url))?, Vec::new())),
        Scheme::Memory => Ok((Vec::new(), Vec::new())),
        _ => in_bucket(&url, context).await,
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

async fn in_bucket(url: &Url, context: &StoreContext) -> Result<(Vec<Leftover>, Vec<String>)> {
    let (store, root) = bucket(url, context)?;
    let (mut found, mut notes) = (creations_below(store.as_ref(), &root).await?, Vec::new());
    match store.unfinished(&root).await {
        Ok(Some(uploads)) => found.extend(uploads.into_iter().map(|upload| Leftover {
            what: "unfinished upload".to_owned(),
            place: upload.object.to_string(),
            since: upload.since,
            how: CleanupAction::Upload(upload),
        })),
        Ok(None) => {
            notes.push("unfinished uploads are not listed: the provider expires them itself".to_owned());
        }
        Err(error) => notes.push(error.to_string()),
    }
    Ok((found, notes))
}

/// Datasets whose creation was not completed.
async fn creations_below(store: &dyn StoreUpkeep, root: &ObjectId) -> Result<Vec<Leftover>> {
    let objects = store.dated_below(root).await?;
    let is_sign = |object: &ObjectId| object.name() == marker::CREATION;
    let mut found = Vec::new();
    found.extend(orphans(&objects));
    for (sign, since) in objects.iter().filter(|(object, _)| is_sign(object)) {
        let key = sign.key().strip_suffix(marker::CREATION).unwrap_or_default().trim_end_matches('/');
        let dataset = ObjectId::new(sign.store.clone(), key);
        if key.is_empty() {
            continue;
        }
        let text = store.get(sign, &Want::All).await?;
        if text.is_some_and(|text| owner::stage_of(&text.bytes) != LeaseStage::Making) {
            let what = "a complete dataset that was about to replace another: the replacement is finished"
                .to_owned();
            let place = dataset.to_string();
            found.push(Leftover { what, place, since: *since, how: CleanupAction::Switch(dataset) });
            continue;
        }
        let is_whole =
            objects.iter().any(|(object, _)| marker::below(&dataset).any(|marker| marker == *object));
        let place = dataset.to_string();
        found.push(if !is_whole {
            unfinished(store, dataset, &objects).await?
        } else if has_beside(&objects, &dataset) {
            // Only the marker is left over, and what was to replace the dataset.
            Leftover {
                what: "unfinished replacement".to_owned(),
                place,
                since: *since,
                how: CleanupAction::Beside(dataset),
            }
        } else {
            Leftover {
                what: "marker of an interrupted creation".to_owned(),
                place,
                since: *since,
                how: CleanupAction::Sign(sign.clone()),
            }
        });
    }
    Ok(found)
}

/// Whether there is an incomplete replacement beside a dataset.
fn has_beside(objects: &[(ObjectId, SystemTime)], dataset: &ObjectId) -> bool {
    let folder = crate::key::folder(ReplacementTree::all(dataset).key());
    objects.iter().any(|(object, _)| object.key().starts_with(&folder))
}

/// Remains of replacements that were completed except for their removal: they have no marker any more.
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
        |dataset: &ObjectId| objects.iter().any(|(object, _)| *object == dataset.child(marker::CREATION));
    let lone = since.into_iter().filter(|(dataset, _)| !has_sign(dataset));
    let leftover = |(dataset, since): (ObjectId, SystemTime)| Leftover {
        what: "leftovers of an interrupted replacement".to_owned(),
        place: dataset.to_string(),
        since,
        how: CleanupAction::Beside(dataset),
    };
    lone.map(leftover).collect()
}

/// A dataset whose creation was not completed, without foreign objects below it.
async fn unfinished(
    store: &dyn StoreUpkeep,
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
        // The marker last: what is left at any moment is known to be incomplete.
        own.sort_by_key(|object| object.name() == marker::CREATION);
        CleanupAction::Objects(own)
    };
    Ok(Leftover { what, place, since: since.unwrap_or_else(SystemTime::now), how })
}

impl Leftover {
    /// Removes it.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn remove(&self, address: &str, context: &StoreContext) -> Result<()> {
        let store = || bucket(&Url::parse(address)?, context).map(|(store, _)| store);
        match &self.how {
            CleanupAction::Path(path) => remove_path(path),
            CleanupAction::Upload(upload) => store()?.abandon(upload).await,
            CleanupAction::Tree(root) => remote::remove_dataset(store()?.as_ref(), root).await,
            CleanupAction::Objects(objects) => {
                let store = store()?;
                for object in objects {
                    store.delete(object).await?;
                }
                Ok(())
            }
            CleanupAction::Sign(sign) => store()?.delete(sign).await,
            CleanupAction::Beside(root) => {
                let store = store()?;
                store.delete_tree(&ReplacementTree::all(root)).await?;
                store.delete(&root.child(marker::CREATION)).await
            }
            CleanupAction::Switch(root) => remote::end_switch(store()?, root).await,
        }
    }
}

/// The bucket of an address, and the object or prefix in it.
fn bucket(url: &Url, context: &StoreContext) -> Result<(Arc<dyn StoreUpkeep>, ObjectId)> {
    let found = context.schemes.upkeep(url, &context.options)?;
    found.ok_or_else(|| Error::unsupported("removing from a read-only store").at_object(url))
}
