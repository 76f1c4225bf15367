//! What was learnt of buckets, and credentials that are still good, for all stores of a session.
use super::fetch::Purse;
use super::source::Source;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What was learnt of buckets, and credentials that are still good; clones share it.
#[derive(Clone, Default)]
pub struct Identities(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    buckets: BTreeMap<String, Arc<Learnt>>,
    purses: BTreeMap<(Source, String), Arc<Purse>>,
    notes: Vec<String>,
}

/// What was learnt of a bucket.
#[derive(Debug, Default)]
pub(super) struct Learnt(Mutex<Facts>);

#[derive(Debug, Default, Clone)]
pub(super) struct Facts {
    /// Region that the bucket answered with.
    pub(super) region: Option<String>,
    /// Reads are not signed: unsigned ones were answered where signed ones were denied.
    pub(super) is_public: bool,
    /// How often neither was answered.
    pub(super) denials: u32,
    /// Seconds by which the clock of its server is ahead, where they are too many for signatures.
    pub(super) clock: i64,
}

/// Most notes that are kept.
const MOST: usize = 100;

impl Identities {
    /// What the user should know of whose name was used, in the order in which it came up.
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// The region that a bucket answered with.
    pub(super) fn region(&self, address: &str) -> Option<String> {
        self.lock().buckets.get(address)?.facts().region
    }

    pub(in crate::cloud) fn note(&self, note: String) {
        let mut known = self.lock();
        if known.notes.len() < MOST && !known.notes.contains(&note) {
            known.notes.push(note);
        }
    }

    pub(super) fn bucket(&self, address: &str) -> Arc<Learnt> {
        Arc::clone(self.lock().buckets.entry(address.to_owned()).or_default())
    }

    /// Credentials from a source; `region` is where services are asked that have no region of their own.
    pub(super) fn purse(&self, source: &Source, region: &str, new: impl FnOnce() -> Purse) -> Arc<Purse> {
        let key = (source.clone(), region.to_owned());
        Arc::clone(self.lock().purses.entry(key).or_insert_with(|| Arc::new(new())))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Learnt {
    pub(super) fn facts(&self) -> Facts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities")
    }
}
