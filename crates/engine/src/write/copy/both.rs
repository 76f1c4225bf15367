//! Reading and writing at the same time.
use crate::resources::{block_on, may_block};
use futures_util::future;
use ncirrus_layout::{Error, ErrorKind, Result};
use std::thread;

/// Runs both futures to their ends, the first on a thread of its own if this thread may be blocked: with local stores
/// neither one waits for anything, so a single thread would run them one after the other. Without the first one, as for
/// the last part of a variable, no thread is started: datasets may have many small variables.
///
/// # Errors
/// `Io` if no thread can be started.
pub(super) async fn both<R: Send, W>(
    read: Option<impl Future<Output = R> + Send>,
    write: impl Future<Output = W>,
) -> Result<(Option<R>, W)> {
    let Some(read) = read else { return Ok((None, write.await)) };
    if !may_block() {
        let (read, written) = future::join(read, write).await;
        return Ok((Some(read), written));
    }
    thread::scope(|scope| {
        let reader = thread::Builder::new().name("ncirrus-copy".to_owned());
        let reader = reader.spawn_scoped(scope, || block_on(read)).map_err(|error| {
            Error::new(ErrorKind::Io { retryable: true }, "cannot start a thread").because(error)
        })?;
        let written = block_on(write);
        let read = reader.join().map_err(|_| Error::internal("reading ended abnormally"))?;
        Ok((Some(read), written))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Ready;

    #[test]
    fn a_thread_is_started_only_if_there_is_something_to_read() {
        let here = || thread::current().id();
        let (read, written) = block_on(both(Some(async { here() }), async { here() })).unwrap();
        assert_ne!(read, Some(written));
        assert_eq!(written, here());
        let (read, written) = block_on(both(None::<Ready<()>>, async { here() })).unwrap();
        assert_eq!((read, written), (None, here()));
    }
}
