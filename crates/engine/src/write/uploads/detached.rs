//! Puts in flight to a remote store: chunks of a dataset that is not visible to others yet are put while the next ones
//! are encoded. A write returns when its chunks are encoded; operations that rely on them being stored wait for them:
//! changes of definitions, and commits. A chunk stays locked until its put has completed, so that those who read it or
//! write it again wait, too.
use crate::resources::{block_on, may_block};
use crate::write::put::{TargetStore, bytes_of, change_object};
use crate::write::write_back_cache::ChunkLock;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Result, StorePut};
use ncirrus_model::VarId;
use ncirrus_store::Store;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};

/// The puts in flight of one writer. Dropping it begins no more of them, and waits for those that have begun: they must
/// not overlap with what is put to the same place next.
#[derive(Default)]
pub(in crate::write) struct DetachedPuts(Arc<QueueState>);

#[derive(Default)]
struct QueueState {
    under_way: Mutex<UnderWay>,
    finished: Notify,
    /// Nothing more begins: there was a failure, or the writer is gone.
    ended: AtomicBool,
    /// The first failure and its variable, until it is reported.
    failure: Mutex<Option<(VarId, Error)>>,
}

#[derive(Default)]
struct UnderWay {
    changes: usize,
    bytes: usize,
}

/// One put in flight.
struct InFlightPut {
    state: Arc<QueueState>,
    var: VarId,
    bytes: usize,
    is_done: bool,
}

impl DetachedPuts {
    /// Begins the puts of a locked chunk, one after the other.
    ///
    /// # Errors
    /// If the network cannot be started. Errors of the store are reported by [`failure`](Self::failure).
    pub(in crate::write) fn begin(
        &self,
        output: &TargetStore,
        puts: Vec<StorePut>,
        held: ChunkLock,
    ) -> Result<()> {
        let var = held.key.var;
        self.begin_with(output, puts, var, held)
    }

    /// As [`begin`](Self::begin), of what `held` keeps locked.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub(in crate::write) fn begin_with(
        &self,
        output: &TargetStore,
        puts: Vec<StorePut>,
        var: VarId,
        held: impl Send + 'static,
    ) -> Result<()> {
        let ticket = InFlightPut::new(&self.0, var, puts.iter().map(bytes_of).sum());
        // It must not hold the session: the session's last reference cannot be dropped on a thread of its own network.
        let (store, permits) = (Arc::clone(output.store()), output.permits());
        output.network()?.spawn(async move {
            ticket.carry_out(store.as_ref(), &permits, puts).await;
            drop(held);
            ticket.finish();
        });
        Ok(())
    }

    /// Waits until at most `bytes` bytes are in flight.
    pub(in crate::write) async fn room(&self, bytes: usize) {
        self.until(|under_way| under_way.bytes <= bytes).await;
    }

    /// Waits until nothing is in flight.
    pub(in crate::write) async fn drained(&self) {
        self.until(|under_way| under_way.changes == 0).await;
    }

    /// The first failure and its variable; reported once.
    pub(in crate::write) fn failure(&self) -> Option<(VarId, Error)> {
        self.0.failure.guard().take()
    }

    /// Begins nothing more.
    pub(in crate::write) fn end(&self) {
        self.0.ended.store(true, Ordering::Release);
    }

    async fn until(&self, enough: impl Fn(&UnderWay) -> bool) {
        loop {
            let mut finished = pin!(self.0.finished.notified());
            finished.as_mut().enable();
            if enough(&self.0.under_way.guard()) {
                return;
            }
            finished.await;
        }
    }
}

impl Drop for DetachedPuts {
    fn drop(&mut self) {
        self.end();
        if may_block() || Handle::try_current().is_err() {
            block_on(self.drained());
        }
    }
}

impl InFlightPut {
    fn new(state: &Arc<QueueState>, var: VarId, bytes: usize) -> Self {
        let mut under_way = state.under_way.guard();
        under_way.changes += 1;
        under_way.bytes += bytes;
        drop(under_way);
        Self { state: Arc::clone(state), var, bytes, is_done: false }
    }

    /// Carries out puts, each when it has one of the store's request permits. A failure is recorded before the permit
    /// is released, so that no further put begins.
    async fn carry_out(&self, store: &dyn Store, permits: &Semaphore, puts: Vec<StorePut>) {
        for put in puts {
            let _permit = permits.acquire().await;
            if self.state.ended.load(Ordering::Acquire) {
                return;
            }
            if let Err(error) = change_object(store, put).await {
                return self.state.fail(self.var, error);
            }
        }
    }

    fn finish(mut self) {
        self.is_done = true;
    }
}

impl Drop for InFlightPut {
    fn drop(&mut self) {
        if !self.is_done {
            let message = "a change was abandoned half-way";
            self.state.fail(self.var, Error::new(ErrorKind::Io { retryable: false }, message));
        }
        let mut under_way = self.state.under_way.guard();
        under_way.changes -= 1;
        under_way.bytes -= self.bytes;
        drop(under_way);
        self.state.finished.notify_waiters();
    }
}

impl QueueState {
    fn fail(&self, var: VarId, error: Error) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            *self.failure.guard() = Some((var, error));
        }
    }
}
