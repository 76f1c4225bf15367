//! Credentials from a browser sign-in or an MFA code.
use super::requests::{RuleServer, answer, connect, object, read};
use super::*;
use ncirrus_layout::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const CONFIG: &str = "[profile sso]\nsso_session = abc\nsso_account_id = 12\nsso_role_name = reader\n\
    [sso-session abc]\nsso_region = eu-west-2\nsso_start_url = https://x\n\
    [profile one]\naws_access_key_id = AKIAONE1\naws_secret_access_key = hunter2\n\
    [profile code]\nrole_arn = arn\nsource_profile = one\nmfa_serial = dev/ice\nregion = eu-west-1\n";
/// The digest of `abc`.
const TOKEN: &str = ".aws/sso/cache/a9993e364706816aba3e25717850c26c9cd0d89d.json";
const SERVERS: [&str; 4] =
    ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC"];

/// A sign-in with an expired token, and an application registered until a time.
fn sign_in(registered: &str) -> String {
    format!(
        "{{\"startUrl\": \"https://x\", \"accessToken\": \"Hunter3\", \"expiresAt\": \"2020-01-01T00:00:00Z\", \
         \"clientId\": \"id\", \"clientSecret\": \"Hunter4\", \"refreshToken\": \"Hunter5\", \
         \"registrationExpiresAt\": \"{registered}\"}}"
    )
}

/// Renews tokens and returns the credentials of a role.
fn portal(head: &str) -> String {
    if head.starts_with("post /token ") {
        let requested =
            ["content-type: application/json", "\"grantType\":\"refresh_token\"", "\"clientId\":\"id\""];
        let secrets = ["\"clientSecret\":\"Hunter4\"", "\"refreshToken\":\"Hunter5\""];
        assert!(requested.iter().chain(&secrets).all(|part| head.contains(part)), "{head}");
        let renewed = "{\"accessToken\": \"Renewed1\", \"expiresIn\": 28800, \"refreshToken\": \"Renewed2\"}";
        return answer("200 OK", "", renewed);
    }
    if head.starts_with("get /federation/credentials?") {
        assert!(head.contains("x-amz-sso_bearer_token: renewed1"), "{head}");
        let keys = "{\"roleCredentials\": {\"accessKeyId\": \"ASIASSOX\", \"secretAccessKey\": \"hunter2\",\
            \"sessionToken\": \"sso-token\", \"expiration\": 4102444800000}}";
        return answer("200 OK", "", keys);
    }
    object("data")
}

fn known(home: &TempDir, server: &RuleServer) -> CloudContext {
    context(home, &SERVERS.map(|name| (name, server.address.as_str())))
}

