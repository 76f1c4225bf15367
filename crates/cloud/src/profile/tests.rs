//! The syntax of Amazon's files.
use super::*;
use proptest::prelude::*;

const CONFIG: &str = "\
# a comment
; another
[default]
region = eu-north-1
[profile work]
region=eu-west-1 # near
s3 =
  # nested
  endpoint_url = http://nested
  addressing_style = path
credential_process = run me --now
[profile \"two words\"]
sso_session = us
[sso-session us]
sso_region = us-east-2
[services local]
s3 =
\tendpoint_url = http://localhost:9000
s3api =
  x = y
";
const CREDENTIALS: &str =
    "[work]\naws_access_key_id = AKIA\n; more\naws_session_token = abc==\nregion = other\n";

fn profiles() -> ProfileFiles {
    let mut profiles = ProfileFiles::default();
    profiles.take(CONFIG, Path::new("config"));
    profiles.take(CREDENTIALS, Path::new("credentials"));
    profiles
}

#[test]
fn profiles_have_the_syntax_of_amazon() {
    let profiles = profiles();
    let work = profiles.find(ProfileSection::Profile, "work").unwrap();
    let values =
        ["region", "endpoint_url", "s3.endpoint_url", "credential_process", "aws_access_key_id", "s3"];
    let expected = [Some("other"), None, Some("http://nested"), Some("run me --now"), Some("AKIA"), None];
    assert_eq!(values.map(|key| work.value(key)), expected);
    assert_eq!(work.value("aws_session_token"), Some("abc=="));
    assert_eq!(work.origin("aws_access_key_id"), "credentials:2");
    assert_eq!(
        profiles.find(ProfileSection::Profile, "default").unwrap().value("region"),
        Some("eu-north-1")
    );
    assert_eq!(profiles.find(ProfileSection::Profile, "two words").unwrap().value("sso_session"), Some("us"));
    assert_eq!(
        profiles.find(ProfileSection::SsoSession, "us").unwrap().value("sso_region"),
        Some("us-east-2")
    );
    let services = profiles.find(ProfileSection::Services, "local").unwrap();
    assert_eq!(services.value("s3.endpoint_url"), Some("http://localhost:9000"));
    assert!(profiles.find(ProfileSection::Profile, "Work").is_none());
    assert!(profiles.find(ProfileSection::Profile, "local").is_none());
}

#[test]
fn indentation_counts_from_the_key_above() {
    let text = "[profile a]\n  region = r\n  s3 =\n    endpoint_url = http://n\n\t\n  aws_access_key_id: AKIA\n\
        \x20   more = of it\n output = json\n  [profile b]\n[profile c]\nregion = c\n  [profile d]\n";
    let mut profiles = ProfileFiles::default();
    profiles.take(text, Path::new("config"));
    let a = profiles.find(ProfileSection::Profile, "a").unwrap();
    let keys = ["region", "s3.endpoint_url", "aws_access_key_id", "more", "output"];
    let expected = [Some("r"), Some("http://n"), Some("AKIA"), None, Some("json")];
    assert_eq!(keys.map(|key| a.value(key)), expected);
    let names = ["b", "c", "d"].map(|name| profiles.find(ProfileSection::Profile, name).is_some());
    assert_eq!(names, [false, true, false]);
}

#[test]
fn nothing_secret_is_shown() {
    assert!(!format!("{:?}", profiles()).contains("abc=="));
}

#[test]
fn files_that_end_early_are_read_as_far_as_they_go() {
    for end in 0..=CONFIG.len() {
        let mut profiles = ProfileFiles::default();
        profiles.take(&CONFIG[..end], Path::new("config"));
        let region =
            profiles.find(ProfileSection::Profile, "default").and_then(|found| found.value("region"));
        assert!(region.is_none_or(|region| "eu-north-1".starts_with(region)));
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in "[\\[\\]=#; \\n\\ta-z\"']{0,120}") {
        ProfileFiles::default().take(&text, Path::new("config"));
    }
}
