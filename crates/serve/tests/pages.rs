//! The pages of a server for all clients: they show no place of the server, and have its limits.
use crate::support::{self, Reply, TestServer, fixtures, limited};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Session, Storage};
use ncirrus_serve::{PageOptions, ServerBuilder};
use ncirrus_tools::aggregate::{AggregateOptions, MasterOptions, aggregate};
use serde_json::Value;
use std::path::Path;

const PAGE: &[(&str, &str)] = &[("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")];

fn with_pages(builder: ServerBuilder) -> ServerBuilder {
    builder.pages(PageOptions {
        hint: None,
        coastlines: Some(|_| vec![vec![(-5.7, 50.1)]]),
        // A server shows them as to others.
        is_local: true,
    })
}

fn json(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_else(|error| panic!("{error}: {}", reply.text()))
}

/// The routes of a variable, with what reads all of it.
fn routes_of(path: &str, variable: &Value) -> Vec<String> {
    let name = variable["path"].as_str().unwrap();
    let rank = variable["shape"].as_array().unwrap().len();
    let all = vec![":"; rank].join(",");
    let query = format!("path={path}&var={name}");
    let select = if rank == 0 { String::new() } else { format!("&select=[{all}]") };
    let mut routes: Vec<String> =
        ["variable", "axis", "texts", "chunks"].iter().map(|route| format!("{route}?{query}")).collect();
    routes.extend(["values", "cost"].iter().map(|route| format!("{route}?{query}{select}&accept=1")));
    routes.extend(
        ["nc3", "nc4", "zarr", "csv"].iter().map(|form| format!("download?{query}{select}&form={form}")),
    );
    routes
}

/// All routes of a dataset and its variables.
fn routes_of_dataset(server: &TestServer, path: &str) -> Vec<String> {
    let mut routes = vec![format!("dataset?path={path}"), format!("cdl?path={path}")];
    let shown = server.get(&format!("/view/api/dataset?path={path}"));
    if shown.status != 200 {
        return routes;
    }
    for group in json(&shown)["groups"].as_array().unwrap() {
        for variable in group["variables"].as_array().unwrap() {
            routes.extend(routes_of(path, variable));
        }
    }
    routes
}

#[test]
fn every_route_of_the_pages_is_served_counted_and_has_a_head() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), with_pages);
    let mut routes: Vec<String> = [
        "/view/",
        "/view/static/app.js",
        "/view/api/start",
        "/view/api/list?path=sub",
        "/view/api/coastlines",
    ]
    .map(str::to_owned)
    .into();
    routes.push("/view/api/dataset?path=four.nc".to_owned());
    routes.push("/view/api/cdl?path=four.nc".to_owned());
    let t: Value = serde_json::from_str("{\"path\": \"/t\", \"shape\": [6, 20]}").unwrap();
    let of_t = routes_of("four.nc", &t).into_iter().filter(|route| !route.starts_with("axis"));
    routes.extend(of_t.map(|route| format!("/view/api/{route}")));
    routes.push("/view/api/axis?path=four.nc&var=/x".to_owned());
    let before = server.metric("ncirrus_responses_total{class=\"2xx\"}");
    for route in &routes {
        let reply = server.get(route);
        assert_eq!(reply.status, 200, "{route}: {}", reply.text());
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{route}: {policy}");
        let head = server.request("HEAD", route, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0), "{route}");
        assert_eq!(head.header("content-type"), reply.header("content-type"), "{route}");
        assert_eq!(server.request("POST", route, &[]).status, 405, "{route}");
    }
    let counted = server.metric("ncirrus_responses_total{class=\"2xx\"}") - before;
    assert_eq!(counted, 2 * routes.len() as u64 + 1);
    let tag = server.get("/view/").header("etag").unwrap();
    assert_eq!(server.request("GET", "/view/", &[("If-None-Match", &tag)]).status, 304);
    // What others fetch is not shown.
    assert_eq!(server.get("/view/api/activity").status, 404);
    assert_eq!(json(&server.get("/view/api/start"))["activity"], false);
}

#[test]
fn browsers_are_led_from_the_root_to_the_pages_and_programs_find_what_they_found() {
    let folder = fixtures();
    let plain = TestServer::start(folder.path(), |builder| builder);
    let server = TestServer::start(folder.path(), with_pages);
    let below = TestServer::start(folder.path(), |builder| with_pages(builder).base_path("/a/b"));
    for (server, target, to) in
        [(&server, "/", "view/"), (&below, "/a/b", "b/view/"), (&below, "/a/b/", "view/")]
    {
        let reply = server.request("GET", target, PAGE);
        let found = (reply.status, reply.header("location"), reply.header("vary"));
        assert_eq!((found.0, found.1.as_deref()), (307, Some(to)), "{target}");
        assert!(found.2.unwrap().contains("accept"), "{target}");
        assert_eq!(server.request("HEAD", target, PAGE).status, 307, "{target}");
        for accept in ["*/*", "application/xml", "text/html;q=0"] {
            let program = server.request("GET", target, &[("Accept", accept)]);
            let before = plain.request("GET", target, &[("Accept", accept)]);
            let vary = program.header("vary").unwrap_or_default();
            assert!(vary.contains("accept"), "{target} {accept}: {vary}");
            assert_eq!((program.status, program.body), (before.status, before.body), "{target} {accept}");
        }
    }
    assert_eq!(plain.request("GET", "/", PAGE).status, 404);
    assert_eq!(plain.get("/view/").status, 404);
}

