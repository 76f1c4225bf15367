//! Against a small server that misbehaves in known ways.
mod proxied;

use super::*;
use crate::HttpOpener;
use ncirrus_config::ConfigFormat;
use ncirrus_layout::{Detail, ErrorKind};
use ncirrus_store::{PutCondition, RetryPolicy, StoreContext, StoreOpener, StoreOptions};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use std::time::Instant;

pub(super) fn run<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(super) fn connect(address: &str) -> (HttpStore, ObjectId) {
    connect_with(address, options())
}

pub(super) fn options() -> StoreOptions {
    let retry_policy = RetryPolicy {
        first_wait: Duration::from_millis(5),
        window: Duration::from_millis(200),
        slowest: 1000,
        ..RetryPolicy::default()
    };
    StoreOptions { retries: 3, timeout: Duration::from_millis(500), retry_policy, ..StoreOptions::default() }
}

pub(super) fn connect_with(address: &str, options: StoreOptions) -> (HttpStore, ObjectId) {
    HttpStore::connect(&Url::parse(address).unwrap(), &options.into()).unwrap()
}

pub(super) fn get(address: &str, want: &Want) -> Result<Option<ObjectBytes>> {
    let (store, object) = connect(address);
    run(store.get(&object, want))
}

pub(super) fn digits() -> Vec<u8> {
    b"0123456789".to_vec()
}

#[test]
fn ranges_are_requested_and_cut_at_the_end() {
    let server = TestHttpServer::start([
        ("/d/x.nc", ServerPage::Ranged(digits())),
        ("/d/empty", ServerPage::Ranged(Vec::new())),
    ]);
    let (store, object) = connect(&server.url("/d/x.nc"));
    run(ncirrus_store::conformance::read_digits(&store, &object)).unwrap();
    assert_eq!(server.requests()[1], "/d/x.nc bytes=2-4");
    let (store, object) = connect(&server.url("/d/empty"));
    for want in [Want::All, Want::Range(0..4), Want::Suffix(4)] {
        let blob = run(store.get(&object, &want)).unwrap().unwrap();
        assert_eq!((blob.bytes.len(), blob.size), (0, 0), "{want:?}");
    }
}

#[test]
fn a_server_need_not_report_the_size_with_a_part() {
    let server = TestHttpServer::start([("/x", ServerPage::Unsized(digits()))]);
    let (store, object) = connect(&server.url("/x"));
    run(ncirrus_store::conformance::read_digits(&store, &object)).unwrap();
    let (store, object) = connect(&server.url("/x"));
    let before = server.requests().len();
    for _ in 0..3 {
        let blob = run(store.get(&object, &Want::Range(2..5))).unwrap().unwrap();
        assert_eq!((blob.bytes.as_ref(), blob.size), (&b"234"[..], 10));
    }
    // The position of the last byte is requested once.
    assert_eq!(server.requests().len() - before, 5);
}

