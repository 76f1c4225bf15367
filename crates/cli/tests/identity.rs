//! `whoami` and `config`: their output, and that it contains no secrets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::path::Path;
use std::process::{Output, Stdio};
use tempfile::TempDir;

const TOML: &str = "memory = \"1G\"\nmistake = 1\n[hosts.lab]\nurl = \"http://127.0.0.1:1\"\n\
    access_key = \"AKIAXXXXXLAST\"\nsecret_key = \"hunter2\"\n[http]\nproxy = \"http://me:hunter2@127.0.0.1:1\"\n\
    [http.hosts.\"data.example.org\"]\nbearer = \"hunter2\"\n";
const CREDENTIALS: &str = "[work]\naws_access_key_id = AKIAYYYYYWORK\naws_secret_access_key = hunter2\n";

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in [(".config/ncirrus/config.toml", TOML), (".aws/credentials", CREDENTIALS)] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    home
}

/// Runs the command with only a home folder and some variables.
fn run(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = crate::program::command();
    command.env_clear().env("HOME", home).envs(variables.iter().copied()).current_dir(home);
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let all = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(!all.contains("hunter2"), "{all}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(home: &TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = run(home.path(), variables, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).replace(&format!("{}/", home.path().display()), "~/")
}

#[test]
fn the_configuration_is_shown_with_its_places() {
    let home = home();
    let rc = "HTTP.DEFLATE=1\n[https://h.org]HTTP.PROXY.SERVER=http://me:hunter2@p:1\n";
    std::fs::write(home.path().join(".ncrc"), rc).unwrap();
    let all = shown(&home, &[("NCIRRUS_RETRIES", "2")], &["--threads", "3", "config", "show"]);
    for line in [
        "memory = 1073741824  # ~/.config/ncirrus/config.toml:1\n",
        "retries = 2  # NCIRRUS_RETRIES\n",
        "timeout = 60s  # default\n",
        "requests = 256  # default\n",
        "threads = 3  # the program\n",
        "hosts.lab.access_key = ***LAST  # ~/.config/ncirrus/config.toml:3\n",
        "hosts.lab.secret_key = ***  # ~/.config/ncirrus/config.toml:3\n",
        "http.proxy = http://127.0.0.1:1  # ~/.config/ncirrus/config.toml:8\n",
        "rc.[h.org]HTTP.PROXY.SERVER = http://p:1  # ~/.ncrc:2\n",
        "rc.HTTP.DEFLATE = 1  # ~/.ncrc:1; no effect: byte ranges",
    ] {
        assert!(all.contains(line), "{line:?} is not in {all}");
    }
    let warned = text(&run(home.path(), &[], &["config", "show"]).stderr);
    assert!(warned.contains("config.toml:2: unknown key mistake"), "{warned}");
    let json: serde_json::Value =
        serde_json::from_str(&shown(&home, &[], &["config", "show", "--json"])).unwrap();
    assert_eq!(json["values"]["memory"]["value"], "1073741824");
    let paths = shown(&home, &[], &["config", "path"]);
    assert!(paths.starts_with("~/.config/ncirrus/config.toml\n~/.ncrc\n~/.daprc  (not found)\n"), "{paths}");
}

#[test]
fn a_commented_template_is_written_where_there_is_no_file() {
    let home = TempDir::new().unwrap();
    assert_eq!(shown(&home, &[], &["config", "init"]), "~/.config/ncirrus/config.toml\n");
    let file = home.path().join(".config/ncirrus/config.toml");
    let template = std::fs::read_to_string(&file).unwrap();
    assert!(template.contains("# [hosts.lab]") && template.contains("# memory = \"2G\"  # "), "{template}");
    assert_eq!(shown(&home, &[], &["config", "init", "-"]), template);
    std::fs::write(&file, "memory = 1000\n").unwrap();
    let again = run(home.path(), &[], &["config", "init"]);
    assert_eq!(again.status.code(), Some(7), "{}", text(&again.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "memory = 1000\n");
}

#[test]
fn a_file_that_is_named_goes_before_the_usual_one_and_must_be_there() {
    let home = home();
    let other = home.path().join("other.toml");
    std::fs::write(&other, "memory = 7\n").unwrap();
    let other = other.to_str().unwrap();
    let all = shown(&home, &[], &["--config", other, "config", "show"]);
    let set: Vec<&str> = all.lines().filter(|line| !line.ends_with("# default")).collect();
    assert_eq!(set, ["memory = 7  # ~/other.toml:1"]);
    let missing = run(home.path(), &[], &["--config", "/no/such.toml", "config", "show"]);
    assert_eq!(missing.status.code(), Some(3));
}

#[test]
fn whoami_reports_the_credentials_and_why() {
    let home = home();
    let lab = shown(&home, &[], &["whoami", "s3://lab/bucket/key"]);
    assert!(
        lab.contains("endpoint     http://127.0.0.1:1  (alias \"lab\" in ~/.config/ncirrus/config.toml:3)"),
        "{lab}"
    );
    assert!(lab.contains("access key ***LAST"), "{lab}");
    let json = shown(&home, &[("AWS_PROFILE", "work")], &["whoami", "--json", "s3://bucket/key"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["credentials"]["value"], "access key ***WORK");
    assert_eq!(json["profile"]["why"], "AWS_PROFILE");
    let web = shown(&home, &[], &["whoami", "https://data.example.org/x.nc"]);
    assert!(web.contains("a bearer token") && web.contains("proxy        http://127.0.0.1:1"), "{web}");
    let file = shown(&home, &[], &["whoami", "/x.nc"]);
    assert!(file.contains("the file system decides"), "{file}");
}

#[test]
fn a_code_is_requested_on_a_terminal_alone() {
    let home = home();
    let config = "[profile code]\nrole_arn = arn\nsource_profile = work\nmfa_serial = device\n";
    std::fs::write(home.path().join(".aws/config"), config).unwrap();
    let reported = shown(&home, &[], &["whoami", "s3://bucket/key#aws.profile=code"]);
    assert!(reported.contains("role arn assumed by access key ***WORK, with a code of device"), "{reported}");
    let output = run(home.path(), &[], &["info", "s3://bucket/key#aws.profile=code"]);
    assert!(!output.status.success());
    let error = text(&output.stderr);
    let why = "role arn requires a code from device (mfa_serial): it cannot be entered: standard input is not a terminal";
    assert_eq!(error.matches(why).count(), 1, "{error}");
}

#[test]
fn whoami_checks_with_one_request_and_fails_as_reading_would() {
    let home = home();
    let without_proxy = home.path().join("plain.toml");
    std::fs::write(&without_proxy, "[hosts.lab]\nurl = \"http://127.0.0.1:1\"\nanonymous = true\n").unwrap();
    let arguments = ["--config", without_proxy.to_str().unwrap(), "whoami", "--check", "s3://lab/bucket/key"];
    let output = run(home.path(), &[("NCIRRUS_RETRIES", "0")], &arguments);
    assert_eq!(output.status.code(), Some(8));
    assert!(text(&output.stdout).contains("answer       no connection"), "{}", text(&output.stdout));
    let unknown = run(home.path(), &[], &["whoami", "s3://bucket/key#aws.profile=missing"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("there is no profile \"missing\""));
}
