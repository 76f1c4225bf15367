//! netCDF's own files (docs/spec/nczarr.md 9.1, 9.2).
use super::*;

fn rc<'a>(settings: &'a ConfigSettings, key: &str, url: &str) -> Option<&'a str> {
    settings.rc(key, &Url::parse(url).unwrap()).map(|value| value.value)
}

#[rstest]
#[case("https://h.org/a/b", Some("host"))]
#[case("https://h.org:8080/a/b", Some("port"))]
#[case("https://h.org:8080/c", Some("all"))]
#[case("https://other.org/a", Some("all"))]
#[case("https://h.org/one", Some("path"))]
#[case("https://h.org/one/more", Some("host"))]
#[case("s3://bkt/data", Some("bucket"))]
#[case("https://s3.eu-west-1.amazonaws.com/bkt/data/", Some("bucket"))]
#[case("https://bkt.s3.amazonaws.com/data", Some("bucket"))]
#[case("s3://bkt/data/x", Some("all"))]
fn an_entry_applies_to_its_host_and_exactly_its_path(#[case] url: &str, #[case] profile: Option<&str>) {
    let text = "\
# comment
  AWS.PROFILE = all
[https://h.org/one]AWS.PROFILE=path
[https://h.org]AWS.PROFILE=host
[https://h.org:8080/a/b]AWS.PROFILE=port
[https://bkt.s3.us-east-1.amazonaws.com/data]AWS.PROFILE=bucket
";
    let home = home(&[(".ncrc", text)]);
    assert_eq!(rc(&gathered(&home, &[]), "AWS.PROFILE", url), profile);
}

#[test]
fn later_files_go_before_earlier_ones_and_the_current_folder_before_the_home() {
    let home = home(&[
        (".ncrc", "A=1\nB=1\nC=1\nD"),
        (".daprc", "B=2\nC=2"),
        (".dodsrc", "C=3"),
        ("here/.ncrc", "A=4"),
    ]);
    let environment = ProcessEnvironment::default().at_home(home.path()).in_folder(home.path().join("here"));
    let settings = ConfigSettings::gather(environment, None).unwrap();
    let all = ["A", "B", "C", "D", "E", "a"].map(|key| rc(&settings, key, "s3://b/k"));
    assert_eq!(all, [Some("4"), Some("2"), Some("3"), Some(""), None, None]);
}

#[test]
fn variables_choose_the_files() {
    let home = home(&[(".ncrc", "A=home"), ("other/.ncrc", "A=other"), ("single", "A=single")]);
    let path = |name: &str| home.path().join(name).display().to_string();
    let find =
        |variables: &[(&str, &str)]| rc(&gathered(&home, variables), "A", "s3://b/k").map(str::to_owned);
    assert_eq!(find(&[]).as_deref(), Some("home"));
    assert_eq!(find(&[("NCRCENV_HOME", &path("other"))]).as_deref(), Some("other"));
    assert_eq!(find(&[("NCRCENV_RC", &path("single"))]).as_deref(), Some("single"));
    assert_eq!(find(&[("NCRCENV_IGNORE", ""), ("NCRCENV_RC", &path("single"))]), None);
}

#[test]
fn keys_for_http_become_settings() {
    let text = "HTTP.PROXY.SERVER=http://p:1\nHTTP.SSL.CAINFO=~/ca.pem\nHTTP.TIMEOUT=7\nHTTP.USERAGENT=me/1\n\
        HTTP.SSL.VALIDATE=0\n[https://h.org]HTTP.TIMEOUT=9\n";
    let home = home(&[(".dodsrc", text)]);
    let settings = gathered(&home, &[]);
    let http = settings.http();
    assert_eq!(http.proxy, Some(SecretText::new("http://p:1")));
    assert_eq!(http.certificates, Some(home.path().join("ca.pem")));
    assert_eq!(http.user_agent.as_deref(), Some("me/1"));
    assert_eq!(settings.duration(ConfigKey::Timeout), Some(Duration::from_secs(7)));
    assert_eq!(settings.warnings().len(), 1);
}

#[test]
fn a_line_for_no_url_is_left_out_and_reported() {
    let home = home(&[(".ncrc", "[h.org]A=1\n[https://h.org:x]A=2\n[]A=3\n[https://[::1]:80/p]A=4\n")]);
    let settings = gathered(&home, &[]);
    assert_eq!(rc(&settings, "A", "https://h.org"), None);
    assert_eq!(rc(&settings, "A", "https://[::1]:80/p"), Some("4"));
    let places: Vec<_> =
        settings.warnings().iter().filter_map(|reported| reported.split(": ").next()).collect();
    let expected = [1, 2, 3].map(|line| format!("{}:{line}", home.path().join(".ncrc").display()));
    assert_eq!(places, expected);
}

#[test]
fn a_single_file_that_is_not_there_is_reported() {
    let settings = gathered(&home(&[]), &[("NCRCENV_RC", "/nowhere/rc")]);
    assert_eq!(settings.warnings(), ["/nowhere/rc: no such file (NCRCENV_RC)"]);
}

#[rstest]
#[case("60/10", 60)]
#[case("on", 90)]
#[case("7", 7)]
fn keepalive_is_written_as_netcdf_has_it(#[case] text: &str, #[case] seconds: u64) {
    let settings = gathered(&home(&[(".ncrc", &format!("HTTP.KEEPALIVE={text}"))]), &[]);
    assert_eq!(settings.duration(ConfigKey::HttpKeepalive), Some(Duration::from_secs(seconds)));
}

#[test]
fn a_wait_of_nothing_is_not_taken() {
    let settings = gathered(&home(&[(".ncrc", "HTTP.TIMEOUT=0")]), &[("NCIRRUS_CONNECT_TIMEOUT", "0s")]);
    let waits = [ConfigKey::Timeout, ConfigKey::ConnectTimeout].map(|key| settings.duration(key));
    assert_eq!((waits, settings.warnings().len()), ([None, None], 2));
}

#[test]
fn plugins_are_not_taken_from_the_current_folder() {
    let home = home(&[("here/.ncrc", "PLUGIN.PATH=/evil")]);
    let environment = ProcessEnvironment::default().at_home(home.path()).in_folder(home.path().join("here"));
    assert_eq!(ConfigSettings::gather(environment, None).unwrap().text(ConfigKey::PluginPath), None);
    let environment = ProcessEnvironment::default().at_home(home.path().join("here"));
    assert_eq!(ConfigSettings::gather(environment, None).unwrap().text(ConfigKey::PluginPath), Some("/evil"));
}

#[test]
fn what_is_said_of_one_address_goes_before_what_is_said_of_all() {
    let text = "HTTP.TIMEOUT=7\nHTTP.USERAGENT=all\n[https://h.org]HTTP.TIMEOUT=9\n[https://h.org/a]HTTP.PROXY.SERVER=http://p:1\n\
        [https://h.org]HTTP.CONNECTTIMEOUT=soon\n[https://h.org]PLUGIN.PATH=/x\n[s3://bkt/k]HTTP.USERAGENT=me\n";
    let home = home(&[(".ncrc", text)]);
    let settings = gathered(&home, &[]);
    let of = |url: &str| settings.of_address(&Url::parse(url).unwrap());
    let own = of("https://h.org/a").unwrap();
    assert_eq!(own.duration(ConfigKey::Timeout), Some(Duration::from_secs(9)));
    assert_eq!(origin_of(&own, ConfigKey::Timeout, &home), ".ncrc:3");
    assert_eq!(
        (own.text(ConfigKey::HttpUserAgent), own.text(ConfigKey::HttpProxy)),
        (Some("all"), Some("http://p:1"))
    );
    assert_eq!((own.duration(ConfigKey::ConnectTimeout), own.text(ConfigKey::PluginPath)), (None, None));
    assert_eq!(of("https://h.org/b").unwrap().text(ConfigKey::HttpProxy), None);
    assert_eq!(of("https://s3.amazonaws.com/bkt/k").unwrap().text(ConfigKey::HttpUserAgent), Some("me"));
    assert!(of("https://other.org/a").is_none());
    assert_eq!(settings.proxy_of(&Url::parse("https://h.org/a").unwrap()).unwrap().0, "http://p:1");
    let settings = gathered(&home, &[("NCIRRUS_TIMEOUT", "1s"), ("NCIRRUS_PROXY", "http://q:1")]);
    assert!(
        settings.of_address(&Url::parse("https://h.org/a").unwrap()).unwrap().duration(ConfigKey::Timeout)
            == Some(Duration::from_secs(1))
    );
}

#[test]
fn keys_without_effect_are_shown_with_the_reason() {
    let home = home(&[(".ncrc", "HTTP.DEFLATE=1\n[https://h.org]HTTP.SSL.VALIDATE=0\nHTTP.TIMEOUT=7\n")]);
    let settings = gathered(&home, &[]);
    let shown: Vec<_> =
        settings.shown().into_iter().filter_map(|shown| Some((shown.name, shown.without_effect?))).collect();
    assert_eq!(
        shown.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["rc.HTTP.DEFLATE", "rc.[h.org]HTTP.SSL.VALIDATE"]
    );
    assert_eq!(settings.warnings().len(), 1, "whoever wants no checks is told: {:?}", settings.warnings());
}

#[test]
fn keys_that_the_program_sets_go_before_files_and_variables() {
    let home = home(&[(
        ".ncrc",
        "HTTP.TIMEOUT=7\nHTTP.USERAGENT=file\nAWS.PROFILE=file\nA=file\n[https://h.org]A=host",
    )]);
    let environment = ProcessEnvironment::default().at_home(home.path()).with("NCIRRUS_TIMEOUT", "8s");
    let keys = [
        ("HTTP.TIMEOUT", "5"),
        ("HTTP.TIMEOUT", "9"),
        ("AWS.PROFILE", "own"),
        ("A", "own"),
        ("HTTP.NETRC", ""),
    ];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings = ConfigSettings::gather_with(environment, None, &keys).unwrap();
    assert_eq!(settings.duration(ConfigKey::Timeout), Some(Duration::from_secs(9)));
    assert_eq!(settings.origin(ConfigKey::Timeout), Some(&ValueOrigin::Program));
    assert_eq!(settings.text(ConfigKey::HttpUserAgent), Some("file"));
    assert_eq!(rc(&settings, "AWS.PROFILE", "s3://b/k"), Some("own"));
    // One that names the host goes before one for all, wherever they come from.
    let found = ["https://other.org", "https://h.org"].map(|url| rc(&settings, "A", url));
    assert_eq!(found, [Some("own"), Some("host")]);
}

#[test]
fn an_invalid_value_of_the_program_is_reported() {
    let keys = [("HTTP.TIMEOUT".to_owned(), "soon".to_owned())];
    let environment = ProcessEnvironment::default().with("NCIRRUS_TIMEOUT", "8s");
    let settings = ConfigSettings::gather_with(environment, None, &keys).unwrap();
    assert_eq!(settings.duration(ConfigKey::Timeout), Some(Duration::from_secs(8)));
    assert!(
        settings.warnings().iter().any(|reported| reported.starts_with("the program: timeout: ")),
        "{:?}",
        settings.warnings()
    );
}
