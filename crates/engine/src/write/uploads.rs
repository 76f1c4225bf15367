//! Puts of encoded chunks on their way to the store: one queue for each call, with a policy for the dataset.
//!
//! - On this machine a put is carried out by whoever encoded the chunk.
//! - In a dataset that is not there for others yet, puts are detached ([`DetachedPuts`]): they go on when the call has
//!   returned.
//! - In one that others may change, too, puts are conditional: they go on while the call waits for them, and take over
//!   what others changed meanwhile.
//!
//! A cell stays locked until its put has landed, whatever the policy.
mod conditional;
mod detached;

pub(super) use detached::DetachedPuts;

use super::DatasetWriter;
use super::encoder::PlacedChunk;
use super::put::{is_of_object, put_locally};
use super::write_back_cache::ChunkLock;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ncirrus_layout::{Error, ErrorKind, LockExt, Result, StorePut};
use ncirrus_store::PutCondition;
use std::future::poll_fn;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::Poll;

/// What all calls of a writer put, and how that failed.
#[derive(Default)]
pub(super) struct Uploads {
    /// Dropping them waits for the network, which ends with the session.
    pub(super) detached: DetachedPuts,
    /// The first failure of a change that the format counts on: it ends the writer.
    failure: OnceLock<Error>,
}

impl Uploads {
    /// Remembers a failure, because the format already counts on what failed.
    pub(super) fn keep_failure<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            let _ = self.failure.set(error.clone());
        }
        result
    }

    /// Waits for changes to be carried out. When the caller does not (it drops the future), that is a failure too.
    pub(super) async fn to_the_end(&self, changes: impl Future<Output = Result<()>>) -> Result<()> {
        let unfinished = self.begin();
        let result = changes.await;
        unfinished.end();
        self.keep_failure(result)
    }

    /// Marks the writer as failed when what comes is not carried out to its end.
    pub(super) fn begin(&self) -> UnfinishedChange<'_> {
        UnfinishedChange(Some(&self.failure))
    }

    /// Ends the writer: nothing more is put, and what is under way has ended when this returns.
    pub(super) async fn abandon(&self) {
        let _ = self.keep_failure::<()>(Err(abandoned()));
        self.detached.end();
        self.detached.drained().await;
    }

    /// Checks that no change has failed.
    ///
    /// # Errors
    /// That one has, and why.
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

/// Marks the writer as failed, unless it is told that the changes were carried out.
pub(super) struct UnfinishedChange<'a>(Option<&'a OnceLock<Error>>);

impl UnfinishedChange<'_> {
    /// The changes were carried out, or it is known why not.
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
    /// While nobody waits for them.
    Detached,
    /// Depending on the state of what they replace.
    Conditional,
}

/// The puts of one call, under way while its next chunks are encoded. Whoever drops it before all have landed ends the
/// writer.
pub(super) struct PutQueue<'a> {
    writer: &'a DatasetWriter,
    policy: PutPolicy,
    /// Cells whose puts have not begun; they were added by any thread.
    waiting: Mutex<Vec<(Vec<StorePut>, ChunkLock)>>,
    /// Conditional puts, each of which tells its bytes when it has landed. The lock is never waited for.
    under_way: Mutex<FuturesUnordered<BoxFuture<'a, Result<usize>>>>,
    bytes: usize,
}

impl<'a> PutQueue<'a> {
    /// Nothing under way.
    pub(super) fn new(writer: &'a DatasetWriter) -> Self {
        let policy = match writer.output.local() {
            Some(_) => PutPolicy::AtOnce,
            None if writer.conflicts.is_shared() => PutPolicy::Conditional,
            None => PutPolicy::Detached,
        };
        Self { writer, policy, waiting: Mutex::default(), under_way: Mutex::default(), bytes: 0 }
    }

    /// Does what is left to do for a cell, which stays locked until it is done.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(super) fn finish(&self, placed: PlacedChunk<'_>, held: ChunkLock) -> Result<()> {
        match (placed, self.writer.output.local()) {
            (PlacedChunk::Object(object, body), Some(local)) => {
                self.writer.placer.forget_object(&object);
                let done = local.put(&object, body.as_slice(), &PutCondition::None).map(|_| ());
                self.writer.uploads.keep_failure(done)
            }
            (placed, _) => self.add(placed.into_puts(), held),
        }
    }

    /// Adds the changes of a cell, which stays locked until they have landed. They begin now, or with
    /// [`flush`](Self::flush) where others have to be heeded, or where they concern more than one object each.
    ///
    /// # Errors
    /// What a local store fails with; when the network cannot be started.
    pub(super) fn add(&self, puts: Vec<StorePut>, held: ChunkLock) -> Result<()> {
        let DatasetWriter { placer, uploads, output, .. } = self.writer;
        match (output.local(), self.policy) {
            (Some(local), _) => {
                placer.forget(&puts);
                let done = puts.into_iter().try_for_each(|put| put_locally(local, put));
                uploads.keep_failure(done)
            }
            (None, PutPolicy::Detached) if puts.iter().all(is_of_object) => {
                placer.forget(&puts);
                uploads.detached.begin(output, puts, held)
            }
            (None, _) => {
                self.waiting.guard().push((puts, held));
                Ok(())
            }
        }
    }

    /// Begins what waits.
    ///
    /// # Errors
    /// The first failure of what is done already; `Conflict` when another program came first.
    pub(super) async fn flush(&mut self) -> Result<()> {
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
        let begun = writer.put_shared(cells, self).await;
        writer.uploads.keep_failure(begun)?;
        self.begin().await
    }

    /// Adds a conditional put of so many bytes. It begins with [`begin`](Self::begin).
    pub(super) fn push(&mut self, bytes: usize, put: BoxFuture<'a, Result<()>>) {
        self.bytes += bytes;
        self.in_flight().push(Box::pin(async move { put.await.map(|()| bytes) }));
    }

    /// Begins what was pushed, and waits for nothing.
    async fn begin(&mut self) -> Result<()> {
        let mut landed = 0;
        let in_flight = self.in_flight();
        let done = poll_fn(|context| {
            while let Poll::Ready(Some(put)) = in_flight.poll_next_unpin(context) {
                match put {
                    Ok(bytes) => landed += bytes,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        });
        let done = done.await;
        self.bytes -= landed;
        self.writer.uploads.keep_failure(done)
    }

    /// Waits until there is room for another window beside what is under way.
    ///
    /// # Errors
    /// When something of it failed.
    pub(super) async fn room(&mut self) -> Result<()> {
        let most = self.writer.window_budget();
        while self.bytes > most
            && let Some(landed) = self.in_flight().next().await
        {
            self.bytes -= self.writer.uploads.keep_failure(landed)?;
        }
        self.writer.uploads.detached.room(most).await;
        self.writer.check_usable()
    }

    /// Waits for everything that is conditional, also after a failure. What is detached goes on.
    ///
    /// # Errors
    /// The first failure.
    pub(super) async fn drained(mut self) -> Result<()> {
        let mut done = Ok(());
        while let Some(landed) = self.in_flight().next().await {
            done = done.and(landed.map(|_| ()));
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
    /// Waits for everything that is detached.
    ///
    /// # Errors
    /// When something of it failed.
    pub(super) async fn drained(&self) -> Result<()> {
        self.uploads.detached.drained().await;
        self.check_usable()
    }
}
