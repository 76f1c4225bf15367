//! Datasets that others take values from, kept open for the next read: a bounded number per session.
use super::Dataset;
use ncirrus_layout::LockExt;
use ncirrus_layout::OpenOptions;
use ncirrus_store::Url;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

/// Open datasets by address and options; the one that was used longest ago goes first.
pub(crate) struct OpenDatasets {
    most: usize,
    kept: Mutex<OpenDatasetCache>,
}

#[derive(Default)]
struct OpenDatasetCache {
    /// By the path of their address, which few share.
    entries: HashMap<Arc<str>, Vec<OpenEntry>>,
    /// The paths in the order of use.
    by_use: BTreeMap<u64, Arc<str>>,
    clock: u64,
}

struct OpenEntry {
    url: Url,
    options: OpenOptions,
    used: u64,
    dataset: Dataset,
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
        let mut kept = self.lock();
        let OpenDatasetCache { entries, by_use, clock } = &mut *kept;
        let entry = entries.get_mut(url.path())?.iter_mut().find(|entry| entry.is(url, options))?;
        *clock += 1;
        let path = by_use.remove(&entry.used)?;
        by_use.insert(*clock, path);
        entry.used = *clock;
        Some(entry.dataset.clone())
    }

    /// Keeps a dataset that was opened. Nobody waits for others who open the same one: the last one is kept.
    pub(crate) fn keep(&self, url: &Url, options: &OpenOptions, dataset: &Dataset) {
        let mut entry =
            OpenEntry { url: url.clone(), options: options.clone(), used: 0, dataset: dataset.clone() };
        let mut kept = self.lock();
        let mut gone = vec![kept.take(url, options)];
        while kept.by_use.len() >= self.most {
            gone.push(kept.take_oldest());
        }
        kept.clock += 1;
        entry.used = kept.clock;
        let path: Arc<str> = url.path().into();
        kept.by_use.insert(entry.used, Arc::clone(&path));
        kept.entries.entry(path).or_default().push(entry);
        drop(kept);
        // What is closed is closed without the lock.
        drop(gone);
    }

    /// Forgets a dataset that is no longer what it was.
    pub(crate) fn forget(&self, url: &Url, options: &OpenOptions) {
        let gone = self.lock().take(url, options);
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, OpenDatasetCache> {
        self.kept.guard()
    }
}

impl OpenDatasetCache {
    fn take(&mut self, url: &Url, options: &OpenOptions) -> Option<OpenEntry> {
        self.take_where(url.path(), |entry| entry.is(url, options))
    }

    fn take_oldest(&mut self) -> Option<OpenEntry> {
        let (oldest, path) = self.by_use.pop_first()?;
        self.take_where(&path, |entry| entry.used == oldest)
    }

    fn take_where(&mut self, path: &str, is_it: impl Fn(&OpenEntry) -> bool) -> Option<OpenEntry> {
        let same_path = self.entries.get_mut(path)?;
        let entry = same_path.swap_remove(same_path.iter().position(is_it)?);
        if same_path.is_empty() {
            self.entries.remove(path);
        }
        self.by_use.remove(&entry.used);
        Some(entry)
    }
}

impl OpenEntry {
    fn is(&self, url: &Url, options: &OpenOptions) -> bool {
        self.url == *url && self.options == *options
    }
}