#[test]
fn each_read_is_one_request() {
    let server = TestHttpServer::start([("/x", ServerPage::Ranged(digits()))]);
    let (store, object) = connect(&server.url("/x"));
    for _ in 0..3 {
        run(store.get(&object, &Want::Range(0..2))).unwrap();
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn an_answer_over_a_limit_is_refused_whether_it_reports_its_length_or_not() {
    let unsized_body = "200 OK\r\nConnection: close\r\n\r\n0123456789";
    let server = TestHttpServer::start([
        ("/x", ServerPage::Ranged(digits())),
        ("/y", ServerPage::Status(unsized_body)),
    ]);
    for name in ["/x", "/y"] {
        let (store, object) = connect(&server.url(name));
        let read = |max: u64| run(store.get(&object, &Want::AtMost(max)));
        let error = read(9).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(server.requests().len(), 2, "it is not asked for again");
    let (store, object) = connect(&server.url("/x"));
    assert!(run(store.get(&object, &Want::AtMost(10))).unwrap().is_some());
}

#[test]
fn a_server_without_ranges_is_requested_once() {
    let server = TestHttpServer::start([("/x", ServerPage::Whole(digits()))]);
    let (store, object) = connect(&server.url("/x"));
    run(async {
        for (want, bytes) in
            [(Want::Range(2..4), &b"23"[..]), (Want::Suffix(3), b"789"), (Want::Range(9..20), b"9")]
        {
            assert_eq!(store.get(&object, &want).await?.unwrap().bytes.as_ref(), bytes);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_is_absent_or_denied_is_distinguished() {
    let server = TestHttpServer::start([
        ("/gone", ServerPage::Status("410 Gone\r\n")),
        ("/secret", ServerPage::Status("403 Forbidden\r\n")),
        ("/login", ServerPage::Status("401 Unauthorized\r\n")),
        ("/tea", ServerPage::Status("418 Teapot\r\n")),
    ]);
    assert_eq!(get(&server.url("/nothing"), &Want::All).unwrap(), None);
    assert_eq!(get(&server.url("/gone"), &Want::All).unwrap(), None);
    let denied = get(&server.url("/secret"), &Want::All).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    assert_eq!(
        denied.to_string(),
        format!("access denied: server answered 403 Forbidden (in {})", server.url("/secret"))
    );
    assert_eq!(get(&server.url("/login"), &Want::All).unwrap_err().kind(), ErrorKind::Denied);
    assert_eq!(get(&server.url("/tea"), &Want::All).unwrap_err().kind(), ErrorKind::Io { retryable: false });
    assert_eq!(server.requests().len(), 5, "none of these is tried again");
}

#[test]
fn passing_failures_are_tried_again() {
    let busy = || Box::new(ServerPage::Status("503 Busy\r\n"));
    let server = TestHttpServer::start([
        ("/x", ServerPage::First(2, busy(), Box::new(ServerPage::Ranged(digits())))),
        (
            "/cut",
            ServerPage::First(1, Box::new(ServerPage::Cut(digits())), Box::new(ServerPage::Ranged(digits()))),
        ),
        ("/never", *busy()),
        (
            "/later",
            ServerPage::First(
                1,
                Box::new(ServerPage::Status("429 Slow\r\nretry-after: 1\r\n")),
                Box::new(ServerPage::Ranged(digits())),
            ),
        ),
    ]);
    for path in ["/x", "/cut"] {
        assert_eq!(get(&server.url(path), &Want::All).unwrap().unwrap().bytes, digits());
    }
    let error = get(&server.url("/never"), &Want::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true });
    let reported = "server answered 503 Service Unavailable; given up after 4 attempts in ";
    assert!(error.message().starts_with(reported), "{error}");
    assert!(error.message().ends_with("s (4 x server answered 503 Service Unavailable)"), "{error}");
    assert!(error.to_string().contains("/never"), "{error}");
    assert_eq!(server.requests().iter().filter(|request| *request == "/never").count(), 4);
    let start = Instant::now();
    assert!(get(&server.url("/later"), &Want::All).unwrap().is_some());
    assert!(start.elapsed() >= Duration::from_secs(1), "the server asked for a second");
}

#[test]
fn redirections_are_followed() {
    let server = TestHttpServer::start([
        ("/old", ServerPage::Status("302 Found\r\nlocation: /new\r\n")),
        ("/new", ServerPage::Ranged(digits())),
        ("/loop", ServerPage::Status("302 Found\r\nlocation: /loop\r\n")),
    ]);
    assert_eq!(get(&server.url("/old"), &Want::Range(0..2)).unwrap().unwrap().bytes.as_ref(), b"01");
    let error = get(&server.url("/loop"), &Want::All).unwrap_err();
    assert!(error.message().starts_with("the redirect was refused"), "{error}");
}

#[test]
fn no_connection_is_a_passing_failure() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = get(&format!("http://{address}/x?sig=hunter2"), &Want::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true });
    assert!(error.message().starts_with("no connection"), "{error}");
    assert!(error.message().contains("; given up after "), "{error}");
    assert_eq!(error.detail(), Some(&Detail::Unreachable));
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[test]
fn a_server_without_tls_is_no_connection_over_https() {
    let server = TestHttpServer::start([("/x", ServerPage::Ranged(digits()))]);
    let error = get(&format!("https://{}/x", server.address), &Want::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true });
    assert!(server.requests().is_empty());
}

#[test]
fn secrets_are_sent_and_never_shown() {
    let server = TestHttpServer::start([
        ("/a/x?sig=hunter2", ServerPage::Ranged(digits())),
        ("/a/.zgroup?sig=hunter2", ServerPage::Whole(digits())),
    ]);
    let address = format!("http://me:hunter2@{}/a/x?sig=hunter2", server.address);
    let (store, object) = connect(&address);
    assert!(run(store.get(&object, &Want::All)).unwrap().is_some());
    let sibling = ObjectId::new(object.store.clone(), ".zgroup");
    assert!(run(store.get(&sibling, &Want::Suffix(2))).unwrap().is_some());
    assert!(server.requests()[0].ends_with(" Basic bWU6aHVudGVyMg=="), "{:?}", server.requests());
    let shown = format!(
        "{object} {store:?} {:?}",
        run(store.get(&ObjectId::new(object.store.clone(), "no"), &Want::All))
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    let (_, other) = connect(&format!("http://me:other@{}/a/x?sig=hunter2", server.address));
    assert_ne!(object.store, other.store, "two users never share a cache");
}

#[test]
fn keys_are_escaped_and_the_given_path_is_kept() {
    let server = TestHttpServer::start([
        ("/%7Ed/x%20y.zarr/v/%C3%A9%20%25", ServerPage::Ranged(digits())),
        ("/dir/", ServerPage::Whole(b"page".to_vec())),
    ]);
    let (store, object) = connect(&server.url("/%7Ed/x%20y.zarr"));
    assert_eq!(object.key(), "x y.zarr");
    assert!(run(store.get(&object.child("v/\u{e9} %"), &Want::All)).unwrap().is_some());
    let (store, object) = connect(&server.url("/dir/"));
    assert_eq!(run(store.get(&object, &Want::All)).unwrap().unwrap().bytes.as_ref(), b"page");
}

#[test]
fn sizes_are_bounded() {
    let server = TestHttpServer::start([
        ("/x", ServerPage::Whole(digits())),
        ("/zip", ServerPage::Status("200 OK\r\ncontent-encoding: gzip\r\n")),
    ]);
    let (store, object) =
        connect_with(&server.url("/x"), StoreOptions { whole_bytes: 9, ..StoreOptions::default() });
    let error = run(store.get(&object, &Want::Range(0..2))).unwrap_err();
    assert_eq!(
        error.message(),
        "object has 10 bytes, more than the limit of 9 and the server does not support byte ranges"
    );
    assert_eq!(get(&server.url("/zip"), &Want::All).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn nothing_is_listed_or_written() {
    let (store, object) = connect("http://127.0.0.1:9/x");
    let store: &dyn ncirrus_store::Store = &store;
    assert_eq!(run(store.list(&object, None)).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(
        run(store.put(&object, bytes::Bytes::new(), PutCondition::None)).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert!(!store.facts().writable && !store.facts().lists && store.local().is_none());
}

#[test]
fn an_answer_that_breaks_off_is_read_on_from_there() {
    let broken =
        |page: ServerPage| ServerPage::First(2, Box::new(page), Box::new(ServerPage::Ranged(digits())));
    let server = TestHttpServer::start([
        ("/cut", broken(ServerPage::Broken(digits(), 4))),
        ("/slow", broken(ServerPage::Trickle(digits(), 4))),
        (
            "/whole",
            ServerPage::First(1, Box::new(ServerPage::Cut(digits())), Box::new(ServerPage::Ranged(digits()))),
        ),
    ]);
    for path in ["/cut", "/slow"] {
        let blob = get(&server.url(path), &Want::Range(1..10)).unwrap().unwrap();
        assert_eq!(blob.bytes, digits()[1..], "{path}");
        let requested: Vec<String> =
            server.requests().into_iter().filter(|request| request.starts_with(path)).collect();
        assert_eq!(requested, ["1-9", "5-9", "9-9"].map(|range| format!("{path} bytes={range}")));
    }
    assert_eq!(get(&server.url("/whole"), &Want::All).unwrap().unwrap().bytes, digits());
}

#[test]
fn an_object_that_changes_while_it_is_read_is_reported() {
    let other = ServerPage::Tagged("\"2\"", digits());
    let server = TestHttpServer::start([
        ("/x", ServerPage::First(1, Box::new(ServerPage::Broken(digits(), 4)), Box::new(other))),
        (
            "/y",
            ServerPage::First(
                1,
                Box::new(ServerPage::Broken(digits(), 4)),
                Box::new(ServerPage::Status("412 Precondition Failed\r\n")),
            ),
        ),
    ]);
    for path in ["/x", "/y"] {
        let error = get(&server.url(path), &Want::Range(0..10)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    }
}

#[test]
fn a_session_makes_few_requests_of_a_broken_service_again_at_once() {
    let server = TestHttpServer::start([("/x", ServerPage::Status("503 Busy\r\n"))]);
    let retry_policy =
        RetryPolicy { reserve: 2, longest: Duration::from_millis(150), ..options().retry_policy };
    let (store, object) =
        connect_with(&server.url("/x"), StoreOptions { retry_policy, retries: 99, ..options() });
    for _ in 0..3 {
        run(store.get(&object, &Want::All)).unwrap_err();
    }
    let requests = server.requests().len();
    assert!(requests <= 3 + 2 + 6, "{requests} requests");
}

#[test]
fn a_server_that_asks_for_too_long_a_wait_is_given_up_at_once() {
    let server = TestHttpServer::start([("/x", ServerPage::Status("429 Slow\r\nretry-after: 3600\r\n"))]);
    let error = get(&server.url("/x"), &Want::All).unwrap_err();
    let reported = "server answered 429 Too Many Requests; the server asks to wait 3600 s";
    assert_eq!(error.message(), reported);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn every_request_is_counted() {
    let busy = Box::new(ServerPage::Status("503 Busy\r\n"));
    let server =
        TestHttpServer::start([("/x", ServerPage::First(1, busy, Box::new(ServerPage::Ranged(digits()))))]);
    let context = NetworkContext::from(options());
    let (store, object) = HttpStore::connect(&Url::parse(&server.url("/x")).unwrap(), &context).unwrap();
    run(store.get(&object, &Want::All)).unwrap();
    let traffic = context.connections.traffic();
    assert_eq!((traffic.requests, traffic.failed, traffic.received, traffic.sent), (2, 1, 10, 0));
}

#[test]
fn a_zip_file_at_a_server_is_read_in_few_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let writer = ncirrus_store::ZipWriterStore::create(&path, None).unwrap();
    let chunk = vec![7; 100_000];
    for name in [".zgroup", "v/.zarray", "v/0", "v/1", "v/2"] {
        LocalStore::put(&writer, &writer.root().child(name), &chunk, &PutCondition::None).unwrap();
    }
    writer.finish().unwrap();
    let zip = ServerPage::Ranged(std::fs::read(&path).unwrap());
    let server = TestHttpServer::start([("/x.zip", zip), ("/fake.zip", ServerPage::Ranged(b"CDF".to_vec()))]);
    let mut context = StoreContext::default();
    let NetworkContext { config, connections, .. } = NetworkContext::default();
    context.schemes.add(Arc::new(HttpOpener { config, connections }));
    let opened = run(ncirrus_store::open(&server.url("/x.zip"), &context)).unwrap();
    assert_eq!(opened.root.key(), "");
    let plain = run(ncirrus_store::open(&server.url("/fake.zip"), &context)).unwrap();
    assert_eq!(plain.root.key(), "fake.zip");
    for name in ["v/1", "v/2"] {
        let blob = run(opened.store.get(&opened.root.child(name), &Want::All)).unwrap().unwrap();
        assert_eq!(blob.bytes, chunk);
    }
    let requests = |path: &str| server.requests().iter().filter(|request| request.starts_with(path)).count();
    assert_eq!(requests("/x.zip"), 3, "directory, and one per chunk: {:?}", server.requests());
}

#[test]
fn what_netcdfs_files_say_of_one_address_holds_for_it_alone() {
    let page = |is_reported: bool| {
        let (yes, no) = (ServerPage::Ranged(digits()), ServerPage::Status("403 Forbidden\r\n"));
        let (with, without) = if is_reported { (yes, no) } else { (no, yes) };
        ServerPage::If("user-agent: me/1".to_owned(), Box::new(with), Box::new(without))
    };
    let server = TestHttpServer::start([("/told", page(true)), ("/other", page(false))]);
    let mut settings = ConfigSettings::default();
    let text = format!("[{}]HTTP.USERAGENT=me/1", server.url("/told"));
    settings.read(ConfigFormat::NetCdf, &text, std::path::Path::new(".ncrc")).unwrap();
    let opener = HttpOpener { config: Arc::new(settings), connections: ConnectionPool::default() };
    for path in ["/other", "/told"] {
        let url = Url::parse(&server.url(path)).unwrap();
        let (store, object) = opener.open(&url, &options()).unwrap().unwrap();
        assert!(run(store.get(&object, &Want::All)).unwrap().is_some(), "{path}");
    }
}
