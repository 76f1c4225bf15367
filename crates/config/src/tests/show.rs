//! The configuration for display.
use super::*;

#[test]
fn secrets_are_never_shown() {
    let toml = "endpoint = \"https://u:hunter2@e:1/x\"\n[http]\nproxy = \"http://u:hunter2@p:1\"\n[http.hosts.h]\nuser = \"u\"\npassword = \"hunter2\"\n\
        [http.hosts.b]\nbearer_variable = \"hunter2\"\n\
        [hosts.s]\nurl = \"http://u:hunter2@s:1\"\naccess_key = \"AKIAEXAMPLEhunter2LAST\"\nsecret_key = \"hunter2\"\n\
        session_token = \"hunter2\"\n";
    let rc =
        "HTTP.CREDENTIALS.PASSWORD=hunter2\nHTTP.PROXY.SERVER=http://u:hunter2@p\n[https://u:hunter2@h]A=1\n";
    let home = home(&[
        (".config/ncirrus/config.toml", toml),
        (".ncrc", rc),
        (".netrc", "machine h login u password hunter2"),
    ]);
    let settings = gathered(&home, &[("AWS_SECRET_ACCESS_KEY", "hunter2")]);
    let shown: Vec<String> = settings
        .shown()
        .iter()
        .map(|shown| format!("{} = {} {}", shown.name, shown.value, shown.origin))
        .collect();
    let shown = shown.join("\n");
    assert!(shown.contains("hosts.s.access_key = ***LAST"), "{shown}");
    assert!(shown.contains("endpoint = https://e:1/x"), "{shown}");
    assert!(shown.contains("http.proxy = http://p:1"), "{shown}");
    let login = settings.login(&Url::parse("https://h/").unwrap());
    let all =
        format!("{shown}\n{settings:?}\n{:?}\n{login:?}\n{:?}", settings.warnings(), settings.host("s"));
    assert!(!all.contains("hunter2"), "{all}");
}
