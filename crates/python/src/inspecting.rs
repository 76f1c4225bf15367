//! The location of a variable's values, without reading them.
use crate::errors::wait;
use crate::json;
use ncirrus::internals::DatasetInternals;
use ncirrus::layout::{ChunkGrid, Layout};
use ncirrus::store::LocalStore;
use ncirrus::{FragmentInfo, Location, ReadPlan, Selection, StoredChunk, Variable};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// How a selection would be read, in the words of the command.
pub(crate) fn plan<'py>(
    py: Python<'py>,
    variable: &Variable,
    selection: &Selection,
) -> PyResult<Bound<'py, PyAny>> {
    let plan: ReadPlan = wait(py, || variable.dataset().plan(variable, selection))?;
    let mut reported = ncirrus_tools::plan_json(&variable.path(), &plan);
    reported["text"] = plan.to_string().into();
    json::to_python(py, &reported)
}

/// Lengths of the cells along each axis where they differ; nothing for cells of one shape, and for other layouts.
pub(crate) fn chunk_lengths(py: Python<'_>, variable: &Variable) -> PyResult<Option<Vec<Vec<u64>>>> {
    if variable.dataset().reader().is_err() {
        return Ok(variable.chunk_lengths());
    }
    let source = wait(py, || variable.dataset().source(variable))?;
    let Layout::Grid { grid: ChunkGrid::Rectilinear(ends), .. } = &source.layout else { return Ok(None) };
    let lengths = |ends: &std::sync::Arc<[u64]>| {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        ends.iter().zip(starts).map(|(end, start)| end.saturating_sub(start)).collect()
    };
    Ok(Some(ends.iter().map(lengths).collect()))
}

/// A chunk: start, object, offset, length, and whether it is at hand.
pub(crate) type ChunkTuple = (Vec<u64>, Option<String>, i64, i64, bool);

/// The locations of the chunks of a selection; those that are known never to have been written are left out. A length of -1 is
/// that of a whole object on another machine, which only a request can determine; an offset of -1 means never written.
pub(crate) fn chunks(
    py: Python<'_>,
    variable: &Variable,
    selection: &Selection,
) -> PyResult<Vec<ChunkTuple>> {
    wait(py, || {
        let found = variable.chunks(selection)?;
        let store = variable.dataset().reader()?.store();
        found.into_iter().map(|chunk| chunk_tuple(chunk, store.local())).collect()
    })
}

fn chunk_tuple(chunk: StoredChunk, store: Option<&dyn LocalStore>) -> ncirrus::Result<ChunkTuple> {
    let number = |value: u64| i64::try_from(value).unwrap_or(-1);
    let (object, offset, len, inline) = match chunk.stored.location {
        Location::Bytes(object, range) => {
            (Some(object.to_string()), number(range.start), number(range.end - range.start), false)
        }
        Location::Object(object) => match store.map(|store| store.stat(&object)).transpose()? {
            Some(None) => (Some(object.to_string()), -1, -1, false),
            Some(Some((len, _))) => (Some(object.to_string()), 0, number(len), false),
            None => (Some(object.to_string()), 0, -1, false),
        },
        Location::Inline(bytes) => (None, -1, number(bytes.len() as u64), true),
        Location::Absent => (None, -1, -1, false),
    };
    Ok((chunk.start, object, offset, len, inline))
}

/// What a selection of an aggregated variable is put together from.
pub(crate) fn fragments<'py>(
    py: Python<'py>,
    variable: &Variable,
    selection: &Selection,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let found = wait(py, || variable.fragments(selection))?;
    found.iter().map(|fragment| fragment_dict(py, fragment)).collect()
}

fn fragment_dict<'py>(py: Python<'py>, fragment: &FragmentInfo) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("index", PyTuple::new(py, &fragment.index)?)?;
    dict.set_item("start", PyTuple::new(py, &fragment.region.start)?)?;
    dict.set_item("shape", PyTuple::new(py, &fragment.region.count)?)?;
    dict.set_item("kind", fragment.kind.name())?;
    dict.set_item("names", &fragment.names)?;
    dict.set_item("places", &fragment.places)?;
    dict.set_item("variables", &fragment.variables)?;
    dict.set_item("fault", fragment.fault.as_ref().map(ToString::to_string))?;
    Ok(dict)
}