#[test]
fn pages_are_below_the_base_path_and_their_links_are_relative() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| with_pages(builder).base_path("/a/b"));
    let page = server.get("/a/b/view/");
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("href=\"/") && !page.text().contains("src=\"/"), "{}", page.text());
    assert_eq!(server.get("/a/b/view/api/list").status, 200);
    assert_eq!(server.get("/a/b/catalog.xml").status, 200);
    assert_eq!(server.get("/a/b/view").header("location").as_deref(), Some("view/"));
    for target in ["/view/", "/view/api/list", "/", "/a/"] {
        assert_eq!(server.get(target).status, 404, "{target}");
    }
}

#[test]
fn the_addresses_that_a_page_shows_are_served() {
    let folder = fixtures();
    std::fs::copy(folder.path().join("three.nc"), folder.path().join("sub/a b'&é.nc")).unwrap();
    let server = TestServer::start(folder.path(), with_pages);
    for path in ["four.nc", "sub/v3.zarr", "sub/a%20b%27%26%C3%A9.nc"] {
        let shown = json(&server.get(&format!("/view/api/dataset?path={path}")));
        assert_eq!(shown["address"], "", "{path}");
        let addresses = shown["addresses"].as_array().unwrap();
        assert_eq!(addresses.len(), 6, "{path}");
        for address in addresses {
            let open = address["open"].as_str().unwrap();
            let reply = server.get(&format!("/{open}"));
            assert_eq!(reply.status, 200, "{open}: {}", reply.text());
        }
        for sample in shown["code"].as_array().unwrap() {
            let text = sample["text"].as_str().unwrap();
            assert!(text.contains("{server}") && !text.contains("/tmp"), "{text}");
        }
        let dap4 = addresses[1]["path"].as_str().unwrap();
        Dataset::open(&format!("http://{}/{dap4}", server.address())).unwrap();
        let curl = shown["code"][4]["text"].as_str().unwrap();
        let subset = curl.split("{server}").nth(1).unwrap().trim_end_matches('\'');
        assert_eq!(server.get(&format!("/{subset}")).status, 200, "{subset}");
    }
}

