//! A server against this project's own client, and against clients that do not behave.
use crate::support::{self, Reply, TestServer, begun, fixtures, limited, raw};
use ncirrus::{Atomic, Dataset, DimensionLen, OpenOptions, Selection, Session};
use ncirrus_serve::ServerBuilder;
use std::io::Read;
use std::time::Duration;

/// Addresses of a dataset in all protocols.
fn addresses(server: &TestServer, name: &str) -> Vec<String> {
    let at = server.address();
    vec![
        format!("http://{at}/dap/{name}#dap2"),
        format!("http://{at}/dap/{name}#dap4"),
        format!("http://{at}/zarr/{name}"),
        format!("http://{at}/zarr2/{name}"),
    ]
}

/// All values of a variable as numbers, or as texts.
fn shown(dataset: &Dataset, path: &str) -> Vec<String> {
    let variable = dataset.variable(path).unwrap();
    let values = variable.values(&Selection::all(&variable.shape())).unwrap();
    if let Some(texts) = support::texts(&values, &variable.shape()) {
        return texts;
    }
    (0..values.len()).map(|at| values.number(at).unwrap().to_string()).collect()
}

#[test]
fn every_protocol_hands_on_the_values() {
    let folder = fixtures();
    let session = Session::new().unwrap();
    let server = TestServer::start(folder.path(), |builder| builder);
    for name in ["three.nc", "four.nc", "sub/v3.zarr", "v2.zarr", "sharded.zarr"] {
        let source =
            Dataset::open_with(folder.path().join(name).to_str().unwrap(), &OpenOptions::default(), &session);
        let source = source.unwrap();
        for address in addresses(&server, name) {
            let opened = Dataset::open_with(&address, &OpenOptions::default(), &session);
            let opened = opened.unwrap_or_else(|error| panic!("{address}: {error}"));
            for variable in source.variables() {
                let path = variable.path();
                // DAP2 has no groups.
                let there = if address.ends_with("dap2") { path.replace("/g/", "/g_") } else { path.clone() };
                assert_eq!(shown(&opened, &there), shown(&source, &path), "{address} {path}");
            }
            let units = opened.variable("/t").unwrap().attribute("units").unwrap().unwrap();
            assert_eq!(units.as_text().as_deref(), Some("K"), "{address}");
        }
    }
}

#[test]
fn a_part_is_read_as_it_is_in_the_dataset() {
    let folder = fixtures();
    let session = Session::new().unwrap();
    let server = TestServer::start(folder.path(), |builder| builder);
    let source = Dataset::open(folder.path().join("four.nc").to_str().unwrap()).unwrap();
    let part = Selection::strided(&[1, 2], &[3, 4], &[2, 3]);
    let wanted = source.variable("/t").unwrap().values(&part).unwrap();
    for address in addresses(&server, "four.nc") {
        let opened = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
        assert_eq!(opened.variable("/t").unwrap().values(&part).unwrap(), wanted, "{address}");
    }
}

#[test]
fn stored_chunks_of_zarr_are_sent_as_they_are() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let stored = std::fs::read(folder.path().join("sub/v3.zarr/t/c/0/1")).unwrap();
    assert_eq!(server.get("/zarr/sub/v3.zarr/t/c/0/1").body, stored);
    // A chunk past the end, and one of another form, are none.
    for key in ["t/c/9/9", "t/c/00/1", "t/0.1", "t/c/0", "nothing/c/0/0", ".zgroup"] {
        assert_eq!(server.get(&format!("/zarr/sub/v3.zarr/{key}")).status, 404, "{key}");
    }
}

#[test]
fn a_subset_is_a_file_with_the_part() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    for (query, format) in [("format=nc4", b"\x89HDF"), ("format=nc3", b"CDF\x01")] {
        let target = format!("/nc/four.nc?var=t&time=2020-01-02..2020-01-04&x=15..45&{query}");
        let reply = server.get(&target);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.body.starts_with(format), "{query}");
        let file = folder.path().join("subset.part");
        std::fs::write(&file, &reply.body).unwrap();
        let subset = Dataset::open(file.to_str().unwrap()).unwrap();
        let t = subset.variable("/t").unwrap();
        assert_eq!(t.shape(), [3, 3], "{query}");
        let whole = Dataset::open(folder.path().join("four.nc").to_str().unwrap()).unwrap();
        let wanted = whole.variable("/t").unwrap().values(&Selection::slab(&[1, 2], &[3, 3])).unwrap();
        assert_eq!(t.values(&Selection::all(&[3, 3])).unwrap(), wanted);
        assert_eq!(shown(&subset, "/x"), ["20", "30", "40"]);
        std::fs::remove_file(file).unwrap();
    }
    for (query, status) in [
        ("var=nothing", 404),
        ("var=t&z=1", 404),
        ("var=t&x=700..800", 400),
        ("var=t&x=[0:x]", 400),
        ("var=t&time=yesterday", 400),
        ("format=grib", 400),
    ] {
        assert_eq!(server.get(&format!("/nc/four.nc?{query}")).status, status, "{query}");
    }
}

