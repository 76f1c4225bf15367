//! Writes of a dataset that are not done when the call returns: for faces that can tell of an error later.
//!
//! *Runs.* A small write is done at once, and what continues it is collected: copied to the end of the run that begins behind it, records
//! that are not there yet as well. Each variable has a run of its own, so that those of one record may be put in turn; all are written
//! when they are long. Numbers of another type are collected if they are in the range of the variable's.
//!
//! *Behind the caller.* Values that take long to encode or to write are copied, and the threads of the session write them while the caller
//! goes on. Writes of the same elements are done in the order in which they were asked for, others at the same time. What is copied takes
//! at most 32 MiB, of several calls, and a quarter of the session's memory; a longer write waits as it always did: all cores encode it.
//!
//! Whatever looks at the values or at the state of the dataset finishes both first; the first error is kept for the next call, `sync` or
//! `close` ([`LatePuts::check`]).
use super::put_run::{PutRuns, RunPlace};
use super::waiting_puts::{PutReach, PutsBehind, WaitingPut, take_before};
use crate::{Dataset, DatasetKind, Error, Model, Result, Selection, Session, Storage, VarId};
use futures_util::FutureExt;
use futures_util::future::join_all;
use ncirrus_layout::LockExt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Fewer bytes are encoded, or collected in their chunk, before another thread has begun.
const MIN_ENCODED_BYTES: usize = 16 << 10;
/// Fewer bytes that are stored as they are have been written before another thread has begun.
const MIN_PLAIN_BYTES: usize = 1 << 20;
/// Bytes that wait at most, if the session has memory for them: more would only be farther ahead.
const MAX_WAITING: usize = 32 << 20;
/// Bytes that may wait in any case, if the session has memory for them.
const MIN_WAITING: usize = 8 << 20;
/// Of small writes so many wait for each one that goes on.
const PUTS_AHEAD: usize = 4;

/// The writes of a dataset that are not done yet. A face finds the variable of a run by a key of its own.
#[derive(Debug)]
pub struct LatePuts<K> {
    collected: Arc<CollectedRuns<K>>,
    behind: PutsBehind,
    failure: Mutex<Option<Error>>,
    has_failed: AtomicBool,
}

/// The runs of a dataset, and what is known of them without their lock. A face may keep them where it finds them without the dataset.
#[derive(Debug)]
pub struct CollectedRuns<K> {
    runs: Mutex<PutRuns<K>>,
    exist: AtomicBool,
    /// Whether a run may add records.
    grow: AtomicBool,
}

impl<K> CollectedRuns<K> {
    /// Whether there are runs. Who reads values and sees none, and who begins some, see what the other one stored before with the same
    /// strict order.
    #[inline]
    pub fn exist(&self) -> bool {
        self.exist.load(Ordering::SeqCst)
    }

    /// The runs, for one call alone.
    #[inline]
    pub fn runs(&self) -> MutexGuard<'_, PutRuns<K>> {
        self.runs.guard()
    }
}

impl<K> Default for CollectedRuns<K> {
    fn default() -> Self {
        Self { runs: Mutex::default(), exist: AtomicBool::default(), grow: AtomicBool::default() }
    }
}

/// A write that may go on behind the caller.
#[derive(Debug, Clone, Copy)]
pub struct PutBehind<'a> {
    /// The variable.
    pub var: VarId,
    /// The elements.
    pub selection: &'a Selection,
    /// Whether it may add records.
    pub grows: bool,
    /// Whether the values are more than bytes of a file.
    pub is_encoded: bool,
}

impl<'a> PutBehind<'a> {
    /// A write of a variable of a model.
    pub fn new(model: &Model, kind: DatasetKind, var: VarId, selection: &'a Selection) -> Self {
        let has_filters = model.variable(var).is_some_and(|variable| {
            let is_chunked = matches!(variable.storage, Storage::Chunked(_) | Storage::Default);
            is_chunked && !variable.filters.is_empty()
        });
        let is_encoded = has_filters || !(kind.is_hdf5() || kind.is_classic());
        Self { var, selection, grows: model.growing(var).contains(&true), is_encoded }
    }

    /// Whether a write of so many bytes takes long, and the session has memory for a copy of them.
    pub fn is_worth_it(&self, len: usize, session: &Session) -> bool {
        len >= if self.is_encoded { MIN_ENCODED_BYTES } else { MIN_PLAIN_BYTES }
            && len <= session.memory() / 4
    }

    /// How many writes go on at once: one on each of the threads that encode, and one that waits for them. Threads that write to one
    /// file would only be in each other's way.
    fn max_at_once(&self, session: &Session) -> usize {
        if self.is_encoded { session.threads() + 1 } else { 1 }
    }
}

impl<K> Default for LatePuts<K> {
    fn default() -> Self {
        Self {
            collected: Arc::default(),
            behind: PutsBehind::default(),
            failure: Mutex::default(),
            has_failed: AtomicBool::default(),
        }
    }
}

