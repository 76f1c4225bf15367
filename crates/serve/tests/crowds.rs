//! More connections than a server has places for.
use crate::support::{self, TestServer, begun, fixtures, limited, raw};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Whether the server has closed a connection.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    match stream.read(&mut [0; 4096]) {
        Ok(len) => len == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn the_connection_that_is_idle_longest_is_closed_for_one_more() {
    let folder = fixtures();
    let server =
        TestServer::start(folder.path(), |builder| limited(builder, |limits| limits.connections = 4));
    // One between two requests, one that sends nothing, one that sends a part of a request, one with a response in progress.
    let answered = begun(&server, "/dap/four.nc.dds");
    std::thread::sleep(Duration::from_millis(100));
    let silent = raw(server.address(), "");
    let slow = raw(server.address(), "GET /dap/four.nc.dds HTTP/1.1\r\nHost: a");
    let reading = begun(&server, "/dap/big.nc.dods");
    // The rest of its response.
    assert!((&answered).read(&mut [0; 64 << 10]).unwrap() > 0);
    assert!(!is_closed(&answered) && !is_closed(&silent) && !is_closed(&slow));
    assert_eq!(server.get("/dap/four.nc.dds").status, 200);
    assert!(support::until(|| is_closed(&answered)));
    assert!(!is_closed(&silent) && !is_closed(&slow));
    let one_more = raw(server.address(), "");
    assert_eq!(server.get("/dap/four.nc.dds").status, 200);
    assert!(support::until(|| is_closed(&silent)));
    assert!(!is_closed(&slow) && !is_closed(&one_more));
    (&slow).write_all(b"\r\n\r\n").unwrap();
    let mut status = [0; 12];
    slow.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    (&slow).read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    drop(reading);
}

#[test]
fn connections_are_refused_while_all_others_have_responses_in_progress() {
    let folder = fixtures();
    let server =
        TestServer::start(folder.path(), |builder| limited(builder, |limits| limits.connections = 2));
    let slow = ["/dap/big.nc.dods"; 2].map(|path| begun(&server, path));
    for _ in 0..100 {
        let reply = server.get("/dap/four.nc.dds");
        assert_eq!((reply.status, reply.header("retry-after").as_deref()), (503, Some("1")));
        assert_eq!(reply.header("connection").as_deref(), Some("close"));
    }
    drop(slow);
    assert!(support::until(|| server.get("/dap/four.nc.dds").status == 200));
    assert!(server.metric("ncirrus_refused_connections_total") >= 100);
}

#[test]
fn a_server_with_idle_connections_ends_at_once() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let silent = raw(server.address(), "");
    let slow = raw(server.address(), "GET /dap/four.nc.dds HTTP/1.1\r\nHost: a");
    let answered = begun(&server, "/dap/four.nc.dds");
    assert!(support::until(|| server.metric("ncirrus_connections") == 4));
    let ended = server.stop();
    assert!(support::until(|| ended.is_finished()));
    drop((silent, slow, answered));
}
