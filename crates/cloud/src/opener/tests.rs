//! Different addresses of the same object.
use super::*;
use ncirrus_config::ProcessEnvironment;
use ncirrus_layout::ErrorKind;
use ncirrus_store::{DatasetShape, StoreContext, check_apart, is_same_place};

fn context(environment: ProcessEnvironment) -> StoreContext {
    let (connections, identities) = (ConnectionPool::default(), CredentialRegistry::default());
    let config = Arc::new(ConfigSettings::of_environment(environment));
    let mut context = StoreContext::default();
    let codes = MfaCodes::default();
    context.schemes.add(Arc::new(CloudOpener { config, connections, identities, codes }));
    context
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
    let opener = CloudOpener {
        config: Arc::new(ConfigSettings::of_environment(environment)),
        connections: ConnectionPool::default(),
        identities: CredentialRegistry::default(),
        codes: MfaCodes::default(),
    };
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
    // A connection is tried, in vain.
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