impl<K> LatePuts<K> {
    /// Whether there are runs.
    #[inline]
    pub fn has_runs(&self) -> bool {
        self.collected.exist()
    }

    /// Whether there are runs that may add records.
    #[inline]
    pub fn runs_grow(&self) -> bool {
        self.has_runs() && self.collected.grow.load(Ordering::Acquire)
    }

    /// Whether values are collected that are not written yet.
    pub fn has_collected(&self) -> bool {
        self.has_runs() && !self.runs().is_empty()
    }

    /// The runs, for one call alone.
    pub fn runs(&self) -> MutexGuard<'_, PutRuns<K>> {
        self.collected.runs()
    }

    /// Where the runs are.
    pub fn collected(&self) -> &Arc<CollectedRuns<K>> {
        &self.collected
    }

    /// Ends the [runs](Self::runs): nothing is collected any more.
    pub fn end_runs(&self, runs: &mut PutRuns<K>) {
        runs.end();
        self.collected.exist.store(false, Ordering::SeqCst);
        self.collected.grow.store(false, Ordering::Release);
    }

    /// Begins to write values behind the caller.
    ///
    /// # Errors
    /// Those of writes before it.
    pub fn put_behind(&self, dataset: &Dataset, put: &PutBehind<'_>, values: &[u8]) -> Result<()> {
        let (session, behind, len) = (dataset.session(), &self.behind, values.len());
        self.wait_for_room(len, session)?;
        let reach = PutReach::new(put.var, put.selection);
        let mut waiting = behind.waiting();
        let before = take_before(&mut waiting, &reach, put.max_at_once(session));
        let held = Arc::clone(&behind.held);
        held.fetch_add(len, Ordering::AcqRel);
        let variable = dataset.variable_by_id(put.var);
        let write = variable.write_bytes_owned(put.selection.clone(), behind.copy_of(values));
        let task = session.spawn(async move {
            let before = join_all(before).await.into_iter().collect::<Result<()>>();
            let written = write.await;
            held.fetch_sub(len, Ordering::AcqRel);
            before.and(written)
        });
        // It fails only without threads, and no session is built without them.
        waiting.push_back(WaitingPut { reach, done: task?.shared() });
        if put.grows {
            behind.is_growing.store(true, Ordering::Release);
        }
        behind.is_there.store(true, Ordering::Release);
        Ok(())
    }

    /// Waits until so many bytes more may wait: for those that have waited longest.
    fn wait_for_room(&self, len: usize, session: &Session) -> Result<()> {
        let behind = &self.behind;
        let enough = len.saturating_mul(session.threads() + 1).saturating_mul(PUTS_AHEAD);
        let max = enough.clamp(MIN_WAITING, MAX_WAITING).min(session.memory() / 4);
        let is_full = || {
            let held = behind.held.load(Ordering::Acquire);
            held > 0 && held.saturating_add(len) > max
        };
        while is_full() {
            let mut waiting = behind.waiting();
            let Some(oldest) = waiting.pop_front() else { break };
            self.note(session.wait_for(oldest.done));
        }
        self.check()
    }

    /// Waits for the writes that go on behind the caller. If some may have added records, `grown` is called before the next write.
    pub fn finish_behind(&self, session: impl FnOnce() -> Session, grown: impl FnOnce() -> Result<()>) {
        let behind = &self.behind;
        if !behind.is_there.load(Ordering::Acquire) {
            return;
        }
        let mut waiting = behind.waiting();
        let done = waiting.drain(..).map(|put| put.done);
        let done = join_all(done).map(|ends| ends.into_iter().collect::<Result<()>>());
        self.note(session().wait_for(done));
        behind.held.store(0, Ordering::Release);
        if behind.is_growing.swap(false, Ordering::AcqRel) {
            self.note(grown());
        }
        behind.is_there.store(false, Ordering::Release);
    }

    /// Whether writes go on behind the caller that may add records.
    #[inline]
    pub fn behind_grows(&self) -> bool {
        self.behind.is_growing.load(Ordering::Acquire)
    }

    /// Keeps the first error of a late write; the next call returns it.
    pub fn note(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failure.guard().get_or_insert(error);
            self.has_failed.store(true, Ordering::Release);
        }
    }

    /// Whether all late writes succeeded; an error is returned once.
    ///
    /// # Errors
    /// The first one of writing.
    pub fn check(&self) -> Result<()> {
        if !self.has_failed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        self.failure.guard().take().map_or(Ok(()), Err)
    }
}

impl<K: Eq + Hash + Clone> LatePuts<K> {
    /// After a write: what continues it is collected, unless something of its variable is.
    pub fn begin_run(&self, place: RunPlace<K>) {
        let (mut runs, grows) = (self.runs(), place.grows());
        runs.begin(place);
        self.collected.grow.fetch_or(grows, Ordering::AcqRel);
        self.collected.exist.store(true, Ordering::SeqCst);
    }
}
