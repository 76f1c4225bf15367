//! The routes of the pages: who may use them, what they return, and what they read.
mod fixture;

use axum::http::StatusCode;
use fixture::{Viewer, numbers};
use ncirrus::Session;
use serde_json::{Value, json};
use std::sync::mpsc;
use std::time::Duration;

#[tokio::test]
async fn the_pages_are_served_to_those_who_know_the_secret_alone() {
    let viewer = Viewer::of_sample();
    let page = viewer.get("").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("static/app.js"));
    let script = viewer.get("static/app.js").await;
    assert_eq!(
        (script.status, script.header("content-type")),
        (StatusCode::OK, "text/javascript; charset=utf-8")
    );
    assert_eq!(viewer.get("static/../../Cargo.toml").await.status, StatusCode::NOT_FOUND);
    for path in
        ["/", "/view/", "/view/api/start", "/00000000000000000000000000000000/view/", "/view/static/app.js"]
    {
        assert_eq!(viewer.at(path, &viewer.host()).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert!(viewer.base().len() > 32);
    assert_ne!(viewer.base(), Viewer::of_sample().base());
}

#[tokio::test]
async fn other_hosts_are_rejected_with_and_without_the_secret() {
    let viewer = Viewer::of_sample();
    for path in [format!("{}/view/", viewer.base()), "/".to_owned()] {
        for host in ["evil.example:8080", "evil.example", "127.0.0.1:9999", ""] {
            let response = viewer.at(&path, host).await;
            assert_eq!(response.status, StatusCode::MISDIRECTED_REQUEST, "{path} {host}");
        }
    }
}

#[tokio::test]
async fn pages_load_nothing_from_elsewhere_and_send_no_referrer() {
    let viewer = Viewer::of_sample();
    for path in ["", "api/start", "api/dataset?path=none.nc"] {
        let response = viewer.get(path).await;
        let policy = response.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(response.header("referrer-policy"), "no-referrer");
        assert_eq!(response.header("x-content-type-options"), "nosniff");
        assert!(response.headers.get("access-control-allow-origin").is_none());
    }
}

#[tokio::test]
async fn a_folder_lists_datasets_and_folders_and_nothing_outside_it_is_read() {
    let viewer = Viewer::of_sample();
    let listed = viewer.json("api/list?path=").await;
    let names: Vec<&str> =
        listed["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["below", "packed.nc", "t.zarr"]);
    assert_eq!(listed["entries"][1]["kind"], "netCDF-4/HDF5");
    assert!(listed["entries"][1]["size"].as_u64().unwrap() > 100);
    assert!(listed["entries"][1]["modified"].as_u64().unwrap() > 1_600_000_000);
    for path in ["..", "../", "%2e%2e/secret.nc", "below/../../secret.nc", "/etc", "packed.nc/x", "none.nc"] {
        for route in ["list", "dataset"] {
            let response = viewer.get(&format!("api/{route}?path={path}")).await;
            assert_eq!(response.status, StatusCode::NOT_FOUND, "{route} {path}");
        }
    }
}

#[tokio::test]
async fn a_dataset_is_shown_with_storage_and_code() {
    let viewer = Viewer::of_sample();
    let shown = viewer.json("api/dataset?path=packed.nc").await;
    assert_eq!((&shown["name"], &shown["kind"]), (&json!("packed.nc"), &json!("netCDF-4")));
    let variables = shown["groups"][0]["variables"].as_array().unwrap();
    let sst = variables.iter().find(|variable| variable["path"] == "/sst").unwrap();
    assert_eq!((&sst["shape"], &sst["chunks"]), (&json!([2, 6, 8]), &json!([1, 3, 4])));
    let languages: Vec<&Value> =
        shown["code"].as_array().unwrap().iter().map(|sample| &sample["language"]).collect();
    assert_eq!(languages, ["Command", "Python", "xarray", "netCDF4", "C"]);
    let cdl = viewer.get("api/cdl?path=packed.nc").await;
    assert!(cdl.text().starts_with("netcdf packed {") && cdl.text().contains("short sst(time, lat, lon)"));
}

#[tokio::test]
async fn a_variable_has_the_axes_of_a_map() {
    let viewer = Viewer::of_sample();
    let shown = viewer.json("api/variable?path=packed.nc&var=/sst").await;
    assert_eq!((&shown["x"], &shown["y"], &shown["is_number"]), (&json!(2), &json!(1), &json!(true)));
    let roles: Vec<&Value> =
        shown["dimensions"].as_array().unwrap().iter().map(|dimension| &dimension["role"]).collect();
    assert_eq!(roles, ["time", "latitude", "longitude"]);
    let time = viewer.json("api/axis?path=packed.nc&var=/time").await;
    assert_eq!(time["labels"], json!(["2001-02-28", "2001-03-01"]));
    let lon = viewer.json("api/axis?path=packed.nc&var=/lon").await;
    assert_eq!((&lon["values"][1], &lon["stride"], &lon["labels"]), (&json!(45.0), &json!(1), &Value::Null));
    assert_eq!(viewer.get("api/axis?path=packed.nc&var=/sst").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn values_are_decoded_and_missing_ones_are_nan() {
    let viewer = Viewer::of_sample();
    let response = viewer.get("api/values?path=packed.nc&var=/sst&select=[1,0:6:3,0:8:4]").await;
    assert_eq!((response.header("ncirrus-shape"), response.header("ncirrus-type")), ("1,2,2", "float64"));
    let found = numbers(&response);
    // Stored 48 and so on, with a scale of 0.5; the first one is missing.
    assert!(found[0].is_nan());
    assert_eq!(found[1..], [26.0, 36.0, 38.0]);
    let float = viewer.get("api/values?path=t.zarr&var=/t&select=[0,0,0:3]").await;
    assert_eq!((float.header("ncirrus-type"), numbers(&float)), ("float32", vec![0.0, 1.0, 2.0]));
}

#[tokio::test]
async fn more_values_than_a_tile_needs_are_refused_before_they_are_read() {
    let viewer = Viewer::of_sample();
    let response = viewer.get("api/values?path=t.zarr&var=/t&select=[0,:,:]").await;
    assert_eq!(response.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(response.text().contains("262144"), "{}", response.text());
    for (select, part) in [("[0", "closing bracket"), ("[9,0,0]", "past its length"), ("x", "no brackets")] {
        let response = viewer.get(&format!("api/values?path=packed.nc&var=/sst&select={select}")).await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST, "{select}");
        assert!(response.text().contains(part), "{select}: {}", response.text());
    }
}

#[tokio::test]
async fn a_tile_fetches_the_chunks_that_it_touches() {
    let local = Viewer::of_sample();
    let address = ncirrus_testkit::files_over_http::serve(&local.folder(), None);
    let viewer = Viewer::new(&format!("{address}/t.zarr"), &Session::new().unwrap());
    viewer.json("api/variable?path=t.zarr&var=/t").await;
    // One of four chunks of 512 x 512; the stride does not add any.
    let before = viewer.json("api/activity").await;
    let response = viewer.get("api/values?path=t.zarr&var=/t&select=[0,0:512:2,0:512:2]").await;
    assert_eq!(numbers(&response).len(), 256 * 256);
    let after = viewer.json("api/activity").await;
    assert_eq!(after["requests"].as_u64().unwrap() - before["requests"].as_u64().unwrap(), 1);
    // An overview has all four.
    let before = after;
    let response = viewer.get("api/values?path=t.zarr&var=/t&select=[0,0:1024:4,0:1024:4]").await;
    assert_eq!(numbers(&response).len(), 256 * 256);
    let after = viewer.json("api/activity").await;
    assert!(after["requests"].as_u64().unwrap() - before["requests"].as_u64().unwrap() <= 4);
}

#[tokio::test]
async fn an_expensive_read_is_begun_if_its_cost_is_accepted() {
    let viewer = Viewer::of_sample();
    // 4,900 chunks of one value, each a request.
    let query = "api/values?path=below/many.zarr&var=/v&select=[:]";
    let refused = viewer.get(query).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    let body: Value = serde_json::from_str(&refused.text()).unwrap();
    assert!(body["error"].as_str().unwrap().contains("4900 requests"), "{body}");
    assert_eq!(body["cost"]["requests"], 4900);
    assert!(body["hint"].is_string());
    let accepted = viewer.get(&format!("{query}&accept=1")).await;
    assert_eq!((accepted.status, numbers(&accepted).len()), (StatusCode::OK, 4900));
    let cost = viewer.json("api/cost?path=below/many.zarr&var=/v&select=[0:2]").await;
    assert_eq!(cost["plan"]["requests"], 2);
    assert!(cost["text"].as_str().unwrap().contains("layout"));
}

#[tokio::test]
async fn chunks_that_were_never_written_are_missing_in_the_map() {
    let viewer = Viewer::of_sample();
    let map = viewer.json("api/chunks?path=packed.nc&var=/half&at=").await;
    assert_eq!((&map["grid"], &map["stored"], &map["missing"]), (&json!([2, 2]), &json!(2), &json!(2)));
    let first = &map["cells"][0];
    assert_eq!(
        (&first["start"], &first["stop"], &first["stored"]),
        (&json!([0, 0]), &json!([3, 4]), &json!(true))
    );
    assert!(first["length"].as_u64().unwrap() > 0);
    assert_eq!((&map["cells"][2]["stored"], &map["cells"][2]["length"]), (&json!(false), &Value::Null));
    let second = viewer.json("api/chunks?path=packed.nc&var=/sst&at=1").await;
    assert_eq!(second["cells"][0]["start"], json!([1, 0, 0]));
    assert_eq!(viewer.get("api/chunks?path=packed.nc&var=/sst&at=2").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(viewer.get("api/chunks?path=packed.nc&var=/name").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn texts_are_shown_with_their_indices() {
    let viewer = Viewer::of_sample();
    let found = viewer.json("api/texts?path=packed.nc&var=/name").await;
    assert_eq!(
        (&found["values"], &found["places"], &found["left_out"]),
        (&json!(["north", "<b>"]), &json!(["0", "1"]), &json!(false))
    );
}

#[tokio::test]
async fn a_selection_is_saved_in_each_form() {
    let viewer = Viewer::of_sample();
    let query = "path=packed.nc&var=/sst&select=[1,0:2,0:2]";
    let session = Session::new().unwrap();
    for (form, ending, magic) in
        [("nc4", "nc", b"\x89HDF".as_slice()), ("nc3", "nc", b"CDF\x02"), ("zarr", "zarr.zip", b"PK\x03\x04")]
    {
        let response = viewer.get(&format!("api/download?{query}&form={form}")).await;
        assert_eq!(response.status, StatusCode::OK, "{form}: {}", response.text());
        assert_eq!(response.header("content-disposition"), format!("attachment; filename=\"sst.{ending}\""));
        assert!(response.body.starts_with(magic), "{form}: {:?}", response.body.get(..4));
        let path = viewer.folder().join(format!("saved.{form}.{ending}"));
        std::fs::write(&path, &response.body).unwrap();
        let saved =
            ncirrus::Dataset::open_with(&path.to_string_lossy(), &Default::default(), &session).unwrap();
        let values = saved.variable("/sst").unwrap().read::<i16>().unwrap();
        assert_eq!(values.to_vec(), [-1, 49, 56, 57]);
        assert_eq!(saved.variable("/lat").unwrap().read::<f32>().unwrap().to_vec(), [-75.0, -45.0]);
    }
    let csv = viewer.get(&format!("api/download?{query}&form=csv")).await;
    assert_eq!(
        csv.text(),
        "time,lat,lon,sst\r\n2001-03-01,-75,0,\r\n2001-03-01,-75,45,24.5\r\n2001-03-01,-45,0,28\r\n2001-03-01,-45,45,28.5\r\n"
    );
    let stations = viewer.get("api/download?path=packed.nc&var=/height&select=[:]&form=csv").await;
    assert_eq!(stations.text(), "station,height\r\nNy-\u{c5}lesund,15.5\r\n\"Bern, CH\",540\r\n");
    assert_eq!(viewer.get(&format!("api/download?{query}&form=exe")).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn coastlines_are_points_with_a_gap_behind_each_line() {
    let viewer = Viewer::of_sample();
    assert_eq!(viewer.json("api/start").await["coastlines"], true);
    let coarse = viewer.get("api/coastlines?detail=coarse").await;
    let points: Vec<f32> =
        coarse.body.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(points[..2], [-5.7, 50.1]);
    assert!(points[2].is_nan() && points[3].is_nan() && points.len() == 4);
    assert_eq!(viewer.get("api/coastlines?detail=fine").await.body.len(), 32);
}

#[tokio::test]
async fn errors_have_hints_and_say_where() {
    let viewer = Viewer::of_sample();
    let response = viewer.get("api/variable?path=packed.nc&var=/nope").await;
    assert_eq!(response.status, StatusCode::NOT_FOUND);
    let body: Value = serde_json::from_str(&response.text()).unwrap();
    assert!(body["error"].as_str().unwrap().contains("packed.nc"), "{body}");
    assert_eq!(body["hint"], "a hint");
}

#[tokio::test]
async fn a_response_holds_its_share_of_the_memory_until_it_is_sent() {
    const MEMORY: usize = 16 << 20;
    let local = Viewer::of_sample();
    let session = Session::builder().memory(MEMORY).build().unwrap();
    let viewer = Viewer::new(&local.folder().join("t.zarr").to_string_lossy(), &session);
    let all = || tokio::time::timeout(Duration::from_millis(50), viewer.state().reserve(MEMORY as u64));
    let query = "path=t.zarr&var=/t&select=[0,0:256,0:256]";
    for route in [format!("api/values?{query}"), format!("api/download?{query}&form=csv")] {
        let unread = viewer.response(&route).await;
        assert_eq!(unread.status(), StatusCode::OK);
        assert!(all().await.is_err(), "{route}");
        drop(unread);
        assert!(all().await.is_ok_and(|share| share.is_ok()), "{route}");
    }
}

#[tokio::test]
async fn the_work_of_a_request_ends_when_the_client_goes_away() {
    let viewer = Viewer::of_sample();
    let (begun, begins) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    let call = viewer.call();
    let waiting = super::work::work(call, move |call| {
        begun.send(()).unwrap();
        let read = call.state.session().wait_for(std::future::pending::<ncirrus::Result<()>>());
        ended.send(read.unwrap_err().kind()).unwrap();
        Err(super::failure::Failure::not_found("cancelled"))
    });
    let request = tokio::spawn(waiting);
    tokio::task::spawn_blocking(move || begins.recv().unwrap()).await.unwrap();
    request.abort();
    let kind = tokio::task::spawn_blocking(move || ends.recv_timeout(Duration::from_secs(60)).unwrap())
        .await
        .unwrap();
    assert_eq!(kind, ncirrus::ErrorKind::Interrupted);
}
