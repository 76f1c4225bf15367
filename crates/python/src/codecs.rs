//! Codecs and filters as dicts.
use crate::errors::exception;
use crate::json;
use ncirrus::CodecSpec;
use ncirrus_tools::FilterRule;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Three forms: `{"id": 1, "parameters": [4], "optional": True}` of HDF5, `{"id": "zlib", ...}` of Zarr v2, and
/// `{"name": "gzip", "configuration": {...}}` of Zarr v3.
pub(crate) fn to_python<'py>(py: Python<'py>, spec: &CodecSpec) -> PyResult<Bound<'py, PyDict>> {
    match spec {
        CodecSpec::Hdf5 { id, parameters, optional } => {
            let dict = PyDict::new(py);
            dict.set_item("id", id)?;
            dict.set_item("parameters", parameters)?;
            dict.set_item("optional", optional)?;
            Ok(dict)
        }
        CodecSpec::V2(map) => json::map_to_python(py, map),
        CodecSpec::V3 { name, configuration } => {
            let dict = PyDict::new(py);
            dict.set_item("name", name)?;
            dict.set_item("configuration", json::map_to_python(py, configuration)?)?;
            Ok(dict)
        }
    }
}

/// The codec of a dict in one of those forms.
pub(crate) fn of_python(given: &Bound<'_, PyAny>) -> PyResult<CodecSpec> {
    let dict = given.cast::<PyDict>()?;
    if let Some(id) = dict.get_item("id")?.and_then(|id| id.extract::<u32>().ok()) {
        let parameters = dict.get_item("parameters")?.map_or(Ok(Vec::new()), |list| list.extract())?;
        let optional = dict.get_item("optional")?.map_or(Ok(false), |flag| flag.extract())?;
        return Ok(CodecSpec::Hdf5 { id, parameters, optional });
    }
    if dict.contains("id")? {
        return json::map_of(dict).map(CodecSpec::V2);
    }
    let name: String = given.get_item("name")?.extract()?;
    let configuration = match dict.get_item("configuration")? {
        Some(configuration) => json::map_of(configuration.cast::<PyDict>()?)?,
        None => serde_json::Map::new(),
    };
    Ok(CodecSpec::V3 { name, configuration })
}

/// The filters that a text names, in the grammar of the commands: `zstd,level=5`, `shuffle|deflate,5`.
#[pyfunction]
pub(crate) fn parse_filters<'py>(py: Python<'py>, text: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    // The first part would be read as names of variables.
    let rule = FilterRule::parse(&format!("*,{text}")).map_err(|error| exception(py, &error))?;
    rule.filters().iter().map(|filter| to_python(py, filter)).collect()
}
