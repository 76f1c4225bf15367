//! A connection that fails when nothing can be sent for a while: the client does not read.
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Bytes that a client must take within the time: one that takes a few now and then would keep its response for days.
const PROGRESS: usize = 16 << 10;

/// A stream whose writes make progress, or fail.
pub(super) struct StallGuard<S> {
    stream: S,
    patience: Duration,
    /// Runs from a write that waits until enough is written.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Bytes that were written since it runs.
    written: usize,
}

impl<S> StallGuard<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None, written: 0 }
    }

    /// The result of a write, or an error if too little was written for too long.
    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let Poll::Ready(result) = polled else { return self.wait(context) };
        self.written = self.written.saturating_add(*result.as_ref().unwrap_or(&0));
        if self.written >= PROGRESS {
            self.waiting = None;
        }
        Poll::Ready(result)
    }

    /// The result of sending everything, or an error if too little was written for too long.
    fn completed(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<()>>) -> Poll<io::Result<()>> {
        if polled.is_pending() {
            return self.wait(context);
        }
        self.waiting = None;
        polled
    }

    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let patience = self.patience;
        if self.waiting.is_none() {
            self.written = 0;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        match waiting.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                waiting.as_mut().reset(Instant::now() + patience);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.completed(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.completed(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn a_client_that_does_not_read_is_cut_off() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (server, client) = tokio::io::duplex(16);
            let mut guarded = StallGuard::new(server, Duration::from_millis(20));
            let error = guarded.write_all(&[0; 64]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(client);
        });
    }

    #[test]
    fn a_client_that_reads_a_few_bytes_now_and_then_is_cut_off() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (server, mut client) = tokio::io::duplex(16);
            let mut guarded = StallGuard::new(server, Duration::from_millis(100));
            let slow = async {
                for _ in 0..4096 {
                    sleep(Duration::from_millis(5)).await;
                    _ = client.read_u8().await;
                }
                std::future::pending::<()>().await;
            };
            let sent = tokio::select! {
                sent = guarded.write_all(&[0; 4096]) => sent,
                () = slow => Ok(()),
            };
            assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::TimedOut);
            let (server, mut client) = tokio::io::duplex(16);
            let mut guarded = StallGuard::new(server, Duration::from_secs(60));
            let mut read = Vec::new();
            let both = async {
                guarded.write_all(&[7; 64 << 10]).await.unwrap();
                guarded.shutdown().await.unwrap();
            };
            let ((), count) = tokio::join!(both, client.read_to_end(&mut read));
            assert_eq!(count.unwrap(), 64 << 10);
        });
    }
}
