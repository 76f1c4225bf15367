//! Bodies that are produced while they are sent.
mod buffers;
mod queue;

#[cfg(test)]
mod tests;

pub(crate) use buffers::PieceBuffers;

use crate::{HttpError, ServerState};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use queue::PieceQueue;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// What is sent, piece by piece. Pieces are produced on worker threads, before the client has received those in front of them.
pub trait Pieces: Send + 'static {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// If it cannot be read: the connection is closed before the end then.
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError>;
}

impl<F: FnMut() -> Result<Option<Bytes>, HttpError> + Send + 'static> Pieces for F {
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        self()
    }
}

/// How long a worker waits for a client that takes its pieces slower than they are produced. To hand work to a thread takes
/// longer than to produce a piece, so a fast client keeps its worker.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long a worker produces pieces of one response while others wait for a worker.
const TURN: Duration = Duration::from_millis(2);

/// A body of pieces. The first one is produced when the body is read. Then pieces are produced until 512 KiB of them wait to be
/// sent. If the client goes away, producing ends.
pub fn streamed(state: &ServerState, pieces: impl Pieces) -> Body {
    let mut waiting = Some((state.clone(), pieces));
    let mut production = Production::default();
    Body::from_stream(stream::poll_fn(move |context| {
        if let Some((state, pieces)) = waiting.take() {
            production.begin(state, pieces);
        }
        production.poll_piece(context)
    }))
}

/// What produces the pieces of a body. It ends when this is dropped: the client is gone.
#[derive(Default)]
struct Production {
    queue: Arc<PieceQueue>,
    task: Option<JoinHandle<()>>,
}

impl Production {
    fn begin(&mut self, state: ServerState, pieces: impl Pieces) {
        self.task = Some(tokio::spawn(produce(state, Arc::clone(&self.queue), pieces)));
    }

    fn poll_piece(&self, context: &Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        // The client sees the end of the connection; the log has the cause.
        let with_cause =
            |error: HttpError| HttpError { message: error.cause.clone().unwrap_or(error.message), ..error };
        self.queue.poll_take(context).map(|produced| produced.map_err(with_cause).transpose())
    }
}

impl Drop for Production {
    fn drop(&mut self) {
        self.queue.abandon();
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Produces all pieces. It holds a worker only while there is room for more.
async fn produce(state: ServerState, queue: Arc<PieceQueue>, mut pieces: impl Pieces) {
    loop {
        poll_fn(|context| queue.poll_room(context)).await;
        let (on_worker, target) = (state.clone(), Arc::clone(&queue));
        match state.work(move || Ok(take_turn(&on_worker, &target, pieces))).await {
            Ok(Some(others)) => pieces = others,
            Ok(None) => return,
            Err(error) => return queue.push(Err(error)),
        }
    }
}

/// Produces pieces on a worker thread until the client is slower, or the worker is needed for others. Returns what produces the others;
/// `None` at the end.
fn take_turn<P: Pieces>(state: &ServerState, queue: &PieceQueue, mut pieces: P) -> Option<P> {
    let begun = Instant::now();
    loop {
        let produced = pieces.next_piece();
        let is_last = !matches!(produced, Ok(Some(_)));
        queue.push(produced);
        if is_last {
            return None;
        }
        let is_wanted = state.is_worker_wanted();
        let patience = if is_wanted { Duration::ZERO } else { PATIENCE };
        if is_wanted && begun.elapsed() >= TURN || !queue.has_room_within(patience) {
            return Some(pieces);
        }
    }
}
