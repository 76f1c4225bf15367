//! The kind of dataset at an address is detected in few requests.
use crate::faults::{good, session};
use crate::proxy::{Harm, Proxy, Rule};
use crate::support::temp;
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Limits, OpenOptions, Session};
use ncirrus_testkit::files_over_http::serve;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

/// Requests that do not belong to the kind that is found: for the object if it is a tree, and vice versa.
const LOOKS: usize = 2;

/// A dataset of that kind whose name does not reveal it.
fn make(path: &Path, kind: Kind) {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session(|_| {})).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(5)).unwrap();
    root.add_variable("v", Atomic::Short, &["x"]).unwrap().write_all(&[1_i16, 2, 3, 4, 5]).unwrap();
    dataset.close().unwrap();
}

#[test]
fn datasets_without_telling_names_are_found_in_two_requests_besides_their_own() {
    let (_folder, temp) = temp();
    for (name, kind, own) in [
        ("nczarr", Kind::NcZarr, "/nczarr/"),
        ("zarr3", Kind::Zarr3, "/zarr3/"),
        ("hdf5", Kind::Nc4, "/hdf5"),
        ("classic", Kind::Nc3, "/classic"),
    ] {
        make(&temp.join(name), kind);
        let proxy = Proxy::start(&serve(&temp, None), good());
        let url = format!("{}/{name}", proxy.address);
        let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session(|_| {})).unwrap();
        let is_own = |target: &str| if own.ends_with('/') { target.starts_with(own) } else { target == own };
        let requests = proxy.requests();
        let looks = requests.iter().filter(|request| !is_own(&request.target)).count();
        assert!(looks <= LOOKS, "{name}: {requests:?}");
        assert!(requests.len() <= LOOKS + 3, "{name}: {requests:?}");
        assert_eq!(dataset.variable("v").unwrap().read::<i16>().unwrap(), [1, 2, 3, 4, 5], "{name}");
    }
}

#[test]
fn other_objects_are_reported_in_few_requests() {
    let (_folder, temp) = temp();
    let page = b"<!DOCTYPE html>\n<html><body>Index of /data</body></html>";
    std::fs::write(temp.join("page"), page).unwrap();
    std::fs::write(temp.join("empty"), b"").unwrap();
    std::fs::write(temp.join("empty.zarr"), b"").unwrap();
    std::fs::write(temp.join("noise"), b"0123456789").unwrap();
    std::fs::write(temp.join("login"), b"<html><title>Earthdata Login</title>").unwrap();
    std::fs::write(temp.join("page.zip"), page).unwrap();
    std::fs::write(temp.join("page.json"), page).unwrap();
    let unknown = "not a dataset of a known format";
    // Where there is nothing, or a page for people, a server may compute a dataset: both protocols are tried.
    let computed = 4;
    for (name, kind, reported, max) in [
        ("page", ErrorKind::Malformed, "an HTML page, not data", 1 + computed),
        (
            "login",
            ErrorKind::Malformed,
            "an HTML page to log in, not data: \"Earthdata Login\"",
            1 + computed,
        ),
        ("page.json", ErrorKind::Malformed, "an HTML page, not data", 2 + computed),
        ("page.zip", ErrorKind::Malformed, "an HTML page, not data", 3 + computed),
        ("noise", ErrorKind::Malformed, unknown, 1),
        ("empty", ErrorKind::Malformed, "an empty object, not a dataset", 1),
        ("empty.zarr", ErrorKind::Malformed, "an empty object, not a dataset", 8),
        // Folder listings say nothing about the kind of their contents.
        ("", ErrorKind::Malformed, "an HTML page, not data: \"Index\"", 8 + computed),
        ("nothing", ErrorKind::NotFound, "no such object", 8 + computed),
        ("nothing.nc", ErrorKind::NotFound, "no such object", 8 + computed),
    ] {
        let proxy = Proxy::start(&serve(&temp, None), good());
        let url = format!("{}/{name}", proxy.address);
        let error = Dataset::open_with(&url, &OpenOptions::default(), &session(|_| {})).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().starts_with(reported), "{error}");
        assert!(error.to_string().contains(url.trim_end_matches('/')), "{error}");
        assert!(proxy.requests().len() <= max, "{name}: {:?}", proxy.requests());
    }
}

