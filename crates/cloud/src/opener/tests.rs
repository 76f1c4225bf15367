//! Different addresses of the same object.
use super::*;
use ncirrus_config::ProcessEnvironment;
use ncirrus_layout::ErrorKind;
use ncirrus_store::{DatasetShape, StoreContext, check_apart, is_same_place};

fn context(environment: ProcessEnvironment) -> StoreContext {
    let mut context = StoreContext::default();
    context.schemes.add(Arc::new(opener(environment)));
    context
}

fn opener(environment: ProcessEnvironment) -> CloudOpener {
    CloudOpener {
        config: Arc::new(ConfigSettings::of_environment(environment)),
        connections: ConnectionPool::default(),
        identities: CredentialRegistry::default(),
        codes: MfaCodes::default(),
    }
}

/// Whether it is refused with an error that names both.
fn is_refused(source: &str, target: &str, shape: DatasetShape, context: &StoreContext) -> bool {
    let Err(error) = check_apart(source, target, shape, context) else { return false };
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    let (reported, shown) = (error.to_string(), |address: &str| Url::parse(address).unwrap().to_string());
    assert!(reported.contains(&shown(source)) && reported.contains(&shown(target)), "{reported}");
    true
}

#[track_caller]
fn refused(source: &str, target: &str, context: &StoreContext) {
    assert!(is_refused(source, target, DatasetShape::Tree, context), "{source} {target}");
}

#[track_caller]
fn allowed(source: &str, target: &str, context: &StoreContext) {
    assert!(!is_refused(source, target, DatasetShape::Tree, context), "{source} {target}");
}

/// What happens to a read of a bucket that a dataset at a public host names.
fn read_named(address: &str, proxy: Option<&str>, allowed: &str) -> Result<bool> {
    let environment = ProcessEnvironment::default();
    let environment = match proxy {
        Some(proxy) => environment.with("NCIRRUS_PROXY", proxy),
        None => environment,
    };
    let opener = opener(environment);
    let options = StoreOptions {
        hosts: HostAccess::NamedBy(Some("8.8.8.8".to_owned())),
        allowed_hosts: ncirrus_store::hosts_in(allowed),
        credentials: ncirrus_store::Credentials::Anonymous,
        retries: 0,
        ..StoreOptions::default()
    };
    let opened = opener.open(&Url::parse(address).unwrap(), &options).map(Option::unwrap);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (store, object) = opened?;
    Ok(runtime.block_on(store.get(&object, &ncirrus_layout::Want::All))?.is_some())
}

