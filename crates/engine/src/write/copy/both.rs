//! Reading and writing at the same time.
use crate::resources::{block_on, may_block};
use futures_util::future;
use ncirrus_layout::{Error, ErrorKind, Result};
use std::thread;

/// Runs both futures to their ends, the first on a thread of its own if this thread may be blocked: with local stores
/// neither one waits for anything, so a single thread would run them one after the other.
///
/// # Errors
/// `Io` if no thread can be started.
pub(super) async fn both<R: Send, W>(
    read: impl Future<Output = R> + Send,
    write: impl Future<Output = W>,
) -> Result<(R, W)> {
    if !may_block() {
        return Ok(future::join(read, write).await);
    }
    thread::scope(|scope| {
        let reader = thread::Builder::new().name("ncirrus-copy".to_owned());
        let reader = reader.spawn_scoped(scope, || block_on(read)).map_err(|error| {
            Error::new(ErrorKind::Io { retryable: true }, "cannot start a thread").because(error)
        })?;
        let written = block_on(write);
        let read = reader.join().map_err(|_| Error::internal("reading ended abnormally"))?;
        Ok((read, written))
    })
}
