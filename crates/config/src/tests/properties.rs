//! Laws of all parsers: no input makes them panic.
use super::*;
use proptest::prelude::*;

const TOML: &str = "memory = \"2G\"\n[hosts.a]\nurl = \"http://a:9\"\naccess_key = 'x'\nsecret_key = 'y'\n\
    [http.hosts.\"h.org\"]\nbearer = \"t\"\n[substitutions]\nx = \"y\"\n";
const JSON: &str = r#"{"version": "9", "hosts": {"s3://a": {"url": "http://a", "backend": "b",
    "credentials": {"accessKey": "k", "secretKey": "s"}}}, "backends": {"b": {"maximum_parts": 3}},
    "resource_allocation": {"memory": "1GB"}}"#;
const RC: &str = "A=1\n[https://h.org:80/a]HTTP.CREDENTIALS.USER=me\n[s3://b/k]AWS.PROFILE=p\n# c\nK\n";

/// Reads a text as each kind of file.
fn read_all(text: &str) -> ConfigSettings {
    let mut settings = ConfigSettings::default();
    let path = Path::new("f");
    let _ = file::take(&mut settings, text, path);
    s3nc::take(&mut settings, text, path);
    settings.rc.take(text, path);
    let _ = netrc::parse(text);
    let _ = (settings.shown(), settings.login(&Url::parse("https://h.org:80/a").unwrap()));
    settings
}

#[test]
fn files_that_end_early_are_read_as_far_as_they_go() {
    for whole in [TOML, JSON, RC] {
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            read_all(&whole[..end]);
        }
    }
    assert!(read_all(TOML).host("a").is_some());
    assert!(read_all(JSON).host("a").is_some());
}

proptest! {
    #[test]
    fn nothing_panics(text in "\\PC{0,200}") {
        read_all(&text);
    }

    #[test]
    fn changed_files_do_not_panic(
        whole in prop_oneof![Just(TOML), Just(JSON), Just(RC)],
        at in 0usize..400,
        new in "[\\x00-\\x7f]{0,4}",
    ) {
        let at = at % whole.len();
        let mut text = whole.to_owned();
        text.replace_range(at..=at, &new);
        read_all(&text);
    }

    #[test]
    fn warnings_are_bounded(keys in proptest::collection::vec("[a-z]{5}", 150..200)) {
        let text: String = keys.iter().enumerate().map(|(at, key)| format!("{key}{at} = 1\n")).collect();
        prop_assert!(read_all(&text).warnings().len() <= MAX_WARNINGS);
    }
}
