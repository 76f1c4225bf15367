//! A data host that redirects unauthenticated requests to a login host, as NASA's do.
use super::*;
use crate::NetworkContext;
use ncirrus_config::{ConfigSettings, ProcessEnvironment};
use ncirrus_layout::{ObjectBytes, ObjectId, Result, Want};
use ncirrus_store::{RetryPolicy, Store, StoreOptions};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use rstest::rstest;
use std::sync::Arc;
use tempfile::TempDir;

const DIGITS: &[u8] = b"0123456789";
/// `me:hunter2`.
const KNOWN: &str = "authorization: Basic bWU6aHVudGVyMg==";

struct RedirectRig {
    data: TestHttpServer,
    logins: TestHttpServer,
    store: HttpStore,
    object: ObjectId,
    _home: TempDir,
}

fn redirect(to: &str, more: &str) -> ServerPage {
    ServerPage::Status(format!("302 Found\r\nlocation: {to}\r\n{more}").leak())
}

fn either(line: &str, yes: ServerPage, no: ServerPage) -> ServerPage {
    ServerPage::If(line.to_owned(), Box::new(yes), Box::new(no))
}

/// The data are at `localhost`, the logins at `127.0.0.1`: `.netrc` distinguishes hosts, not ports.
fn rig(netrc: &str) -> RedirectRig {
    let (data, logins) = (TestHttpServer::start([]), TestHttpServer::start([]));
    let at_data = |path: &str| format!("http://localhost:{}{path}", data.address.port());
    data.add(
        "/x.nc",
        either(
            "cookie: session=1",
            ServerPage::Ranged(DIGITS.to_vec()),
            redirect(&logins.url("/authorize"), ""),
        ),
    );
    data.add("/login?code=7", redirect("/x.nc", "set-cookie: session=1; Path=/; HttpOnly\r\n"));
    let sent_back = redirect(&at_data("/login?code=7"), "set-cookie: gui=2\r\n");
    let denied = ServerPage::Status("401 Unauthorized\r\n");
    logins.add("/authorize", either(KNOWN, sent_back, denied));
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join(".netrc"), netrc).unwrap();
    let (store, object) = connect(&at_data("/x.nc"), &context(&home));
    RedirectRig { data, logins, store, object, _home: home }
}

fn context(home: &TempDir) -> NetworkContext {
    let config = ConfigSettings::of_environment(ProcessEnvironment::default().at_home(home.path()));
    let retry_policy = RetryPolicy { first_wait: Duration::from_millis(5), ..RetryPolicy::default() };
    let options = StoreOptions { retry_policy, ..StoreOptions::default() };
    NetworkContext { config: Arc::new(config), ..options.into() }
}

fn connect(address: &str, context: &NetworkContext) -> (HttpStore, ObjectId) {
    HttpStore::connect(&ncirrus_store::Url::parse(address).unwrap(), context).unwrap()
}

fn get(store: &HttpStore, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.get(object, want))
}

fn bytes(store: &HttpStore, object: &ObjectId, range: std::ops::Range<u64>) -> Vec<u8> {
    get(store, object, &Want::Range(range)).unwrap().unwrap().bytes.to_vec()
}

#[test]
fn a_login_elsewhere_opens_the_data() {
    let rig = rig("machine 127.0.0.1 login me password hunter2\n");
    assert_eq!(bytes(&rig.store, &rig.object, 2..5), b"234");
    assert_eq!(bytes(&rig.store, &rig.object, 5..7), b"56");
    let cookie = "session=1";
    let seen = [
        "/x.nc bytes=2-4".to_owned(),
        "/login?code=7 bytes=2-4".to_owned(),
        format!("/x.nc bytes=2-4 {cookie}"),
        format!("/x.nc bytes=5-6 {cookie}"),
    ];
    assert_eq!(rig.data.requests(), seen, "no login reaches the host of the data, and one login is enough");
    assert_eq!(rig.logins.requests(), ["/authorize bytes=2-4 Basic bWU6aHVudGVyMg=="]);
}

#[rstest]
#[case("machine 127.0.0.1 login me password wrong1\n", " to the login of ")]
#[case("machine other.org login me password wrong1\n", ", and no login for it is known")]
fn a_login_that_is_refused_names_its_host(#[case] netrc: &str, #[case] reported: &str) {
    let rig = rig(netrc);
    let error = get(&rig.store, &rig.object, &Want::All).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    let start = format!("access denied: {} answered 401 Unauthorized{reported}", rig.logins.address);
    assert!(error.message().starts_with(&start), "{error}");
    assert!(!format!("{error:?}").contains("wrong1"));
    assert_eq!(rig.data.requests().len(), 1);
}

