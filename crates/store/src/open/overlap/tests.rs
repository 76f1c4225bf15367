use super::*;
use crate::config::{ConfigSettings, ProcessEnvironment};

fn check(source: &str, target: &str, shape: DatasetShape, options: &StoreOptions) -> Option<String> {
    let told = check_apart(source, target, shape, options).err()?;
    assert_eq!(told.kind(), ErrorKind::Conflict, "{told}");
    Some(told.to_string())
}

/// What is refused, and that both are named.
#[track_caller]
fn refused(source: &str, target: &str, options: &StoreOptions) {
    let told = check(source, target, DatasetShape::Tree, options).expect("refused");
    let shown = |address: &str| Url::parse(address).expect("an address").to_string();
    assert!(told.contains(&shown(source)) && told.contains(&shown(target)), "{told}");
}

#[track_caller]
fn allowed(source: &str, target: &str, options: &StoreOptions) {
    assert_eq!(check(source, target, DatasetShape::Tree, options), None, "{source} {target}");
}

#[test]
fn a_path_inside_another_is_known_however_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    fs::create_dir_all(at("x.zarr/group")).expect("folders");
    fs::create_dir_all(at("other")).expect("a folder");
    fs::write(at("x.nc"), "").expect("a file");
    let options = StoreOptions::default();
    let (x, url) = (at("x.zarr"), format!("file://{}", at("x.zarr")));
    for inside in ["x.zarr/in.zarr", "x.zarr/in.zarr/", "x.zarr/group/../in.nc", "other/../x.zarr/group"] {
        refused(&x, &at(inside), &options);
        refused(&url, &at(inside), &options);
        refused(&at(inside), &format!("{url}/#mode=nczarr,file"), &options);
    }
    refused(&x, &format!("file://{}", at("x.zarr/in.zarr#mode=zarr,file")), &options);
    for apart in ["x.zarr2", "x.zar", "other/x.zarr", "x.zarr/absent/in.zarr", "x.nc", "x.zarr", "x.zarr/"] {
        allowed(&x, &at(apart), &options);
    }
    // A file is replaced when the new one is complete.
    allowed(&at("x.nc"), &at("x.nc"), &options);
    allowed(&x, "memory://x.zarr/in.zarr", &options);
}

#[cfg(unix)]
#[test]
fn links_hide_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    fs::create_dir_all(at("x.zarr")).expect("a folder");
    std::os::unix::fs::symlink("x.zarr", at("link")).expect("a link");
    refused(&at("x.zarr"), &at("link/in.zarr"), &StoreOptions::default());
    refused(&at("link"), &at("x.zarr/in.zarr"), &StoreOptions::default());
    allowed(&at("link"), &at("in.zarr"), &StoreOptions::default());
}

#[test]
fn prefixes_in_memory_and_of_own_stores_are_compared_by_their_segments() {
    let options = StoreOptions::default();
    refused("memory://m/x.zarr", "memory://m/x.zarr/in.zarr", &options);
    refused("memory://m/a/x.zarr/", "memory://m/a", &options);
    allowed("memory://m/x.zarr", "memory://m/x.zarr", &options);
    allowed("memory://m/x.zarr", "memory://n/x.zarr/in.zarr", &options);
    refused("own://h/x", "own://h/x/y", &options);
    refused("own://h/x", "own://h/x/", &options);
    allowed("own://h/x", "own://h/xy", &options);
}

#[cfg(feature = "cloud")]
#[test]
fn a_bucket_is_the_same_by_whatever_name() {
    let mut options = StoreOptions::default();
    refused("s3://b/x.zarr", "s3://b/x.zarr/in.zarr", &options);
    refused("s3://b/x.zarr/in.zarr", "s3://b/x.zarr/", &options);
    refused("s3://b/x.zarr", "https://b.s3.eu-west-3.amazonaws.com/x.zarr/in.zarr", &options);
    refused("s3://b/x.zarr#aws.profile=none", "s3://b/x.zarr", &options);
    allowed("s3://b/x.zarr", "s3://b/x.zarr2", &options);
    allowed("s3://b/x.zarr", "s3://c/x.zarr/in.zarr", &options);
    allowed("s3://b/x.zarr", "s3://127.0.0.1:9000/b/x.zarr", &options);
    allowed("s3://b/x.zarr", "gs://b/x.zarr/in.zarr", &options);
    // What is sent when it is complete.
    assert_eq!(check("s3://b/x.nc", "s3://b/x.nc", DatasetShape::Object, &options), None);
    allowed("s3://b/x.zip", "s3://b/x.zip", &options);
    let environment = ProcessEnvironment::default().with("AWS_ENDPOINT_URL", "http://127.0.0.1:9000");
    options.config = std::sync::Arc::new(ConfigSettings::of_environment(environment));
    refused("s3://b/x.zarr", "s3://127.0.0.1:9000/b/x.zarr/in.zarr", &options);
    for (other, same) in
        [("s3://127.0.0.1:9000/b/x.nc/", true), ("s3://b/x.nc/y", false), ("s3://c/x.nc", false)]
    {
        assert_eq!(is_same_place("s3://b/x.nc", other, &options).expect("places"), same, "{other}");
    }
    refused("http://127.0.0.1:9000/b/x.zarr", "s3://b/x.zarr", &options);
}
