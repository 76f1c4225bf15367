//! The pieces of a response that were produced and are not sent yet.
use crate::HttpError;
use bytes::Bytes;
use ncirrus::layout::LockExt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// A piece; `None` is the end.
pub(super) type Produced = Result<Option<Bytes>, HttpError>;

/// Bytes of pieces that wait to be sent: one of 512 KiB, and what is around it. More of them would be out of the processor's cache
/// when they are sent.
const FULL: usize = 576 << 10;
/// Bytes of pieces with which production goes on when it had to wait.
const LOW: usize = FULL / 2;
/// Bytes of memory that a piece takes besides its own, about.
const ENTRY: usize = 128;

/// Pieces in their order, between the thread that produces them and the connection that sends them.
#[derive(Default)]
pub(super) struct PieceQueue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    ready: VecDeque<Produced>,
    ready_bytes: usize,
    /// Whether the producer waits until few pieces are left.
    is_full: bool,
    /// The connection, while it waits for a piece.
    connection: Option<Waker>,
    /// The producer, while it waits for room.
    producer: Option<Waker>,
    /// The client is gone.
    is_abandoned: bool,
}

impl PieceQueue {
    /// Adds what was produced. The caller makes sure that there is room.
    pub(super) fn push(&self, produced: Produced) {
        let mut state = self.0.guard();
        if state.is_abandoned {
            return;
        }
        let cost = cost(&produced);
        state.ready_bytes += cost;
        // Whether there is room for another one of this size.
        state.is_full = state.ready_bytes + cost > FULL;
        state.ready.push_back(produced);
        let connection = state.connection.take();
        drop(state);
        if let Some(connection) = connection {
            connection.wake();
        }
    }

    /// The next piece; the end stays.
    pub(super) fn poll_take(&self, context: &Context<'_>) -> Poll<Produced> {
        let mut state = self.0.guard();
        if let Some(Ok(None)) = state.ready.front() {
            return Poll::Ready(Ok(None));
        }
        let Some(produced) = state.ready.pop_front() else {
            state.connection = Some(context.waker().clone());
            return Poll::Pending;
        };
        state.ready_bytes = state.ready_bytes.saturating_sub(cost(&produced));
        state.is_full &= state.ready_bytes > LOW;
        let producer = if state.is_full { None } else { state.producer.take() };
        drop(state);
        if let Some(producer) = producer {
            producer.wake();
        }
        Poll::Ready(produced)
    }

    /// Whether there is room for a piece. It never is when the client is gone.
    pub(super) fn poll_room(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.0.guard();
        if !state.is_full && !state.is_abandoned {
            return Poll::Ready(());
        }
        state.producer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether there is room for a piece within this time. Blocks.
    pub(super) fn has_room_within(&self, max: Duration) -> bool {
        if !self.0.guard().is_full {
            return !self.is_abandoned();
        }
        let end = Instant::now() + max;
        let waker = Waker::from(Arc::new(WaitingThread(std::thread::current())));
        let context = Context::from_waker(&waker);
        while self.poll_room(&context).is_pending() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_abandoned() {
                return false;
            }
            std::thread::park_timeout(left);
        }
        true
    }

    fn is_abandoned(&self) -> bool {
        self.0.guard().is_abandoned
    }

    /// Drops all pieces, and ends production: the client is gone.
    pub(super) fn abandon(&self) {
        let mut state = self.0.guard();
        state.is_abandoned = true;
        let ready = std::mem::take(&mut state.ready);
        let producer = state.producer.take();
        drop(state);
        drop(ready);
        if let Some(producer) = producer {
            producer.wake();
        }
    }
}

/// Memory of a piece in the queue.
fn cost(produced: &Produced) -> usize {
    produced.as_ref().map_or(0, |piece| piece.as_ref().map_or(0, Bytes::len)) + ENTRY
}

/// Wakes a thread that waits for room.
struct WaitingThread(Thread);

impl Wake for WaitingThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
