//! Writes that go on behind the caller: its values are copied, and encoded and written by the threads of the session while it goes on.
//!
//! They are done in the order in which they were asked for. Whatever looks at the values or at the state of the file waits for them first,
//! and so does what asks for a number of records that they add to; the next call, `nc_sync` or `nc_close` is told of those that failed.
//! What is copied takes at most a quarter of the session's memory; a longer write waits as it always did: all cores encode it.
use crate::codes::{Code, Outcome};
use crate::file_state::FileCore;
use crate::modes::SHARE;
use crate::slabs::SlabAccess;
use ncirrus::model::Storage;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Fewer bytes are encoded, or collected in their chunk, before another thread has begun.
const LEAST: usize = 64 << 10;

/// Fewer bytes that are stored as they are have been written before another thread has begun.
const LEAST_PLAIN: usize = 1 << 20;

impl SlabAccess {
    /// Whether a write of so many bytes may go on behind the caller: if it takes long, since the values are encoded or are many, and
    /// nobody else has to see them when the call returns.
    pub(crate) fn can_go_behind(&self, len: usize) -> bool {
        let (file, core) = (&self.at.file, &self.at.file.core);
        let Some(variable) = self.at.model().variable(self.id) else { return false };
        let is_encoded = !variable.filters.is_empty()
            && matches!(variable.storage, Storage::Chunked(_) | Storage::Default);
        let is_zarr = !file.is_hdf5() && !file.is_classic();
        let least = if is_encoded || is_zarr { LEAST } else { LEAST_PLAIN };
        len >= least
            && file.mode & SHARE == 0
            && core.look(|state| state.locked_len.is_none() && len <= state.dataset.session().memory() / 4)
    }

    /// Begins to write values behind the caller.
    ///
    /// # Errors
    /// Those of writes before it.
    pub(crate) fn put_behind(&self, bytes: Vec<u8>) -> Outcome<()> {
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
        let len = bytes.len();
        if behind.held.load(Ordering::Acquire).saturating_add(len) > session.memory() / 4 {
            core.finish_behind();
            core.check_collected()?;
        }
        let mut last = behind.last();
        let (before, held) = (last.take(), Arc::clone(&behind.held));
        held.fetch_add(len, Ordering::AcqRel);
        let write = dataset.variable_by_id(self.id).write_bytes_owned(self.slab.selection.clone(), bytes);
        let task = session.spawn(async move {
            let before = match before {
                Some(task) => task.await,
                None => Ok(()),
            };
            let written = write.await;
            held.fetch_sub(len, Ordering::AcqRel);
            before.and(written)
        });
        // Without threads there is nobody to write behind the caller, and the session would not have been made.
        *last = Some(task.map_err(|error| core.code_of(error))?);
        if self.growing.contains(&true) {
            behind.is_growing.store(true, Ordering::Release);
        }
        behind.is_there.store(true, Ordering::Release);
        Ok(())
    }
}

impl FileCore {
    /// Waits for the writes that go on behind the caller; that one failed is told by [`check_collected`](Self::check_collected).
    pub(crate) fn finish_behind(&self) {
        let behind = &self.behind;
        if !behind.is_there.load(Ordering::Acquire) {
            return;
        }
        let mut last = behind.last();
        let Some(task) = last.take() else { return };
        let session = self.look(|state| state.dataset.session().clone());
        if let Err(error) = session.wait_for(task) {
            self.note_failure(self.code_of(error));
        }
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
