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
