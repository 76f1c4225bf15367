//! The order of the writer's asynchronous locks as types: what comes later in it is locked with evidence that what comes
//! before it is held. The whole list is in `docs/ARCHITECTURE.md`, "The locks of the writer".
use std::marker::PhantomData;
use tokio::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Shared by writes and reads, held alone for the end of an edit and for commits.
#[derive(Debug, Default)]
pub(super) struct CommitLock(RwLock<()>);

/// The commit lock, held.
#[derive(Debug)]
pub(super) enum CommitGuard<'a> {
    /// Others write and read, too.
    Shared { _lock: RwLockReadGuard<'a, ()> },
    /// There are no other writes and reads.
    Alone { _lock: RwLockWriteGuard<'a, ()> },
}

impl CommitLock {
    pub(super) async fn share(&self) -> CommitGuard<'_> {
        CommitGuard::Shared { _lock: self.0.read().await }
    }

    pub(super) async fn alone(&self) -> CommitGuard<'_> {
        CommitGuard::Alone { _lock: self.0.write().await }
    }

    /// Alone if the lock is free and no other task waits for it, else shared: never waits for others to end their reads and writes.
    pub(super) async fn alone_if_free(&self) -> CommitGuard<'_> {
        match self.0.try_write() {
            Ok(lock) => CommitGuard::Alone { _lock: lock },
            Err(_) => self.share().await,
        }
    }
}

impl CommitGuard<'_> {
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Self::Alone { .. })
    }

    /// Lets others in, and holds the lock throughout.
    pub(super) fn shared(self) -> Self {
        match self {
            Self::Alone { _lock: lock } => Self::Shared { _lock: lock.downgrade() },
            shared @ Self::Shared { .. } => shared,
        }
    }
}

/// Held while definitions are passed to the format, by the thread that holds the commit lock.
#[derive(Debug, Default)]
pub(super) struct DefiningLock(Mutex<()>);

/// The lock for definitions, held.
#[derive(Debug)]
pub(super) struct DefiningGuard<'a> {
    _lock: MutexGuard<'a, ()>,
}

impl DefiningLock {
    pub(super) async fn lock<'a>(&'a self, _commit: &'a CommitGuard<'_>) -> DefiningGuard<'a> {
        DefiningGuard { _lock: self.0.lock().await }
    }
}

impl DefiningGuard<'_> {
    /// Chunks may be locked while definitions are passed on.
    pub(super) fn chunk_access(&self) -> ChunkAccess<'_> {
        ChunkAccess(PhantomData)
    }
}

/// Evidence that chunks may be locked: the commit lock is held, and definitions were passed to the format or are being
/// passed to it by this task.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkAccess<'a>(PhantomData<&'a ()>);

impl<'a> ChunkAccess<'a> {
    /// Once definitions were passed on.
    pub(super) fn after_defining(_commit: &'a CommitGuard<'_>, defining: DefiningGuard<'_>) -> Self {
        drop(defining);
        Self(PhantomData)
    }
}
