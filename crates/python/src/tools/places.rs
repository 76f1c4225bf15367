//! Datasets and objects at addresses: listed and removed.
use crate::errors::wait;
use crate::json;
use crate::session::Session;
use ncirrus::Error;
use ncirrus_tools::places::{KeysOptions, ListOptions};
use ncirrus_tools::{leftovers, remove, remove_leftover};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::time::SystemTime;

/// The datasets below a prefix, and what could not be looked at.
#[pyfunction]
pub(super) fn ls<'py>(
    py: Python<'py>,
    url: &str,
    recursive: bool,
    all: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let options = ListOptions::new().recursive(recursive).all(all);
    let json_of = wait(py, || {
        let mut found = ncirrus_tools::places::list(url, &options, &session)?;
        let mut errors: Vec<Error> = Vec::new();
        let mut rows = Vec::new();
        for place in found.by_ref() {
            match place {
                Ok(place) => {
                    rows.push(json!({"path": place.path, "kind": place.kind.as_str(), "size": place.size}));
                }
                Err(error) => errors.push(error),
            }
        }
        let first = errors.first().cloned();
        match first {
            // Nothing can be listed at all.
            Some(error) if rows.is_empty() => Err(error),
            _ => Ok(json!({
                "places": rows,
                "errors": errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "notes": found.warnings(),
            })),
        }
    })?;
    json::to_python(py, &json_of)
}

/// The objects of the store at an address.
#[pyfunction]
pub(super) fn keys<'py>(
    py: Python<'py>,
    url: &str,
    prefix: String,
    sizes: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let options = KeysOptions::new().prefix(prefix).sizes(sizes);
    let json_of = wait(py, || {
        let found = ncirrus_tools::places::keys(url, &options, &session)?;
        let row = |key: ncirrus::Result<ncirrus_tools::places::Key>| {
            key.map(|key| json!({"key": key.key, "size": key.size, "is_named": key.is_named}))
        };
        found.map(row).collect::<ncirrus::Result<Vec<Value>>>()
    })?;
    json::to_python(py, &Value::Array(json_of))
}

/// Removes the dataset at an address, or lists what would be removed.
#[pyfunction]
pub(super) fn removal<'py>(
    py: Python<'py>,
    url: &str,
    everything: bool,
    dry_run: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let json_of = wait(py, || {
        let mut removal = ncirrus_tools::removal(url, &session)?;
        if everything {
            removal = removal.of_everything();
        }
        let json_of = json!({"removed": removal.keys, "kept": removal.others, "is_tree": removal.is_tree});
        if !dry_run {
            remove(url, removal, &session)?;
        }
        Ok(json_of)
    })?;
    json::to_python(py, &json_of)
}

/// Removes what killed writers left that is older than so many seconds.
#[pyfunction]
pub(super) fn clean<'py>(
    py: Python<'py>,
    url: &str,
    older_than: f64,
    dry_run: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let json_of = wait(py, || {
        let (found, notes) = leftovers(url, &session)?;
        let (now, mut rows, mut young) = (SystemTime::now(), Vec::new(), 0);
        for leftover in found {
            let age = now.duration_since(leftover.since).unwrap_or_default().as_secs_f64();
            if age < older_than {
                young += 1;
                continue;
            }
            if !dry_run {
                remove_leftover(url, &leftover, &session)?;
            }
            rows.push(json!({"place": leftover.place, "what": leftover.what, "age": age}));
        }
        Ok(json!({"removed": rows, "young": young, "notes": notes}))
    })?;
    json::to_python(py, &json_of)
}