#[test]
fn the_login_of_the_first_server_stays_there() {
    let (data, other) =
        (TestHttpServer::start([]), TestHttpServer::start([("/y", ServerPage::Ranged(DIGITS.to_vec()))]));
    data.add("/x", redirect(&other.url("/y").replace("//", "//evil:pw@"), "set-cookie: session=1\r\n"));
    let address = format!("http://me:hunter2@localhost:{}/x", data.address.port());
    let (store, object) = connect(&address, &context(&TempDir::new().unwrap()));
    assert_eq!(bytes(&store, &object, 0..2), b"01");
    assert_eq!(data.requests(), ["/x bytes=0-1 Basic bWU6aHVudGVyMg=="]);
    assert_eq!(other.requests(), ["/y bytes=0-1"]);
}

#[test]
fn a_prefix_is_checked_again_until_it_ends() {
    let home = TempDir::new().unwrap();
    let (data, place) = (TestHttpServer::start([]), TestHttpServer::start([]));
    data.add("/x", redirect(&place.url("/y?sig=1"), ""));
    place.add("/y?sig=1", ServerPage::Ranged(DIGITS.to_vec()));
    place.add("/y?sig=2", ServerPage::Ranged(DIGITS.to_vec()));
    let (store, object) = connect(&data.url("/x"), &context(&home));
    assert_eq!([bytes(&store, &object, 0..2), bytes(&store, &object, 2..4)].concat(), b"0123");
    assert_eq!((data.requests().len(), place.requests().len()), (1, 2));
    place.add("/y?sig=1", ServerPage::Status("403 Forbidden\r\n"));
    data.add("/x", redirect(&place.url("/y?sig=2"), ""));
    assert_eq!(bytes(&store, &object, 4..6), b"45");
    assert_eq!((data.requests().len(), place.requests().len()), (2, 4));
    // What is denied from the beginning stays denied.
    place.add("/y?sig=2", ServerPage::Status("403 Forbidden\r\n"));
    let error = get(&store, &object, &Want::Range(6..8)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(!format!("{error:?}").contains("sig="), "{error:?}");
    assert_eq!((data.requests().len(), place.requests().len()), (3, 6));
}

#[test]
fn a_place_for_this_once_is_not_kept() {
    let (data, place) =
        (TestHttpServer::start([]), TestHttpServer::start([("/y", ServerPage::Ranged(DIGITS.to_vec()))]));
    data.add("/x", redirect(&place.url("/y"), "cache-control: private, no-store\r\n"));
    let (store, object) = connect(&data.url("/x"), &context(&TempDir::new().unwrap()));
    assert_eq!([bytes(&store, &object, 0..2), bytes(&store, &object, 2..4)].concat(), b"0123");
    assert_eq!((data.requests().len(), place.requests().len()), (2, 2));
}

#[test]
fn ten_redirections_are_followed_and_no_more() {
    let server = TestHttpServer::start([("/0", ServerPage::Ranged(DIGITS.to_vec()))]);
    for hop in 1..=11 {
        server.add(&format!("/{hop}"), redirect(&format!("/{}", hop - 1), ""));
    }
    let home = TempDir::new().unwrap();
    let (store, object) = connect(&server.url("/10"), &context(&home));
    assert_eq!(bytes(&store, &object, 0..2), b"01");
    let (store, object) = connect(&server.url("/11"), &context(&home));
    let error = get(&store, &object, &Want::Range(0..2)).unwrap_err();
    assert_eq!(error.message(), "the redirect was refused: more than 10 redirects");
}

/// What is reported of a response of OPeNDAP that a redirect answers by this page of another server.
fn reported_by_computed(page: ServerPage) -> (String, TestHttpServer) {
    let (data, other) = (TestHttpServer::start([]), TestHttpServer::start([("/y", page)]));
    data.add("/d/x.dds", redirect(&other.url("/y"), ""));
    let address = format!("http://localhost:{}/d/x#dap2", data.address.port());
    let (store, object) = connect(&address, &context(&TempDir::new().unwrap()));
    let reported = match get(&store, &ObjectId::new(object.store, "x.dds"), &Want::All) {
        Ok(answer) => String::from_utf8_lossy(&answer.unwrap().bytes).into_owned(),
        Err(error) => format!("{:?} {}", error.kind(), error.message()),
    };
    (reported, other)
}

#[test]
fn what_the_target_of_a_redirect_says_is_reported_with_its_host() {
    let reported =
        |status: &'static str, body: &str| ServerPage::WithStatus(status, body.as_bytes().to_vec());
    let page = "<html><title>Earthdata Login</title></html>";
    let refused = "<html><title>Not for you</title></html>";
    let cases = [
        (
            reported("403 Forbidden\r\n", refused),
            "Denied access denied: HOST answered 403 Forbidden: Not for you",
        ),
        (
            reported("401 Unauthorized\r\n", "who are you?"),
            "Denied access denied: HOST answered 401 Unauthorized, and no login for it is known: who are you?",
        ),
        (reported("404 Not Found\r\n", "gone"), "NotFound HOST answered 404 Not Found: gone"),
        (
            reported("200 OK\r\n", page),
            "Denied access denied: HOST answered with a web page (Earthdata Login) instead of data; is a login needed?",
        ),
        // Documents of the protocol are the driver's to read.
        (reported("403 Forbidden\r\n", "Error { code = 403; };"), "Error { code = 403; };"),
        (reported("200 OK\r\n", "Dataset { } d;"), "Dataset { } d;"),
    ];
    for (page, expected) in cases {
        let (reported, other) = reported_by_computed(page);
        assert_eq!(reported, expected.replace("HOST", &other.address.to_string()));
    }
}

#[rstest]
#[case("https://h.org/a/x", "../y?z=1#f", Ok("https://h.org/y?z=1"))]
#[case("http://h.org/x", "https://u:p@other.org/", Ok("https://other.org/"))]
#[case("http://h.org/x", "//other.org/y", Ok("http://other.org/y"))]
#[case("https://h.org/x", "http://h.org/x", Err("the redirect was refused: from https to http"))]
#[case(
    "https://h.org/x",
    "file:///etc/passwd",
    Err("the redirect was refused: neither to http nor to https")
)]
#[case("http://h.org/x", "http://[", Err("the redirect was refused: its address is invalid"))]
fn addresses_are_resolved_and_never_less_safe(
    #[case] at: &str,
    #[case] location: &str,
    #[case] expected: std::result::Result<&str, &str>,
) {
    let mut headers = HeaderMap::new();
    headers.insert(LOCATION, location.parse().unwrap());
    let next = next(&at.parse().unwrap(), StatusCode::FOUND, &headers);
    let next = next.map(|next| next.unwrap().to_string());
    assert_eq!(
        next.as_deref().map_err(|failure| failure.error.message()),
        expected,
        "{at} redirected to {location}"
    );
}

