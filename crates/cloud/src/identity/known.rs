//! What was learnt of buckets, and credentials that are still good, for all stores of a session.
use super::fetch::CredentialCache;
use super::source::CredentialSource;
use ncirrus_layout::LockExt;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// What was learnt of buckets, and credentials that are still good; clones share it.
#[derive(Clone, Default)]
pub struct CredentialRegistry(Arc<Mutex<SharedIdentities>>);

#[derive(Default)]
struct SharedIdentities {
    buckets: BTreeMap<String, Arc<BucketFacts>>,
    purses: BTreeMap<(CredentialSource, String), Arc<CredentialCache>>,
    notes: Vec<String>,
}

/// What was learnt of a bucket.
#[derive(Debug, Default)]
pub(super) struct BucketFacts(Mutex<BucketFactsMap>);

#[derive(Debug, Default, Clone)]
pub(super) struct BucketFactsMap {
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

impl CredentialRegistry {
    /// What the user should know of whose name was used, in the order in which it came up.
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// The region that a bucket answered with.
    pub(super) fn region(&self, address: &str) -> Option<String> {
        self.lock().buckets.get(address)?.facts().region
    }

    pub(crate) fn note(&self, note: String) {
        let mut known = self.lock();
        if known.notes.len() < MOST && !known.notes.contains(&note) {
            known.notes.push(note);
        }
    }

    pub(super) fn bucket(&self, address: &str) -> Arc<BucketFacts> {
        Arc::clone(self.lock().buckets.entry(address.to_owned()).or_default())
    }

    /// Credentials from a source; `region` is where services are asked that have no region of their own.
    pub(super) fn purse(
        &self,
        source: &CredentialSource,
        region: &str,
        new: impl FnOnce() -> CredentialCache,
    ) -> Arc<CredentialCache> {
        let key = (source.clone(), region.to_owned());
        Arc::clone(self.lock().purses.entry(key).or_insert_with(|| Arc::new(new())))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SharedIdentities> {
        self.0.guard()
    }
}

impl BucketFacts {
    pub(super) fn facts(&self) -> BucketFactsMap {
        self.0.guard().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut BucketFactsMap)) {
        change(&mut self.0.guard());
    }
}

impl fmt::Debug for CredentialRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identities")
    }
}
