//! A viewer of a folder with small datasets.
use crate::pages::parameters::Call;
use crate::pages::{LocalViewer, PageOptions, Secret};
use crate::{ServerLimits, ServerState};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Storage, Strings,
    Values,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tower::ServiceExt;

const PORT: u16 = 8080;

pub(super) struct Viewer {
    router: Router,
    state: ServerState,
    options: PageOptions,
    folder: Option<TempDir>,
}

pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Viewer {
    pub(super) fn new(address: &str, session: &Session) -> Self {
        // Requests of checks whether a dataset changed would depend on the time.
        let limits = ServerLimits { recheck: Duration::from_secs(3600), ..ServerLimits::default() };
        let options = PageOptions {
            hint: Some(|_| Some("a hint")),
            coastlines: Some(|is_fine| vec![vec![(-5.7, 50.1)]; if is_fine { 2 } else { 1 }]),
            ..PageOptions::default()
        };
        let viewer =
            LocalViewer::with_limits(address, options, session, &Secret::new().unwrap(), limits).unwrap();
        let router = viewer.router(PORT);
        Self { router, state: viewer.state, options: viewer.options, folder: None }
    }

    pub(super) fn of_sample() -> Self {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("data");
        let session = Session::new().unwrap();
        std::fs::create_dir_all(folder.join("below")).unwrap();
        packed(&folder.join("packed.nc"), &session);
        packed(&above.path().join("secret.nc"), &session);
        large(&folder.join("t.zarr"), &session);
        many(&folder.join("below/many.zarr"), &session);
        Self { folder: Some(above), ..Self::new(&folder.to_string_lossy(), &session) }
    }

    /// The folder that is shown.
    pub(super) fn folder(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("data")
    }

    pub(super) fn base(&self) -> &str {
        self.state.base_path()
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{PORT}")
    }

    pub(super) fn call(&self) -> Call {
        Call::new(self.state.clone(), Arc::new(self.options), "")
    }

    pub(super) fn state(&self) -> &ServerState {
        &self.state
    }

    /// A response whose body is not read.
    async fn response_at(&self, path: &str, host: &str) -> Response {
        let request = Request::builder().uri(path).header("host", host).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// The same for what is below `view/`.
    pub(super) async fn response(&self, path: &str) -> Response {
        self.response_at(&format!("{}/view/{path}", self.base()), &self.host()).await
    }

    pub(super) async fn at(&self, path: &str, host: &str) -> Reply {
        let (parts, body) = self.response_at(path, host).await.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    /// What is below `view/`.
    pub(super) async fn get(&self, path: &str) -> Reply {
        self.at(&format!("{}/view/{path}", self.base()), &self.host()).await
    }

    pub(super) async fn json(&self, path: &str) -> serde_json::Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.text());
        serde_json::from_slice(&reply.body).unwrap()
    }
}

pub(super) fn numbers(reply: &Reply) -> Vec<f64> {
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
    if reply.header("ncirrus-type") == "float32" {
        return reply
            .body
            .chunks(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()).into())
            .collect();
    }
    reply.body.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn create(path: &Path, kind: Kind, session: &Session) -> Dataset {
    Dataset::create_with(&path.to_string_lossy(), &CreateOptions::new().kind(kind), session).unwrap()
}

/// Packed temperatures on a map at two times; a variable of which half is written; texts.
fn packed(path: &Path, session: &Session) {
    let dataset = create(path, Kind::Nc4, session);
    let root = dataset.root();
    for (name, len) in [("time", 2), ("lat", 6), ("lon", 8), ("station", 2)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let time = root.add_variable("time", Atomic::Int, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2001-02-28")).unwrap();
    let lat = root.add_variable("lat", Atomic::Float, &["lat"]).unwrap();
    lat.set_attribute(Attribute::text("units", "degrees_north")).unwrap();
    let lon = root.add_variable("lon", Atomic::Float, &["lon"]).unwrap();
    lon.set_attribute(Attribute::text("units", "degrees_east")).unwrap();
    let sst = root.add_variable("sst", Atomic::Short, &["time", "lat", "lon"]).unwrap();
    sst.set_storage(Storage::Chunked(vec![1, 3, 4]), Vec::new()).unwrap();
    sst.set_attribute(Attribute::atomic("scale_factor", Values::Double(vec![0.5]))).unwrap();
    sst.set_attribute(Attribute::atomic("missing_value", Values::Short(vec![-1]))).unwrap();
    let half = root.add_variable("half", Atomic::Float, &["lat", "lon"]).unwrap();
    half.set_storage(Storage::Chunked(vec![3, 4]), Vec::new()).unwrap();
    let name = root.add_variable("name", Atomic::String, &["station"]).unwrap();
    let station = root.add_variable("station", Atomic::String, &["station"]).unwrap();
    let height = root.add_variable("height", Atomic::Float, &["station"]).unwrap();
    time.write_all(&[0i32, 1]).unwrap();
    lat.write_all(&[-75.0f32, -45.0, -15.0, 15.0, 45.0, 75.0]).unwrap();
    lon.write_all(&[0.0f32, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0]).unwrap();
    let stored: Vec<i16> = (0..96).map(|at| if at == 48 { -1 } else { at }).collect();
    sst.write_all(&stored).unwrap();
    half.write(&Selection::slab(&[0, 0], &[3, 8]), &[1.0f32; 24]).unwrap();
    let mut names = Strings::new();
    names.push(Some(b"north"));
    names.push(Some(b"<b>"));
    name.write_values(&Selection::all(&[2]), &Values::String(names)).unwrap();
    let stations: Strings = ["Ny-\u{c5}lesund", "Bern, CH"].into_iter().map(Some).collect();
    station.write_values(&Selection::all(&[2]), &Values::String(stations)).unwrap();
    height.write_all(&[15.5f32, 540.0]).unwrap();
    dataset.close().unwrap();
}

/// Four chunks of 512 x 512 at each of two times.
fn large(path: &Path, session: &Session) {
    let dataset = create(path, Kind::NcZarr, session);
    let root = dataset.root();
    for (name, len) in [("time", 2), ("y", 1024), ("x", 1024)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let t = root.add_variable("t", Atomic::Float, &["time", "y", "x"]).unwrap();
    t.set_storage(Storage::Chunked(vec![1, 512, 512]), Vec::new()).unwrap();
    let values: Vec<f32> = (0..1u16 << 10).cycle().take(1 << 20).map(f32::from).collect();
    t.write(&Selection::slab(&[0, 0, 0], &[1, 1024, 1024]), &values).unwrap();
    dataset.close().unwrap();
}

/// Chunks of one value.
fn many(path: &Path, session: &Session) {
    let dataset = create(path, Kind::NcZarr, session);
    dataset.root().add_dimension("x", DimensionLen::Fixed(4900)).unwrap();
    let v = dataset.root().add_variable("v", Atomic::Byte, &["x"]).unwrap();
    v.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    v.write(&Selection::slab(&[0], &[2]), &[1i8, 2]).unwrap();
    dataset.close().unwrap();
}
