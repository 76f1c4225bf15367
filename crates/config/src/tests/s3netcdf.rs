//! The file of S3netCDF4 (docs/spec/cfa.md 7.9).
use super::*;

const TEXT: &str = r#"{
  "version": "9",
  "hosts": {
    "s3://minio": {
      "alias": "minio", "api": "S3v4",
      "url": "http://127.0.0.1:9000",
      "credentials": {"accessKey": "AKIAEXAMPLE", "secretKey": "hunter2"},
      "backend": "s3aioFileObject"
    },
    "s3://other": {
      "url": "https://other.example.org", "credentials": {"access_key": "a", "secret_key": "b"},
      "backend": "s3FileObject"
    }
  },
  "backends": {
    "s3aioFileObject": {"maximum_part_size": "50MB", "maximum_parts": 8,
      "enable_multipart_download": true, "enable_multipart_upload": false,
      "connect_timeout": 30.0, "read_timeout": 12.5},
    "s3FileObject": {"part_size": "1TB", "multipart_upload": true}
  },
  "cache_location": "~/cache",
  "resource_allocation": {"memory": "1GB", "file_handles": 20}
}"#;

#[test]
fn every_key_is_read_in_either_spelling() {
    let home = home(&[(".s3nc.json", TEXT)]);
    let settings = gathered(&home, &[]);
    assert_eq!(settings.warnings(), [""; 0]);
    let host = settings.host("minio").unwrap();
    assert_eq!(host.endpoint, "http://127.0.0.1:9000");
    assert_eq!(host.secret_key, Some(SecretText::new("hunter2")));
    assert_eq!(host.origin, ValueOrigin::File(home.path().join(".s3nc.json"), Some(4)));
    let expected = TransferSettings {
        part_size: Some(50_000_000),
        parts: Some(8),
        connect_timeout: Some(Duration::from_secs(30)),
        timeout: Some(Duration::from_millis(12_500)),
        multipart_download: Some(true),
        multipart_upload: Some(false),
    };
    assert_eq!(host.transfer, expected);
    assert_eq!(settings.host("other").unwrap().transfer.part_size, Some(1_000_000_000_000));
    assert_eq!(settings.path(ConfigKey::CacheFolder), Some(home.path().join("cache").as_path()));
    assert_eq!(
        (settings.size(ConfigKey::Memory), settings.count(ConfigKey::Handles)),
        (Some(1_000_000_000), Some(20))
    );
}

#[test]
fn mistakes_are_reported_and_the_rest_is_read() {
    let text = r#"{"version": "8", "hosts": {"s3://a": {"url": "http://a", "colour": 1},
        "s3://b": {"credentials": {"accessKey": "hunter2"}}, "s3://c": 3},
        "resource_allocation": {"memory": "1 lot", "filehandles": 7}, "more": {}}"#;
    let home = home(&[("c.json", text)]);
    let settings = gathered(&home, &[("S3_NC_CONFIG", "~/c.json")]);
    assert_eq!(settings.count(ConfigKey::Handles), Some(7));
    assert!(settings.host("a").is_some() && settings.host("b").is_none());
    let warnings = settings.warnings().join("\n");
    for part in [
        "version is not 9",
        "s3://a.colour: unknown key",
        "s3://b: has no url",
        "s3://c: is not an object",
        "\"1 lot\" is not a size",
        "more: unknown key",
    ] {
        assert!(warnings.replace("version: is", "version is").contains(part), "{part} in {warnings}");
    }
    assert!(!warnings.contains("hunter2"));
}

#[test]
fn an_alias_may_have_a_port() {
    let text = r#"{"version": "9", "hosts": {"s3://lab:9000": {"url": "http://127.0.0.1:7"}}}"#;
    let settings = gathered(&home(&[(".s3nc.json", text)]), &[]);
    let endpoint = |url: &str| settings.bucket(&Url::parse(url).unwrap()).unwrap().unwrap().endpoint;
    assert_eq!(endpoint("s3://lab:9000/bucket/key").as_deref(), Some("http://127.0.0.1:7"));
    assert_eq!(endpoint("s3://lab:9001/bucket/key").as_deref(), Some("http://lab:9001"));
}

#[test]
fn a_backend_that_is_not_there_is_reported() {
    let host = |backend: &str| format!(r#"{{"url": "http://h", "backend": "{backend}"}}"#);
    let text = format!(
        r#"{{"version": "9", "hosts": {{"s3://a": {}, "s3://b": {}}}}}"#,
        host("s3FileObject"),
        host("s3fileobject")
    );
    let settings = gathered(&home(&[(".s3nc.json", &text)]), &[]);
    let [warning] = settings.warnings() else { panic!("{:?}", settings.warnings()) };
    assert!(warning.contains("s3://b.backend: \"s3fileobject\" is not among"), "{warning}");
}

#[test]
fn a_mark_of_byte_order_does_no_harm() {
    let text = "\u{feff}{\"version\": \"9\", \"cache_location\": \"/c\"}";
    let settings = gathered(&home(&[(".s3nc.json", text), (".ncrc", "\u{feff}A=1")]), &[]);
    assert_eq!(settings.path(ConfigKey::CacheFolder), Some(Path::new("/c")));
    assert_eq!(settings.rc("A", &Url::parse("s3://b/k").unwrap()).map(|value| value.value), Some("1"));
}

#[test]
fn a_broken_file_is_a_warning_with_its_place() {
    let home = home(&[(".s3nc.json", "{\n\"hosts\": hunter2"), (".ncrc", "HTTP.TIMEOUT=3")]);
    let settings = gathered(&home, &[]);
    let [warning] = settings.warnings() else { panic!("{:?}", settings.warnings()) };
    assert!(warning.contains(".s3nc.json") && warning.contains("line 2"), "{warning}");
    assert!(!warning.contains("hunter2"), "{warning}");
    assert_eq!(settings.duration(ConfigKey::Timeout), Some(Duration::from_secs(3)));
}

#[test]
fn a_file_that_is_named_and_not_there_is_a_warning() {
    let settings = gathered(&home(&[]), &[("S3_NC_CONFIG", "/nowhere/c.json")]);
    assert_eq!(settings.warnings(), ["/nowhere/c.json: no such file (S3_NC_CONFIG)"]);
}
