//! Virtual chunks for a session of icechunk, which Python writes.
use super::masters::{reported, what_is_embedded};
use crate::errors::wait;
use crate::json;
use crate::options::Keywords;
use crate::session::Session;
use ncirrus_tools::aggregate::list;
use ncirrus_tools::{PlannedArray, plan_virtual_chunks};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// The documents, objects and virtual chunks of files.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn plan_virtual<'py>(
    py: Python<'py>,
    files: Vec<String>,
    options: &Bound<'py, PyDict>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (session, words) = (Session::of(session)?, Keywords::new(options, "reference")?);
    let options = what_is_embedded(&words)?.axis(words.take::<String>("axis")?);
    words.done()?;
    let plan = wait(py, || {
        let files = list(&files, &session)?;
        plan_virtual_chunks(&files, &options, &session)
    })?;
    let documents = plan.documents.iter().map(|(key, body)| (key, PyBytes::new(py, body)));
    let objects = plan.objects.iter().map(|object| (&object.address, &object.etag, object.modified));
    let arrays: PyResult<Vec<_>> = plan.arrays.iter().map(|array| chunks_of(py, array)).collect();
    let found = PyDict::new(py);
    found.set_item("documents", PyList::new(py, documents.collect::<Vec<_>>())?)?;
    found.set_item("objects", PyList::new(py, objects.collect::<Vec<_>>())?)?;
    found.set_item("arrays", arrays?)?;
    found.set_item("report", json::to_python(py, &reported(&plan.report))?)?;
    Ok(found)
}

type PathAndChunks<'py> = (String, Bound<'py, PyList>);

/// The path of an array, and its chunks: indexes, number of the object, offset, length.
fn chunks_of<'py>(py: Python<'py>, array: &PlannedArray) -> PyResult<PathAndChunks<'py>> {
    let chunks = array.chunks.iter().map(|chunk| (&chunk.index, chunk.object, chunk.offset, chunk.len));
    Ok((array.path.clone(), PyList::new(py, chunks.collect::<Vec<_>>())?))
}
