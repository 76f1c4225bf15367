//! Changes under way on another machine: chunks of a dataset that is not there for others yet are put while the next
//! ones are encoded. A write returns when its chunks are encoded; whatever relies on them being there waits for them to
//! land: changes of definitions, and commits. A cell stays locked until its chunk has landed, so that whoever reads it
//! or writes it again waits, too.
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

/// The changes under way of one writer. Dropping it begins no more of them, and waits for those that have begun: what
/// comes to the same place next must not meet them.
#[derive(Default)]
pub(in crate::write) struct DetachedPuts(Arc<QueueState>);

#[derive(Default)]
struct QueueState {
    under_way: Mutex<UnderWay>,
    landed: Notify,
    /// Nothing more begins: there was a failure, or nobody waits any more.
    ended: AtomicBool,
    /// The first failure and the variable that it befell, until it is told.
    failure: Mutex<Option<(VarId, Error)>>,
}

#[derive(Default)]
struct UnderWay {
    changes: usize,
    bytes: usize,
}

/// One change under way.
struct InFlightPut {
    state: Arc<QueueState>,
    var: VarId,
    bytes: usize,
    is_done: bool,
}

impl DetachedPuts {
    /// Begins the changes of a locked cell, one after the other.
    ///
    /// # Errors
    /// When the network cannot be started. What the store fails with is told by [`failure`](Self::failure).
    pub(in crate::write) fn begin(
        &self,
        output: &TargetStore,
        puts: Vec<StorePut>,
        held: ChunkLock,
    ) -> Result<()> {
        let ticket = InFlightPut::new(&self.0, held.key.var, puts.iter().map(bytes_of).sum());
        // Nothing of the session may be part of it: the last of it cannot end on a thread of its own network.
        let (store, turns) = (Arc::clone(output.store()), output.turns());
        output.network()?.spawn(async move {
            ticket.carry_out(store.as_ref(), &turns, puts).await;
            drop(held);
            ticket.land();
        });
        Ok(())
    }

    /// Waits until at most so many bytes are under way.
    pub(in crate::write) async fn room(&self, bytes: usize) {
        self.until(|under_way| under_way.bytes <= bytes).await;
    }

    /// Waits until nothing is under way.
    pub(in crate::write) async fn drained(&self) {
        self.until(|under_way| under_way.changes == 0).await;
    }

    /// The first failure and the variable that it befell, to whoever asks first.
    pub(in crate::write) fn failure(&self) -> Option<(VarId, Error)> {
        self.0.failure.guard().take()
    }

    /// Begins nothing more.
    pub(in crate::write) fn end(&self) {
        self.0.ended.store(true, Ordering::Release);
    }

    async fn until(&self, enough: impl Fn(&UnderWay) -> bool) {
        loop {
            let mut landed = pin!(self.0.landed.notified());
            landed.as_mut().enable();
            if enough(&self.0.under_way.guard()) {
                return;
            }
            landed.await;
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

    /// Carries out changes, each when it is its turn among all requests to the store. A failure is known before the turn
    /// is over: nobody else begins.
    async fn carry_out(&self, store: &dyn Store, turns: &Semaphore, puts: Vec<StorePut>) {
        for put in puts {
            let _turn = turns.acquire().await;
            if self.state.ended.load(Ordering::Acquire) {
                return;
            }
            if let Err(error) = change_object(store, put).await {
                return self.state.fail(self.var, error);
            }
        }
    }

    fn land(mut self) {
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
        self.state.landed.notify_waiters();
    }
}

impl QueueState {
    fn fail(&self, var: VarId, error: Error) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            *self.failure.guard() = Some((var, error));
        }
    }
}
