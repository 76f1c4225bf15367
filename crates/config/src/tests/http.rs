//! Credentials for web servers.
use super::*;

const NETRC: &str = "machine h.org login me password hunter2 # mine\nmachine urs.earthdata.nasa.gov\n  login \"a b\"\n  \
    password \"q\\\"x\"\nmacdef init\nmachine evil.org login x password y\n\ndefault login anyone password z\n";

fn login(settings: &ConfigSettings, url: &str) -> Option<LoginKind> {
    settings.login(&Url::parse(url).unwrap()).map(|login| login.kind)
}

fn basic(user: &str, password: &str) -> Option<LoginKind> {
    Some(LoginKind::Basic(user.to_owned(), Some(SecretText::new(password))))
}

#[test]
fn users_come_from_netrc_by_host_and_default_is_not_used() {
    let settings = gathered(&home(&[]), &[]);
    assert_eq!(login(&settings, "https://h.org/x"), None);
    let home = home(&[(".netrc", NETRC)]);
    let settings = gathered(&home, &[]);
    assert_eq!(login(&settings, "https://H.org/x"), basic("me", "hunter2"));
    assert_eq!(login(&settings, "https://urs.earthdata.nasa.gov/x"), basic("a b", "q\"x"));
    assert_eq!(login(&settings, "https://evil.org/x"), None);
    assert_eq!(login(&settings, "https://sub.h.org/x"), None);
}

#[test]
fn the_first_entry_of_a_host_counts_and_passwords_start_as_they_like() {
    let text = "machine h.org login one password #1 account \"#\"\n# machine x.org login x password x\n\
        machine h.org login two\nmachine y.org password default login y";
    let home = home(&[(".netrc", text)]);
    let settings = gathered(&home, &[]);
    assert_eq!(login(&settings, "https://h.org/x"), basic("one", "#1"));
    assert_eq!(login(&settings, "https://x.org/x"), None);
    assert_eq!(login(&settings, "https://y.org/x"), basic("y", "default"));
}

#[test]
fn the_nearest_source_counts() {
    let toml = "[http.hosts.\"h.org\"]\nbearer_variable = \"TOKEN\"\n";
    let rc = "[https://h.org]HTTP.CREDENTIALS.USER=rc\n[https://h.org]HTTP.CREDENTIALS.PASSWORD=pw\n\
        [https://r.org]HTTP.CREDENTIALS.USERPASSWORD=u:p:q\n";
    let home = home(&[(".config/ncirrus/config.toml", toml), (".ncrc", rc), (".netrc", NETRC)]);
    let with_token = gathered(&home, &[("TOKEN", "hunter2")]);
    assert_eq!(login(&with_token, "https://a:b@h.org/x"), basic("a", "b"));
    assert_eq!(login(&with_token, "https://h.org/x"), Some(LoginKind::Bearer(SecretText::new("hunter2"))));
    let without = gathered(&home, &[]);
    assert_eq!(login(&without, "https://h.org/x"), basic("rc", "pw"));
    assert_eq!(login(&without, "https://r.org/x"), basic("u", "p:q"));
    assert_eq!(without.warnings().len(), 1);
}

#[rstest]
#[case("https://opendap.earthdata.nasa.gov/x", true)]
#[case("https://data.ornldaac.earthdata.nasa.gov/x", true)]
#[case("http://opendap.earthdata.nasa.gov/x", false)]
#[case("https://evilearthdata.nasa.gov/x", false)]
#[case("https://example.org/x", false)]
fn the_token_of_earthdata_goes_to_earthdata_alone(#[case] url: &str, #[case] is_sent: bool) {
    let settings = gathered(&home(&[]), &[("EARTHDATA_TOKEN", "hunter2")]);
    assert_eq!(login(&settings, url).is_some(), is_sent);
}

#[rstest]
#[case("https://h.org/data/x", Some("all=1; deep=2; web=4"))]
#[case("https://sub.h.org/data/x", Some("all=1"))]
#[case("http://h.org/", Some("all=1"))]
#[case("https://h.org/database", Some("all=1; web=4"))]
#[case("https://evilh.org/data/x", None)]
fn cookies_go_where_they_belong(#[case] url: &str, #[case] expected: Option<&str>) {
    let jar = "# Netscape HTTP Cookie File\n.h.org\tTRUE\t/\tFALSE\t0\tall\t1\n\
        h.org\tFALSE\t/data\tTRUE\t4102444800\tdeep\t2\nh.org\tFALSE\t/\tFALSE\t1000\told\t3\n\
        #HttpOnly_h.org\tFALSE\t/\tTRUE\t0\tweb\t4\nbroken line\nh.org\tFALSE\t/\tFALSE\t0\tbad\ta;b\n";
    let home = home(&[("jar", jar), (".ncrc", "HTTP.COOKIEJAR=~/jar\n")]);
    let settings = gathered(&home, &[]);
    let cookies = settings.cookies(&Url::parse(url).unwrap());
    assert_eq!(cookies.as_ref().map(SecretText::exposed), expected);
}

#[test]
fn a_server_redirected_to_knows_what_is_meant_for_it_alone() {
    let rc = "HTTP.CREDENTIALS.USERPASSWORD=rc:pw\n";
    let home = home(&[(".ncrc", rc), (".netrc", NETRC)]);
    let settings = gathered(&home, &[("EARTHDATA_TOKEN", "token")]);
    let elsewhere = |url: &str| settings.login_elsewhere(&Url::parse(url).unwrap()).map(|login| login.kind);
    assert_eq!(login(&settings, "https://other.org/x"), basic("rc", "pw"));
    assert_eq!(elsewhere("https://other.org/x"), None);
    assert_eq!(elsewhere("https://me:pw@other.org/x"), None);
    assert_eq!(elsewhere("https://h.org/x"), basic("me", "hunter2"));
    // Where logins are made tokens do not count.
    assert_eq!(elsewhere("https://urs.earthdata.nasa.gov/x"), basic("a b", "q\"x"));
    let token = Some(LoginKind::Bearer(SecretText::new("token")));
    assert_eq!(elsewhere("https://data.earthdata.nasa.gov/x"), token);
}
