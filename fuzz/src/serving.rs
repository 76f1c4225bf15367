//! Requests to the server.
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, Kind, Result, Session, Storage,
};
use ncirrus_serve::fuzzing::{self, FuzzServer};
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A server of a few datasets, which are removed with it.
pub struct ServedExamples {
    folder: TempDir,
    server: FuzzServer,
}

/// What is outside the folder that is served.
const SECRET: &str = "secret";

impl ServedExamples {
    /// Creates the datasets and the server.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn new() -> Result<Self> {
        let fault = |error: std::io::Error| ncirrus::Error::internal(error.to_string());
        let folder = tempfile::tempdir().map_err(fault)?;
        let served = folder.path().join("served");
        std::fs::create_dir_all(served.join("sub")).map_err(fault)?;
        std::fs::write(served.join("sst.nc"), include_bytes!("../../examples/sst.nc")).map_err(fault)?;
        std::fs::copy(served.join("sst.nc"), folder.path().join(SECRET)).map_err(fault)?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join(SECRET), served.join("link.nc")).map_err(fault)?;
        let session = Session::builder().threads(1).build()?;
        write(&served.join("groups.nc"), Kind::Nc4, &session)?;
        write(&served.join("sub/a b.zarr"), Kind::Zarr3, &session)?;
        let server = FuzzServer::new(&served.to_string_lossy(), &session)?;
        Ok(Self { folder, server })
    }

    /// The query of a subset.
    pub fn subset_query(&self, data: &[u8]) {
        let Ok(query) = std::str::from_utf8(data) else { return };
        self.server.subset("sst.nc", query);
        self.server.subset("groups.nc", query);
    }

    /// The path of a request, decoded.
    pub fn served_path(&self, data: &[u8]) {
        if let Ok(path) = std::str::from_utf8(data) {
            self.server.path(path);
        }
    }

    /// A whole request: it never fails because of the server, and no response has an address of the server.
    pub fn request(&self, data: &[u8]) {
        let Some((status, body)) = self.server.respond(data) else { return };
        let shown = || format!("{status} to {:?}", String::from_utf8_lossy(data));
        assert!(status < 500 || matches!(status, 501 | 503), "{}", shown());
        let Some(body) = body else { return };
        let place = self.folder.path().to_string_lossy().into_owned();
        let has_place = body.windows(place.len()).any(|part| part == place.as_bytes());
        assert!(!has_place, "the response names the folder: {}", shown());
    }
}

/// A dataset with a group, texts, times and chunks.
fn write(path: &Path, kind: Kind, session: &Session) -> Result<()> {
    let dialect = (kind == Kind::Zarr3).then_some(Dialect::Plain);
    let options = CreateOptions::new().kind(kind).dialect(dialect).durable(false);
    let dataset = Dataset::create_with(&path.to_string_lossy(), &options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(5))?;
        let t = model.add_variable(root, "t", Atomic::Float.into(), &[time, x])?;
        if let Some(variable) = model.variable_mut(t) {
            variable.storage = Storage::Chunked(vec![2, 3]);
        }
        model.add_variable(root, "time", Atomic::Int.into(), &[time])?;
        model.add_variable(root, "x", Atomic::Double.into(), &[x])?;
        model.add_variable(root, "one", Atomic::UInt64.into(), &[])?;
        let group = model.add_group(root, "g")?;
        model.add_variable(group, "words", Atomic::String.into(), &[x])?;
        Ok(())
    })?;
    let units = Attribute::text("units", "hours since 2020-02-28 12:00");
    dataset.variable("time")?.set_attribute(units)?;
    dataset.variable("x")?.write_all(&[-1.5_f64, 0.0, 10.0, 20.0, 1e9])?;
    dataset.variable("time")?.write(&ncirrus::Selection::slab(&[0], &[4]), &[0_i32, 6, 30, 800])?;
    dataset.close()
}

/// For the targets that cannot hand a server on.
static SERVED: LazyLock<Option<ServedExamples>> = LazyLock::new(|| ServedExamples::new().ok());

/// Lines of headers: ranges, tags, codings.
pub fn request_headers(data: &[u8]) {
    fuzzing::headers(data);
}

/// A key of a chunk of Zarr.
pub fn chunk_keys(data: &[u8]) {
    if let Ok(key) = std::str::from_utf8(data) {
        fuzzing::chunk_key(key);
    }
}

/// A query of a subset.
pub fn subset_queries(data: &[u8]) {
    if let Some(served) = &*SERVED {
        served.subset_query(data);
    }
}

/// A path of a request.
pub fn served_paths(data: &[u8]) {
    if let Some(served) = &*SERVED {
        served.served_path(data);
    }
}

/// A whole request: a line `METHOD TARGET` and lines of headers.
pub fn requests(data: &[u8]) {
    if let Some(served) = &*SERVED {
        served.request(data);
    }
}
