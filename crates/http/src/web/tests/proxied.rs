//! Addresses that a dataset names, behind a proxy: a server of this machine that answers for hosts without addresses here.
use super::*;
use ncirrus_config::ProcessEnvironment;
use ncirrus_store::HostAccess;

/// Reads an address that a dataset at `data.invalid` names.
fn read(proxy: &TestHttpServer, address: &str, allowed: &str) -> Result<Option<ObjectBytes>> {
    let options = StoreOptions {
        hosts: HostAccess::NamedBy(Some("data.invalid".to_owned())),
        allowed_hosts: ncirrus_store::hosts_in(allowed),
        ..options()
    };
    read_with(proxy, address, options)
}

fn read_with(proxy: &TestHttpServer, address: &str, options: StoreOptions) -> Result<Option<ObjectBytes>> {
    let environment = ProcessEnvironment::default().with("NCIRRUS_PROXY", &proxy.url(""));
    let config = Arc::new(ConfigSettings::of_environment(environment));
    let context = NetworkContext { config, ..options.into() };
    let (store, object) = HttpStore::connect(&Url::parse(address)?, &context)?;
    run(store.get(&object, &Want::Range(2..4)))
}

/// A proxy that answers for every host with digits.
fn proxy() -> TestHttpServer {
    TestHttpServer::start([
        ("http://data.invalid/x", ServerPage::Ranged(digits())),
        ("http://other.invalid/x", ServerPage::Ranged(digits())),
        ("http://127.0.0.1/x", ServerPage::Ranged(digits())),
        ("http://moved.invalid/x", ServerPage::Status("302 Found\r\nlocation: http://other.invalid/x\r\n")),
        ("http://inwards.invalid/x", ServerPage::Status("302 Found\r\nlocation: http://127.0.0.1/x\r\n")),
    ])
}

#[test]
fn a_proxy_is_sent_no_name_that_only_it_can_look_up() {
    let proxy = proxy();
    for host in ["other.invalid", "printer.invalid", "OTHER.invalid."] {
        let error = read(&proxy, &format!("http://{host}/x"), "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error}");
        assert!(error.message().contains("cannot be looked up here"), "{host}: {error}");
        let error = read(&proxy, &format!("https://{host}/x"), "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error}");
    }
    assert!(proxy.requests().is_empty(), "{:?}", proxy.requests());
}

#[test]
fn a_proxy_is_sent_no_address_of_a_private_network() {
    let proxy = proxy();
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "169.254.169.254", "10.0.0.1", "[fe80::1]"]
    {
        let error = read(&proxy, &format!("http://{host}/x"), "").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error}");
    }
    assert!(proxy.requests().is_empty(), "{:?}", proxy.requests());
}

#[test]
fn a_proxy_is_sent_what_is_allowed_and_the_host_of_the_dataset() {
    let proxy = proxy();
    for (address, allowed) in [
        ("http://data.invalid/x", ""),
        ("http://other.invalid/x", "other.invalid"),
        ("http://other.invalid/x", ".invalid"),
        ("http://127.0.0.1/x", "127.0.0.1"),
    ] {
        let before = proxy.requests().len();
        assert_eq!(read(&proxy, address, allowed).unwrap().unwrap().bytes.as_ref(), b"23", "{address}");
        assert_eq!(proxy.requests()[before..], [format!("{address} bytes=2-3")]);
    }
}

#[test]
fn redirects_behind_a_proxy_are_checked_too() {
    let proxy = proxy();
    let error = read_with(&proxy, "http://inwards.invalid/x", options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.message().contains("inwards.invalid redirects to 127.0.0.1"), "{error}");
    let error = read(&proxy, "http://moved.invalid/x", "moved.invalid").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.message().contains("moved.invalid redirects to other.invalid"), "{error}");
    assert_eq!(proxy.requests().len(), 2, "{:?}", proxy.requests());
    assert!(read(&proxy, "http://moved.invalid/x", "moved.invalid, other.invalid").unwrap().is_some());
    // The user gave the address, and only the proxy knows the names.
    assert!(read_with(&proxy, "http://moved.invalid/x", options()).unwrap().is_some());
}
