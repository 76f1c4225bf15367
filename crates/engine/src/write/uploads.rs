//! Puts of encoded chunks: one queue for each call, with a policy for the dataset.
//!
//! - In a local store, a put is carried out by the thread that encoded the chunk, unless it is conditional.
//! - In a dataset that is not visible to others yet, puts are detached ([`DetachedPuts`]): they continue when the call
//!   has returned.
//! - In a dataset that others may change, too, puts are conditional: they run while the call waits for them, and merge
//!   what others changed meanwhile.
//!
//! A chunk stays locked until its put has completed, whatever the policy.
mod conditional;
mod detached;

pub(super) use detached::DetachedPuts;

use super::DatasetWriter;
use super::encoder::PlacedChunk;
use super::lock_order::ChunkAccess;
use super::put::is_of_object;
use super::write_back_cache::ChunkLock;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ncirrus_layout::{Error, ErrorKind, LockExt, Result, StorePut};
use ncirrus_store::{PutBody, PutCondition};
use std::future::poll_fn;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::Poll;

/// All puts of a writer, and their first failure.
#[derive(Default)]
pub(super) struct Uploads {
    /// Dropping them waits for the network, which ends with the session.
    pub(super) detached: DetachedPuts,
    /// The first failure of a change that the format relies on: it ends the writer.
    failure: OnceLock<Error>,
}

impl Uploads {
    /// Records a failure, because the format already relies on what failed.
    pub(super) fn keep_failure<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            let _ = self.failure.set(error.clone());
        }
        result
    }

    /// Waits for changes to be carried out. If the caller does not (it drops the future), that is a failure too.
    pub(super) async fn to_the_end(&self, changes: impl Future<Output = Result<()>>) -> Result<()> {
        let unfinished = self.begin();
        let result = changes.await;
        unfinished.end();
        self.keep_failure(result)
    }

    /// Marks the writer as failed unless the change that follows is carried out to its end.
    pub(super) fn begin(&self) -> UnfinishedChange<'_> {
        UnfinishedChange(Some(&self.failure))
    }

    /// Ends the writer: nothing more is put, and when this returns nothing is in flight.
    pub(super) async fn abandon(&self) {
        let _ = self.keep_failure::<()>(Err(abandoned()));
        self.detached.end();
        self.detached.drained().await;
    }

    /// Checks that no change has failed.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn check(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(error) => {
                let message = "an earlier change could not be stored: the writer can no longer be used";
                Err(Error::new(error.kind(), message).because(error.clone()))
            }
        }
    }
}

/// Marks the writer as failed when dropped, unless [`end`](Self::end) was called.
pub(super) struct UnfinishedChange<'a>(Option<&'a OnceLock<Error>>);

impl UnfinishedChange<'_> {
    /// The changes were carried out, or their error is known.
    pub(super) fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for UnfinishedChange<'_> {
    fn drop(&mut self) {
        if let Some(failure) = self.0 {
            let _ = failure.set(abandoned());
        }
    }
}

fn abandoned() -> Error {
    Error::new(ErrorKind::Io { retryable: false }, "a change was abandoned half-way")
}

/// How encoded chunks reach the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PutPolicy {
    /// By the thread that encoded them.
    AtOnce,
    /// In the background.
    Detached,
    /// Depending on the state of what they replace.
    Conditional,
}

/// The puts of one call, in flight while its next chunks are encoded. Dropping it before all have completed ends the
/// writer.
pub(super) struct PutQueue<'a> {
    writer: &'a DatasetWriter,
    /// With which the chunks of the puts are locked.
    pub(super) access: ChunkAccess<'a>,
    policy: PutPolicy,
    /// Chunks whose puts have not begun; any thread may add to them.
    waiting: Mutex<Vec<(Vec<StorePut>, ChunkLock)>>,
    /// Conditional puts, each of which returns its number of bytes when it has completed. The lock is never waited for.
    under_way: Mutex<FuturesUnordered<BoxFuture<'a, Result<usize>>>>,
    bytes: usize,
}

impl<'a> PutQueue<'a> {
    /// An empty queue.
    pub(super) fn new(writer: &'a DatasetWriter, access: ChunkAccess<'a>) -> Self {
        let policy = match writer.output.local() {
            _ if writer.conflicts.is_shared() => PutPolicy::Conditional,
            Some(_) => PutPolicy::AtOnce,
            None => PutPolicy::Detached,
        };
        Self { writer, access, policy, waiting: Mutex::default(), under_way: Mutex::default(), bytes: 0 }
    }