#[test]
fn a_range_of_values_is_one_of_the_variable_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::create(folder.path().join("a.nc").to_str().unwrap()).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    let x = dataset.root().add_variable("x", Atomic::Int, &["x"]).unwrap();
    let lon = dataset.root().add_variable("lon", Atomic::Int, &["x"]).unwrap();
    x.write_all(&[10_i32, 20, 30, 40]).unwrap();
    lon.write_all(&[1_i32, 2, 15, 20]).unwrap();
    dataset.close().unwrap();
    let server = TestServer::start(folder.path(), |builder| builder);
    for (query, wanted) in [("lon=10..20", ["15", "20"]), ("x=10..20", ["1", "2"])] {
        let reply = server.get(&format!("/nc/a.nc?{query}"));
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        let file = folder.path().join("subset.part");
        std::fs::write(&file, &reply.body).unwrap();
        assert_eq!(shown(&Dataset::open(file.to_str().unwrap()).unwrap(), "/lon"), wanted, "{query}");
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn what_is_not_a_dataset_is_refused_and_entries_that_cannot_be_read_are_skipped() {
    let folder = fixtures();
    std::fs::write(folder.path().join("notes.txt"), "notes").unwrap();
    std::fs::write(folder.path().join("0.nc"), b"\x89HDF").unwrap();
    let session = Session::new().unwrap();
    for name in ["notes.txt", "0.nc"] {
        let address = folder.path().join(name).to_string_lossy().into_owned();
        let error = ServerBuilder::new([address], &session).build().err().unwrap();
        assert!(error.to_string().contains(name), "{error}");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", folder.path().join("00.nc")).unwrap();
    let server = TestServer::start(folder.path(), |builder| builder);
    let catalog = server.get("/catalog.xml").text();
    assert!(catalog.contains("four.nc") && !catalog.contains("notes"), "{catalog}");
}

#[test]
fn names_do_not_leave_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let folder = fixtures();
    std::fs::copy(folder.path().join("three.nc"), outside.path().join("secret.nc")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.nc"), folder.path().join("link.nc")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).unwrap();
    let server = TestServer::start(folder.path(), |builder| builder);
    let name = outside.path().file_name().unwrap().to_string_lossy().into_owned();
    let absolute = outside.path().join("secret.nc").to_string_lossy().into_owned();
    for path in [
        format!("../{name}/secret.nc"),
        format!("%2e%2e/{name}/secret.nc"),
        format!("..%2f{name}%2fsecret.nc"),
        format!("sub/../../{name}/secret.nc"),
        format!("/{absolute}"),
        absolute.replace('/', "%2F"),
        "link.nc".to_owned(),
        "out/secret.nc".to_owned(),
        "file:%2F%2F".to_owned() + &absolute,
        "sub%00.nc".to_owned(),
        "..\\secret.nc".to_owned(),
    ] {
        for target in [format!("/dap/{path}.dds"), format!("/zarr/{path}/zarr.json"), format!("/nc/{path}")] {
            let reply = server.get(&target);
            assert!(matches!(reply.status, 400 | 404), "{target}: {}", reply.status);
            assert!(!reply.text().contains(&name), "{target}: {}", reply.text());
        }
    }
    let catalog = server.get("/catalog.xml").text();
    assert!(
        catalog.contains("three.nc") && !catalog.contains("link.nc") && !catalog.contains("\"out\""),
        "{catalog}"
    );
}

#[test]
fn a_state_that_the_client_has_is_not_sent_again() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    for target in
        ["/dap/four.nc.dds", "/dap/four.nc.dods?t", "/zarr/four.nc/zarr.json", "/zarr/four.nc/t/c/0/0"]
    {
        let first = server.get(target);
        let tag = first.header("etag").unwrap_or_else(|| panic!("{target}: {:?}", first.headers));
        let again = server.request("GET", target, &[("If-None-Match", &tag)]);
        assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
        let head = server.request("HEAD", target, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
    }
    let part = server.request("GET", "/zarr/four.nc/zarr.json", &[("Range", "bytes=1-4")]);
    assert_eq!((part.status, part.body.len()), (206, 4));
    // Chunks of a folder may be replaced without a change of its definitions.
    assert_eq!(server.get("/dap/v2.zarr.dods?t").header("etag"), None);
}

#[test]
fn the_forms_of_an_answer_have_tags_of_their_own() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let get = |agent: &str, known: &str| {
        let reply =
            server.request("GET", "/dap/four.nc.dap", &[("User-Agent", agent), ("If-None-Match", known)]);
        assert_eq!(reply.header("vary").as_deref(), Some("user-agent"), "{agent}");
        (reply.status, reply.header("etag").unwrap())
    };
    let (_, plain) = get("pydap/3.5", "");
    let (_, of_netcdf) = get("netCDF-C/4.10.1", "");
    assert_ne!(plain, of_netcdf);
    assert_eq!(get("pydap/3.5", &of_netcdf), (200, plain.clone()));
    assert_eq!(get("pydap/3.5", &plain), (304, plain));
}

#[test]
fn a_dataset_that_changed_is_opened_again() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        limited(builder, |limits| limits.recheck = Duration::ZERO)
    });
    let before = server.get("/dap/three.nc.dds").text();
    support::write(&folder.path().join("three.nc"), ncirrus::Kind::Nc3, 3, None);
    let after = server.get("/dap/three.nc.dds").text();
    assert!(before.contains("[time = 6]") && after.contains("[time = 3]"), "{before} {after}");
    assert_eq!(server.get("/dap/new.nc.dds").status, 404);
    std::fs::copy(folder.path().join("three.nc"), folder.path().join("new.nc")).unwrap();
    assert_eq!(server.get("/dap/new.nc.dds").status, 200);
}

