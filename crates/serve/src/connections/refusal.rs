//! Connections for which there is no place: they receive a response without a request.
use crate::ServerState;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// ConnectionRefusals at the same time; further connections are closed at once.
const AT_ONCE: usize = 64;
/// Time in which the client reads the response.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of a request that are read after the response: if they were left, the system would reset the connection, and the
/// client would not see the response.
const REQUEST: u64 = 64 << 10;

const RESPONSE: &str = "HTTP/1.1 503 Service Unavailable\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 47\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\
    \r\n\
    the server has too many connections: try again\n";

/// Refuses connections.
pub(super) struct ConnectionRefusals(Arc<Semaphore>);

impl ConnectionRefusals {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }

    pub(super) fn refuse(&self, mut stream: TcpStream, state: &ServerState) {
        state.metrics().refused_connections.fetch_add(1, Ordering::Relaxed);
        let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _permit = permit;
            let refused = async {
                stream.write_all(RESPONSE.as_bytes()).await?;
                stream.shutdown().await?;
                tokio::io::copy(&mut stream.take(REQUEST), &mut tokio::io::sink()).await
            };
            // Clients that break off are their own concern.
            _ = timeout(PATIENCE, refused).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::RESPONSE;

    #[test]
    fn the_length_is_that_of_the_body() {
        let (head, body) = RESPONSE.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
    }
}
