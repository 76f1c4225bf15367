//! Datasets on a real HTTP server: files, trees and zips are read by ranges, and one odd member affects only itself.
#![cfg(all(feature = "http", feature = "zip"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use crate::support::{exact_cdl, session, temp};
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Selection, Session,
    Storage,
};
use ncirrus_testkit::files_over_http::serve;
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use std::path::Path;

/// A small dataset with two variables, created with the given options.
fn make(path: &Path, options: &CreateOptions, session: &Session) {
    let dataset = Dataset::create_with(path.to_str().unwrap(), options, session).unwrap();
    let root = dataset.root();
    root.set_attribute(Attribute::text("title", "over the wire")).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(5)).unwrap();
    for name in ["a", "secret"] {
        let variable = root.add_variable(name, Atomic::Short, &["x"]).unwrap();
        variable.write_all(&[1i16, 2, 3, 4, 5]).unwrap();
    }
    dataset.close().unwrap();
}

fn options(kind: Kind, consolidated: bool) -> CreateOptions {
    CreateOptions::new().kind(kind).consolidated(consolidated)
}

#[test]
fn files_trees_and_zips_read_as_they_do_locally() {
    let (_folder, root) = temp();
    let session = session();
    for (name, options) in [
        ("a.nc", options(Kind::Nc3, false)),
        ("b.zarr", options(Kind::NcZarr, true)),
        ("c.zip", options(Kind::NcZarr, true)),
        ("d.zarr", options(Kind::Zarr3, true)),
    ] {
        let path = root.join(name);
        make(&path, &options, &session);
        let local = exact_cdl(&crate::support::open(&path, &session).unwrap(), "x");
        let url = format!("{}/{name}", serve(&root, None));
        let remote = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session);
        assert_eq!(exact_cdl(&remote.unwrap(), "x"), local, "{name}");
    }
}

#[test]
fn a_denied_member_costs_only_itself() {
    let (_folder, root) = temp();
    let session = session();
    make(&root.join("x.zarr"), &options(Kind::NcZarr, false), &session);
    let url = format!("{}/x.zarr", serve(&root, Some("secret")));
    let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session).unwrap();
    assert_eq!(dataset.variable("a").unwrap().read::<i16>().unwrap(), [1, 2, 3, 4, 5]);
    assert!(dataset.variable("secret").unwrap().fault().is_some());
}

/// Serves a tree whose folders are shown as pages that are no lists of files.
fn serve_with_pages(tree: &Path) -> TestHttpServer {
    let server = TestHttpServer::start([]);
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let at = |path: &Path| format!("/t/{}", path.strip_prefix(tree).unwrap().to_str().unwrap());
        let page = b"<!DOCTYPE html><html><head><title>Our data</title></head><body>Welcome</body></html>";
        let page = ServerPage::WithStatus("200 OK\r\ncontent-type: text/html\r\n", page.to_vec());
        server.add(&at(&folder), page.clone());
        server.add(at(&folder).trim_end_matches('/'), page);
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                server.add(&at(&entry), ServerPage::Ranged(std::fs::read(&entry).unwrap()));
            }
        }
    }
    server
}

#[test]
fn a_mode_decides_whatever_page_a_server_shows_for_the_folder() {
    let (_folder, root) = temp();
    let session = session();
    for (name, kind, mode, consolidated) in [
        ("a", Kind::NcZarr, "nczarr", true),
        ("b", Kind::NcZarr, "nczarr", false),
        ("d", Kind::Zarr2, "zarr", true),
        ("e", Kind::Zarr3, "zarr3", false),
    ] {
        make(&root.join(name), &options(kind, consolidated), &session);
        let server = serve_with_pages(&root.join(name));
        for end in ["", "/"] {
            let url = format!("{}{end}#mode={mode}", server.url("/t"));
            let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session).unwrap();
            let found = dataset.variable("a").unwrap().read::<i16>().unwrap();
            assert_eq!(found, [1, 2, 3, 4, 5], "{url}");
        }
    }
}

#[test]
fn what_is_not_there_is_reported_as_such() {
    let (_folder, root) = temp();
    let url = format!("{}/nope.nc", serve(&root, None));
    let error = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("nope.nc"), "{error}");
}

/// A dataset of 100 steps of 128 x 128 numbers, one chunk each where there are chunks.
fn make_steps(path: &Path, kind: Kind, steps: u64, session: &Session) -> Vec<i32> {
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options(kind, true), session).unwrap();
    let root = dataset.root();
    for (name, len) in [("t", steps), ("y", 128), ("x", 128)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let variable = root.add_variable("v", Atomic::Int, &["t", "y", "x"]).unwrap();
    if kind != Kind::Nc3 {
        variable.set_storage(Storage::Chunked(vec![1, 128, 128]), vec![CodecSpec::hdf5(1, &[1])]).unwrap();
    }
    let values: Vec<i32> = (0..i32::try_from(steps).unwrap() * 128 * 128).collect();
    variable.write_all(&values).unwrap();
    dataset.close().unwrap();
    values
}

fn without_reading_ahead() -> Session {
    Session::builder().threads(2).read_ahead(false).build().unwrap()
}

#[test]
fn a_loop_over_steps_takes_a_tenth_of_the_requests_and_without_reading_ahead_one_for_each() {
    let (_folder, root) = temp();
    for (name, kind) in [("a.nc", Kind::Nc3), ("a.nc4", Kind::Nc4)] {
        let values = make_steps(&root.join(name), kind, 100, &session());
        let url = format!("{}/{name}", serve(&root, None));
        let requests = |session: &Session| {
            let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), session).unwrap();
            let variable = dataset.variable("v").unwrap();
            // Headers and indexes are not counted.
            variable.read_selection::<i32>(&Selection::slab(&[50, 0, 0], &[1, 128, 128])).unwrap();
            let before = session.statistics().requests;
            for step in 0..100 {
                let selection = Selection::slab(&[step, 0, 0], &[1, 128, 128]);
                let found = variable.read_selection::<i32>(&selection).unwrap();
                let first = usize::try_from(step).unwrap() * 128 * 128;
                assert_eq!(found, values[first..first + 128 * 128], "{name} {step}");
            }
            session.statistics().requests - before
        };
        let alone = requests(&without_reading_ahead());
        assert!((99..=100).contains(&alone), "{name}: {alone}");
        let ahead = requests(&session());
        assert!(ahead <= 10, "{name}: {ahead}");
    }
}

#[test]
fn single_elements_of_chunks_are_read_ahead_by_what_the_chunks_cost() {
    let (_folder, root) = temp();
    make_steps(&root.join("a.nc4"), Kind::Nc4, 1000, &session());
    let url = format!("{}/a.nc4", serve(&root, None));
    let session = session();
    let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    for step in 0..3 {
        let found = variable.read_selection::<i32>(&Selection::slab(&[step, 0, 0], &[1, 1, 1])).unwrap();
        assert_eq!(found, [i32::try_from(step).unwrap() * 128 * 128]);
    }
    // A chunk has 64 KiB: the first window has 16 of them, and if it has to be waited for, two more have 64 and 256.
    assert!(session.statistics().chunks_decoded <= 2 + 16 + 64 + 256, "{:?}", session.statistics());
}