#[test]
fn a_sign_in_that_is_over_is_renewed_and_kept() {
    let server = RuleServer::start(portal);
    let home = home(&[(".aws/config", CONFIG), (TOKEN, &sign_in("2100-01-01T00:00:00Z"))]);
    let file = home.path().join(TOKEN);
    mode(&file, Some(0o640));
    for requested in [3, 2] {
        // Another session, which knows only the file.
        let (store, object) = connect("s3://bucket/k#aws.profile=sso", &known(&home, &server));
        let before = server.requested().len();
        assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
        assert_eq!(server.requested().len(), before + requested);
    }
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let text = |name: &str| kept[name].as_str().unwrap();
    assert_eq!([text("accessToken"), text("refreshToken")], ["Renewed1", "Renewed2"]);
    assert_eq!([text("clientSecret"), text("startUrl")], ["Hunter4", "https://x"], "the rest stays");
    assert!(text("expiresAt") > "2026" && text("expiresAt").ends_with('Z'));
    assert_eq!(mode(&file, None), 0o640);
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_sign_in_that_was_taken_back_is_renewed_once() {
    let revoked: fn(&str) -> String = |head| {
        if head.contains("x-amz-sso_bearer_token: hunter3") {
            answer("401 Unauthorized", "", "{\"message\": \"Session token not found or invalid\"}")
        } else {
            portal(head)
        }
    };
    let home_of = || {
        let sign_in = sign_in("2100-01-01T00:00:00Z").replace("2020-01-01", "2100-01-01");
        home(&[(".aws/config", CONFIG), (TOKEN, &sign_in)])
    };
    let (server, home) = (RuleServer::start(revoked), home_of());
    let (store, object) = connect("s3://bucket/k#aws.profile=sso", &known(&home, &server));
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    assert_eq!(server.requested().len(), 4, "denied, renewed, asked again, read");

    let never: fn(&str) -> String = |head| {
        if head.starts_with("get /federation/") { answer("401 Unauthorized", "", "{}") } else { portal(head) }
    };
    let (server, home) = (RuleServer::start(never), home_of());
    let (store, object) = connect("s3://bucket/k#aws.profile=sso", &known(&home, &server));
    let error = read(&store, &object).unwrap_err();
    assert!(error.message().contains("the sign-in was not accepted; sign in with"), "{error}");
    assert_eq!(server.requested().len(), 3, "renewed no more than once");
}

/// Permissions of a file, after they were set.
#[cfg(unix)]
fn mode(path: &std::path::Path, mode: Option<u32>) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    if let Some(mode) = mode {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode(_: &std::path::Path, _: Option<u32>) -> u32 {
    0o640
}

#[test]
fn a_sign_in_that_cannot_be_renewed_says_how_to_sign_in() {
    let refused: fn(&str) -> String = |_| {
        answer(
            "400 Bad Request",
            "",
            "{\"error\": \"invalid_grant\", \"error_description\": \"Hunter5 is over\"}",
        )
    };
    let broken: fn(&str) -> String = |_| answer("200 OK", "", "{\"accessToken\": \"Hunter6\"}");
    for (rule, registered, why) in [
        (refused, "2100-01-01T00:00:00Z", "the sign-in has expired and could not be renewed (invalid_grant)"),
        (broken, "2100-01-01T00:00:00Z", "the sign-in has expired and could not be renewed"),
        (portal, "2020-01-01T00:00:00Z", "the sign-in has expired"),
    ] {
        let server = RuleServer::start(rule);
        let home = home(&[(".aws/config", CONFIG), (TOKEN, &sign_in(registered))]);
        let (store, object) = connect("s3://bucket/k#aws.profile=sso", &known(&home, &server));
        let error = read(&store, &object).unwrap_err();
        let reported = format!(
            "no credentials from single sign-on (abc): {why}; sign in with `aws sso login --profile sso`"
        );
        assert_eq!((error.kind(), error.message()), (ErrorKind::Denied, reported.as_str()));
        assert!(!format!("{error:?}").contains("unter"), "{error:?}");
        assert_eq!(std::fs::read_to_string(home.path().join(TOKEN)).unwrap(), sign_in(registered));
    }
}

/// Accepts one code, and returns long-lived credentials.
fn guarded(head: &str) -> String {
    if !head.contains("action=assumerole") {
        return object("data");
    }
    assert!(head.contains("serialnumber=dev%2fice") && head.contains("credential=akiaone1/"), "{head}");
    if !head.contains("tokencode=123456") {
        return answer(
            "403 Forbidden",
            "",
            "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>",
        );
    }
    let keys = "<Credentials><AccessKeyId>ASIACODE</AccessKeyId><SecretAccessKey>hunter2</SecretAccessKey>\
        <SessionToken>code-token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>";
    answer("200 OK", "", keys)
}

/// A callback that returns the given codes, and the number of calls.
fn typing(context: CloudContext, code: &'static str) -> (CloudContext, Arc<AtomicUsize>) {
    let times = Arc::new(AtomicUsize::new(0));
    let typed = Arc::clone(&times);
    let codes = MfaCodes::by(move |device| {
        assert_eq!(device, "dev/ice");
        typed.fetch_add(1, Ordering::Relaxed);
        if code.is_empty() { Err(Error::invalid("nobody types")) } else { Ok(format!("{code}\n")) }
    });
    (CloudContext { codes, ..context }, times)
}

/// Where Amazon's command line caches the credentials of the role: the digest of
/// `{"RoleArn": "arn", "SerialNumber": "dev/ice"}`.
fn kept(home: &TempDir) -> PathBuf {
    home.path().join(".aws/cli/cache/42e17c524595e882eb1a4c73816aead206c639e8.json")
}

#[test]
fn a_code_is_requested_once_and_its_credentials_are_kept_for_others() {
    let server = RuleServer::start(guarded);
    let home = home(&[(".aws/config", CONFIG)]);
    let (context, times) = typing(known(&home, &server), "123456");
    for _ in 0..2 {
        let (store, object) = connect("s3://bucket/k#aws.profile=code", &context);
        assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    }
    assert_eq!(times.load(Ordering::Relaxed), 1);
    // Another program, without a callback.
    let (store, object) = connect("s3://bucket/k#aws.profile=code", &known(&home, &server));
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    let last = server.requested().pop().unwrap();
    assert!(last.contains("credential=asiacode/") && last.contains("code-token"), "{last}");
    assert_eq!(server.requested().iter().filter(|head| head.contains("assumerole")).count(), 1);
    let text = std::fs::read_to_string(kept(&home)).unwrap();
    assert!(text.contains("\"Expiration\":\"2100-01-01T00:00:00Z\""), "{text}");
}

#[test]
fn credentials_of_amazons_command_line_are_used_while_they_are_good() {
    let server = RuleServer::start(guarded);
    let keys = |until: &str| {
        format!(
            "{{\"Credentials\": {{\"AccessKeyId\": \"ASIAKEPT\", \"SecretAccessKey\": \"hunter2\", \
             \"SessionToken\": \"t\", \"Expiration\": \"{until}\"}}, \"ResponseMetadata\": {{}}}}"
        )
    };
    let home = home(&[(".aws/config", CONFIG)]);
    std::fs::create_dir_all(kept(&home).parent().unwrap()).unwrap();
    for until in ["2100-01-01T00:00:00UTC", "2100-01-01T00:00:00+00:00"] {
        std::fs::write(kept(&home), keys(until)).unwrap();
        let (store, object) = connect("s3://bucket/k#aws.profile=code", &known(&home, &server));
        assert_eq!(read(&store, &object).unwrap().unwrap(), "data", "{until}");
        assert!(server.requested().pop().unwrap().contains("credential=asiakept/"), "{until}");
    }
    std::fs::write(kept(&home), keys("2020-01-01T00:00:00UTC")).unwrap();
    let (store, object) = connect("s3://bucket/k#aws.profile=code", &known(&home, &server));
    let error = read(&store, &object).unwrap_err();
    assert_eq!(
        error.message(),
        "role arn requires a code from dev/ice (mfa_serial): no one is there to type it"
    );
}

#[test]
fn missing_and_wrong_codes_are_reported() {
    let server = RuleServer::start(guarded);
    for (code, reported) in [
        ("", "role arn requires a code from dev/ice (mfa_serial): nobody types"),
        ("12345a", "role arn requires a code from dev/ice (mfa_serial): an MFA code has six digits"),
        ("654321", "no credentials from role arn: AccessDenied"),
    ] {
        let home = home(&[(".aws/config", CONFIG)]);
        let (context, times) = typing(known(&home, &server), code);
        let (store, object) = connect("s3://bucket/k#aws.profile=code", &context);
        let error = read(&store, &object).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Denied, reported));
        assert_eq!(read(&store, &object).unwrap_err().message(), reported);
        assert_eq!(times.load(Ordering::Relaxed), 1);
        assert!(code.is_empty() || !format!("{error:?}").contains(code), "{error:?}");
        assert!(!kept(&home).exists());
    }
}

#[test]
fn requests_that_wait_while_a_code_is_typed_use_it_too() {
    let server = RuleServer::start(guarded);
    let home = home(&[(".aws/config", CONFIG)]);
    let (context, times) = typing(known(&home, &server), "");
    let (store, object) = connect("s3://bucket/k#aws.profile=code", &context);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let want = ncirrus_layout::Want::All;
    let four = [0; 4].map(|_| ncirrus_store::Store::get(&store, &object, &want));
    let answers = runtime.block_on(futures_util::future::join_all(four));
    assert!(answers.iter().all(Result::is_err));
    assert_eq!(times.load(Ordering::Relaxed), 1);
}
