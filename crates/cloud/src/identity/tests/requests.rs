//! Requests that are sent, and the effects of answers.
use super::*;
use crate::store::CloudStore;
use bytes::Bytes;
use ncirrus_http::HttpStore;
use ncirrus_layout::{ErrorKind, ObjectId, Want};
use ncirrus_store::Store;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Mutex;

/// A server that answers by a rule, and the requests it received.
pub(super) struct RuleServer {
    pub(super) address: String,
    requested: Arc<Mutex<Vec<String>>>,
}

pub(super) type AnswerRule = fn(&str) -> String;

impl RuleServer {
    /// Requests are passed to the rule with their heads in lower case.
    pub(super) fn start(rule: AnswerRule) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requested = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requested);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(stream, rule, &seen));
            }
        });
        Self { address, requested }
    }

    pub(super) fn requested(&self) -> Vec<String> {
        self.requested.lock().unwrap().clone()
    }
}

fn serve(stream: std::net::TcpStream, rule: AnswerRule, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let mut head = head.to_ascii_lowercase();
        let len = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
        let mut body = Vec::new();
        reader.by_ref().take(len.unwrap_or(0)).read_to_end(&mut body).ok()?;
        head.push_str(&String::from_utf8_lossy(&body));
        let answer = rule(&head);
        seen.lock().unwrap().push(head);
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

pub(super) fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn object(body: &str) -> String {
    answer("200 OK", "ETag: \"e\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n", body)
}

fn error(status: &str, headers: &str, code: &str) -> String {
    answer(status, headers, &format!("<Error><Code>{code}</Code><Message>no</Message></Error>"))
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

pub(super) fn connect(address: &str, context: &CloudContext) -> (CloudStore, ObjectId) {
    let url = Url::parse(address).unwrap();
    let bucket = context.network.config.bucket(&url).unwrap().unwrap();
    let store = CloudStore::connect(&bucket, url.fragment(), context).unwrap();
    let object = store.root().child(&bucket.key);
    (store, object)
}

pub(super) fn read(store: &CloudStore, object: &ObjectId) -> std::result::Result<Option<Bytes>, Error> {
    Ok(run(store.get(object, &Want::All))?.map(|blob| blob.bytes))
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKIAENVI"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];

#[test]
fn requests_are_signed_for_the_region_with_the_token() {
    let server = RuleServer::start(|_| object("data"));
    let variables = [
        KEYS[0],
        KEYS[1],
        ("AWS_SESSION_TOKEN", "tok"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &server.address),
    ];
    let context = context(&home(&[]), &variables);
    let (store, object) = connect("s3://bucket/k#request_payer=requester", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    run(store.put(&object, Bytes::from_static(b"new"), ncirrus_store::PutCondition::None)).unwrap();
    let requested = server.requested();
    assert!(requested[0].starts_with("get /bucket/k "), "{}", requested[0]);
    for head in &requested {
        assert!(
            head.contains("credential=akiaenvi/") && head.contains("/eu-west-1/s3/aws4_request"),
            "{head}"
        );
        assert!(
            head.contains("x-amz-security-token: tok") && head.contains("x-amz-request-payer: requester")
        );
        assert!(!head.contains("hunter2"));
    }
    let hash = "x-amz-content-sha256: 11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437";
    assert!(
        requested.iter().any(|head| head.starts_with("put /bucket/k ") && head.contains(hash)),
        "{requested:?}"
    );
}

/// Denies all signed requests.
fn public(head: &str) -> String {
    if head.contains("authorization:") {
        error("403 Forbidden", "", "InvalidAccessKeyId")
    } else {
        object("open")
    }
}

#[test]
fn a_read_that_is_denied_is_tried_without_a_name_once_and_remembered() {
    let server = RuleServer::start(public);
    let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "open");
    assert_eq!(server.requested().len(), 2);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "open");
    let (other, object) = connect("s3://bucket/k", &context);
    assert_eq!(read(&other, &object).unwrap().unwrap(), "open");
    assert_eq!(server.requested().len(), 4);
    assert_eq!(
        context.identities.notes(),
        ["s3://bucket is read anonymously: it is public, and access is denied to access key ***ENVI"]
    );
    let denied =
        run(store.put(&object, Bytes::from_static(b"x"), ncirrus_store::PutCondition::None)).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    assert!(server.requested().last().unwrap().contains("authorization:"));
}

#[test]
fn a_profile_that_was_named_never_gives_way_to_anonymous() {
    let server = RuleServer::start(public);
    let credentials = "[one]\naws_access_key_id = AKIAONE1\naws_secret_access_key = hunter2\n";
    let home = home(&[(".aws/credentials", credentials)]);
    let context = context(&home, &[("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k#aws.profile=one", &context);
    let denied = read(&store, &object).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    assert!(!denied.to_string().contains("hunter2"));
    assert!(server.requested().iter().all(|head| head.contains("authorization:")));
    assert_eq!(context.identities.notes(), [""; 0]);
}

#[test]
fn a_profile_that_was_named_is_used_where_others_read_without_a_name() {
    let server = RuleServer::start(public);
    let credentials = "[one]\naws_access_key_id = AKIAONE1\naws_secret_access_key = hunter2\n";
    let home = home(&[(".aws/credentials", credentials)]);
    let context = context(&home, &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "open");
    let (store, object) = connect("s3://bucket/k#aws.profile=one", &context);
    assert_eq!(read(&store, &object).unwrap_err().kind(), ErrorKind::Denied);
    assert!(server.requested().last().unwrap().contains("credential=akiaone1/"));
}

#[test]
fn denied_objects_are_not_requested_again_and_again() {
    let server = RuleServer::start(|_| error("403 Forbidden", "", "AccessDenied"));
    let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    for _ in 0..20 {
        assert_eq!(read(&store, &object).unwrap_err().kind(), ErrorKind::Denied);
    }
    let unsigned = server.requested().iter().filter(|head| !head.contains("authorization:")).count();
    assert_eq!(unsigned, 8);
}

#[test]
fn a_read_without_a_name_is_tried_once_where_the_server_fails_then() {
    let server = RuleServer::start(|head| {
        if head.contains("authorization:") {
            error("403 Forbidden", "", "InvalidAccessKeyId")
        } else {
            error("503 Service Unavailable", "", "SlowDown")
        }
    });
    let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    let denied = read(&store, &object).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
    let unsigned = server.requested().iter().filter(|head| !head.contains("authorization:")).count();
    assert_eq!((unsigned, server.requested().len()), (1, 2));
}

/// Is in a region that was not configured.
fn elsewhere(head: &str) -> String {
    if head.contains("/eu-south-1/s3/") {
        return object("there");
    }
    error("400 Bad Request", "x-amz-bucket-region: eu-south-1\r\n", "AuthorizationHeaderMalformed")
}

#[test]
fn the_bucket_itself_reports_its_region_and_is_requested_once() {
    let server = RuleServer::start(elsewhere);
    let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "there");
    assert_eq!(read(&store, &object).unwrap().unwrap(), "there");
    assert_eq!(server.requested().len(), 3);
    let found = identity("s3://bucket/k", &context).unwrap().region.unwrap();
    assert_eq!((found.value.as_str(), found.why.as_str()), ("eu-south-1", "the bucket's own answer"));
}

#[test]
fn requests_that_are_under_way_together_are_all_made_again_where_the_bucket_lies() {
    static BOTH: std::sync::Barrier = std::sync::Barrier::new(2);
    fn together(head: &str) -> String {
        if !head.contains("/eu-south-1/s3/") {
            BOTH.wait();
        }
        elsewhere(head)
    }
    let server = RuleServer::start(together);
    let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://bucket/k", &context);
    let (one, other) =
        run(futures_util::future::join(store.get(&object, &Want::All), store.get(&object, &Want::All)));
    assert_eq!([one, other].map(|found| found.unwrap().unwrap().bytes), ["there", "there"]);
    assert_eq!(server.requested().len(), 4);
}

/// Returns credentials, and accepts only those.
fn services(head: &str) -> String {
    if head.contains("action=assumerole") {
        let signed = head.contains("/eu-west-1/sts/aws4_request") && head.contains("credential=akiaone1/");
        assert!(signed && head.contains("externalid=x"), "{head}");
        return answer(
            "200 OK",
            "",
            "<Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>hunter2</SecretAccessKey>\
            <SessionToken>role-token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>",
        );
    }
    if head.starts_with("get /federation/credentials?account_id=12&role_name=reader ") {
        assert!(head.contains("x-amz-sso_bearer_token: signed-in"), "{head}");
        return answer(
            "200 OK",
            "",
            "{\"roleCredentials\": {\"accessKeyId\": \"ASIASSOX\", \"secretAccessKey\": \"hunter2\",\
            \"sessionToken\": \"sso-token\", \"expiration\": 4102444800000}}",
        );
    }
    object("data")
}

const CONFIG: &str = "[profile one]\naws_access_key_id = AKIAONE1\naws_secret_access_key = hunter2\n\
    [profile role]\nrole_arn = arn\nsource_profile = one\nexternal_id = x\nregion = eu-west-1\n\
    [profile sso]\nsso_start_url = abc\nsso_region = eu-west-2\nsso_account_id = 12\nsso_role_name = reader\n";
/// The digest of `abc`.
const TOKEN: &str = ".aws/sso/cache/a9993e364706816aba3e25717850c26c9cd0d89d.json";

#[test]
fn roles_and_sign_ins_give_keys_that_are_kept() {
    let server = RuleServer::start(services);
    let token = "{\"accessToken\": \"signed-in\", \"expiresAt\": \"2100-01-01T00:00:00Z\"}";
    let home = home(&[(".aws/config", CONFIG), (TOKEN, token)]);
    let variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_SSO"];
    let context = context(&home, &variables.map(|name| (name, server.address.as_str())));
    for (profile, key, token) in [("role", "asiarole", "role-token"), ("sso", "asiassox", "sso-token")] {
        let before = server.requested().len();
        for _ in 0..2 {
            let (store, object) = connect(&format!("s3://bucket/k#aws.profile={profile}"), &context);
            assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
        }
        let requested = server.requested();
        assert_eq!(requested.len(), before + 3);
        let last = requested.last().unwrap();
        assert!(last.contains(&format!("credential={key}/")) && last.contains(token), "{last}");
    }
}

/// As [`services`], with a clock that is years behind.
fn behind(head: &str) -> String {
    let is_old = |head: &str| head.contains("x-amz-date: 2020");
    if head.contains("action=assumerole") && !is_old(head) {
        error("403 Forbidden", "Date: Wed, 01 Jan 2020 00:00:00 GMT\r\n", "SignatureDoesNotMatch")
    } else {
        services(head)
    }
}

#[test]
fn roles_are_requested_by_the_clock_of_the_service() {
    let server = RuleServer::start(behind);
    let home = home(&[(".aws/config", CONFIG)]);
    let variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS"];
    let context = context(&home, &variables.map(|name| (name, server.address.as_str())));
    let (store, object) = connect("s3://bucket/k#aws.profile=role", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    assert_eq!(server.requested().len(), 3);
}

#[test]
fn a_service_that_accepts_no_time_is_reported() {
    let never: fn(&str) -> String =
        |_| error("403 Forbidden", "Date: Wed, 01 Jan 2020 00:00:00 GMT\r\n", "RequestTimeTooSkewed");
    let server = RuleServer::start(never);
    let home = home(&[(".aws/config", CONFIG)]);
    let context = context(&home, &[("AWS_ENDPOINT_URL_STS", server.address.as_str())]);
    let (store, object) = connect("s3://bucket/k#aws.profile=role", &context);
    let error = read(&store, &object).unwrap_err();
    assert!(
        error.message().contains("role arn") && error.message().contains("RequestTimeTooSkewed"),
        "{error}"
    );
    assert_eq!(server.requested().len(), 2);
}

#[test]
fn a_sign_in_that_is_over_says_how_to_sign_in() {
    let token = "{\"accessToken\": \"hunter2\", \"expiresAt\": \"2020-01-01T00:00:00UTC\"}";
    let home = home(&[(".aws/config", CONFIG), (TOKEN, token)]);
    let (store, object) = connect("s3://bucket/k#aws.profile=sso", &context(&home, &[]));
    let error = read(&store, &object).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(
        error.message().contains("the sign-in has expired; sign in with `aws sso login --profile sso`"),
        "{error}"
    );
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[cfg(unix)]
#[test]
fn programs_give_keys_and_run_again_when_these_expire() {
    const EXPIRED: &str = "<Error><Code>ExpiredToken</Code><Message>no</Message></Error>";
    fn picky(head: &str) -> String {
        if head.contains("credential=akiakey1/") {
            // Answers to HEAD do not include the reason.
            let why = if head.starts_with("head ") { String::new() } else { EXPIRED.to_owned() };
            answer("400 Bad Request", "", &why)
        } else {
            object("data")
        }
    }
    let server = RuleServer::start(picky);
    let script = "n=$(cat $1 2>/dev/null || echo 0); n=$((n+1)); echo $n > $1\n\
        echo '{\"Version\": 1, \"AccessKeyId\": \"AKIAKEY'$n'\", \"SecretAccessKey\": \"hunter2\", \"SessionToken\": \"t\"}'\n";
    let home = home(&[("keys.sh", script)]);
    let place = |name: &str| home.path().join(name).display().to_string();
    let config =
        format!("[profile p]\ncredential_process = sh \"{}\" {}\n", place("keys.sh"), place("count"));
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    std::fs::write(home.path().join(".aws/config"), config).unwrap();
    let context = context(&home, &[("AWS_ENDPOINT_URL", &server.address)]);
    for want in [Want::All, Want::Range(2..2)] {
        std::fs::write(home.path().join("count"), "0").unwrap();
        let context = CloudContext { identities: CredentialRegistry::default(), ..context.clone() };
        let (store, object) = connect("s3://bucket/k#aws.profile=p", &context);
        run(store.get(&object, &want)).unwrap().unwrap();
        let last = server.requested().pop().unwrap();
        assert!(last.contains("credential=akiakey2/"), "{want:?}: {last}");
        assert_eq!(last.starts_with("head "), want != Want::All);
    }
}

#[test]
fn a_bucket_that_is_not_there_may_have_been_meant_as_an_alias() {
    let server = RuleServer::start(|_| error("404 Not Found", "", "NoSuchBucket"));
    let home = home(&[]);
    let context = context(&home, &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
    let (store, object) = connect("s3://lab/bucket/k", &context);
    _ = read(&store, &object);
    let notes = context.identities.notes();
    let expected = "s3://lab is not a bucket, and no alias in ~/.config/ncirrus/config.toml, ~/.s3nc.json";
    assert_eq!(notes.iter().map(|note| shown(note, &home)).collect::<Vec<_>>(), [expected]);
}

#[test]
fn keys_that_do_not_fit_and_unknown_keys_are_distinguished() {
    let rules: [AnswerRule; 2] = [
        |_| error("403 Forbidden", "", "SignatureDoesNotMatch"),
        |_| error("403 Forbidden", "", "InvalidAccessKeyId"),
    ];
    let reported = rules.map(|rule| {
        let server = RuleServer::start(rule);
        let context = context(&home(&[]), &[KEYS[0], KEYS[1], ("AWS_ENDPOINT_URL", &server.address)]);
        let (store, object) = connect("s3://bucket/k", &context);
        let error = read(&store, &object).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        let all = format!("{error} {error:?}");
        assert!(!all.contains("hunter2") && !all.contains("AKIAENVI"), "{all}");
        error.message().to_owned()
    });
    assert_ne!(reported[0], reported[1]);
}

#[test]
fn web_servers_get_the_login_the_cookies_and_the_name_that_the_configuration_says() {
    let server = RuleServer::start(|_| object("page"));
    let (_, place) = server.address.split_once("://").unwrap();
    let toml = format!("[http]\nuser_agent = \"me/1\"\n[http.hosts.\"{place}\"]\nbearer = \"Tok3n\"\n");
    let jar = "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n";
    let home =
        home(&[(".config/ncirrus/config.toml", &toml), ("jar", jar), (".ncrc", "HTTP.COOKIEJAR=~/jar\n")]);
    let context = context(&home, &[]);
    let url = Url::parse(&format!("{}/d/x.nc", server.address)).unwrap();
    let (store, root) = HttpStore::connect(&url, &context.network).unwrap();
    run(store.get(&root, &Want::All)).unwrap().unwrap();
    let head = server.requested().pop().unwrap();
    for part in ["authorization: bearer tok3n", "cookie: name=value", "user-agent: me/1"] {
        assert!(head.contains(part), "{part} in {head}");
    }
    assert!(!format!("{store:?} {root}").contains("Tok3n"));
}

#[test]
fn the_proxy_of_the_configuration_is_requested() {
    let server = RuleServer::start(|_| object("page"));
    let context = context(&home(&[]), &[("NCIRRUS_PROXY", &server.address)]);
    let url = Url::parse("http://nowhere.invalid/d/x.nc").unwrap();
    let (store, root) = HttpStore::connect(&url, &context.network).unwrap();
    run(store.get(&root, &Want::All)).unwrap().unwrap();
    assert!(server.requested().iter().all(|head| head.starts_with("get http://nowhere.invalid/d/x.nc ")));
}

#[test]
fn certificates_that_are_named_must_be_there() {
    let home = home(&[("none.pem", "nothing")]);
    for file in ["~/none.pem", "~/missing.pem"] {
        let context = context(&home, &[("AWS_CA_BUNDLE", file)]);
        let url = Url::parse("s3://bucket/k#aws.profile=none").unwrap();
        let bucket = context.network.config.bucket(&url).unwrap().unwrap();
        let error = CloudStore::connect(&bucket, url.fragment(), &context).unwrap_err();
        assert!(error.message().contains("certificates cannot be read"), "{error}");
        assert!(error.message().contains("AWS_CA_BUNDLE"), "{error}");
    }
}
