//! Regions, session tokens and clocks, which a server checks in signed requests.
use super::errors::{create, open, shown};
use super::guard::Guard;
use super::server::{KEY, SECRET, Server, session, settings};
use chrono::{DateTime, TimeDelta, Utc};
use ncirrus::store::StoreOptions;
use ncirrus::store::config::{ConfigSettings, ProcessEnvironment};
use ncirrus::{ErrorKind, Session};
use std::time::SystemTime;

fn guarded(guard: Guard) -> Server {
    let server = Server::start();
    server.guard(guard);
    server
}

fn values(url: &str, session: &Session) -> Result<Vec<i32>, ncirrus::Error> {
    Ok(open(url, session)?.variable("/v")?.read::<i32>()?.to_vec())
}

#[test]
fn a_bucket_of_another_region_is_requested_there_once_its_region_is_known() {
    let server = guarded(Guard { region: Some(("eu-west-1", true)), ..Guard::default() });
    learnt_from_refusals(&server, "AuthorizationHeaderMalformed");
}

/// Only the first requests are refused, several of which are sent at once.
fn learnt_from_refusals(server: &Server, code: &str) {
    let session = server.session();
    let absent = open(&server.url("absent"), &session).unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::NotFound, "{absent:?}");
    let refused = server.refused();
    assert!(!refused.is_empty() && refused.iter().all(|refused| *refused == code), "{refused:?}");
    create(&server.url("data"), &session).unwrap();
    assert_eq!(values(&server.url("data"), &session).unwrap(), [1, 2, 3, 4]);
    assert_eq!(server.refused(), refused);
}

#[test]
fn a_region_that_is_wrong_and_not_corrected_is_an_error() {
    let server = guarded(Guard { region: Some(("eu-west-1", false)), ..Guard::default() });
    for error in [
        open(&server.url("data"), &server.session()).unwrap_err(),
        create(&server.url("data"), &server.session()).unwrap_err(),
    ] {
        shown(&error, &[SECRET]);
        assert!(error.to_string().contains("the bucket is in another region"), "{error}");
    }
    let right = [("aws_region".to_owned(), "eu-west-1".to_owned())];
    let right = settings(&server.address, KEY, SECRET).into_iter().chain(right).collect();
    create(&server.url("data"), &session(&right)).unwrap();
}

/// Session tokens, which must never be shown.
const FIRST: &str = "FirstTokenOfTheSession";
const SECOND: &str = "SecondTokenOfTheSession";

/// A user with a home folder.
struct TestUser {
    home: tempfile::TempDir,
    session: Session,
}

impl TestUser {
    /// `config` is a configuration of Amazon's tools, in which `HOME` is replaced by the folder.
    fn new(server: &Server, config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = config.replace("HOME", home.path().to_str().unwrap());
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let environment = ProcessEnvironment::default().at_home(home.path()).with("AWS_PROFILE", "lab");
        let environment = environment.with("AWS_ENDPOINT_URL", &server.address);
        let config = ConfigSettings::gather(environment, None).unwrap();
        let stores = StoreOptions { retries: 0, ..StoreOptions::default() };
        let session =
            Session::builder().settings(config).threads(2).durable(false).stores(stores).build().unwrap();
        Self { home, session }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join(name), text).unwrap();
    }
}

/// The output of a program that provides credentials.
fn printed(token: &str) -> String {
    format!(
        "{{\"Version\": 1, \"AccessKeyId\": {KEY:?}, \"SecretAccessKey\": {SECRET:?}, \"SessionToken\": {token:?}}}"
    )
}

/// The file of credentials.
fn written(token: &str) -> String {
    format!(
        "[lab]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\naws_session_token = {token}\n"
    )
}

/// The file that holds the credentials, the configuration that names it, and the contents of the file.
type Way = (&'static str, &'static str, fn(&str) -> String);

const WAYS: [Way; 2] = [
    ("keys.json", "[profile lab]\ncredential_process = cat \"HOME/keys.json\"\n", printed),
    (".aws/credentials", "[profile lab]\nregion = us-east-1\n", written),
];