    /// Does the remaining work for a chunk, which stays locked until it is done.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(super) fn finish(&self, placed: PlacedChunk<'_>, mut held: ChunkLock) -> Result<()> {
        let placed = match placed {
            // It waits for the others of its shard, where readers find it.
            PlacedChunk::InShard(place, body) => {
                let (origin, key, per_shard) = (held.slot.origin.take(), place.key.clone(), place.per_shard);
                let waiting = self.writer.shards.add(place, held.key.cell.clone(), body.into_bytes(), origin);
                drop(held);
                let is_complete = waiting as u64 == per_shard && self.policy == PutPolicy::AtOnce;
                return match self.writer.output.local().filter(|_| is_complete) {
                    Some(local) => {
                        self.writer.uploads.keep_failure(self.writer.put_complete_shard(local, &key))
                    }
                    None => Ok(()),
                };
            }
            placed => placed,
        };
        let (PlacedChunk::Object(object, body), Some(local)) = (&placed, self.writer.output.local()) else {
            return self.add(placed.into_puts(), held);
        };
        let Some(when) = self.condition_at_once(&held)? else { return self.add(placed.into_puts(), held) };
        self.writer.placer.forget_object(object);
        crate::request_log::put_locally("write", object, None, body.as_slice().len());
        match local.put_untagged(object, PutBody::Lent(body.as_slice()), &when) {
            // Another program was there first: whether this one may replace what it put is found out when the queue is flushed.
            Err(error) if when == PutCondition::Absent && error.kind() == ErrorKind::Conflict => {
                self.waiting.guard().push((placed.into_puts(), held));
                Ok(())
            }
            done => self.writer.uploads.keep_failure(done),
        }
    }

    /// The condition on which the thread that encoded a chunk of a local store puts it; none if other writers have to be
    /// considered first.
    fn condition_at_once(&self, held: &ChunkLock) -> Result<Option<PutCondition>> {
        match self.policy {
            PutPolicy::Conditional => self.writer.condition_at_once(held),
            PutPolicy::AtOnce | PutPolicy::Detached => Ok(Some(PutCondition::None)),
        }
    }

    /// Adds the puts of a chunk, which stays locked until they have completed. They begin now, or with
    /// [`flush`](Self::flush) if other writers have to be considered, or if they concern more than one object each.
    ///
    /// # Errors
    /// Errors of a local store; if the network cannot be started.
    pub(super) fn add(&self, puts: Vec<StorePut>, held: ChunkLock) -> Result<()> {
        let DatasetWriter { placer, uploads, output, .. } = self.writer;
        match (output.local(), self.policy) {
            (Some(local), _) if self.condition_at_once(&held)? == Some(PutCondition::None) => {
                placer.forget(&puts);
                let done = puts.into_iter().try_for_each(|put| output.put_chunk(local, put));
                uploads.keep_failure(done)
            }
            (_, PutPolicy::Detached) if puts.iter().all(is_of_object) => {
                placer.forget(&puts);
                uploads.detached.begin(output, puts, held)
            }
            _ => {
                self.waiting.guard().push((puts, held));
                Ok(())
            }
        }
    }

    /// Begins the puts that wait, and puts the shards that are complete.
    ///
    /// # Errors
    /// The first failure of finished puts; `Conflict` if another program came first.
    pub(super) async fn flush(&mut self) -> Result<()> {
        self.flush_chunks().await?;
        let ready = self.writer.ready_shards()?;
        self.writer.put_shards(ready, self.writer.shard_putting()).await
    }

    async fn flush_chunks(&mut self) -> Result<()> {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner);
        let cells = std::mem::take(waiting);
        if cells.is_empty() {
            return Ok(());
        }
        let writer = self.writer;
        if self.policy != PutPolicy::Conditional {
            let (puts, held): (Vec<Vec<StorePut>>, Vec<ChunkLock>) = cells.into_iter().unzip();
            let puts: Vec<StorePut> = puts.into_iter().flatten().collect();
            writer.placer.forget(&puts);
            let done = writer.uploads.to_the_end(writer.output.put_all(puts)).await;
            drop(held);
            return done;
        }
        cells.iter().for_each(|(puts, _)| writer.placer.forget(puts));
        // The format counts on these chunks, and they are not cached any more.
        writer.uploads.to_the_end(writer.put_shared(cells, self)).await?;
        self.begin().await
    }

    /// Adds a conditional put of `bytes` bytes. It begins with [`begin`](Self::begin).
    pub(super) fn push(&mut self, bytes: usize, put: BoxFuture<'a, Result<()>>) {
        self.bytes += bytes;
        self.in_flight().push(Box::pin(async move { put.await.map(|()| bytes) }));
    }

    /// Begins what was pushed, without waiting.
    async fn begin(&mut self) -> Result<()> {
        let mut finished = 0;
        let in_flight = self.in_flight();
        let done = poll_fn(|context| {
            while let Poll::Ready(Some(put)) = in_flight.poll_next_unpin(context) {
                match put {
                    Ok(bytes) => finished += bytes,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        });
        let done = done.await;
        self.bytes -= finished;
        self.writer.uploads.keep_failure(done)
    }

    /// Waits until there is room for another window beside what is in flight.
    ///
    /// # Errors
    /// If something in flight failed.
    pub(super) async fn room(&mut self) -> Result<()> {
        let max = self.writer.window_budget();
        while self.bytes > max
            && let Some(finished) = self.in_flight().next().await
        {
            self.bytes -= self.writer.uploads.keep_failure(finished)?;
        }
        self.writer.uploads.detached.room(max).await;
        self.writer.check_usable()
    }

    /// Waits for all conditional puts, also after a failure. Detached puts continue.
    ///
    /// # Errors
    /// The first failure.
    pub(super) async fn drained(mut self) -> Result<()> {
        let mut done = Ok(());
        while let Some(finished) = self.in_flight().next().await {
            done = done.and(finished.map(|_| ()));
        }
        self.writer.uploads.keep_failure(done)
    }

    fn in_flight(&mut self) -> &mut FuturesUnordered<BoxFuture<'a, Result<usize>>> {
        self.under_way.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PutQueue<'_> {
    fn drop(&mut self) {
        let is_waiting = !self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner).is_empty();
        if is_waiting || !self.in_flight().is_empty() {
            let _ = self.writer.uploads.keep_failure::<()>(Err(abandoned()));
        }
    }
}

impl DatasetWriter {
    /// Waits for all detached puts.
    ///
    /// # Errors
    /// If one of them failed.
    pub(super) async fn drained(&self) -> Result<()> {
        self.uploads.detached.drained().await;
        self.check_usable()
    }
}
