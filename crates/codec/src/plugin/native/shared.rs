//! What all sessions of a process share about a library, because the library itself exists only once.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The lock of one library.
#[derive(Debug, Clone)]
pub(in crate::plugin) struct LibraryLock(Arc<Mutex<InitializedRecords>>);

/// Addresses of the records that were initialized.
pub(super) type InitializedRecords = BTreeSet<usize>;

static LIBRARIES: Mutex<BTreeMap<usize, LibraryLock>> = Mutex::new(BTreeMap::new());

impl LibraryLock {
    /// The lock of the library that contains a function at that address.
    pub(super) fn of(address: usize) -> Self {
        let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        libraries.entry(address).or_insert_with(|| Self(Arc::default())).clone()
    }

    /// Waits until no other thread is inside the library.
    pub(super) fn lock(&self) -> MutexGuard<'_, InitializedRecords> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
