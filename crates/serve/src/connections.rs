//! Connections: accepted up to a limit, cut off when the client neither reads nor sends.
mod places;
mod refusal;
mod stall;

use crate::ServerState;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use places::{ConnectionPlace, ConnectionPlaces};
use refusal::ConnectionRefusals;
use stall::StallGuard;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

/// How long responses may take that were begun before the server ends.
const GRACE: Duration = Duration::from_secs(30);
/// Pauses after connections that could not be accepted, the first and the longest one.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));
/// Time between two messages about them.
const QUIET: Duration = Duration::from_secs(10);

/// Accepts connections until `shutdown`, then waits until their responses are complete.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    state: &ServerState,
    shutdown: impl Future<Output = ()>,
) {
    let (places, refusals) = (ConnectionPlaces::new(state.limits().connections), ConnectionRefusals::new());
    let mut acceptor = ConnectionAcceptor::new(&places);
    let (ending, ended) = watch::channel(false);
    tokio::pin!(shutdown);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut shutdown => break,
            accepted = acceptor.next(|| listener.accept()) => accepted,
        };
        let Some(place) = places.take().await else {
            refusals.refuse(stream, state);
            continue;
        };
        let (router, state, mut ended) = (router.clone(), state.clone(), ended.clone());
        tokio::spawn(async move {
            state.metrics().connections.fetch_add(1, Ordering::Relaxed);
            connection(stream, peer, router, state.limits().idle_time, &place, &mut ended).await;
            state.metrics().connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    drop(ended);
    _ = ending.send(true);
    // All receivers are dropped when the last connection has ended.
    _ = tokio::time::timeout(GRACE, ending.closed()).await;
}

/// Accepts connections, also when the process has no file descriptors left for a while.
struct ConnectionAcceptor {
    places: Arc<ConnectionPlaces>,
    /// When a failure was last reported.
    reported: Option<Instant>,
}

impl ConnectionAcceptor {
    fn new(places: &Arc<ConnectionPlaces>) -> Self {
        Self { places: Arc::clone(places), reported: None }
    }

    async fn next<T>(&mut self, mut accept: impl AsyncFnMut() -> io::Result<T>) -> T {
        let mut pause = PAUSES.0;
        loop {
            let error = match accept().await {
                Ok(accepted) => return accepted,
                Err(error) => error,
            };
            if is_of_client(&error) {
                continue;
            }
            if self.reported.is_none_or(|since| since.elapsed() > QUIET) {
                self.reported = Some(Instant::now());
                tracing::warn!(target: "ncirrus::serve", "a connection was not accepted: {error}");
            }
            // There are no more file descriptors: an idle connection has one.
            self.places.close_longest_idle();
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
        }
    }
}

/// Whether the client was gone before its connection was accepted.
fn is_of_client(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    idle: Duration,
    place: &Arc<ConnectionPlace>,
    ended: &mut watch::Receiver<bool>,
) {
    _ = stream.set_nodelay(true);
    let own = Arc::clone(place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let in_progress = own.begin();
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = router.clone().oneshot(request.map(Body::new));
        async move { response.await.map(|response| response.map(|body| in_progress.body(body))) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_headers(64)
        .max_buf_size(64 << 10)
        .half_close(false);
    let io = TokioIo::new(StallGuard::new(stream, idle));
    let connection = http.serve_connection(io, service);
    tokio::pin!(connection);
    tokio::select! {
        // Clients that break off are their own concern.
        _ = connection.as_mut() => return,
        () = place.is_needed() => {}
        _ = ended.wait_for(|is_ending| *is_ending) => {}
    }
    if place.has_begun() {
        // Completes the response that is in progress; the connection is closed at once if there is none.
        connection.as_mut().graceful_shutdown();
        _ = connection.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_to_accept_are_survived_and_cost_idle_connections() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let places = ConnectionPlaces::new(8);
            let idle = [places.take().await, places.take().await].map(Option::unwrap);
            let (mut calls, since) = (0, Instant::now());
            let accepted = ConnectionAcceptor::new(&places)
                .next(async || {
                    calls += 1;
                    match calls {
                        // EMFILE, on all systems of the family.
                        1 | 2 => Err(io::Error::from_raw_os_error(24)),
                        3 => Err(io::ErrorKind::ConnectionAborted.into()),
                        _ => Ok("accepted"),
                    }
                })
                .await;
            assert_eq!((accepted, calls), ("accepted", 4));
            assert!(since.elapsed() >= 3 * PAUSES.0, "{:?}", since.elapsed());
            for place in idle {
                place.is_needed().await;
            }
        });
    }
}