#[rstest]
#[case("http://h.org/x", "https://logins.org/", true)]
#[case("http://h.org/x", "http://logins.org/", false)]
#[case("https://logins.org.evil.org/x", "https://logins.org.evil.org/y", false)]
fn passwords_of_other_servers_are_never_sent_unencrypted(
    #[case] first: &str,
    #[case] at: &str,
    #[case] is_reported: bool,
) {
    let home = TempDir::new().unwrap();
    std::fs::write(home.path().join(".netrc"), "machine logins.org login me password hunter2\n").unwrap();
    let (store, _) = connect(first, &context(&home));
    assert_eq!(store.login_at(&first.parse().unwrap(), &at.parse().unwrap()).is_some(), is_reported);
}

#[test]
fn a_query_that_a_redirect_encodes_again_is_decoded_once() {
    let target = |from: &str, location: &'static str| {
        let headers = HeaderMap::from_iter([(LOCATION, reqwest::header::HeaderValue::from_static(location))]);
        next(&from.parse().unwrap(), StatusCode::FOUND, &headers).unwrap().unwrap().to_string()
    };
    let from = "http://h/x.dods?v%5B0:1%5D";
    assert_eq!(target(from, "https://h/x.dods?v%255B0:1%255D"), "https://h/x.dods?v%5B0:1%5D");
    assert_eq!(target(from, "https://h/x.dods?v%5B0:1%5D"), "https://h/x.dods?v%5B0:1%5D");
    assert_eq!(target(from, "https://h/x.dods?w%255B0:1%255D"), "https://h/x.dods?w%255B0:1%255D");
}
