//! Datasets that others take values from, kept open for the next read: a bounded number per session.
use crate::dataset::Dataset;
use ncirrus_layout::OpenOptions;
use ncirrus_store::Url;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Open datasets by address and options; the one that was used longest ago goes first.
pub(crate) struct OpenDatasets {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: Vec<Entry>,
    clock: u64,
}

struct Entry {
    url: Url,
    options: OpenOptions,
    used: u64,
    dataset: Dataset,
}

impl OpenDatasets {
    /// None yet.
    pub(super) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// How many are kept at most.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The dataset, if it is open.
    pub(crate) fn find(&self, url: &Url, options: &OpenOptions) -> Option<Dataset> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.entries.iter_mut().find(|entry| entry.is(url, options))?;
        entry.used = used;
        Some(entry.dataset.clone())
    }

    /// Keeps a dataset that was opened. Nobody waits for others who open the same one: the last one is kept.
    pub(crate) fn keep(&self, url: &Url, options: &OpenOptions, dataset: &Dataset) {
        let mut gone = Vec::new();
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        if let Some(at) = kept.entries.iter().position(|entry| entry.is(url, options)) {
            gone.push(kept.entries.swap_remove(at));
        }
        while kept.entries.len() >= self.most
            && let Some((oldest, _)) = kept.entries.iter().enumerate().min_by_key(|(_, entry)| entry.used)
        {
            gone.push(kept.entries.swap_remove(oldest));
        }
        kept.entries.push(Entry {
            url: url.clone(),
            options: options.clone(),
            used,
            dataset: dataset.clone(),
        });
        drop(kept);
        // What is closed is closed without the lock.
        drop(gone);
    }

    /// Forgets a dataset that is no longer what it was.
    pub(crate) fn forget(&self, url: &Url, options: &OpenOptions) {
        let mut kept = self.lock();
        let at = kept.entries.iter().position(|entry| entry.is(url, options));
        let gone = at.map(|at| kept.entries.swap_remove(at));
        drop(kept);
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is(&self, url: &Url, options: &OpenOptions) -> bool {
        self.url == *url && self.options == *options
    }
}
