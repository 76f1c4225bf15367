//! Chunks of a dataset that others may change, too, on their way to the store.
use super::super::DatasetWriter;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ncirrus_layout::{Error, ErrorKind, Result};
use std::future::poll_fn;
use std::task::Poll;

/// The puts of one call, under way while its next chunks are encoded. Each goes on when it is waited for: what others
/// changed meanwhile is taken over then. Whoever drops it before all have landed ends the writer.
pub(in super::super) struct ConditionalPuts<'a> {
    writer: &'a DatasetWriter,
    /// Each tells its bytes when it has landed.
    under_way: FuturesUnordered<BoxFuture<'a, Result<usize>>>,
    bytes: usize,
}

impl<'a> ConditionalPuts<'a> {
    /// Nothing under way.
    pub(in super::super) fn new(writer: &'a DatasetWriter) -> Self {
        Self { writer, under_way: FuturesUnordered::new(), bytes: 0 }
    }

    /// Adds a put of so many bytes. It begins with [`begin`](Self::begin).
    pub(super) fn push(&mut self, bytes: usize, put: BoxFuture<'a, Result<()>>) {
        self.bytes += bytes;
        self.under_way.push(Box::pin(async move { put.await.map(|()| bytes) }));
    }

    /// Begins what was added, and waits for nothing.
    ///
    /// # Errors
    /// The first failure of what is done already.
    pub(super) async fn begin(&mut self) -> Result<()> {
        let done = poll_fn(|context| {
            while let Poll::Ready(Some(landed)) = self.under_way.poll_next_unpin(context) {
                match landed {
                    Ok(bytes) => self.bytes -= bytes,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        });
        let done = done.await;
        self.writer.keep_failure(done)
    }

    /// Waits until at most so many bytes are under way.
    ///
    /// # Errors
    /// The first failure.
    pub(in super::super) async fn room(&mut self, bytes: usize) -> Result<()> {
        while self.bytes > bytes
            && let Some(landed) = self.under_way.next().await
        {
            self.bytes -= self.writer.keep_failure(landed)?;
        }
        Ok(())
    }

    /// Waits for everything that is under way, also after a failure.
    ///
    /// # Errors
    /// The first failure.
    pub(in super::super) async fn drained(mut self) -> Result<()> {
        let mut done = Ok(());
        while let Some(landed) = self.under_way.next().await {
            done = done.and(landed.map(|_| ()));
        }
        self.writer.keep_failure(done)
    }
}

impl Drop for ConditionalPuts<'_> {
    fn drop(&mut self) {
        if !self.under_way.is_empty() {
            let error = Error::new(ErrorKind::Io { retryable: false }, "a change was abandoned half-way");
            let _ = self.writer.failure.set(error);
        }
    }
}
