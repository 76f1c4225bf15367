//! Compressed responses.
use crate::support::{Reply, TestServer, fixtures};
use axum::Router;
use axum::routing::get;
use std::io::Read;

const DOCUMENT: &str = "/zarr/four.nc/zarr.json";

/// The body as it was before it was compressed.
fn decoded(reply: &Reply) -> Vec<u8> {
    let mut out = Vec::new();
    match reply.header("content-encoding").as_deref() {
        None => out.clone_from(&reply.body),
        Some("gzip") => _ = flate2::read::GzDecoder::new(&reply.body[..]).read_to_end(&mut out).unwrap(),
        Some("zstd") => {
            out.resize(8 << 20, 0);
            let len = zstd_safe::decompress(&mut out[..], &reply.body).unwrap();
            out.truncate(len);
        }
        Some(other) => panic!("{other}"),
    }
    out
}

fn accepting(server: &TestServer, method: &str, target: &str, codings: &str) -> Reply {
    server.request(method, target, &[("Accept-Encoding", codings)])
}

#[test]
fn text_is_compressed_in_the_coding_that_the_client_prefers() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    for target in [DOCUMENT, "/dap/four.nc.ascii", "/dap/four.nc.dmr", "/catalog.xml", "/metrics"] {
        let plain = server.get(target);
        assert_eq!(plain.header("content-encoding"), None, "{target}");
        assert_eq!(plain.header("vary").as_deref(), Some("accept-encoding"), "{target}");
        for (codings, wanted) in [
            ("gzip", Some("gzip")),
            ("zstd", Some("zstd")),
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip;q=1.0, zstd;q=0.8", Some("gzip")),
            ("*", Some("zstd")),
            ("br", None),
            ("zstd;q=0", None),
        ] {
            let reply = accepting(&server, "GET", target, codings);
            assert_eq!(reply.header("content-encoding").as_deref(), wanted, "{target} {codings}");
            assert_eq!(reply.header("vary").as_deref(), Some("accept-encoding"), "{target} {codings}");
            assert!(target == "/metrics" || decoded(&reply) == plain.body, "{target} {codings}");
        }
    }
    for values in ["/dap/four.nc.dods", "/dap/four.nc.dap", "/zarr/four.nc/t/c/0/0", "/nc/four.nc"] {
        assert_eq!(accepting(&server, "GET", values, "zstd, gzip").header("content-encoding"), None);
    }
}

#[test]
fn a_compressed_response_has_a_tag_of_its_own_and_no_length() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let tag = server.get(DOCUMENT).header("etag").unwrap();
    for coding in ["gzip", "zstd"] {
        let get = accepting(&server, "GET", DOCUMENT, coding);
        let head = accepting(&server, "HEAD", DOCUMENT, coding);
        assert_eq!((head.status, head.body.len()), (200, 0), "{coding}");
        for name in ["content-encoding", "vary", "etag", "content-type"] {
            assert!(head.header(name).is_some() && head.header(name) == get.header(name), "{coding} {name}");
        }
        assert_eq!(head.header("content-length"), None, "{coding}");
        assert_eq!(head.header("accept-ranges"), None, "{coding}");
        let weak = get.header("etag").unwrap();
        assert_eq!(weak, format!("W/{tag}"));
        for known in [&weak, &tag] {
            let headers = [("Accept-Encoding", coding), ("If-None-Match", known.as_str())];
            let again = server.request("GET", DOCUMENT, &headers);
            assert_eq!((again.status, again.body.len()), (304, 0), "{coding} {known}");
            assert_eq!(again.header("content-encoding"), None, "{coding} {known}");
            assert_eq!(again.header("vary").as_deref(), Some("accept-encoding"), "{coding} {known}");
            assert_eq!(again.header("etag").as_ref(), Some(known), "{coding}");
        }
    }
    let head = server.request("HEAD", DOCUMENT, &[]);
    assert_eq!(head.header("etag"), Some(tag));
    assert!(head.header("content-length").is_some());
}

#[test]
fn parts_and_empty_bodies_are_sent_as_they_are() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        builder.mount(Router::new().route("/empty", get(|| async { "" })))
    });
    let plain = server.get(DOCUMENT);
    let ask =
        |range: &str| server.request("GET", DOCUMENT, &[("Accept-Encoding", "zstd, gzip"), ("Range", range)]);
    let part = ask("bytes=1-4");
    assert_eq!((part.status, part.header("content-encoding")), (206, None));
    assert_eq!(part.body, plain.body[1..5]);
    let outside = ask("bytes=99999999-");
    assert_eq!((outside.status, outside.header("content-encoding")), (416, None));
    let empty = accepting(&server, "GET", "/empty", "zstd, gzip");
    assert_eq!((empty.status, empty.header("content-encoding"), empty.body.len()), (200, None, 0));
    assert_eq!(empty.header("content-length").as_deref(), Some("0"));
}
