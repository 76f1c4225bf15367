//! The set of datasets that are served, by name.
//!
//! A name from the network is only compared with names that the given folders list. An address is made of listed names
//! alone, so that no request leaves the folders, whatever it contains.
mod cache;
mod folder;
mod roots;

pub use cache::ServedDataset;
pub use folder::{Entry, EntryKind};

use crate::{HttpError, ServerLimits};
use cache::OpenCache;
use folder::FolderCache;
use ncirrus::Session;
use roots::Root;
use std::sync::Arc;

/// The datasets that are served: one, those in one folder, or several datasets and folders by their names.
pub struct Published {
    session: Session,
    roots: Vec<Root>,
    /// Whether the uppermost folder is the only one that was given.
    is_one_folder: bool,
    folders: FolderCache,
    datasets: OpenCache,
}

impl Published {
    /// What is served under these addresses: a path or URL, or `NAME=ADDRESS`. A single folder is the uppermost one;
    /// otherwise datasets and folders have the last segment of their address as a name.
    ///
    /// # Errors
    /// If an address cannot be read, or two have one name.
    pub fn new(addresses: &[String], session: &Session, limits: &ServerLimits) -> ncirrus::Result<Self> {
        let roots = roots::find(addresses, session)?;
        let is_one_folder = matches!(roots.as_slice(), [root] if root.is_folder && !root.is_named);
        let folders = FolderCache::new(limits.recheck);
        let datasets = OpenCache::new(limits.open_datasets, limits.recheck);
        Ok(Self { session: session.clone(), roots, is_one_folder, folders, datasets })
    }

    /// The addresses that were given; not for clients.
    pub fn addresses(&self) -> Vec<&str> {
        self.roots.iter().map(|root| root.address.as_str()).collect()
    }

    /// The name of the dataset, if one dataset alone was given.
    pub fn only_dataset(&self) -> Option<&str> {
        match self.roots.as_slice() {
            [root] if !root.is_folder => Some(&root.name),
            _ => None,
        }
    }

    /// What is in a folder.
    ///
    /// # Errors
    /// 404 if there is no such folder.
    pub fn entries(&self, folder: &str) -> Result<Arc<Vec<Entry>>, HttpError> {
        match self.find(folder)? {
            Found::Top => Ok(Arc::new(self.roots.iter().map(Root::entry).collect())),
            Found::Folder(address) => self.folders.entries(&address, &self.session),
            Found::Dataset { .. } => Err(HttpError::not_found("this is a dataset, not a folder")),
        }
    }

    /// Opens the dataset that the first segments of a path name; the rest of the path.
    ///
    /// # Errors
    /// 404 if there is none; otherwise as opening it.
    pub fn open(&self, path: &str) -> Result<(Arc<ServedDataset>, String), HttpError> {
        match self.find(path)? {
            Found::Dataset { name, address, rest } => {
                Ok((self.datasets.open(&name, &address, &self.session)?, rest))
            }
            _ => Err(HttpError::not_found("no such dataset")),
        }
    }

    /// Forgets the open dataset, for one that was found changed.
    pub fn forget(&self, dataset: &ServedDataset) {
        self.datasets.forget(dataset);
    }

    /// Number of datasets that are open.
    pub fn open_count(&self) -> usize {
        self.datasets.len()
    }

    /// Descends along the path, from list to list.
    fn find(&self, path: &str) -> Result<Found, HttpError> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (mut place, mut at) = match (self.is_one_folder, self.roots.first()) {
            (true, Some(root)) => (root.address.clone(), 0),
            _ => {
                let Some(first) = segments.first() else { return Ok(Found::Top) };
                let root = self.roots.iter().find(|root| root.name == *first);
                let root = root.ok_or_else(|| HttpError::not_found(format!("{first:?} is not served")))?;
                if !root.is_folder {
                    return Ok(Found::dataset(&root.address, &segments, 1));
                }
                (root.address.clone(), 1)
            }
        };
        while let Some(segment) = segments.get(at) {
            let entries = self.folders.entries(&place, &self.session)?;
            let entry = entries.iter().find(|entry| entry.name == *segment);
            let entry = entry.ok_or_else(|| HttpError::not_found(format!("{segment:?} is not served")))?;
            at += 1;
            match entry.kind {
                EntryKind::Folder => place = entry.address.clone(),
                EntryKind::Dataset(_) => return Ok(Found::dataset(&entry.address, &segments, at)),
            }
        }
        Ok(Found::Folder(place))
    }
}

/// What a path leads to.
enum Found {
    /// The list of what was given.
    Top,
    Folder(String),
    Dataset {
        name: String,
        address: String,
        rest: String,
    },
}

impl Found {
    fn dataset(address: &str, segments: &[&str], at: usize) -> Self {
        let (name, rest) = segments.split_at(at);
        Self::Dataset { name: name.join("/"), address: address.to_owned(), rest: rest.join("/") }
    }
}