/// Tokens that are valid for the given numbers of seconds from now.
fn tokens(seconds: [i64; 2]) -> Guard {
    let now = DateTime::<Utc>::from(SystemTime::now());
    let until = |seconds| now + TimeDelta::seconds(seconds);
    let tokens = [(FIRST.to_owned(), until(seconds[0])), (SECOND.to_owned(), until(seconds[1]))];
    Guard { tokens: Some(tokens.into()), ..Guard::default() }
}

#[cfg(unix)]
#[test]
fn a_token_that_ended_is_replaced_by_what_its_source_gives_then() {
    for (file, config, text) in WAYS {
        let server = guarded(tokens([3600, 7200]));
        let lab = TestUser::new(&server, config);
        lab.write(file, &text(FIRST));
        create(&server.url("data"), &lab.session).unwrap();
        let dataset = open(&server.url("data"), &lab.session).unwrap();
        assert_eq!(server.refused(), [""; 0], "{file}");
        server.guard(tokens([0, 7200]));
        lab.write(file, &text(SECOND));
        assert_eq!(dataset.variable("/v").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4], "{file}");
        assert_eq!(values(&server.url("data"), &lab.session).unwrap(), [1, 2, 3, 4], "{file}");
        assert_eq!(server.refused(), ["ExpiredToken"], "{file}: once");
    }
}

#[cfg(unix)]
#[test]
fn a_token_that_ended_for_good_is_reported() {
    for (file, config, text) in WAYS {
        let server = guarded(tokens([0, 0]));
        let lab = TestUser::new(&server, config);
        lab.write(file, &text(FIRST));
        for error in [
            open(&server.url("data"), &lab.session).unwrap_err(),
            create(&server.url("data"), &lab.session).unwrap_err(),
        ] {
            shown(&error, &[SECRET, FIRST]);
            assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
            assert!(error.to_string().contains("the session token has expired"), "{error}");
        }
        let seen = server.requests().len();
        assert_eq!(server.refused().len(), seen, "{file}: nothing else was asked");
    }
}

#[test]
fn an_unknown_token_is_reported() {
    let server = guarded(tokens([3600, 3600]));
    let mut given = settings(&server.address, KEY, SECRET);
    given.insert("aws_session_token".to_owned(), "TokenOfSomebodyElse".to_owned());
    let error = open(&server.url("data"), &session(&given)).unwrap_err();
    shown(&error, &[SECRET, "TokenOfSomebodyElse"]);
    assert!(error.to_string().contains("the session token is not valid"), "{error}");
}

#[test]
fn requests_are_signed_by_the_servers_clock_where_it_differs() {
    for minutes in [60, -60, 24 * 60] {
        let server = guarded(Guard { ahead: TimeDelta::minutes(minutes), ..Guard::default() });
        learnt_from_refusals(&server, "RequestTimeTooSkewed");
    }
}

#[test]
fn a_wrong_clock_that_the_server_confirms_falsely_is_an_error_with_the_difference() {
    let (ahead, lies) = (TimeDelta::minutes(180), TimeDelta::minutes(-120));
    let server = guarded(Guard { ahead, lies, ..Guard::default() });
    for error in [
        open(&server.url("data"), &server.session()).unwrap_err(),
        create(&server.url("data"), &server.session()).unwrap_err(),
    ] {
        shown(&error, &[SECRET]);
        assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
        assert!(error.to_string().contains("clock of this machine differs"), "{error}");
    }
}

#[test]
fn what_is_denied_to_a_machine_with_a_wrong_clock_is_denied_for_its_reason() {
    let server = guarded(Guard { ahead: TimeDelta::minutes(60), ..Guard::default() });
    let session = session(&settings(&server.address, "AKIDUNKNOWN", SECRET));
    let error = open(&server.url("data"), &session).unwrap_err();
    assert!(error.to_string().contains("does not know the access key"), "{error}");
}
