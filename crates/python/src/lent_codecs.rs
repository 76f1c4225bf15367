//! Codecs whose code is Python's: what `ncirrus.lent_codecs` calls a `LentCodec`, as a codec of the library. Python is held for the call
//! alone: threads that decode other chunks go on meanwhile.
use ncirrus::codec::{ChunkInfo, CodecError, CodecFactory, CustomCodec};
use ncirrus::{Json, JsonMap};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes codecs of a name by a `LentCodec`.
pub(crate) struct LentFactory {
    name: String,
    id: Option<u32>,
    members: Vec<&'static str>,
    encodes: bool,
    python: Arc<Py<PyAny>>,
}

impl LentFactory {
    /// The factory for a codec that was given to a session under that name.
    ///
    /// # Errors
    /// If it is not a `LentCodec`.
    pub(crate) fn new(name: String, codec: &Bound<'_, PyAny>) -> PyResult<Self> {
        let members: Vec<String> = codec.getattr("members")?.extract()?;
        Ok(Self {
            name,
            id: codec.getattr("hdf5_id")?.extract()?,
            members: members.iter().map(|member| kept(member)).collect(),
            encodes: codec.getattr("encodes")?.is_truthy()?,
            python: Arc::new(codec.clone().unbind()),
        })
    }
}

/// A name for as long as the process lives: one copy of each.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name).copied() {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

impl fmt::Debug for LentFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentFactory").field("name", &self.name).finish_non_exhaustive()
    }
}

impl CodecFactory for LentFactory {
    fn name(&self) -> &str {
        &self.name
    }

    fn hdf5_id(&self) -> Option<u32> {
        self.id
    }

    fn members(&self) -> &[&str] {
        &self.members
    }

    fn encodes(&self) -> bool {
        self.encodes
    }

    fn bind(
        &self,
        configuration: &JsonMap<String, Json>,
        chunk: &ChunkInfo,
    ) -> Result<Arc<dyn CustomCodec>, CodecError> {
        let text = Json::Object(configuration.clone()).to_string();
        let shape = chunk.shape.clone();
        let bound = Python::attach(|py| {
            let arguments = (self.name.as_str(), text, shape, chunk.element.byte_len);
            let bound = self.python.bind(py).call_method1("bind", arguments);
            bound.map(Bound::unbind).map_err(|error| raised(py, &self.name, &error))
        })?;
        Ok(Arc::new(BoundLent { name: self.name.clone(), bound }))
    }
}

/// A lent codec for chunks of one shape.
struct BoundLent {
    name: String,
    bound: Py<PyAny>,
}

impl fmt::Debug for BoundLent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundLent").field("name", &self.name).finish_non_exhaustive()
    }
}

impl CustomCodec for BoundLent {
    fn encode(&self, input: &[u8]) -> Result<Vec<u8>, CodecError> {
        Python::attach(|py| {
            let result = self.bound.bind(py).call_method1("encode", (PyBytes::new(py, input),));
            let bytes = result.and_then(|result| Ok(result.extract::<PyBackedBytes>()?));
            bytes.map(|bytes| bytes.to_vec()).map_err(|error| raised(py, &self.name, &error))
        })
    }

    fn decode(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        Python::attach(|py| {
            let result = self.bound.bind(py).call_method1("decode", (PyBytes::new(py, input), limit));
            let found = result.and_then(|result| Ok(result.extract::<Option<PyBackedBytes>>()?));
            match found.map_err(|error| raised(py, &self.name, &error))? {
                Some(bytes) if bytes.len() <= limit => Ok(bytes.to_vec()),
                _ => Err(CodecError::limit(&self.name, limit)),
            }
        })
    }
}

/// What Python raised, as an error of the codec.
fn raised(py: Python<'_>, name: &str, error: &PyErr) -> CodecError {
    let kind = error.get_type(py).name().map_or_else(|_| "Exception".to_owned(), |name| name.to_string());
    let reason = format!("{kind}: {}", error.value(py));
    if error.is_instance_of::<pyo3::exceptions::PyNotImplementedError>(py) {
        return CodecError::unsupported(name, reason);
    }
    CodecError::malformed(name, reason)
}