/// Datasets of which parts are damaged, missing or unknown.
fn damage(folder: &Path) {
    let at = |name: &str| folder.join(name);
    let whole = std::fs::read(at("four.nc")).unwrap();
    std::fs::write(at("short.nc"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(at("sub/v3.zarr/t/c/0/0"), b"damaged").unwrap();
    let document = std::fs::read(at("v2.zarr/t/.zarray")).unwrap();
    let mut document: Value = serde_json::from_slice(&document).unwrap();
    document["compressor"] = serde_json::json!({"id": "nope"});
    std::fs::write(at("v2.zarr/t/.zarray"), document.to_string()).unwrap();
    _ = std::fs::remove_file(at("v2.zarr/.zmetadata"));
    let write = |name: &str| {
        let dataset = Dataset::create(at(name).to_str().unwrap()).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(2)).unwrap();
        dataset.root().add_variable("v", Atomic::Float, &["x"]).unwrap().write_all(&[1.0_f32; 2]).unwrap();
        dataset.close().unwrap();
    };
    write("a.nc");
    write("gone.nc");
    let files = ["a.nc", "gone.nc"].map(|name| at(name).to_str().unwrap().to_owned());
    let options = AggregateOptions::new().axes(["x".to_owned()]);
    let session = Session::new().unwrap();
    aggregate(at("all.nc").to_str().unwrap(), &files, &options, &MasterOptions::new(), &session).unwrap();
    std::fs::remove_file(at("gone.nc")).unwrap();
}

/// References to bytes that are not there.
fn references(folder: &Path) -> String {
    let array = "{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":\"<i4\",\"order\":\"C\",\"compressor\":null,\"filters\":null,\"fill_value\":0}";
    let gone = folder.join("gone.bin");
    let refs = serde_json::json!({"version": 1, "refs": {
        ".zgroup": "{\"zarr_format\":2}", "v/.zarray": array, "v/.zattrs": "{\"_ARRAY_DIMENSIONS\":[\"x\"]}",
        "v/0": [gone.to_str().unwrap(), 0, 8],
    }});
    let path = folder.join("refs.json");
    std::fs::write(&path, refs.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn no_answer_names_a_place_of_the_server() {
    let folder = fixtures();
    damage(folder.path());
    let refs = references(folder.path());
    let secret = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let of_folder = TestServer::start(folder.path(), with_pages);
    let of_references = TestServer::start(Path::new(&refs), with_pages);
    let names = ["four.nc", "short.nc", "v2.zarr", "sub/v3.zarr", "sharded.zarr", "all.nc", "none.nc", "sub"];
    let mut failed = 0;
    for (server, names) in [(&of_folder, &names[..]), (&of_references, &["refs.json"][..])] {
        let mut routes = vec!["start".to_owned(), "list".to_owned(), "list?path=sub".to_owned()];
        routes.extend(names.iter().flat_map(|name| routes_of_dataset(server, name)));
        for route in routes {
            let reply = server.get(&format!("/view/api/{route}"));
            failed += usize::from(reply.status >= 400);
            let text = reply.text();
            assert!(!text.contains(&secret), "{route}: {text}");
            assert!(!text.contains("hint\":\""), "{route}: {text}");
        }
    }
    assert!(failed > 20, "only {failed} requests failed: the datasets are not damaged");
}

#[test]
fn reads_and_files_have_the_limits_of_the_server_whatever_users_accept() {
    let folder = fixtures();
    many(&folder.path().join("many.zarr"));
    let server = TestServer::start(folder.path(), |builder| {
        limited(with_pages(builder), |limits| limits.response_bytes = 100)
    });
    let query = "path=four.nc&var=/t&select=[:,:]&accept=1";
    let values = server.get(&format!("/view/api/values?{query}"));
    assert_eq!(values.status, 413, "{}", values.text());
    for form in ["nc3", "nc4", "zarr", "csv"] {
        let reply = server.get(&format!("/view/api/download?{query}&form={form}"));
        assert_eq!(reply.status, 413, "{form}: {}", reply.text());
        assert!(reply.text().contains("100"), "{form}: {}", reply.text());
    }
    let server = TestServer::start(folder.path(), with_pages);
    let read = |select: &str| server.get(&format!("/view/api/values?path=many.zarr&var=/v&select={select}"));
    let refused = read("[0:70000]&accept=1");
    assert_eq!(refused.status, 413, "{}", refused.text());
    assert!(
        refused.text().contains("65536 requests") && json(&refused)["cost"].is_null(),
        "{}",
        refused.text()
    );
    let asked = read("[0:5000]");
    assert_eq!((asked.status, json(&asked)["cost"]["requests"].as_u64()), (413, Some(5000)));
    assert_eq!(read("[0:5000]&accept=1").status, 200);
    let csv = server.get("/view/api/download?path=big.nc&var=/v&select=[:]&form=csv&accept=1");
    assert_eq!(csv.status, 413, "{}", csv.text());
}

/// Chunks of one value, none of which is stored.
fn many(path: &Path) {
    let session = Session::new().unwrap();
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(100_000)).unwrap();
    let v = dataset.root().add_variable("v", Atomic::Byte, &["x"]).unwrap();
    v.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    dataset.close().unwrap();
}

#[test]
fn parameters_that_make_no_sense_are_refused_and_the_server_goes_on() {
    let folder = fixtures();
    let server = TestServer::start(folder.path(), with_pages);
    let huge = u64::MAX.to_string();
    let long = "0,".repeat(20_000);
    let selects = [
        "[".to_owned(),
        "]".to_owned(),
        "[]".to_owned(),
        "[[0]]".to_owned(),
        "[0,0,0]".to_owned(),
        format!("[{huge},0]"),
        format!("[0:{huge}:1,0]"),
        format!("[0:6:{huge},{huge}]"),
        "[0:6:0,0]".to_owned(),
        "[-9:,0]".to_owned(),
        format!("[{{{long}0}},99]"),
        format!("[{}0]", "{".repeat(5000)),
        "[0,%00]".to_owned(),
        "[0,%ff]".to_owned(),
        "x[0,0]/../t".to_owned(),
    ];
    for select in &selects {
        for route in ["values?", "cost?", "download?form=nc4&", "download?form=csv&"] {
            let reply = server.get(&format!("/view/api/{route}path=four.nc&var=/t&select={select}"));
            assert!(
                matches!(reply.status, 400 | 404 | 413),
                "{route}{select:.60}: {} {}",
                reply.status,
                reply.text()
            );
        }
    }
    for (target, status) in [
        ("chunks?path=four.nc&var=/t&at=x", 400),
        ("chunks?path=four.nc&var=/x", 400),
        ("chunks?path=four.nc&var=/t&at=99999999999999999999", 400),
        ("axis?path=four.nc&var=/t", 400),
        ("dataset?path=../../etc/passwd", 404),
        ("dataset?path=%2e%2e%2f%2e%2e%2fetc", 404),
        ("dataset?path=/etc/passwd", 404),
        ("dataset?path=file:///etc/passwd", 404),
        ("dataset?path=four.nc%00", 404),
        ("dataset", 404),
        ("variable?path=four.nc&var=../../t", 404),
        ("variable?path=four.nc&var=%ff", 404),
        ("list?path=four.nc", 404),
        ("list?path=http://127.0.0.1/", 404),
        ("download?path=four.nc&var=/t&form=exe", 400),
        ("nothing", 404),
    ] {
        let reply = server.get(&format!("/view/api/{target}"));
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
    }
    assert_eq!(server.get("/view/static/..%2f..%2fCargo.toml").status, 404);
    assert_eq!(server.get("/view/api/start").status, 200);
    assert!(support::until(|| server.metric("ncirrus_responses_in_progress") == 1));
}
