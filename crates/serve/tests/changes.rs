//! Datasets that change while they are served.
use crate::support::{self, TestServer, fixtures};
use ncirrus::{Atomic, Dataset, DimensionLen, Kind, Session};
use ncirrus_serve::{ServerBuilder, ServerLimits};
use ncirrus_testkit::files_over_http;
use ncirrus_tools::aggregate::{AggregateOptions, MasterOptions, aggregate};
use std::path::Path;
use std::time::Duration;

/// A server that uses an open dataset for so long without a check.
fn rechecking(after: Duration) -> impl FnOnce(ServerBuilder) -> ServerBuilder {
    move |builder| {
        let mut limits = ServerLimits::default();
        limits.recheck = after;
        builder.limits(limits)
    }
}

#[test]
fn an_overwritten_chunk_of_a_tree_is_read() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), rechecking(Duration::ZERO));
    for name in ["sharded.zarr", "sub/v3.zarr"] {
        let target = format!("/dap/{name}.dods?t[0:0][0:1]");
        for _ in 0..3 {
            assert!(server.get(&target).body.ends_with(&0.25_f32.to_be_bytes()), "{name}");
        }
        let file = |key: &str| folder.path().join(name).join(key);
        std::fs::copy(file("t/c/0/1"), file("t/c/0/0")).unwrap();
        let after = server.get(&target);
        assert_eq!(after.status, 200, "{name}: {}", after.text());
        assert!(after.body.ends_with(&2.75_f32.to_be_bytes()), "{name}");
        assert_eq!(server.get(&format!("/zarr/{name}/zarr.json")).status, 200, "{name}");
    }
}

#[test]
fn stored_bytes_of_a_replaced_object_are_not_sent() {
    // A local file stays open, whatever takes its name.
    let folder = fixtures();
    let address = format!("{}/four.nc", files_over_http::serve(folder.path(), None));
    let server = TestServer::start(Path::new(&address), rechecking(Duration::from_secs(3600)));
    let target = "/zarr/four.nc/t/c/0/0";
    assert_eq!(server.get(target).status, 200);
    let other = folder.path().join("other.nc");
    support::write(&other, Kind::Nc4, 9, None);
    std::fs::rename(other, folder.path().join("four.nc")).unwrap();
    let reply = server.get(target);
    assert_eq!(reply.status, 503, "{}", reply.text());
}

#[test]
fn values_in_fragments_have_no_tag() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let write = |name: &str, value: f32| {
        let dataset = Dataset::create(&at(name)).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(2)).unwrap();
        let v = dataset.root().add_variable("v", Atomic::Float, &["x"]).unwrap();
        v.write_all(&[value; 2]).unwrap();
        dataset.close().unwrap();
    };
    write("a.nc", 1.0);
    write("b.nc", 2.0);
    let options = AggregateOptions::new().axes(["x".to_owned()]);
    let files = [at("a.nc"), at("b.nc")];
    let session = Session::new().unwrap();
    aggregate(&at("all.nc"), &files, &options, &MasterOptions::new(), &session).unwrap();
    let server = TestServer::start(folder.path(), rechecking(Duration::ZERO));
    assert!(server.get("/dap/all.nc.dds").header("etag").is_some());
    assert!(server.get("/dap/a.nc.dods?v").header("etag").is_some());
    let before = server.get("/dap/all.nc.dods?v");
    assert!(before.body.ends_with(&2.0_f32.to_be_bytes()), "{}", before.text());
    assert_eq!(before.header("etag"), None);
    write("new.nc", 3.0);
    std::fs::rename(at("new.nc"), at("b.nc")).unwrap();
    assert!(server.get("/dap/all.nc.dods?v").body.ends_with(&3.0_f32.to_be_bytes()));
}
