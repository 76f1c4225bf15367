use super::{Url, candidates};
use ncirrus_layout::{ErrorKind, Result};

fn found(name: &str, base: &str) -> Result<Vec<String>> {
    let base = Url::parse(base)?;
    let urls = candidates(name, Some(&base), false)?;
    Ok(urls.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn is(name: &str, base: &str, wanted: &[&str]) {
    assert_eq!(found(name, base).unwrap_or_default(), wanted, "{name} beside {base}");
}

#[track_caller]
fn is_refused(name: &str, base: &str, kind: ErrorKind) {
    assert_eq!(found(name, base).map_err(|error| error.kind()), Err(kind), "{name} beside {base}");
}

#[test]
fn relative_names_lie_beside_the_master() {
    is("a.nc", "m.nca", &["a.nc"]);
    is("f/a.nc", "/data/run/m.nca", &["/data/run/f/a.nc"]);
    is("../a.nc", "/data/run/m.nca", &["/data/run/../a.nc"]);
    is("a.nc", "/data/run/m.zarr/", &["/data/run/a.nc"]);
    is("f/a.nc", "https://host:8080/run/m.nca?signature=x", &["https://host:8080/run/f/a.nc"]);
    is("../a.nc", "s3://bucket/run/m.nca", &["s3://bucket/a.nc"]);
    is("./f//a.nc", "s3://bucket/m.nca", &["s3://bucket/f/a.nc"]);
}

#[test]
fn relative_names_are_taken_literally_and_then_decoded() {
    is("a%20b.nc", "/data/m.nca", &["/data/a%20b.nc", "/data/a b.nc"]);
    is("a b#1.nc", "https://host/m.nca", &["https://host/a%20b%231.nc"]);
    is("a%20b.nc", "https://host/m.nca", &["https://host/a%2520b.nc", "https://host/a%20b.nc"]);
    is("100%.nc", "/data/m.nca", &["/data/100%.nc"]);
    is("a?b#1.nc", "s3://bucket/run/m.nca", &["s3://bucket/run/a%3Fb%231.nc"]);
    is("a%23b.nc", "gs://bucket/m.nca", &["gs://bucket/a%2523b.nc", "gs://bucket/a%23b.nc"]);
}

#[test]
fn absolute_names_are_decoded_first() {
    is("file:///data/a%20b.nc", "m.nca", &["/data/a b.nc", "/data/a%20b.nc"]);
    is("file:/data/a.nc", "m.nca", &["/data/a.nc"]);
    is("file://localhost/data/a.nc", "m.nca", &["/data/a.nc"]);
    is("/data/a.nc", "m.nca", &["/data/a.nc"]);
    is("s3://bucket/a%20b", "m.nca", &["s3://bucket/a b", "s3://bucket/a%20b"]);
    is("s3://bucket/a%23b", "m.nca", &["s3://bucket/a%23b", "s3://bucket/a%2523b"]);
    is("https://host/a.nc", "s3://bucket/m.nca", &["https://host/a.nc"]);
}

#[test]
fn keys_with_escapes_and_marks_are_found_by_the_names_that_are_written_for_them() {
    for (key, written, literal) in [
        ("run%20#1.nc", "run%20%231.nc", "run%20%25231.nc"),
        ("a%20b#c.nc", "a%20b%23c.nc", "a%20b%2523c.nc"),
        ("50%AB#.nc", "50%AB%23.nc", "50%AB%2523.nc"),
    ] {
        let [name, literal] = [written, literal].map(|key| format!("s3://bucket/{key}"));
        let url = Url::parse("s3://bucket/x").unwrap();
        assert_eq!(format!("s3://bucket/{}", url.written_key(key)), name);
        let urls = found(&name, "m.nca").unwrap();
        assert!(urls.contains(&name), "{name}: {urls:?}");
        assert!(urls.contains(&literal), "{literal}: {urls:?}");
        assert!(urls.len() <= 3, "{urls:?}");
    }
    is("s3://b/a%20b%23c", "m.nca", &["s3://b/a b%23c", "s3://b/a%20b%23c", "s3://b/a%20b%2523c"]);
}

#[test]
fn datasets_of_opendap_are_absolute() {
    is("dods://host/a.nc", "m.nca", &["https://host/a.nc"]);
    is("dap4+http://host/a.nc", "m.nca", &["http://host/a.nc"]);
    is("https://host/a.nc#dap2", "/data/m.nca", &["https://host/a.nc"]);
}

#[test]
fn responses_in_files_keep_their_protocol() {
    let found = |name: &str| {
        let base = Url::parse("/data/m.nca")?;
        let urls = candidates(name, Some(&base), false)?;
        let mode = |url: &Url| url.fragment().modes().iter().map(str::to_owned).collect::<Vec<_>>();
        Result::Ok(urls.iter().map(|url| (url.path().to_owned(), mode(url))).collect::<Vec<_>>())
    };
    let at = |path: &str, modes: &[&str]| {
        (path.to_owned(), modes.iter().map(|mode| (*mode).to_owned()).collect::<Vec<_>>())
    };
    let dap2 = [at("/d/a b", &["dap2"]), at("/d/a%20b", &["dap2"])];
    assert_eq!(found("file:///d/a%20b#dap2").unwrap_or_default(), dap2);
    assert_eq!(found("file:/d/x#mode=dap4").unwrap_or_default(), [at("/d/x", &["dap4"])]);
    // Other marks are letters of names.
    let named = [at("/d/a#dap2", &[]), at("/d/a%23dap2", &[])];
    assert_eq!(found("file:///d/a%23dap2").unwrap_or_default(), named);
    assert_eq!(found("file:///d/a#1.nc").unwrap_or_default(), [at("/d/a#1.nc", &[])]);
}

#[test]
fn file_names_that_are_not_absolute_lie_beside_the_master() {
    is("file:a%20b.nc", "/data/m.nca", &["/data/a%20b.nc", "/data/a b.nc"]);
    is("file://f/a.nc", "/data/m.nca", &["/data/f/a.nc"]);
}

#[test]
fn names_that_leave_their_store_are_refused() {
    is_refused("../../a.nc", "s3://bucket/run/m.nca", ErrorKind::Malformed);
    is_refused("../a.nc", "https://host/m.nca", ErrorKind::Malformed);
}

#[test]
fn masters_on_other_machines_name_no_files_of_this_one() {
    is_refused("file:///etc/passwd", "https://host/m.nca", ErrorKind::Denied);
    is_refused("/etc/passwd", "s3://bucket/m.nca", ErrorKind::Denied);
    is_refused("memory://mine/a.nc", "s3://bucket/m.nca", ErrorKind::Denied);
    let base = Url::parse("s3://bucket/m.nca");
    assert!(base.is_ok_and(|base| candidates("file:///data/a.nc", Some(&base), true).is_ok()));
}

#[test]
fn other_schemes_are_named() {
    is_refused("urn:a.nc", "m.nca", ErrorKind::Unsupported);
    is("2020-01-01T00:00.nc", "m.nca", &["2020-01-01T00:00.nc"]);
}

#[test]
fn profiles_of_the_master_hold_for_its_fragments() {
    let base = Url::parse("s3://bucket/m.nca#mode=nczarr&aws.profile=mine");
    let found = base.and_then(|base| candidates("a.nc", Some(&base), false)).unwrap_or_default();
    let fragment = found.first().map(Url::fragment);
    assert_eq!(fragment.and_then(|fragment| fragment.value("aws.profile")), Some("mine"));
    assert!(fragment.is_some_and(|fragment| !fragment.modes().contains("nczarr")));
}
