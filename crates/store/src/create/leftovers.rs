//! What killed writers left.
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
    Upload(UnfinishedUpload),
    Tree(ObjectId),
    Objects(Vec<ObjectId>),
    Sign(ObjectId),
    /// What a replacement left beside the dataset, the sign included.
    Beside(ObjectId),
    /// A replacement that is to be ended.
    Switch(ObjectId),
    Path(PathBuf),
}

/// Finds what killed writers left below (and at) an address, and what could not be looked for; nothing is removed.
///
/// # Errors
/// `Unsupported` where nothing can be removed, else what listing fails with.
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
    let (mut found, mut notes) = (begun_below(store.as_ref(), &root).await?, Vec::new());
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
async fn begun_below(store: &dyn StoreUpkeep, root: &ObjectId) -> Result<Vec<Leftover>> {
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
fn has_beside(objects: &[(ObjectId, SystemTime)], dataset: &ObjectId) -> bool {
    let folder = crate::key::folder(ReplacementTree::all(dataset).key());
    objects.iter().any(|(object, _)| object.key().starts_with(&folder))
}

/// What replacements left that were ended but for that: no sign is there any more.
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
                store.delete(&root.child(marker::BEGUN)).await
            }
            CleanupAction::Switch(root) => remote::end_switch(store()?, root).await,
        }
    }
}

/// The bucket of an address, and what lies there.
fn bucket(url: &Url, context: &StoreContext) -> Result<(Arc<dyn StoreUpkeep>, ObjectId)> {
    let found = context.schemes.upkeep(url, &context.options)?;
    found.ok_or_else(|| Error::unsupported("removing what can only be read").at_object(url))
}
