//! Bodies that are produced while they are sent.
use crate::{HttpError, ServerState};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;

/// What is sent, piece by piece. Pieces are produced on worker threads, each when the client has received the one before.
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

/// A body of pieces.
pub fn streamed(state: &ServerState, pieces: impl Pieces) -> Body {
    let first = (state.clone(), pieces);
    Body::from_stream(stream::try_unfold(first, |(state, mut pieces)| async move {
        let produced = state.work(move || Ok((pieces.next_piece()?, pieces))).await;
        let (piece, pieces) = produced.inspect_err(|error| {
            tracing::warn!(target: "ncirrus::serve", "a response ended early: {error}");
        })?;
        Ok::<_, HttpError>(piece.map(|piece| (piece, (state, pieces))))
    }))
}
