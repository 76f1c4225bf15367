//! Datasets that others take values from, kept open for the next read: a bounded number per session.
use super::Dataset;
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_layout::OpenOptions;
use ncirrus_store::{HostAccess, Url};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

/// Open datasets by address and options; the least recently used one is closed first.
pub(crate) struct OpenDatasets {
    max: usize,
    /// Least recently used first.
    kept: Mutex<LinkedHashMap<OpenKey, Dataset>>,
}

/// Identifies an open dataset: its address, and how it was opened.
#[derive(Clone, PartialEq, Eq)]
struct OpenKey {
    url: Url,
    options: OpenOptions,
    /// One that was opened for the user is not one for datasets that may not reach its host.
    hosts: HostAccess,
}

/// Few addresses share a path, so that hashing the path is enough.
impl Hash for OpenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.url.path().hash(state);
    }
}

impl OpenDatasets {
    /// An empty set of at most `max` datasets.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, kept: Mutex::default() }
    }

    /// Maximum number that are kept.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// The dataset, if it is open.
    pub(crate) fn find(&self, url: &Url, options: &OpenOptions, hosts: &HostAccess) -> Option<Dataset> {
        let key = OpenKey::new(url, options, hosts);
        self.lock().to_back(&key).cloned()
    }

    /// Keeps a dataset that was opened. Concurrent openings of the same dataset do not wait for each other: the last
    /// one is kept.
    pub(crate) fn keep(&self, url: &Url, (options, hosts): (&OpenOptions, &HostAccess), dataset: &Dataset) {
        let key = OpenKey::new(url, options, hosts);
        let mut kept = self.lock();
        let mut gone: Vec<Dataset> = kept.remove(&key).into_iter().collect();
        while kept.len() >= self.max
            && let Some((_, oldest)) = kept.pop_front()
        {
            gone.push(oldest);
        }
        kept.insert(key, dataset.clone());
        drop(kept);
        // Datasets are closed outside the lock.
        drop(gone);
    }

    /// Forgets a dataset that has changed.
    pub(crate) fn forget(&self, url: &Url, options: &OpenOptions, hosts: &HostAccess) {
        let gone = self.lock().remove(&OpenKey::new(url, options, hosts));
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, LinkedHashMap<OpenKey, Dataset>> {
        self.kept.guard()
    }
}

impl OpenKey {
    fn new(url: &Url, options: &OpenOptions, hosts: &HostAccess) -> Self {
        Self { url: url.clone(), options: options.clone(), hosts: hosts.clone() }
    }
}
