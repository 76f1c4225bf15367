//! Writes that go on behind the caller: its values are copied, and encoded and written by the threads of the session while it goes on.
//!
//! Those that change the same elements are done in the order in which they were asked for, others at the same time. Whatever looks at
//! the values or at the state of the file waits for them first, and so does what asks for a number of records that they add to; the next
//! call, `nc_sync` or `nc_close` is told of those that failed.
//! What is copied takes at most 32 MiB, of several calls, and a quarter of the session's memory; a longer write waits as it always did:
//! all cores encode it.
use crate::c_types::codes::{Code, Outcome};
use crate::c_types::modes::SHARE;
use crate::files::file_state::FileCore;
use crate::rules::slabs::SlabAccess;
use futures_util::FutureExt;
use futures_util::future::join_all;
use ncirrus::Session;
use ncirrus::model::Storage;
use ncirrus::pace::{PutReach, WaitingPut, take_before};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Fewer bytes are encoded, or collected in their chunk, before another thread has begun.
const LEAST: usize = 16 << 10;

/// Bytes that wait at most, if the session has memory for them: more would only be farther ahead.
const MOST_WAITING: usize = 32 << 20;

/// Fewer bytes that are stored as they are have been written before another thread has begun.
const LEAST_PLAIN: usize = 1 << 20;

impl SlabAccess {
    /// Whether a write of so many bytes may go on behind the caller: if it takes long, since the values are encoded or are many, and
    /// nobody else has to see them when the call returns.
    pub(crate) fn can_go_behind(&self, len: usize) -> bool {
        let (file, core) = (&self.at.file, &self.at.file.core);
        let least = if self.is_encoded() { LEAST } else { LEAST_PLAIN };
        len >= least
            && file.mode & SHARE == 0
            && core.look(|state| state.locked_len.is_none() && len <= state.dataset.session().memory() / 4)
    }

    /// Whether values are more than bytes of a file.
    fn is_encoded(&self) -> bool {
        let has_filters = self.at.model().variable(self.id).is_some_and(|variable| {
            let is_chunked = matches!(variable.storage, Storage::Chunked(_) | Storage::Default);
            is_chunked && !variable.filters.is_empty()
        });
        has_filters || (!self.at.file.is_hdf5() && !self.at.file.is_classic())
    }

    /// How many writes go on at once: one on each of the threads that encode, and one that waits for them. Threads that write to one
    /// file would only be in each other's way.
    fn most_at_once(&self, session: &Session) -> usize {
        if self.is_encoded() { session.threads() + 1 } else { 1 }
    }

    /// Begins to write values behind the caller.
    ///
    /// # Errors
    /// Those of writes before it.
    pub(crate) fn put_behind(&self, values: &[u8]) -> Outcome<()> {
        let core = &self.at.file.core;
        if core.puts.is_there.load(Ordering::Acquire) {
            core.write_collected();
        }
        core.check_collected()?;
        let dataset = match core.ready() {
            Some(dataset) => dataset,
            None => core.settled()?,
        };
        let (session, behind) = (dataset.session(), &core.behind);
        let len = values.len();
        core.wait_for_room(len, session)?;
        let reach = PutReach::new(self.id, &self.slab.selection);
        let mut waiting = behind.waiting();
        let before = take_before(&mut waiting, &reach, self.most_at_once(session));
        let held = Arc::clone(&behind.held);
        held.fetch_add(len, Ordering::AcqRel);
        let variable = dataset.variable_by_id(self.id);
        let write = variable.write_bytes_owned(self.slab.selection.clone(), behind.copy_of(values));
        let task = session.spawn(async move {
            let before = join_all(before).await.into_iter().collect::<ncirrus::Result<()>>();
            let written = write.await;
            held.fetch_sub(len, Ordering::AcqRel);
            before.and(written)
        });
        // Without threads there is nobody to write behind the caller, and the session would not have been made.
        let done = task.map_err(|error| core.code_of(error))?.shared();
        waiting.push_back(WaitingPut { reach, done });
        if self.growing.contains(&true) {
            behind.is_growing.store(true, Ordering::Release);
        }
        behind.is_there.store(true, Ordering::Release);
        Ok(())
    }
}

impl FileCore {
    /// Waits until so many bytes more may wait: for those that have waited longest.
    fn wait_for_room(&self, len: usize, session: &Session) -> Outcome<()> {
        let (behind, most) = (&self.behind, MOST_WAITING.min(session.memory() / 4));
        let is_full = || {
            let held = behind.held.load(Ordering::Acquire);
            held > 0 && held.saturating_add(len) > most
        };
        while is_full() {
            let mut waiting = behind.waiting();
            let Some(oldest) = waiting.pop_front() else { break };
            self.wait_for_puts(session, oldest.done);
        }
        self.check_collected()
    }

    /// Waits for writes; that one failed is told by [`check_collected`](Self::check_collected).
    fn wait_for_puts(&self, session: &Session, puts: impl Future<Output = ncirrus::Result<()>>) {
        if let Err(error) = session.wait_for(puts) {
            self.note_failure(self.code_of(error));
        }
    }

    /// Waits for the writes that go on behind the caller; that one failed is told by [`check_collected`](Self::check_collected).
    pub(crate) fn finish_behind(&self) {
        let behind = &self.behind;
        if !behind.is_there.load(Ordering::Acquire) {
            return;
        }
        let mut waiting = behind.waiting();
        let done = waiting.drain(..).map(|put| put.done);
        let done = join_all(done).map(|ends| ends.into_iter().collect::<ncirrus::Result<()>>());
        self.wait_for_puts(&self.look(|state| state.dataset.session().clone()), done);
        behind.held.store(0, Ordering::Release);
        if behind.is_growing.swap(false, Ordering::AcqRel)
            && let Err(code) = self.refresh()
        {
            self.note_failure(code);
        }
        behind.is_there.store(false, Ordering::Release);
    }

    /// Before the number of records is asked for: writes that add some are done.
    pub(crate) fn finish_growth(&self) {
        if self.behind.is_growing.load(Ordering::Acquire) {
            self.finish_behind();
        }
    }

    /// What was to be written later could not be: the next call is told, of the first one.
    pub(crate) fn note_failure(&self, Code(code): Code) {
        let _ = self.puts.failure.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
    }
}
