//! Reading over HTTP.
use crate::faults::{good, session, tenth};
use crate::fixtures::{FIXTURES, source};
use crate::proxy::{FAILING, Harm, Proxy, Rule};
use crate::support::{exact_cdl, open, temp};
use ncirrus::{CreateOptions, Dataset, ErrorKind, Kind, OpenOptions, Session};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::files_over_http::serve;
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{CopyOptions, copy};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A third of the fixtures, or all, as they are and as netCDF-4: paths below two served folders.
fn everything(root: &Path, temp: &Path, session: &Session) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for (number, (name, from)) in FIXTURES.into_iter().enumerate() {
        if !in_turn(number, 3) {
            continue;
        }
        let Some(path) = source(root, temp, name, from) else { continue };
        let nc4 = temp.join(format!("{name}.nc4"));
        let create = CreateOptions::new().kind(Kind::Nc4);
        let options = CopyOptions::new().create(create);
        copy(&open(&path, session).unwrap(), nc4.to_str().unwrap(), &options, session).unwrap();
        for path in [path, nc4] {
            let (folder, base) = if path.starts_with(root) { (root, "corpus") } else { (temp, "temp") };
            let below = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            found.push((path.clone(), format!("{base}/{below}")));
        }
    }
    found
}

/// Reads fixtures through proxies; returns how many requests that took.
fn read_all(root: &Path, temp: &Path, fixtures: &[(PathBuf, String)], rule: &Rule) -> usize {
    let local = session(|_| {});
    let corpus = Proxy::start(&serve(root, None), rule.clone());
    let made = Proxy::start(&serve(temp, None), rule.clone());
    for (path, address) in fixtures {
        let (base, below) = address.split_once('/').unwrap();
        let proxy = if base == "corpus" { &corpus } else { &made };
        let url = format!("{}/{below}", proxy.address);
        let remote = Dataset::open_with(&url, &OpenOptions::default(), &session(|_| {})).unwrap();
        assert_eq!(exact_cdl(&remote, "x"), exact_cdl(&open(path, &local).unwrap(), "x"), "{below}");
    }
    let requests = [corpus.requests(), made.requests()].concat();
    let harmed = requests.iter().filter(|request| request.harm.is_some()).count();
    assert!(rule.harms.is_empty() || harmed * 20 > requests.len(), "{harmed} of {} harmed", requests.len());
    requests.len()
}

#[test]
fn all_fixtures_are_read_through_a_network_that_fails() {
    let Some(root) = corpus("nczarr") else { return };
    let (_folder, temp) = temp();
    let fixtures = everything(&root, &temp, &session(|_| {}));
    let least = read_all(&root, &temp, &fixtures, &good());
    let broken = [Harm::Cut, Harm::Short, Harm::Stalled];
    for harms in [&FAILING[..], &broken] {
        let requests = read_all(&root, &temp, &fixtures, &tenth(harms));
        assert!(requests <= least + least / 4, "{requests} requests, {least} without harm");
    }
}

#[test]
fn latency_changes_nothing() {
    let Some(root) = corpus("nczarr") else { return };
    let rule = Rule { latency: Duration::from_millis(50), ..tenth(&FAILING) };
    let proxy = Proxy::start(&serve(&root, None), rule);
    let local = session(|_| {});
    for below in ["cases/nczarr-4.10.1/chunks/data", "cases/zipmap-4.10.1/groups/data.zip"] {
        let url = format!("{}/{below}", proxy.address);
        let remote = Dataset::open_with(&url, &OpenOptions::default(), &local).unwrap();
        assert_eq!(exact_cdl(&remote, "x"), exact_cdl(&open(&root.join(below), &local).unwrap(), "x"));
    }
}

#[test]
fn a_network_that_never_works_is_told_of() {
    let (_folder, temp) = temp();
    std::fs::write(temp.join("x.nc"), b"CDF\x01").unwrap();
    let rule = |harm| Rule { harms: vec![harm], one_in: 1, ..good() };
    for (harm, told) in [
        (Harm::Status("503 Service Unavailable"), "server answered 503 Service Unavailable"),
        (Harm::Unheard, "connection failed"),
        (Harm::Unanswered, "connection failed"),
    ] {
        let proxy = Proxy::start(&serve(&temp, None), rule(harm));
        let session = session(|options| options.retries = 3);
        let url = format!("{}/x.nc", proxy.address);
        let error = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io { retryable: true }, "{error}");
        let message = error.to_string();
        assert!(message.starts_with(told), "{message}");
        assert!(
            message.contains("; given up after 4 attempts in ") && message.contains("/x.nc"),
            "{message}"
        );
        let requests = proxy.requests();
        let of_file = requests.iter().filter(|request| request.target == "/x.nc").count();
        assert_eq!(of_file, 4, "{harm:?}");
        assert!(requests.len() <= 12, "{harm:?}: {requests:?}");
    }
}

#[test]
fn an_object_that_changes_between_two_reads_is_told_of() {
    let (_folder, temp) = temp();
    let session = session(|_| {});
    let path = temp.join("x.nc");
    make(&path, 3 << 20, &session);
    let url = format!("{}/x.nc", serve(&temp, None));
    let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
    make(&path, 2 << 20, &session);
    let error = dataset.variable("v").unwrap().read::<i8>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
}

/// A variable of `len` bytes.
fn make(path: &Path, len: usize, session: &Session) {
    let options = CreateOptions::new().kind(Kind::Nc3).overwrite(true);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    root.add_dimension("x", ncirrus::DimensionLen::Fixed(len as u64)).unwrap();
    let variable = root.add_variable("v", ncirrus::Atomic::Byte, &["x"]).unwrap();
    variable.write_all(&vec![1_i8; len]).unwrap();
    dataset.close().unwrap();
}