#[test]
fn a_metadata_document_over_the_limit_is_not_fetched() {
    let (_folder, temp) = temp();
    std::fs::create_dir(temp.join("x")).unwrap();
    let document = format!("{}{}", " ".repeat(100_000), r#"{"zarr_format": 2}"#);
    std::fs::write(temp.join("x/.zgroup"), document).unwrap();
    for (max, is_read) in [(100_017, false), (100_018, true)] {
        let limits = Limits { metadata_bytes: max, ..Limits::default() };
        let session = Session::builder().threads(2).limits(limits).build().unwrap();
        for place in [serve(&temp, None), temp.to_str().unwrap().to_owned()] {
            let opened = Dataset::open_with(&format!("{place}/x"), &OpenOptions::default(), &session);
            if is_read {
                // On a server, the members are not known.
                assert!(opened.is_ok() || place.starts_with("http"));
                continue;
            }
            let error = opened.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            assert!(error.message().contains("100018 bytes, more than the limit of 100017"), "{error}");
            assert!(error.to_string().contains("x/.zgroup"), "{error}");
            let received = session.traffic().received;
            assert!(received < 10_000, "{received} bytes");
        }
    }
}

#[test]
fn an_address_that_fails_is_checked_once() {
    let (_folder, temp) = temp();
    let rule = Rule { harms: vec![Harm::Status("503 Service Unavailable")], one_in: 1, ..good() };
    for name in ["x", "x.nc", "x.zip", "x.json"] {
        let proxy = Proxy::start(&serve(&temp, None), rule.clone());
        let url = format!("{}/{name}", proxy.address);
        let twice = session(|options| options.retries = 1);
        let error = Dataset::open_with(&url, &OpenOptions::default(), &twice).unwrap_err();
        let reported = format!("{error}");
        assert!(reported.contains("server answered 503") && reported.contains(&url), "{reported}");
        assert_eq!(proxy.requests().len(), 2, "{name}: {:?}", proxy.requests());
        assert!(proxy.requests().iter().all(|request| request.target == format!("/{name}")));
    }
}

#[test]
fn a_server_that_is_not_there_is_called_three_times() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let session = session(|_| {});
    let url = format!("http://{port}/x");
    let error = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap_err();
    assert!(error.message().starts_with("no connection"), "{error}");
    assert!(error.to_string().contains(&url), "{error}");
    assert_eq!(session.traffic().requests, 3);
}

#[test]
fn a_server_that_says_nothing_ends_the_search() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let session = session(|options| (options.timeout, options.retries) = (Duration::from_millis(50), 1));
    let url = format!("http://{}/x.nc", silent.local_addr().unwrap());
    let error = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap_err();
    assert!(error.message().starts_with("no answer within 0.05 s"), "{error}");
    assert_eq!(session.traffic().requests, 2);
}

#[test]
fn a_zip_file_is_known_by_its_first_bytes() {
    let (_folder, temp) = temp();
    make(&temp.join("x.zip"), Kind::NcZarr);
    std::fs::rename(temp.join("x.zip"), temp.join("x")).unwrap();
    let proxy = Proxy::start(&serve(&temp, None), good());
    let url = format!("{}/x", proxy.address);
    let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session(|_| {})).unwrap();
    assert_eq!(dataset.variable("v").unwrap().read::<i16>().unwrap(), [1, 2, 3, 4, 5]);
    let below = proxy.requests().iter().filter(|request| request.target != "/x").count();
    assert_eq!(below, 0, "{:?}", proxy.requests());
}

#[test]
fn a_server_without_ranges_is_warned_of_or_refused() {
    let (_folder, temp) = temp();
    make(&temp.join("x.nc"), Kind::Nc3);
    let size = std::fs::metadata(temp.join("x.nc")).unwrap().len();
    let rule = Rule { harms: vec![Harm::NoRange], one_in: 1, ..good() };
    let proxy = Proxy::start(&serve(&temp, None), rule);
    let url = format!("{}/x.nc", proxy.address);
    let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session(|_| {})).unwrap();
    let reported =
        format!("{url}: the server does not support byte ranges; the whole object was read ({size} bytes)");
    assert_eq!(dataset.warnings(), [reported]);
    assert_eq!(dataset.variable("v").unwrap().read::<i16>().unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(proxy.requests().len(), 1);
    let small = session(|options| options.whole_bytes = 10);
    let error = Dataset::open_with(&url, &OpenOptions::default(), &small).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(
        error.message().ends_with("more than the limit of 10 and the server does not support byte ranges"),
        "{error}"
    );
}

#[test]
fn plain_http_is_read_only() {
    let (_folder, temp) = temp();
    let url = format!("{}/x.nc", serve(&temp, None));
    let error = Dataset::create_with(&url, &CreateOptions::default(), &session(|_| {})).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Unsupported, "plain HTTP is read-only"));
}
