//! Connections: accepted up to a limit, cut off when the client neither reads nor sends.
mod stall;

use crate::ServerState;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use stall::StallGuard;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

/// How long responses may take that were begun before the server ends.
const GRACE: Duration = Duration::from_secs(30);

/// Accepts connections until `shutdown`, then waits until their responses are complete.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    state: &ServerState,
    shutdown: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(state.limits().connections.max(1)));
    let (ending, ended) = watch::channel(false);
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, peer, place)) = accepted else { break };
        let (router, state, mut ended) = (router.clone(), state.clone(), ended.clone());
        tokio::spawn(async move {
            let _place = place;
            state.metrics().connections.fetch_add(1, Ordering::Relaxed);
            connection(stream, peer, router, state.limits().idle_time, &mut ended).await;
            state.metrics().connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    drop(listener);
    drop(ended);
    _ = ending.send(true);
    // All receivers are dropped when the last connection has ended.
    _ = tokio::time::timeout(GRACE, ending.closed()).await;
}

type Place = tokio::sync::OwnedSemaphorePermit;

/// The next connection, when there is room for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, SocketAddr, Place)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return Some((stream, peer, place)),
            // The client is gone, or there are no more file descriptors: others may end soon.
            Err(error) => {
                tracing::warn!(target: "ncirrus::serve", "a connection was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    idle: Duration,
    ended: &mut watch::Receiver<bool>,
) {
    _ = stream.set_nodelay(true);
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        request.map(axum::body::Body::new)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_headers(64)
        .max_buf_size(64 << 10)
        .half_close(false);
    let io = TokioIo::new(StallGuard::new(stream, idle));
    let connection = http.serve_connection(io, TowerToHyperService::new(service));
    tokio::pin!(connection);
    tokio::select! {
        // Clients that break off are their own concern.
        _ = connection.as_mut() => return,
        _ = ended.wait_for(|is_ending| *is_ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    _ = connection.await;
}
