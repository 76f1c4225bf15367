//! Datasets that others take values from, kept open for the next read: a bounded number per session.
use super::Dataset;
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_layout::OpenOptions;
use ncirrus_store::Url;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

/// Open datasets by address and options; the one that was used longest ago goes first.
pub(crate) struct OpenDatasets {
    most: usize,
    /// Those used longest ago first.
    kept: Mutex<LinkedHashMap<OpenKey, Dataset>>,
}

/// Which dataset: of which address, opened how.
#[derive(Clone, PartialEq, Eq)]
struct OpenKey {
    url: Url,
    options: OpenOptions,
}

/// Few addresses share a path.
impl Hash for OpenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.url.path().hash(state);
    }
}

impl OpenDatasets {
    /// None yet.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// How many are kept at most.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The dataset, if it is open.
    pub(crate) fn find(&self, url: &Url, options: &OpenOptions) -> Option<Dataset> {
        let key = OpenKey::new(url, options);
        self.lock().to_back(&key).cloned()
    }

    /// Keeps a dataset that was opened. Nobody waits for others who open the same one: the last one is kept.
    pub(crate) fn keep(&self, url: &Url, options: &OpenOptions, dataset: &Dataset) {
        let key = OpenKey::new(url, options);
        let mut kept = self.lock();
        let mut gone: Vec<Dataset> = kept.remove(&key).into_iter().collect();
        while kept.len() >= self.most
            && let Some((_, oldest)) = kept.pop_front()
        {
            gone.push(oldest);
        }
        kept.insert(key, dataset.clone());
        drop(kept);
        // What is closed is closed without the lock.
        drop(gone);
    }

    /// Forgets a dataset that is no longer what it was.
    pub(crate) fn forget(&self, url: &Url, options: &OpenOptions) {
        let gone = self.lock().remove(&OpenKey::new(url, options));
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, LinkedHashMap<OpenKey, Dataset>> {
        self.kept.guard()
    }
}

impl OpenKey {
    fn new(url: &Url, options: &OpenOptions) -> Self {
        Self { url: url.clone(), options: options.clone() }
    }
}
