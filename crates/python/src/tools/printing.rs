//! What is printed of datasets, codecs and credentials.
use super::opened;
use crate::errors::{exception, wait};
use crate::json;
use crate::options::Keywords;
use crate::session::Session;
use ncirrus::store::Url;
use ncirrus::{CodecEntry, CodecOrigin};
use ncirrus_tools::cdl::{DataChoice, PrintOptions, TimeStyle};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

/// A dataset as CDL or NcML, and what NcML has no form for: paths and reasons.
#[pyfunction]
pub(super) fn dump<'py>(
    py: Python<'py>,
    dataset: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (dataset, words) = (opened(py, dataset)?, Keywords::new(options, "dump")?);
    let data = [
        ("all", DataChoice::All),
        ("none", DataChoice::HeaderOnly),
        ("coordinates", DataChoice::Coordinates),
    ];
    let times = [("iso", TimeStyle::T), ("blank", TimeStyle::Blank)];
    let is_ncml: bool = words.take("ncml")?.unwrap_or(false);
    let printed = PrintOptions::new()
        .name(words.take::<String>("name")?.unwrap_or_else(|| dataset.name().to_owned()))
        .data(words.word("data", &data)?.unwrap_or(DataChoice::All))
        .variables(words.take::<Vec<String>>("variables")?.unwrap_or_default())
        .groups(words.take::<Vec<String>>("groups")?.unwrap_or_default())
        .special(words.take("special")?.unwrap_or(false))
        .line_len(words.take("line_len")?.unwrap_or(80))
        .float_digits(words.take::<usize>("float_digits")?)
        .double_digits(words.take::<usize>("double_digits")?)
        .times(words.word("times", &times)?)
        .classic(ncirrus_tools::is_classic_model(&dataset));
    words.done()?;
    let (text, lost) = wait(py, || {
        let mut text = Vec::new();
        let lost = if is_ncml {
            ncirrus_tools::dump_ncml(&dataset, &mut text, &printed)?
        } else {
            // Faults are part of the text.
            ncirrus_tools::dump(&dataset, &mut text, &printed).map(|_| Vec::new())?
        };
        Ok((text, lost))
    })?;
    let bytes = pyo3::types::PyBytes::new(py, &text);
    let text = bytes.call_method1("decode", ("utf-8", "surrogateescape"))?;
    Ok((text, lost).into_pyobject(py)?.into_any())
}

/// The filters that a session knows.
#[pyfunction]
pub(super) fn filters<'py>(py: Python<'py>, session: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let rows = wait(py, || Ok(session.registry().known().iter().map(json_of).collect::<Vec<_>>()))?;
    json::to_python(py, &Value::Array(rows))
}

fn json_of(entry: &CodecEntry) -> Value {
    let origin = match &entry.origin {
        CodecOrigin::Plugin { filter, codec } => {
            let path = filter.as_ref().or(codec.as_ref()).map(|path| path.display().to_string());
            path.unwrap_or_else(|| "plugin".to_owned())
        }
        CodecOrigin::BuiltIn => "built in".to_owned(),
        _ => "program".to_owned(),
    };
    json!({
        "name": entry.name,
        "id": entry.hdf5,
        "zarr2": entry.v2,
        "zarr3": entry.v3,
        "decodes": entry.decodes,
        "encodes": entry.encodes,
        "parameters": entry.parameters,
        "origin": origin,
    })
}

/// Which credentials would be used with an address, and why. Nothing is sent without `check`.
#[pyfunction]
pub(super) fn whoami<'py>(
    py: Python<'py>,
    url: &str,
    check: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let address = Url::parse(url).map_err(|error| exception(py, &error))?;
    let json_of = wait(py, || {
        let mut rows = Map::new();
        ncirrus_cli::identity(&address, &session)?.into_iter().for_each(|(name, value, why)| {
            let row = match why {
                Some(why) => json!({"value": value, "why": why}),
                None => json!({"value": value}),
            };
            rows.insert(name.replace(' ', "_"), row);
        });
        if check {
            session.probe(url)?;
            rows.insert("answer".to_owned(), json!({"value": "the server answers"}));
        }
        Ok(rows)
    })?;
    json::to_python(py, &Value::Object(json_of))
}
