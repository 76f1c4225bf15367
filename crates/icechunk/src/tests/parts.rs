//! Names, times, addresses, configurations.
use crate::config::{containers_in, containers_in_yaml};
use crate::config_value::ConfigValue;
use crate::config_yaml;
use crate::id::{NodeName, ObjectName};
use crate::state::StateChoice;
use crate::time;
use ncirrus_layout::{AddressHints, ErrorKind, Limits};
use proptest::prelude::*;

proptest! {
    #[test]
    fn names_of_objects_come_back(bytes: [u8; 12], node: [u8; 8]) {
        let (name, node_name) = (ObjectName::of_bytes(bytes).to_string(), NodeName::of_bytes(node).to_string());
        prop_assert_eq!((name.len(), node_name.len()), (20, 13));
        prop_assert_eq!(ObjectName::parse(&name), Some(ObjectName::of_bytes(bytes)));
        prop_assert_eq!(NodeName::parse(&node_name.to_lowercase()), Some(NodeName::of_bytes(node)));
    }

    #[test]
    fn times_come_back(micros in 0u64..4_000_000_000_000_000) {
        prop_assert_eq!(time::parse(&time::shown(micros)), Some(micros));
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".{0,60}", bytes: Vec<u8>) {
        let _ = (time::parse(&text), ObjectName::parse(&text), config_yaml::parse(text.as_bytes()));
        let _ = containers_in(&bytes, &Limits::default());
        let _ = containers_in_yaml(&bytes.into(), &Limits::default());
    }
}

#[test]
fn the_first_snapshot_has_its_known_name() {
    let first =
        ObjectName::of_bytes([0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34]);
    assert_eq!(first.to_string(), "1CECHNKREP0F1RSTCMT0");
    for odd in
        ["", "1CECHNKREP0F1RSTCMT", "1CECHNKREP0F1RSTCMT1", "1CECHNKREP0F1RSTCM!0", "ICECHNKREP0F1RSTCMT0"]
    {
        assert_eq!(ObjectName::parse(odd), None, "{odd}");
    }
}

#[test]
fn times_are_read_in_every_usual_form() {
    let at = |text: &str| time::parse(text).map(time::shown);
    for (text, expected) in [
        ("2026-05-01", "2026-05-01T00:00:00Z"),
        ("2026-05-01T00:00Z", "2026-05-01T00:00:00Z"),
        ("2026-05-01 10:20", "2026-05-01T10:20:00Z"),
        ("2024-02-29T23:59:59.5Z", "2024-02-29T23:59:59.500000Z"),
        ("2026-05-01T10:20:30+02:00", "2026-05-01T08:20:30Z"),
        ("2026-05-01T00:00:00-0130", "2026-05-01T01:30:00Z"),
        ("1970-01-01", "1970-01-01T00:00:00Z"),
    ] {
        assert_eq!(at(text).as_deref(), Some(expected), "{text}");
    }
    for odd in [
        "",
        "now",
        "2026",
        "2026-13-01",
        "2025-02-29",
        "2026-05-01T25:00",
        "2026-05-01T10",
        "1969-12-31",
        "2026-05-01Tx:00",
    ] {
        assert_eq!(at(odd), None, "{odd}");
    }
}

fn hints(entries: &[(&str, &str)]) -> AddressHints {
    let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    AddressHints { entries: entries.collect(), ..AddressHints::default() }
}

#[test]
fn an_address_names_one_state() {
    let state = |entries: &[(&str, &str)]| StateChoice::of(&hints(entries));
    assert_eq!(state(&[]).unwrap(), StateChoice::Branch("main".into()));
    assert_eq!(state(&[("branch", "dev")]).unwrap(), StateChoice::Branch("dev".into()));
    assert_eq!(state(&[("tag", "v 1")]).unwrap(), StateChoice::Tag("v 1".into()));
    let at = time::parse("2026-05-01").unwrap();
    assert_eq!(state(&[("at", "2026-05-01")]).unwrap(), StateChoice::At("main".into(), at));
    assert_eq!(
        state(&[("branch", "dev"), ("at", "2026-05-01T00:00Z")]).unwrap(),
        StateChoice::At("dev".into(), at)
    );
    for odd in [
        &[("branch", "a"), ("tag", "b")][..],
        &[("tag", "b"), ("at", "2026-05-01")],
        &[("snapshot", "x")],
        &[("at", "yesterday")],
    ] {
        assert_eq!(state(odd).unwrap_err().kind(), ErrorKind::Invalid, "{odd:?}");
    }
}

/// As icechunk writes it.
const YAML: &str = "inline_chunk_threshold_bytes: 512
storage:
  retries:
    max_tries: 1
virtual_chunk_containers:
  http://127.0.0.1:18765/:
    name: null
    url_prefix: http://127.0.0.1:18765/
    store: !http {}
  's3://bucket/it''s/':
    name: \"my store\"
    url_prefix: 's3://bucket/it''s/'
    store: !s3
      region: us-east-1
      anonymous: true
      endpoint_url: null
manifest: null
";

#[test]
fn containers_are_read_from_yaml() {
    let found = containers_in_yaml(&YAML.into(), &Limits::default()).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|container| (container.name.as_deref(), container.prefix.as_str(), container.kind.as_str()))
        .collect();
    assert_eq!(
        shown,
        [(None, "http://127.0.0.1:18765/", "http"), (Some("my store"), "s3://bucket/it's/", "s3")]
    );
    let settings = [("region", "us-east-1"), ("anonymous", "true")];
    assert_eq!(found[1].settings, settings.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn yaml_that_is_nested_too_deeply_is_refused() {
    let text: String = (0..40).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(config_yaml::parse(text.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(config_yaml::parse(b"").unwrap(), ConfigValue::Map(Vec::new()));
}
