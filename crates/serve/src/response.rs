//! Bodies that are produced while they are sent.
use crate::{HttpError, ServerState};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::{JoinError, JoinHandle};

/// What is sent, piece by piece. Pieces are produced on worker threads, one ahead of the client.
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

/// A body of pieces. The first one is produced when the body is read, and while a piece is sent, the next one is produced. If
/// the client goes away, producing ends.
pub fn streamed(state: &ServerState, pieces: impl Pieces) -> Body {
    let first = (state.clone(), Production::Waiting(pieces));
    Body::from_stream(stream::try_unfold(first, |(state, production)| async move {
        let running = match production {
            Production::Waiting(pieces) => begin(&state, pieces),
            Production::Running(running) => running,
        };
        let produced = running.await.unwrap_or_else(|_| Err(HttpError::internal("the server failed")));
        // The client sees the end of the connection; the log has the cause.
        let produced = produced
            .map_err(|error| HttpError { message: error.cause.clone().unwrap_or(error.message), ..error })?;
        Ok::<_, HttpError>(produced.map(|(piece, pieces)| {
            let next = Production::Running(begin(&state, pieces));
            (piece, (state, next))
        }))
    }))
}

/// A piece and what produces the others; `None` at the end.
type Produced<P> = Result<Option<(Bytes, P)>, HttpError>;

/// Where the next piece is.
enum Production<P> {
    Waiting(P),
    Running(PieceTask<P>),
}

/// A task that ends when this is dropped: the client is gone.
struct PieceTask<P>(JoinHandle<Produced<P>>);

impl<P> Future for PieceTask<P> {
    type Output = Result<Produced<P>, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<P> Drop for PieceTask<P> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn begin<P: Pieces>(state: &ServerState, mut pieces: P) -> PieceTask<P> {
    let state = state.clone();
    let work = async move { state.work(move || Ok(pieces.next_piece()?.map(|piece| (piece, pieces)))).await };
    PieceTask(tokio::spawn(work))
}