#[test]
fn servers_of_buckets_that_a_dataset_names_are_not_in_a_private_network() {
    for host in ["127.0.0.1:9", "[::1]:9", "2130706433:9", "0x7f.1:9", "[::ffff:127.0.0.1]:9", "localhost.:9"]
    {
        let error = read_named(&format!("http://{host}/bucket/a.nc#mode=s3"), None, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error}");
        assert!(error.message().contains("references.hosts"), "{host}: {error}");
    }
    for host in [
        "127.0.0.1:9",
        "10.0.0.1:9",
        "[::1]:9",
        "LOCALHOST:9",
        "localhost:9",
        "localhost.:9",
        "127.0.0.1",
        "2130706433:9",
        "0x7f.1:9",
        "127.0.0.1:443",
    ] {
        let error = read_named(&format!("s3://{host}/bucket/a.nc"), None, "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error}");
        assert!(error.message().contains("references.hosts"), "{host}: {error}");
    }
    // A connection is tried, in vain.
    let error = read_named("s3://127.0.0.1:9/bucket/a.nc", None, "127.0.0.1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true }, "{error}");
    let error = read_named("http://[::1]:9/bucket/a.nc#mode=s3", None, "::1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true }, "{error}");
}

#[test]
fn servers_of_buckets_that_only_a_proxy_can_look_up_must_be_allowed() {
    let proxy = ncirrus_testkit::http_server::TestHttpServer::start([]);
    let (address, url) = ("http://store.invalid/bucket/a.nc#mode=s3", proxy.url(""));
    let error = read_named(address, Some(&url), "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.message().contains("cannot be looked up here"), "{error}");
    for address in ["s3://minio.invalid:9000/bucket/a.nc", "s3://s3.store.invalid/bucket/a.nc"] {
        let error = read_named(address, Some(&url), "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{address}: {error}");
    }
    assert!(proxy.requests().is_empty(), "{:?}", proxy.requests());
    assert!(!read_named(address, Some(&url), ".invalid").unwrap(), "the proxy has no such object");
    assert!(proxy.requests().iter().all(|request| request.starts_with("http://store.invalid/bucket/a.nc")));
    assert!(!proxy.requests().is_empty());
}

#[test]
fn a_bucket_is_the_same_by_whatever_name() {
    let home = context(ProcessEnvironment::default());
    refused("s3://b/x.zarr", "s3://b/x.zarr/in.zarr", &home);
    refused("s3://b/x.zarr/in.zarr", "s3://b/x.zarr/", &home);
    refused("s3://b/x.zarr", "https://b.s3.eu-west-3.amazonaws.com/x.zarr/in.zarr", &home);
    refused("s3://b/x.zarr#aws.profile=none", "s3://b/x.zarr", &home);
    allowed("s3://b/x.zarr", "s3://b/x.zarr2", &home);
    allowed("s3://b/x.zarr", "s3://c/x.zarr/in.zarr", &home);
    allowed("s3://b/x.zarr", "s3://127.0.0.1:9000/b/x.zarr", &home);
    allowed("s3://b/x.zarr", "gs://b/x.zarr/in.zarr", &home);
    // What is sent when it is complete.
    assert!(!is_refused("s3://b/x.nc", "s3://b/x.nc", DatasetShape::Object, &home));
    allowed("s3://b/x.zip", "s3://b/x.zip", &home);
    let there = context(ProcessEnvironment::default().with("AWS_ENDPOINT_URL", "http://127.0.0.1:9000"));
    refused("s3://b/x.zarr", "s3://127.0.0.1:9000/b/x.zarr/in.zarr", &there);
    for (other, same) in
        [("s3://127.0.0.1:9000/b/x.nc/", true), ("s3://b/x.nc/y", false), ("s3://c/x.nc", false)]
    {
        assert_eq!(is_same_place("s3://b/x.nc", other, &there).unwrap(), same, "{other}");
    }
    refused("http://127.0.0.1:9000/b/x.zarr", "s3://b/x.zarr", &there);
}

/// What a read of bytes 2 to 5 of an object gives, if the server answers so, and the number of requests.
fn answered(head: &str, body: &[u8]) -> (Result<Option<Vec<u8>>>, usize) {
    use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
    let page = ServerPage::WithStatus(format!("{head}etag: \"1\"\r\n").leak(), body.to_vec());
    let server = TestHttpServer::start([("/bucket/x", page)]);
    let opener = opener(ProcessEnvironment::default());
    let retry_policy = ncirrus_store::RetryPolicy {
        first_wait: std::time::Duration::from_millis(5),
        ..ncirrus_store::RetryPolicy::default()
    };
    let credentials = ncirrus_store::Credentials::Anonymous;
    let options = StoreOptions { credentials, retries: 1, retry_policy, ..StoreOptions::default() };
    let url = Url::parse(&format!("{}#mode=s3", server.url("/bucket/x"))).unwrap();
    let (store, object) = opener.open(&url, &options).unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let read = runtime.block_on(store.get(&object, &ncirrus_layout::Want::Range(2..6)));
    (read.map(|read| read.map(|read| read.bytes.to_vec())), server.requests().len())
}

#[test]
fn ranges_other_than_the_requested_one_are_clear_errors_of_object_stores() {
    let time = "last-modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";
    let part = |range: &str| format!("206 Partial Content\r\n{time}content-range: bytes {range}/10\r\n");
    let (read, requests) = answered(&part("2-5"), b"2345");
    assert_eq!((read.unwrap().unwrap(), requests), (b"2345".to_vec(), 1));
    let multipart =
        format!("206 Partial Content\r\n{time}content-type: multipart/byteranges; boundary=b\r\n");
    let body = b"--b\r\nContent-Range: bytes 2-5/10\r\n\r\n2345\r\n--b--\r\n";
    for (head, body, words) in [
        (part("2-4"), &b"234"[..], "answer has 3 of 4 bytes"),
        (part("1-6"), b"123456", "got 1..7"),
        (format!("200 OK\r\n{time}"), b"0123456789", ""),
        (format!("203 Non-Authoritative Information\r\n{time}"), b"0123456789", ""),
        (multipart, body, ""),
    ] {
        let (read, requests) = answered(&head, body);
        let error = read.unwrap_err();
        assert!(error.message().contains(words), "{head}: {error}");
        assert!(requests <= 4, "{head}: {requests}");
    }
}
