//! Datasets on a real HTTP server: files, trees and zips are read by ranges, and one odd member affects only itself.
#![cfg(all(feature = "http", feature = "zip"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use crate::support::{exact_cdl, session, temp};
use ncirrus::{Atomic, Attribute, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Session};
use ncirrus_testkit::files_over_http::serve;
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

#[test]
fn what_is_not_there_is_told_as_such() {
    let (_folder, root) = temp();
    let url = format!("{}/nope.nc", serve(&root, None));
    let error = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("nope.nc"), "{error}");
}
