//! JSON values as Python objects, and back.
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Objects become dicts, arrays lists.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => number_to_python(py, number)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(map) => map_to_python(py, map)?.into_any(),
    })
}

pub(crate) fn map_to_python<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in map {
        dict.set_item(name, to_python(py, value)?)?;
    }
    Ok(dict)
}

fn number_to_python<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    Ok(match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => PyInt::new(py, integer).into_any(),
        (None, Some(integer)) => PyInt::new(py, integer).into_any(),
        (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
    })
}

/// A mapping with text as keys.
pub(crate) fn map_of(dict: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    dict.iter().map(|(name, value)| Ok((name.extract::<String>()?, value_of(&value)?))).collect()
}

fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(Value::Object(map_of(dict)?));
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        return Ok(Value::Array(value.try_iter()?.map(|item| value_of(&item?)).collect::<PyResult<_>>()?));
    }
    if let Ok(integer) = value.extract::<i64>() {
        return Ok(Value::Number(integer.into()));
    }
    if let Ok(integer) = value.extract::<u64>() {
        return Ok(Value::Number(integer.into()));
    }
    let number = value.extract::<f64>().ok().and_then(Number::from_f64);
    let text =
        || format!("{} is no value of JSON", value.repr().map(|text| text.to_string()).unwrap_or_default());
    number.map(Value::Number).ok_or_else(|| PyTypeError::new_err(text()))
}
