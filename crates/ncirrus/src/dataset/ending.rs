//! The end of writing: closing or aborting; and the tag of a dataset's state.
use super::{Dataset, DatasetState};
use crate::{Error, Result};
use ncirrus_layout::{ErrorKind, LockExt};
use ncirrus_store::StagedDataset;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Whether a dataset is still being written.
#[derive(Debug, Default)]
pub(super) struct EndState(AtomicU8, AtomicBool);

const CLOSED: u8 = 1;
const ABANDONED: u8 = 2;

impl EndState {
    pub(super) fn is_ended(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    /// Whether readers can see a state that was synced.
    fn has_synced(&self) -> bool {
        self.1.load(Ordering::Acquire)
    }

    pub(super) fn note_sync(&self) {
        self.1.store(true, Ordering::Release);
    }

    fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) == CLOSED
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Acquire) == ABANDONED
    }

    /// The error of later calls.
    pub(super) fn error(&self, url: &str) -> Error {
        let message = match self.0.load(Ordering::Acquire) {
            ABANDONED => "the dataset was abandoned: what was not synced is lost",
            _ => "the dataset was closed",
        };
        Error::invalid(message).at_object(url)
    }

    fn end(&self, how: u8) {
        self.0.store(how, Ordering::Release);
    }
}

impl Dataset {
    /// The tag of the state of a dataset that was opened for reading: for one object what its store reports (an ETag,
    /// or time, size and inode), for a tree a digest of the tags of the objects that hold its definitions. `None` for a
    /// dataset that is being written, and if the store reports no tags.
    ///
    /// [`OpenOptions::expected_tag`](crate::OpenOptions::expected_tag) opens the dataset only in that state.
    /// Overwriting chunks of a tree in place does not change its tag.
    pub fn tag(&self) -> Option<String> {
        match self.state() {
            DatasetState::Reading(dataset) => dataset.tag().map(str::to_owned),
            DatasetState::Writing(_) => None,
        }
    }

    /// Ends writing: a last [`sync`](Self::sync), and a new dataset appears at its location. Does nothing for a dataset
    /// that is only read. Other handles of a dataset that was written can no longer be used.
    ///
    /// # Errors
    /// If writing fails; a new dataset then does not appear, and one on an object store that was never synced is [aborted](Self::abort). `Conflict` if another program took over the location of a
    /// new dataset on an object store: what is there then is theirs. `Interrupted` if the [watch](crate::watch) ended
    /// the wait: if the commit had begun, the handle can no longer be used, and a new dataset does not appear.
    pub fn close(self) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        self.commit().inspect_err(|error| self.take_back(error))?;
        open.ended.end(CLOSED);
        let staged = open.staged.guard().take();
        staged.map_or(Ok(()), |staged| self.0.session.complete_at(&self.0.url, staged.commit_checked()))
    }

    /// Removes from an object store what was put of a dataset that was never synced and cannot be closed. Datasets on this machine go when the
    /// last handle is dropped, and can be closed again until then.
    fn take_back(&self, error: &Error) {
        let DatasetState::Writing(open) = &self.0.state else { return };
        // What was synced is there for readers, and stays.
        let is_new = !open.ended.has_synced();
        if is_new && error.kind() != ErrorKind::Interrupted && !crate::session::is_local(&self.0.url) {
            // The error of closing says why; what cannot be removed is left to "ncirrus clean".
            _ = self.clone().abort();
        }
    }

    /// Ends writing without a last sync: what was not synced is discarded, a new dataset does not appear, and what was
    /// sent to remote stores is removed. Every handle of the dataset fails from then on. Does nothing for a dataset
    /// that is only read, or was closed.
    ///
    /// In a tree that is changed in place, chunks that were written wholly may already be stored; definitions and
    /// lengths are those of the last sync.
    ///
    /// # Errors
    /// If what was sent cannot be removed: it is not a dataset, and `ncirrus clean` removes it.
    pub fn abort(self) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        if open.ended.is_ended() {
            return Ok(());
        }
        open.ended.end(ABANDONED);
        // Puts in flight must not complete after the removal.
        self.engine().wait(async {
            open.writer.abandon().await;
            Ok(())
        })?;
        self.end_joint()?;
        let staged = open.staged.guard().take();
        staged.map_or(Ok(()), |staged| self.0.session.complete_at(&self.0.url, staged.abort()))
    }

    /// Whether it was written and [closed](Self::close), through whichever handle: no call can use it any more.
    pub fn is_closed(&self) -> bool {
        matches!(&self.0.state, DatasetState::Writing(open) if open.ended.is_closed())
    }

    /// Calls `act` with the location where the dataset is written, unless it was closed.
    pub(crate) fn with_staged(&self, act: impl FnOnce(&StagedDataset) -> Result<()>) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        open.staged.guard().as_ref().map_or(Ok(()), act)
    }
}

/// Checks that a dataset is in the expected state, if one is given.
///
/// # Errors
/// `Changed`, naming both states.
pub(super) fn check_tag(expected: Option<&str>, found: Option<&str>, url: &str) -> Result<()> {
    match (expected, found) {
        (Some(expected), found) if found != Some(expected) => {
            let found = found.unwrap_or("none");
            let message = format!("the dataset has the tag {found}, where {expected} was expected");
            Err(Error::new(ErrorKind::Changed, message).at_object(url))
        }
        _ => Ok(()),
    }
}
