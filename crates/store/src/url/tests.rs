//! The tables of docs/spec/nczarr.md 8.
use super::*;
use proptest::prelude::*;
use rstest::rstest;

fn parsed(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn modes(text: &str) -> Vec<String> {
    parsed(text).fragment().modes().iter().map(str::to_owned).collect()
}

#[rstest]
#[case("file:///p#mode=nczarr,file", "/p", &["nczarr", "file"])]
#[case("file:///p#mode=nczarr", "/p", &["nczarr"])]
#[case("file:///p#mode=zarr", "/p", &["zarr", "nczarr"])]
#[case("file:///p#mode=zarr3", "/p", &["zarr3", "nczarr"])]
#[case("file:///p#zarr", "/p", &["nczarr", "zarr"])]
#[case("file:///p#xarray", "/p", &["zarr", "nczarr"])]
#[case("file:///p#noxarray", "/p", &["nczarr", "noxarray", "zarr"])]
#[case("file:///p#mode=xarray", "/p", &["xarray", "zarr", "nczarr"])]
#[case("file://rel#mode=nczarr", "rel", &["nczarr"])]
#[case("file://rel.zarr/sub#mode=nczarr", "rel.zarr/sub", &["nczarr"])]
#[case("file://localhost/p", "localhost/p", &[])]
#[case("file:/p#mode=nczarr,file", "/p", &["nczarr", "file"])]
#[case("file:///p#mode=nczarr&mode=file", "/p", &["nczarr", "file"])]
#[case("[mode=nczarr,file]file:///p", "/p", &["nczarr", "file"])]
#[case("[mode=nczarr][log]file:///p#mode=zip", "/p", &["nczarr", "zip"])]
#[case("file:///p#mode=nczarr,strange,file", "/p", &["nczarr", "strange", "file"])]
#[case("file:///p/#mode=nczarr", "/p/", &["nczarr"])]
#[case("file:///a b%20c\\d?query#mode=nczarr", "/a b%20c\\d", &["nczarr"])]
#[case("file:///p#nczarr", "/p", &[])]
#[case("file:///p#mode=NCZARR", "/p", &["NCZARR"])]
#[case("file:///p#mode=nczarr,bytes", "/p", &["bytes"])]
#[case("file:///p#bytes", "/p", &["bytes"])]
#[case("file:///p#mode=noxarray,xarray", "/p", &["noxarray", "nczarr", "zarr"])]
#[case("file:///p", "/p", &[])]
fn file_urls(#[case] text: &str, #[case] path: &str, #[case] expected: &[&str]) {
    let url = parsed(text);
    assert_eq!((url.scheme(), url.path()), (Scheme::File, path));
    assert_eq!(modes(text), expected);
}

#[rstest]
#[case("data/x.zarr", "data/x.zarr", None)]
#[case("/data/x#1.nc", "/data/x#1.nc", None)]
#[case("/data/x.zarr#mode=zarr,zip", "/data/x.zarr", Some("/data/x.zarr#mode=zarr,zip"))]
#[case("/data/x.zarr#zarr", "/data/x.zarr", Some("/data/x.zarr#zarr"))]
#[case("#zarr", "#zarr", None)]
#[case("[a]x.nc", "[a]x.nc", None)]
#[case("C:\\data\\x.nc", "C:\\data\\x.nc", None)]
#[case("c:/data/x.nc", "c:/data/x.nc", None)]
#[case("12:30.nc", "12:30.nc", None)]
#[case("foo:/bar", "foo:/bar", None)]
fn bare_paths(#[case] text: &str, #[case] path: &str, #[case] whole: Option<&str>) {
    let url = parsed(text);
    assert_eq!((url.scheme(), url.path(), url.whole_path()), (Scheme::File, path, whole));
}

#[rstest]
#[case("http://h/p", Scheme::Http, &[])]
#[case("https://h/p", Scheme::Https, &[])]
#[case("HTTPS://h/p", Scheme::Https, &[])]
#[case("dods://h/p", Scheme::Https, &["dap2"])]
#[case("dap4://h/p", Scheme::Https, &["dap4"])]
#[case("dap2://h:8080/p", Scheme::Http, &["dap2"])]
#[case("dap4://127.0.0.1/p", Scheme::Http, &["dap4"])]
#[case("dap2+http://h/p", Scheme::Http, &["dap2"])]
#[case("[protocol=dap4]http://h/p", Scheme::Http, &["dap4"])]
#[case("s3://b/p", Scheme::S3, &["s3"])]
#[case("s3://b/p#s3", Scheme::S3, &["s3", "nczarr"])]
#[case("gs3://b/p", Scheme::Gs, &["gs3"])]
#[case("gs://b/p", Scheme::Gs, &[])]
#[case("az://b/p", Scheme::Azure, &[])]
#[case("abfss://b@a.dfs.core.windows.net/p", Scheme::Azure, &[])]
#[case("memory://name/p", Scheme::Memory, &[])]
#[case("Own-Store://name/p", Scheme::Other, &[])]
fn schemes(#[case] text: &str, #[case] scheme: Scheme, #[case] expected: &[&str]) {
    assert_eq!(parsed(text).scheme(), scheme);
    assert_eq!(parsed(text).path(), "/p");
    assert_eq!(modes(text), expected);
}

#[rstest]
#[case("http:///x", "the URL has no host")]
#[case("http://h:port/x", "port \"port\" is not a number from 0 to 65535")]
#[case("http://h:65536/x", "port \"65536\" is not a number from 0 to 65535")]
#[case("http://[::1/x", "write a host in brackets as [::1] or [::1]:port")]
#[case("http://[::1]x/x", "write a host in brackets as [::1] or [::1]:port")]
#[case("http://u:@:80/x", "the URL has no host")]
#[case("", "address is empty")]
#[case("a\0b", "\"a\\0b\" contains a NUL")]
#[case("https://h.org/\0e9", "\"https://h.org/\\0e9\" contains a NUL")]
fn bad_urls(#[case] text: &str, #[case] message: &str) {
    assert_eq!(Url::parse(text).unwrap_err().message(), message);
}

#[cfg(unix)]
#[test]
fn local_paths_need_not_be_utf8() {
    for (text, path) in [("\0e9.nc", "\0e9.nc"), ("file:///a/\0e9.zarr#mode=zarr", "/a/\0e9.zarr")] {
        let url = parsed(text);
        assert_eq!((url.scheme(), url.path()), (Scheme::File, path));
        assert!(url.anchored().path().ends_with(path), "{url}");
    }
}

#[rstest]
#[case("https://me:hunter/2@h.org/x")]
#[case("https://me:hunter?2@h.org/x")]
#[case("https://me:hunter#2@h.org/x")]
fn a_password_that_is_cut_in_two_is_not_shown_as_a_port(#[case] text: &str) {
    let message = Url::parse(text).unwrap_err().message().to_owned();
    assert!(message.contains("%2F") && !message.contains("hunter"), "{message}");
}

#[test]
fn user_and_password_have_escapes() {
    let url = parsed("https://a%40b.org:p%3A%2F%23@h.org/x");
    assert_eq!(url.credentials(), Some(("a@b.org", Some("p:/#"))));
}

#[rstest]
#[case("https://bkt.s3.eu-west-1.amazonaws.com/a/b/", "s3://bkt", Some("eu-west-1"), "a/b")]
#[case("https://bkt.s3.amazonaws.com/a/b", "s3://bkt", None, "a/b")]
#[case("https://Bkt.x.S3.amazonaws.com/a", "s3://Bkt.x", None, "a")]
#[case("https://bkt.s3.dualstack.eu-west-1.amazonaws.com/a", "s3://bkt", Some("eu-west-1"), "a")]
#[case("https://s3.eu-west-1.amazonaws.com/bkt/a/b", "s3://bkt", Some("eu-west-1"), "a/b")]
#[case("https://s3.amazonaws.com/bkt/a%20b", "s3://bkt", None, "a b")]
#[case("https://s3.amazonaws.com/bkt/a+b%2Bc%23%3F%", "s3://bkt", None, "a+b+c#?%")]
#[case("https://s3.cn-north-1.amazonaws.com.cn/bkt/a", "s3://bkt", Some("cn-north-1"), "a")]
#[case("https://s3-us-gov-west-1.amazonaws.com/bkt/a", "s3://bkt", Some("us-gov-west-1"), "a")]
#[case("https://my.bkt.s3-us-west-2.amazonaws.com/a", "s3://my.bkt", Some("us-west-2"), "a")]
#[case("https://bkt.s3-accelerate.amazonaws.com/a", "s3://bkt", None, "a")]
#[case("https://s3-eu-west-1.s3.amazonaws.com/a", "s3://s3-eu-west-1", None, "a")]
#[case("s3://bkt.s3.eu-west-1.amazonaws.com/a%20b/c", "s3://bkt", Some("eu-west-1"), "a%20b/c")]
#[case("s3://s3.dualstack.eu-west-1.amazonaws.com/bkt/a", "s3://bkt", Some("eu-west-1"), "a")]
#[case("s3://bkt/a b+c%20d:e", "s3://bkt", None, "a b+c%20d:e")]
#[case("s3://bkt/run%20%231%3f 50%25%%2523", "s3://bkt", None, "run%20#1? 50%%%23")]
#[case("s3://localhost:9000/bkt/a%23b", "http://localhost:9000/bkt", None, "a#b")]
#[case("s3://bkt/\u{e9}//x/", "s3://bkt", None, "\u{e9}//x")]
#[case("s3://bkt//a", "s3://bkt", None, "/a")]
#[case("s3://localhost:9000/bkt//a//", "http://localhost:9000/bkt", None, "/a")]
#[case("s3://bkt/a/b#aws.region=us-west-2", "s3://bkt", Some("us-west-2"), "a/b")]
#[case("s3://bkt", "s3://bkt", None, "")]
#[case("https://storage.googleapis.com/bkt/a", "gs://bkt", None, "a")]
#[case("https://my.bkt.storage.googleapis.com/a%20b", "gs://my.bkt", None, "a b")]
#[case("gs3://bkt/a", "gs://bkt", None, "a")]
#[case("gs://bkt/a", "gs://bkt", None, "a")]
#[case("https://h.org/bkt/a#mode=s3", "https://h.org/bkt", None, "a")]
#[case("http://localhost:9000/bkt/a#mode=nczarr,s3", "http://localhost:9000/bkt", None, "a")]
#[case("https://bkt.s3.r1.some.org/a#mode=s3", "https://s3.r1.some.org/bkt", Some("r1"), "a")]
#[case("https://longer-bucket.s3.r1.some.org/a#s3", "https://s3.r1.some.org/longer-bucket", Some("r1"), "a")]
#[case("https://s3.r1.some.org/bkt/a#mode=s3", "https://s3.r1.some.org/bkt", Some("r1"), "a")]
#[case("https://s3.some.org/bkt/a#mode=s3", "https://s3.some.org/bkt", None, "a")]
#[case("s3://localhost:9000/bkt/a/b", "http://localhost:9000/bkt", None, "a/b")]
#[case("s3://127.0.0.1/bkt/a", "http://127.0.0.1/bkt", None, "a")]
#[case("s3://[::1]:9000/bkt/a", "http://[::1]:9000/bkt", None, "a")]
#[case("s3://minio:443/bkt/a", "https://minio:443/bkt", None, "a")]
#[case("s3://store.example.org:9000/bkt/a", "https://store.example.org:9000/bkt", None, "a")]
#[case("s3://s3.example.org/bkt/a", "https://s3.example.org/bkt", None, "a")]
#[case("s3://store.s3-ext.jc.example.org/bkt/a", "https://store.s3-ext.jc.example.org/bkt", None, "a")]
#[case("s3://s3.eu-west-1.amazonaws.com/bkt/a", "s3://bkt", Some("eu-west-1"), "a")]
#[case("s3://my.dotted.bucket/a", "s3://my.dotted.bucket", None, "a")]
#[case("s3://bkt/a#mode=bytes,awsregion=us-west-2", "s3://bkt", Some("us-west-2"), "a")]
#[case("abfss://box@acc.dfs.core.windows.net/a", "az://box@acc", None, "a")]
#[case("az://box/a/b", "az://box", None, "a/b")]
#[case("abfs://box@acc.dfs.core.windows.net/a/b", "az://box@acc", None, "a/b")]
fn buckets(#[case] text: &str, #[case] address: &str, #[case] region: Option<&str>, #[case] key: &str) {
    let bucket = parsed(text).bucket().unwrap().unwrap();
    assert_eq!(
        (bucket.address().as_str(), bucket.region.as_deref(), bucket.key.as_str()),
        (address, region, key)
    );
}

#[rstest]
#[case("https://h.org/bkt/a")]
#[case("https://elsewhere.amazonaws.com/x")]
#[case("https://amazonaws.com.evil.org/x")]
#[case("https://bkt.s3-website-eu-west-1.amazonaws.com/x")]
#[case("https://point-1.s3-accesspoint.eu-west-1.amazonaws.com/x")]
#[case("/a/b")]
fn no_buckets(#[case] text: &str) {
    assert_eq!(parsed(text).bucket().unwrap(), None);
}

#[test]
fn a_missing_bucket_is_an_error() {
    assert_eq!(
        parsed("https://s3.amazonaws.com/").bucket().unwrap_err().message(),
        "https://s3.amazonaws.com/ does not name a bucket"
    );
}

#[rstest]
#[case("/a/b.v4.10.1", "b.v4.10")]
#[case("data.zip", "data")]
#[case("/a/data", "data")]
#[case("/a/b.zarr/", "")]
#[case("", "")]
fn names(#[case] path: &str, #[case] name: &str) {
    assert_eq!(dataset_name(path), name);
}

#[test]
fn the_first_deciding_word_chooses_the_implementation() {
    let choose = |text: &str| parsed(text).fragment().modes().implementation().map(str::to_owned);
    assert_eq!(choose("http://h/p#mode=bytes"), Some("bytes".to_owned()));
    assert_eq!(choose("http://h/p#mode=file,netcdf-4,zarr"), Some("netcdf-4".to_owned()));
    assert_eq!(choose("http://h/p#mode=udf3"), Some("udf3".to_owned()));
    assert_eq!(choose("http://h/p#mode=udf33,file"), None);
}

#[test]
fn other_keys_are_passed_on() {
    let url = parsed("[log]s3://b/k#mode=s3&aws.profile=me&show=fetch&log=file&bytes=1");
    let entries: Vec<_> = url.fragment().entries().collect();
    assert_eq!(
        entries,
        [("log", ""), ("aws.profile", "me"), ("show", "fetch"), ("log", "file"), ("bytes", "1")]
    );
    assert_eq!(url.fragment().value("log"), Some("file"));
}

#[test]
fn keys_may_stand_among_the_modes() {
    let url = parsed("s3://b/k#mode=s3,awsprofile=me,bytes&requester_pays");
    assert_eq!(url.fragment().profile(), Some(("awsprofile", "me")));
    assert_eq!(url.fragment().requester_pays(), Some(true));
    assert_eq!(modes("s3://b/k#mode=s3,awsprofile=me,bytes"), ["s3", "bytes"]);
}

#[rstest]
#[case("s3://b/k?versionId=a%2Fb", Some("a/b"))]
#[case("https://b.s3.amazonaws.com/k?x=1&versionId=v", Some("v"))]
#[case("s3://b/k?versionId=", None)]
#[case("s3://b/k", None)]
fn versions_stand_in_the_query(#[case] text: &str, #[case] version: Option<&str>) {
    assert_eq!(parsed(text).version().as_deref(), version);
}

#[test]
fn secrets_are_never_shown() {
    let url = parsed("https://me:hunter2@h.org:8443/x.nc?X-Amz-Signature=hunter2#token=hunter2");
    assert_eq!(url.to_string(), "https://h.org:8443/x.nc");
    assert!(!format!("{url:?}").contains("hunter2"));
    assert_eq!(url.credentials(), Some(("me", Some("hunter2"))));
    assert_eq!(url.query(), Some("X-Amz-Signature=hunter2"));
    assert_eq!(url.port(), Some(8443));
}

#[test]
fn a_container_is_no_secret() {
    let text = "abfs://box@acc.dfs.core.windows.net/a";
    assert_eq!(parsed(text).to_string(), text.replace("abfs", "az"));
    let again = parsed(&parsed(text).to_string());
    assert_eq!(again.bucket().unwrap(), parsed(text).bucket().unwrap());
}

#[test]
fn hosts_may_be_numbers_in_brackets() {
    let url = parsed("http://[::1]:9000/x");
    assert_eq!((url.host(), url.port()), ("[::1]", Some(9000)));
    assert_eq!(parsed("http://[::1]/x").port(), None);
}

proptest! {
    #[test]
    fn parsing_never_panics_and_shows_no_password(text in ".{0,60}", host in "[a-z]{1,8}", path in "[^?#@:\0]{0,20}") {
        if let Ok(url) = Url::parse(&text) {
            let _ = (url.to_string(), url.bucket(), url.name().len());
        }
        let url = Url::parse(&format!("https://u:hunter2@{host}/{path}?q=hunter2#k=hunter2")).unwrap();
        let shown = format!("{url} {url:?}");
        prop_assert!(!shown.contains("hunter2"));
    }

    #[test]
    fn inference_is_a_fixed_point(words in proptest::collection::vec(prop_oneof![
        Just("zarr"), Just("xarray"), Just("noxarray"), Just("bytes"), Just("nczarr"), Just("file"), Just("")], 0..6)) {
        let once = UrlModes::infer(words);
        let twice = UrlModes::infer(once.iter());
        prop_assert!(twice.iter().all(|word| once.contains(word) || !once.contains("bytes")));
        prop_assert_eq!(&UrlModes::infer(twice.iter()), &twice);
    }

    #[test]
    fn bare_paths_are_kept_as_they_are(path in "[a-zA-Z0-9_ ./]{1,30}") {
        let url = Url::parse(&path).unwrap();
        prop_assert_eq!(url.path(), path.as_str());
        prop_assert_eq!(url.scheme(), Scheme::File);
    }
}

#[test]
fn written_keys_are_read_again_from_every_kind_of_address() {
    for address in [
        "s3://b",
        "s3://localhost:9000/b",
        "gs://b",
        "az://b",
        "https://h.org/b#mode=s3",
        "https://storage.googleapis.com/b",
    ] {
        let url = parsed(address);
        let (place, fragment) = address.split_once('#').unwrap_or((address, ""));
        for key in ["a#b", "a?b=c&d", "100%", "a%23b", "a b/\u{e9}%2523", "#", "a+b"] {
            let text = format!("{place}/x/{}#{fragment}", url.written_key(key));
            assert_eq!(parsed(&text).bucket().unwrap().unwrap().key, format!("x/{key}"), "{text}");
        }
    }
    assert_eq!(parsed("memory://m/a%23b").memory_key(), "a#b");
    assert_eq!(parsed("/a/b").written_key("a#b?c%23"), "a#b?c%23");
}

#[test]
fn names_of_fsspec_have_no_escapes() {
    for (name, key, version, profile) in [
        ("s3://b/a#1 50%23?.nc", "a#1 50%23?.nc", None, None),
        ("s3://b/a#1.nc?versionId=7#aws.profile=p", "a#1.nc", Some("7"), Some("p")),
        ("s3://b/a.nc#mode=s3", "a.nc", None, None),
        ("gs://b/x/a%25", "x/a%25", None, None),
    ] {
        let url = Url::of_plain_name(name).unwrap();
        assert_eq!(url.bucket().unwrap().unwrap().key, key);
        assert_eq!(url.version().as_deref(), version, "{name}");
        assert_eq!(url.fragment().profile().map(|(_, name)| name), profile, "{name}");
    }
    for name in ["https://h.org/a%23b?c#dap4", "/a/b#c", "s3://b", "file:///a#b"] {
        assert_eq!(Url::of_plain_name(name).unwrap(), parsed(name), "{name}");
    }
}
