//! The ends of responses: those that end early, and those that do not end by themselves.
use crate::support::{self, TestServer, begun, fixtures, limited, raw};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::routing::get;
use ncirrus::ErrorKind;
use ncirrus_serve::response::streamed;
use ncirrus_serve::{HttpError, ServerState};
use std::io::{self, Read};
use std::sync::mpsc;
use std::time::{Duration, Instant};

#[test]
fn a_body_in_one_piece_is_in_progress_until_it_is_sent() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        let large = Router::new().route("/large", get(|| async { vec![0_u8; 32 << 20] }));
        limited(builder, |limits| limits.responses_per_client = 1).mount(large)
    });
    let slow = begun(&server, "/large");
    assert!(support::until(|| server.get("/catalog.xml").status == 429));
    drop(slow);
    assert!(support::until(|| server.get("/catalog.xml").status == 200));
}

#[test]
fn a_response_without_an_end_is_cut_off_when_its_time_is_over() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        let body = || Body::from_stream(futures_util::stream::pending::<io::Result<Bytes>>());
        let stuck = Router::new().route("/stuck", get(move || async move { body() }));
        limited(builder, |limits| limits.response_time = Duration::from_millis(300)).mount(stuck)
    });
    let since = Instant::now();
    let mut stream = begun(&server, "/stuck");
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    _ = stream.read_to_end(&mut Vec::new());
    assert!(since.elapsed() < Duration::from_secs(15));
    assert!(support::until(|| server.metric("ncirrus_cut_responses_total") == 1));
}

#[test]
fn responses_whose_clients_go_away_count_as_cut_and_complete_ones_do_not() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    for method in ["GET", "HEAD", "POST"] {
        for target in [
            "/dap/four.nc.dods",
            "/dap/four.nc.dap",
            "/nc/four.nc",
            "/zarr/four.nc/t/c/0/0",
            "/catalog.xml",
            "/no",
        ] {
            server.request(method, target, &[("Accept-Encoding", "gzip")]);
        }
    }
    assert_eq!(server.metric("ncirrus_cut_responses_total"), 0);
    drop(begun(&server, "/dap/big.nc.dods"));
    assert!(support::until(|| server.metric("ncirrus_cut_responses_total") == 1));
}

#[test]
fn work_ends_when_its_client_goes_away() {
    let folder = fixtures();
    let (events, happened) = mpsc::channel();
    let endless = move |State(state): State<ServerState>| async move {
        let session = state.session().clone();
        streamed(&state, move || {
            events.send(None).unwrap();
            let waited = session.wait_for(std::future::pending::<ncirrus::Result<()>>());
            events.send(waited.err().map(|error| error.kind())).unwrap();
            Ok::<Option<Bytes>, HttpError>(None)
        })
    };
    let server = TestServer::start(folder.path(), |builder| {
        builder.mount(Router::new().route("/endless", get(endless)))
    });
    let stream = begun(&server, "/endless");
    let next = || happened.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(next(), None);
    drop(stream);
    assert_eq!(next(), Some(ErrorKind::Interrupted));
}

#[test]
fn a_server_ends_although_work_of_it_does_not() {
    let folder = fixtures();
    let (begins, has_begun) = mpsc::channel();
    let stuck = move |State(state): State<ServerState>| async move {
        let work = move || {
            begins.send(()).unwrap();
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        };
        state.work(work).await.map(|()| "")
    };
    let server =
        TestServer::start(folder.path(), |builder| builder.mount(Router::new().route("/stuck", get(stuck))));
    let stream = raw(server.address(), "GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    has_begun.recv_timeout(Duration::from_secs(60)).unwrap();
    drop(stream);
    let ended = server.stop();
    assert!(support::until(|| ended.is_finished()));
}
