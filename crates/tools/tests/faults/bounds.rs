//! However many stores a session uses, its requests in flight stay within its bound.
use crate::faults::{builder, good, session};
use crate::proxy::{Gauge, Proxy, Rule};
use crate::s3::server::{KEY, SECRET, Server, settings};
use crate::support::temp;
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Session, Storage};
use ncirrus_testkit::files_over_http::serve;
use ncirrus_tools::places::{self, KeysOptions, ListOptions};
use std::sync::Arc;
use std::time::Duration;

const CHUNKS: usize = 24;

fn create(url: &str, session: &Session) {
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(CHUNKS as u64)).unwrap();
    let variable = root.add_variable("v", Atomic::Byte, &["x"]).unwrap();
    variable.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    variable.write_all(&[1_i8; CHUNKS]).unwrap();
    dataset.close().unwrap();
}

fn read(url: &str, session: &Session) {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    assert_eq!(dataset.variable("v").unwrap().read::<i8>().unwrap()[..], [1; CHUNKS]);
}

/// The maximum number of requests in flight while two servers were read from and one was listed.
fn max(requests: usize, latency: u64) -> usize {
    let (_folder, temp) = temp();
    let gauge = Arc::new(Gauge::default());
    let rule = Rule { latency: Duration::from_millis(latency), ..good() };
    let server = Server::start();
    let buckets = Proxy::watched(&server.address, rule.clone(), Arc::clone(&gauge));
    let files = Proxy::watched(&serve(&temp, None), rule, Arc::clone(&gauge));
    let session = builder(|options| options.settings = settings(&buckets.address, KEY, SECRET));
    let session = session.requests(requests).build().unwrap();
    create(temp.join("x.zarr").to_str().unwrap(), &session);
    let place = |name: &str| server.url(&format!("shelf{name}"));
    for name in ["/a", "/b", "/c", "/d", "/e", "/f"] {
        create(&place(name), &server.session());
    }
    std::thread::scope(|scope| {
        scope.spawn(|| read(&format!("{}/x.zarr", files.address), &session));
        scope.spawn(|| read(&place("/a"), &session));
        scope.spawn(|| {
            let options = ListOptions::new().recursive(true);
            let found = places::list(&place(""), &options, &session).unwrap();
            assert_eq!(found.map(Result::unwrap).count(), 6);
        });
        scope.spawn(|| {
            let keys = places::keys(&place("/b"), &KeysOptions::default(), &session).unwrap();
            assert!(keys.map(Result::unwrap).count() > CHUNKS);
        });
    });
    gauge.take()
}

#[test]
fn requests_to_all_stores_and_listings_together_keep_to_the_bound_of_the_session() {
    assert_eq!(max(1, 5), 1);
    assert_eq!(max(3, 20), 3);
    assert!(max(256, 200) > 16, "more than one web server takes");
}

#[test]
fn a_web_server_gets_sixteen_requests_at_once() {
    let (_folder, temp) = temp();
    let gauge = Arc::new(Gauge::default());
    let rule = Rule { latency: Duration::from_millis(100), ..good() };
    let files = Proxy::watched(&serve(&temp, None), rule, Arc::clone(&gauge));
    let session = session(|_| {});
    std::fs::create_dir(temp.join("folder")).unwrap();
    for name in ["x.zarr", "folder/y.zarr"] {
        create(temp.join(name).to_str().unwrap(), &session);
    }
    std::thread::scope(|scope| {
        for name in ["x.zarr", "folder/y.zarr"] {
            let (url, session) = (format!("{}/{name}", files.address), &session);
            scope.spawn(move || read(&url, session));
        }
    });
    assert_eq!(gauge.take(), 16);
}
