//! Facts about buckets, and credentials that are still valid, for all stores of a session.
use super::fetch::CredentialCache;
use super::source::CredentialSource;
use ncirrus_layout::LockExt;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Facts about buckets, and credentials that are still valid; clones share them.
#[derive(Clone, Default)]
pub struct CredentialRegistry(Arc<Mutex<SharedIdentities>>);

#[derive(Default)]
struct SharedIdentities {
    buckets: BTreeMap<String, Arc<BucketFacts>>,
    caches: BTreeMap<(CredentialSource, String), Arc<CredentialCache>>,
    notes: Vec<String>,
}

/// Facts about a bucket.
#[derive(Debug, Default)]
pub(super) struct BucketFacts(Mutex<BucketFactsMap>);

#[derive(Debug, Default, Clone)]
pub(super) struct BucketFactsMap {
    /// Region that the bucket reported.
    pub(super) region: Option<String>,
    /// Reads are not signed: unsigned ones were answered where signed ones were denied.
    pub(super) is_public: bool,
    /// How often both were denied.
    pub(super) denials: u32,
    /// Seconds by which its server's clock is ahead, if too many for signatures.
    pub(super) clock: i64,
}

/// Maximum number of notes that are kept.
const MAX_NOTES: usize = 100;

impl CredentialRegistry {
    /// Notes for the user about the credentials used, in order of occurrence.
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// The region that a bucket reported.
    pub(super) fn region(&self, address: &str) -> Option<String> {
        self.lock().buckets.get(address)?.facts().region
    }

    pub(crate) fn note(&self, note: String) {
        let mut known = self.lock();
        if known.notes.len() < MAX_NOTES && !known.notes.contains(&note) {
            known.notes.push(note);
        }
    }

    pub(super) fn bucket(&self, address: &str) -> Arc<BucketFacts> {
        Arc::clone(self.lock().buckets.entry(address.to_owned()).or_default())
    }

    /// Credentials from a source; `region` is used for services without a region of their own.
    pub(super) fn cache(
        &self,
        source: &CredentialSource,
        region: &str,
        new: impl FnOnce() -> CredentialCache,
    ) -> Arc<CredentialCache> {
        let key = (source.clone(), region.to_owned());
        Arc::clone(self.lock().caches.entry(key).or_insert_with(|| Arc::new(new())))
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