#[test]
fn what_is_too_large_is_refused_before_it_is_sent() {
    let folder = fixtures();
    let server =
        TestServer::start(folder.path(), |builder| limited(builder, |limits| limits.response_bytes = 100));
    for target in ["/dap/four.nc.dods", "/dap/four.nc.dap", "/dap/four.nc.ascii", "/nc/four.nc"] {
        let reply = server.get(target);
        assert_eq!(reply.status, 413, "{target}: {}", reply.text());
        assert!(reply.text().contains("100"), "{}", reply.text());
    }
    let reply = server.get("/dap/four.nc.dods?x[0:1]");
    assert_eq!(reply.status, 200, "{}", reply.text());
}

#[test]
fn errors_are_those_of_the_protocol() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let reply = server.get("/dap/four.nc.dods?nothing");
    assert_eq!((reply.status, reply.header("content-description").as_deref()), (404, Some("dods-error")));
    assert!(reply.text().starts_with("Error {\n    code = 1004;"), "{}", reply.text());
    let reply = server.get("/dap/four.nc.dap?dap4.ce=/t%5B0:99%5D%5B0%5D");
    assert!(reply.status == 400 && reply.text().contains("<Error"), "{}", reply.text());
    let reply = server.get("/dap/four.nc");
    assert!(reply.status == 404 && reply.text().contains(".dods"), "{}", reply.text());
    assert_eq!(server.request("POST", "/dap/four.nc.dds", &[]).status, 405);
}

#[test]
fn too_many_responses_of_one_client_are_refused() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        limited(builder, |limits| limits.responses_per_client = 2)
    });
    // Responses that have begun and are not read stay in progress.
    let slow = ["/dap/big.nc.dods"; 2].map(|path| begun(&server, path));
    let refused = support::until(|| server.get("/catalog.xml").status == 429);
    assert!(refused);
    drop(slow);
    assert!(support::until(|| server.get("/catalog.xml").status == 200));
}

#[test]
fn clients_that_do_not_behave_are_cut_off_and_others_are_served() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| {
        limited(builder, |limits| limits.idle_time = Duration::from_millis(300))
    });
    let at = server.address();
    // One that does not read, one that does not send its request, one that closes its half, and many that do nothing.
    let silent = raw(at, "GET /dap/big.nc.dods HTTP/1.1\r\nHost: a\r\n\r\n");
    let slow = raw(at, "GET /dap/four.nc.dds HTTP/1.1\r\nHost: a");
    let half = raw(at, "GET /dap/four.nc.dds HTTP/1.1\r\nHost: a\r\n\r\n");
    half.shutdown(std::net::Shutdown::Write).unwrap();
    let idle: Vec<_> = (0..500).map(|_| raw(at, "")).collect();
    for _ in 0..20 {
        assert_eq!(server.get("/dap/four.nc.dds").status, 200);
    }
    assert!(
        support::until(|| server.metric("ncirrus_responses_in_progress") == 1),
        "only that of the metrics"
    );
    assert!(support::until(|| server.metric("ncirrus_connections") <= 2));
    drop((silent, slow, half, idle));
}

#[test]
fn the_base_path_is_in_front_of_everything() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder.base_path("/a/b/").behind_proxy(true));
    assert_eq!(server.get("/dap/four.nc.dds").status, 404);
    assert_eq!(server.get("/a/b/dap/four.nc.dds").status, 200);
    let forwarded = [("X-Forwarded-Prefix", "/front")];
    let catalog = server.request("GET", "/a/b/catalog.xml", &forwarded).text();
    assert!(catalog.contains("base=\"/front/a/b/dap/\""), "{catalog}");
}

#[test]
fn responses_that_were_begun_are_complete_when_the_server_ends() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let mut stream = raw(server.address(), "GET /dap/big.nc.dods HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut first = [0; 1024];
    Read::read_exact(&mut stream, &mut first).unwrap();
    let ended = server.stop();
    let mut rest = first.to_vec();
    Read::read_to_end(&mut stream, &mut rest).unwrap();
    let Reply { status, headers, body } = Reply::parse(&rest);
    let len = headers.iter().find(|(name, _)| name == "content-length").unwrap().1.parse().unwrap();
    assert_eq!((status, body.len()), (200, len));
    ended.join().unwrap();
}
