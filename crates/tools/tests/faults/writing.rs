//! Writing to an endpoint of an S3-compatible server that checks signatures.
use crate::faults::{good, session, tenth};
use crate::fixtures::{FIXTURES, source};
use crate::proxy::{FAILING, Harm, Proxy, Rule};
use crate::s3::server::{KEY, SECRET, Server, settings};
use crate::support::{exact, open, temp};
use ncirrus::{CreateOptions, Dataset, ErrorKind, Kind, OpenOptions, Session};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{CopyOptions, copy};

/// A client that accesses the server through a proxy.
fn through(proxy: &Proxy) -> Session {
    session(|options| options.settings = settings(&proxy.address, KEY, SECRET))
}

fn send(from: &Dataset, to: &str, kind: Kind, session: &Session) -> ncirrus::Result<()> {
    let create = CreateOptions::new().kind(kind);
    copy(from, to, &CopyOptions::new().create(create), session).map(|_| ())
}

#[test]
fn all_fixtures_are_written_and_read_through_a_network_that_fails() {
    let Some(root) = corpus("nczarr") else { return };
    let (_folder, temp) = temp();
    let server = Server::start();
    let harms = [&FAILING[..], &[Harm::Cut, Harm::Short]].concat();
    let proxy = Proxy::start(&server.address, tenth(&harms));
    let session = through(&proxy);
    for (number, (name, from)) in FIXTURES.into_iter().enumerate() {
        let Some(path) = source(&root, &temp, name, from) else { continue };
        let local = open(&path, &session).unwrap();
        let kinds = [Kind::NcZarr, Kind::Zarr3, Kind::Nc4].into_iter().enumerate();
        for (_, kind) in kinds.filter(|(at, _)| in_turn(at + number, 3)) {
            let there = server.url(&format!("{name}-{kind:?}"));
            send(&local, &there, kind, &session).unwrap();
            let there = Dataset::open_with(&there, &OpenOptions::default(), &session).unwrap();
            assert_eq!(exact(&there), exact(&local), "{name} {kind:?}");
        }
    }
    let requests = proxy.requests();
    let harmed = requests.iter().filter(|request| request.harm.is_some()).count();
    assert!(harmed * 20 > requests.len(), "{harmed} of {} harmed", requests.len());
}

#[test]
fn whose_answers_are_lost_is_not_told_that_somebody_else_was_faster() {
    let server = Server::start();
    let session = session(|_| {});
    let made = Dataset::create_with("memory://made/x", &nczarr(), &session).unwrap();
    made.close().unwrap();
    let local = Dataset::open_with("memory://made/x", &OpenOptions::default(), &session).unwrap();
    let mut lost = 0;
    for seed in 0..8 {
        let rule = Rule { harms: vec![Harm::Unanswered], one_in: 3, seed, ..good() };
        let proxy = Proxy::start(&server.address, rule);
        send(&local, &server.url(&seed.to_string()), Kind::NcZarr, &through(&proxy)).unwrap();
        let requests = proxy.requests();
        lost += requests.iter().filter(|request| request.method == "PUT" && request.harm.is_some()).count();
    }
    assert!(lost >= 8, "{lost} answers to PUTs were lost");
}

fn nczarr() -> CreateOptions {
    CreateOptions::new().kind(Kind::NcZarr)
}

#[test]
fn a_service_that_never_works_is_told_of_and_not_hammered() {
    let server = Server::start();
    let rule = Rule { harms: vec![Harm::Status("503 Service Unavailable")], one_in: 1, ..good() };
    let proxy = Proxy::start(&server.address, rule);
    let session = session(|options| {
        options.settings = settings(&proxy.address, KEY, SECRET);
        options.retries = 2;
    });
    let error = Dataset::create_with(&server.url("x"), &nczarr(), &session)
        .and_then(|dataset| dataset.close())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true }, "{error}");
    let told = "server answered 503 Service Unavailable; given up after 3 attempts in ";
    assert!(error.message().starts_with(told), "{error}");
    assert!(error.to_string().contains("bucket/x"), "{error}");
    let requests = proxy.requests();
    // The first object that is given up stops the requests for the others.
    let of = |target: &str| requests.iter().filter(|request| request.target == target).count();
    let most = requests.iter().map(|request| of(&request.target)).max();
    assert_eq!(most, Some(3), "{requests:?}");
    assert!(server.requests().is_empty(), "nothing was passed on");
    assert!(requests.len() <= 24, "{requests:?}");
}
