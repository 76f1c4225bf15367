//! How writing ends: closed, or abandoned; and whether a dataset still is what it was.
use super::{Dataset, DatasetState};
use crate::{Error, Result};
use ncirrus_layout::{ErrorKind, LockExt};
use ncirrus_store::StagedDataset;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a dataset is still written.
#[derive(Debug, Default)]
pub(super) struct EndState(AtomicU8);

const CLOSED: u8 = 1;
const ABANDONED: u8 = 2;

impl EndState {
    pub(super) fn is_ended(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Acquire) == ABANDONED
    }

    /// What is said of later calls.
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
    /// What tells the state of a dataset that was opened for reading from others: of one object what its store tells (an
    /// ETag, or time, size and inode), of a tree a digest of the states of the objects that hold its definitions.
    /// `None` for one that is written, and where the store tells nothing.
    ///
    /// [`OpenOptions::expected_tag`](crate::OpenOptions::expected_tag) opens the dataset only in that state. Chunks of a
    /// tree that are overwritten in place leave its tag as it is.
    pub fn tag(&self) -> Option<String> {
        match self.state() {
            DatasetState::Reading(dataset) => dataset.tag().map(str::to_owned),
            DatasetState::Writing(_) => None,
        }
    }

    /// Ends writing: a last [`sync`](Self::sync), and a new dataset appears at its place. Nothing happens for one that
    /// is only read. Other handles of a dataset that was written are of no more use.
    ///
    /// # Errors
    /// When writing fails; a new dataset then does not appear. `Conflict` when another program took over the place of a new
    /// dataset on an object store: what is there then is theirs. `Interrupted` when who [watches](crate::watch) ended the
    /// wait: where the commit had begun, the handle is of no more use, and a new dataset does not appear.
    pub fn close(self) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        self.commit()?;
        open.ended.end(CLOSED);
        let staged = open.staged.guard().take();
        staged.map_or(Ok(()), |staged| self.0.session.wait_at(&self.0.url, staged.commit_checked()))
    }

    /// Ends writing without a last sync: what was not synced is abandoned, a new dataset does not appear, and what was sent
    /// of it to other machines is taken back. Every handle of the dataset fails from then on. Nothing happens for one that
    /// is only read, and for one that was closed.
    ///
    /// In a tree that is changed in place, chunks that were written wholly are there already; definitions and lengths are
    /// what the last sync made them.
    ///
    /// # Errors
    /// When what was sent cannot be taken back: it is no dataset, and `ncirrus clean` removes it.
    pub fn abort(self) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        if open.ended.is_ended() {
            return Ok(());
        }
        open.ended.end(ABANDONED);
        // What is under way must not land after it was taken back.
        self.engine().wait(async {
            open.writer.abandon().await;
            Ok(())
        })?;
        self.end_joint()?;
        let staged = open.staged.guard().take();
        staged.map_or(Ok(()), |staged| self.0.session.wait_at(&self.0.url, staged.abort()))
    }

    /// Does something with the place where the dataset is written, unless it was closed.
    pub(crate) fn with_staged(&self, act: impl FnOnce(&StagedDataset) -> Result<()>) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        open.staged.guard().as_ref().map_or(Ok(()), act)
    }
}

/// Checks that a dataset is in the state that is expected, if one is.
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
