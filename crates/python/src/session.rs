//! A session: threads, caches, budgets and credentials.
use crate::bridge;
use crate::errors::{exception, wait};
use crate::lent_codecs::LentFactory;
use crate::options::Keywords;
use crate::requests_log;
use ncirrus::store::config::{ConfigFormat, ConfigSettings, ProcessEnvironment};
use ncirrus::store::{Credentials, MfaCodes, StoreOptions, UploadMode};
use ncirrus::{Error, ErrorKind, MissingChunks, SessionBuilder};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the datasets of a process share.
#[pyclass(frozen, weakref, module = "ncirrus._ncirrus")]
pub(crate) struct Session(pub(crate) ncirrus::Session);

#[pymethods]
impl Session {
    #[new]
    fn new(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let words = Keywords::new(options, "Session")?;
        let builder = resources(settings(py, &words)?, &words)?;
        let builder = bridges(stores(policies(builder, &words)?, &words)?, &words)?;
        let builder = codecs(builder, &words)?;
        words.done()?;
        requests_log::install();
        wait(py, || builder.build()).map(Self)
    }

    /// What was fetched and decoded so far.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in self.0.statistics().counts() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// Keeps what it holds for as long as the process lives: after a fork nothing of it can be ended.
    fn leak(&self) {
        std::mem::forget(self.0.clone());
    }

    /// Bytes that reading and writing may hold besides the caller's arrays.
    fn memory(&self) -> usize {
        self.0.memory()
    }

    /// Where files go that are needed for a while.
    fn cache_folder(&self) -> PathBuf {
        self.0.cache_folder()
    }

    /// What the user should know of the configuration and of the credentials that were used.
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    /// The values that count and where each came from: name, value, origin.
    fn effective(&self) -> Vec<(String, String, String)> {
        let shown = self.0.effective().into_iter();
        shown.map(|shown| (shown.name, shown.value, shown.origin.to_string())).collect()
    }
}

/// What files and the environment say, with what the program says instead.
fn settings(py: Python<'_>, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let variables: BTreeMap<String, String> = words.take("variables")?.unwrap_or_default();
    let config: Option<PathBuf> = words.take("config")?;
    let tables: Option<String> = words.take("tables")?;
    let rc: BTreeMap<String, String> = words.take("rc")?.unwrap_or_default();
    let rc: Vec<(String, String)> = rc.into_iter().collect();
    wait(py, || {
        let mut environment = ProcessEnvironment::of_process();
        for (name, value) in &variables {
            environment = environment.with(name, value);
        }
        let mut settings = ConfigSettings::gather_with(environment, config.as_deref(), &rc)?;
        if let Some(tables) = &tables {
            settings.read(ConfigFormat::Own, tables, Path::new("settings"))?;
        }
        Ok(ncirrus::Session::builder().settings(settings))
    })
}

fn resources(mut builder: SessionBuilder, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    if let Some(threads) = words.take("threads")? {
        builder = builder.threads(threads);
    }
    if let Some(memory) = words.size("memory")? {
        builder = builder.memory(bytes(memory));
    }
    if let Some(cache) = words.size("chunk_cache")? {
        builder = builder.chunk_cache(bytes(cache));
    }
    if let Some(requests) = words.take("requests")? {
        builder = builder.requests(requests);
    }
    if let Some(reads_ahead) = words.take("read_ahead")? {
        builder = builder.read_ahead(reads_ahead);
    }
    if let Some(handles) = words.take("handles")? {
        builder = builder.handles(handles);
    }
    let folder: Option<PathBuf> = words.take("cache_folder")?;
    if let Some(folder) = &folder {
        builder = builder.cache_folder(folder);
    }
    let of = |name: &str| format!("{name} is a size of files in cache_folder, which is not given");
    for name in ["index_cache", "block_cache"] {
        let Some(size) = words.size(name)? else { continue };
        // A size of 0 turns the cache off, for which no folder is needed.
        let given = folder.clone().filter(|_| size > 0);
        let Some(folder) = given else {
            if size == 0 {
                continue;
            }
            return Err(pyo3::exceptions::PyTypeError::new_err(of(name)));
        };
        builder = match name {
            "index_cache" => builder.index_cache(folder.join("indexes"), size),
            _ => builder.block_cache(folder, size),
        };
    }
    Ok(builder)
}

fn policies(mut builder: SessionBuilder, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let missing =
        [("fill", MissingChunks::Fill), ("error", MissingChunks::Error), ("report", MissingChunks::Report)];
    if let Some(missing) = words.word("missing", &missing)? {
        builder = builder.missing(missing);
    }
    if let Some(absent) = words.word("absent", &missing)? {
        builder = builder.fragments_absent(absent);
    }
    if let Some(immutable) = words.take("immutable_chunks")? {
        builder = builder.immutable_chunks(immutable);
    }
    if let Some(allowed) = words.take("local_fragments")? {
        builder = builder.local_fragments(allowed);
    }
    if let Some(codes) = words.object("codes")? {
        let ask = codes.unbind();
        builder = builder.codes(MfaCodes::by(move |device: &str| {
            let typed = Python::attach(|py| ask.call1(py, (device,))?.extract::<String>(py));
            typed.map_err(|error| Error::new(ErrorKind::Denied, format!("no code for {device}: {error}")))
        }));
    }
    Ok(builder)
}

/// Schemes whose stores are Python's: what finds the store of an address, by scheme.
fn bridges(mut builder: SessionBuilder, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let Some(given) = words.object("stores")? else { return Ok(builder) };
    for (scheme, connect) in given.cast::<PyDict>()?.iter() {
        let scheme: String = scheme.extract()?;
        builder = builder.store(scheme.as_str(), bridge::factory(&scheme, connect.unbind()));
    }
    Ok(builder)
}

/// Codecs whose code is Python's, by name.
fn codecs(mut builder: SessionBuilder, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let Some(given) = words.object("codecs")? else { return Ok(builder) };
    for (name, codec) in given.cast::<PyDict>()?.iter() {
        builder = builder.codec(LentFactory::new(name.extract()?, &codec)?);
    }
    Ok(builder)
}

/// How stores are opened. `durable` comes last, which changes both.
fn stores(builder: SessionBuilder, words: &Keywords<'_>) -> PyResult<SessionBuilder> {
    let mut options = builder.store_options().clone();
    let uploads = [
        ("streamed", UploadMode::Streamed),
        ("memory", UploadMode::InMemory),
        ("folder", UploadMode::Scratch),
    ];
    if let Some(uploads) = words.word("uploads", &uploads)? {
        options.uploads = uploads;
    }
    if let Some(rewrite) = words.take("rewrite")? {
        options.rewrite = rewrite;
    }
    let credentials =
        [("auto", Credentials::Auto), ("anonymous", Credentials::Anonymous), ("chain", Credentials::Chain)];
    if let Some(credentials) = words.word("credentials", &credentials)? {
        options.credentials = credentials;
    }
    options.settings.extend(words.take::<BTreeMap<String, String>>("store_settings")?.unwrap_or_default());
    let durable = words.take("durable")?;
    let mut builder = builder.stores(StoreOptions { ..options });
    if let Some(allowed) = words.take("local_fragments")? {
        builder = builder.local_fragments(allowed);
    }
    Ok(match durable {
        Some(durable) => builder.durable(durable),
        None => builder,
    })
}

impl Session {
    /// A session that a function was given.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<ncirrus::Session> {
        let session = given.cast::<Self>().map_err(|_| {
            let error = Error::internal("a session was expected");
            exception(given.py(), &error)
        })?;
        Ok(session.get().0.clone())
    }
}
