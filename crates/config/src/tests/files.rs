//! The configuration file.
use super::*;

const PLACE: &str = ".config/ncirrus/config.toml";

#[test]
fn every_table_is_read() {
    let text = r#"
memory = 1000
plugin_path = ["/a", "/b"]
anonymous = true

[http]
proxy = "http://proxy:3128"
[http.hosts."Data.Example.org"]
user = "me"
password = "hunter2"

[hosts.store]
url = "http://store.example.org:9000/"
access_key = "AKIAEXAMPLE"
secret_key = "hunter2"
part_size = "8M"
read_timeout = 5

[substitutions]
base = "/data"
"#;
    let home = home(&[(PLACE, text)]);
    let settings = gathered(&home, &[]);
    assert_eq!(settings.warnings(), [""; 0]);
    assert_eq!(settings.size(ConfigKey::Memory), Some(1000));
    assert_eq!(settings.text(ConfigKey::PluginPath), Some("/a:/b"));
    assert_eq!(settings.flag(ConfigKey::Anonymous), Some(true));
    assert_eq!(settings.http().proxy, Some(SecretText::new("http://proxy:3128")));
    let host = settings.host("store").unwrap();
    assert_eq!(host.endpoint, "http://store.example.org:9000");
    assert_eq!(
        (host.transfer.part_size, host.transfer.timeout),
        (Some(8 << 20), Some(Duration::from_secs(5)))
    );
    assert_eq!(settings.host_at("http://store.example.org:9000").map(|(alias, _)| alias), Some("store"));
    let substitutions: Vec<_> =
        settings.substitutions().map(|(name, value)| (name, value.value.as_str())).collect();
    assert_eq!(substitutions, [("base", "/data")]);
}

#[test]
fn lists_are_taken_where_there_may_be_several() {
    let text = "memory = [1, 2]\n[http]\nno_proxy = [\"a.org\", \"b.org\"]\n";
    let settings = gathered(&home(&[(PLACE, text)]), &[]);
    assert_eq!(settings.text(ConfigKey::HttpNoProxy), Some("a.org,b.org"));
    assert_eq!(settings.warnings().len(), 1);
}

#[rstest]
#[case("s3://bkt/a?X-Sig=hunter2", Some("only versionId="))]
#[case("s3://bkt/a?hunter2", Some("a ? in a key is written %3F"))]
#[case("s3://bkt/a%3Fb", None)]
#[case("s3://bkt/a?versionId=1&x=hunter2", Some("only versionId="))]
#[case("az://box/a?sig=hunter2", Some("only versionId="))]
#[case("s3://AKIA:hunter2@bkt/a", Some("name a profile"))]
#[case("gs://me:hunter2@bkt/a", Some("name a profile"))]
#[case("s3://lab/bkt/a?x", Some("only versionId="))]
#[case("s3://bkt/a?versionId=", Some("only versionId="))]
#[case("s3://bkt/a?versionId=1&versionId=2", Some("only versionId="))]
#[case("s3://bkt/a?versionId=1", None)]
#[case("s3://bkt/a?", None)]
#[case("abfs://box@acc.dfs.core.windows.net/a", None)]
#[case("https://bkt.s3.amazonaws.com/a?X-Amz-Signature=hunter2", None)]
fn nothing_in_the_address_of_a_bucket_is_left_out_without_a_word(
    #[case] address: &str,
    #[case] says: Option<&str>,
) {
    let settings = gathered(&home(&[(PLACE, "[hosts.lab]\nurl = \"http://127.0.0.1:1\"\n")]), &[]);
    let reported = settings.bucket(&Url::parse(address).unwrap()).err().map(|error| error.to_string());
    assert_eq!(reported.is_some(), says.is_some(), "{reported:?}");
    assert!(
        reported.iter().all(|reported| reported.contains(says.unwrap()) && !reported.contains("hunter2")),
        "{reported:?}"
    );
}

#[test]
fn mistakes_are_reported_and_the_rest_is_read() {
    let text = "memroy = 1\nmemory = \"lots\"\ntimeout = 2\n[hosts.bad]\nregion = \"x\"\n[hosts.odd]\nurl = \"h\"\ncolour = 1\n";
    let home = home(&[(PLACE, text)]);
    let settings = gathered(&home, &[]);
    assert_eq!(settings.duration(ConfigKey::Timeout), Some(Duration::from_secs(2)));
    assert_eq!(settings.host("odd").map(|host| host.endpoint.as_str()), Some("https://h"));
    let place = home.path().join(PLACE).display().to_string();
    let mut warnings: Vec<String> =
        settings.warnings().iter().map(|text| text.replace(&place, "F")).collect();
    warnings.sort();
    let expected = [
        "F:1: unknown key memroy",
        "F:2: memory: \"lots\" is not a size such as 500M or 2G",
        "F:4: host bad has no url",
        "F:8: unknown key odd.colour",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_broken_file_at_its_usual_place_is_a_warning() {
    let home = home(&[(PLACE, "memory = 1\nsecret = \"hunter2")]);
    let settings = gathered(&home, &[("NCIRRUS_THREADS", "3")]);
    assert_eq!(settings.count(ConfigKey::Threads), Some(3));
    let [warning] = settings.warnings() else { panic!("{:?}", settings.warnings()) };
    assert!(warning.contains("config.toml:2"), "{warning}");
    assert!(!warning.contains("hunter2"), "{warning}");
}

#[test]
fn a_file_that_is_named_must_be_there_and_whole() {
    let home = home(&[("broken.toml", "memory = ")]);
    let environment = || ProcessEnvironment::default().at_home(home.path());
    let missing = ConfigSettings::gather(environment(), Some(&home.path().join("none.toml"))).unwrap_err();
    assert_eq!(missing.kind(), ncirrus_layout::ErrorKind::NotFound);
    let broken =
        ConfigSettings::gather(environment().with("NCIRRUS_CONFIG", "~/broken.toml"), None).unwrap_err();
    assert!(broken.to_string().contains("broken.toml:1"), "{broken}");
}

#[test]
fn the_file_lies_where_the_variables_say() {
    let home = home(&[("x/ncirrus/config.toml", "memory = 1"), ("mine.toml", "memory = 2")]);
    let folder = home.path().join("x").display().to_string();
    assert_eq!(gathered(&home, &[("XDG_CONFIG_HOME", &folder)]).size(ConfigKey::Memory), Some(1));
    let both = [("XDG_CONFIG_HOME", folder.as_str()), ("NCIRRUS_CONFIG", "~/mine.toml")];
    assert_eq!(gathered(&home, &both).size(ConfigKey::Memory), Some(2));
}

#[test]
fn the_template_sets_nothing_and_its_lines_set_every_key() {
    let template = ConfigSettings::template();
    let home = home(&[(PLACE, template.as_str())]);
    let settings = gathered(&home, &[]);
    assert!(settings.warnings().is_empty(), "{:?}", settings.warnings());
    assert!(ConfigKey::all().all(|key| settings.origin(key).is_none()));
    assert_eq!(settings.file_place().unwrap(), home.path().join(PLACE));
    let lines = template.lines().skip(3).map(|line| line.strip_prefix("# ").unwrap_or(line));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let home = super::home(&[(PLACE, text.as_str())]);
    let settings = gathered(&home, &[]);
    assert!(
        settings.warnings().iter().all(|warning| !warning.contains("unknown key")),
        "{:?}",
        settings.warnings()
    );
    for key in ConfigKey::all() {
        assert!(settings.origin(key).is_some(), "{key}");
    }
    assert!(settings.host("lab").is_some());
}
