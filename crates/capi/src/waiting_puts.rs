//! The writes of a file that go on behind the caller.
use ncirrus::SessionTask;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The writes of a file that are not done yet.
#[derive(Debug, Default)]
pub(crate) struct PutsBehind {
    /// The last one, which waits for those before it.
    last: Mutex<Option<SessionTask<()>>>,
    pub(crate) is_there: AtomicBool,
    /// Whether they may add records.
    pub(crate) is_growing: AtomicBool,
    /// Bytes of values that they hold.
    pub(crate) held: Arc<AtomicUsize>,
}

impl PutsBehind {
    pub(crate) fn last(&self) -> MutexGuard<'_, Option<SessionTask<()>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
