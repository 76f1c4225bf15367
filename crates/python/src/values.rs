//! Values in columns as numpy arrays, and back.
use crate::errors::invalid;
use crate::types::{describe, dtype};
use ncirrus::{Atomic, Error, Model, Strings, TypeRef, UserKind, Values};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

/// An array of one dimension. Numbers and bytes are not copied.
pub(crate) fn to_array<'py>(
    py: Python<'py>,
    values: Values,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Values::Byte(list) => viewed(py, list, dtype),
        Values::Char(list) | Values::UByte(list) => viewed(py, list, dtype),
        Values::Short(list) => viewed(py, list, dtype),
        Values::Int(list) => viewed(py, list, dtype),
        Values::Float(list) => viewed(py, list, dtype),
        Values::Double(list) => viewed(py, list, dtype),
        Values::UShort(list) => viewed(py, list, dtype),
        Values::UInt(list) => viewed(py, list, dtype),
        Values::Int64(list) => viewed(py, list, dtype),
        Values::UInt64(list) => viewed(py, list, dtype),
        Values::Opaque { bytes, .. } => viewed(py, bytes, dtype),
        Values::String(strings) => {
            let items = strings.iter().map(|text| text_of(py, text)).collect::<PyResult<Vec<_>>>()?;
            PyArray1::from_vec(py, items).into_any().call_method1("view", (dtype,))
        }
        Values::Vlen { ends, elements } => vlens(py, &ends, *elements, dtype),
        Values::Compound { len, fields } => compounds(py, len, fields, dtype),
    }
}

fn viewed<'py, T: Element>(
    py: Python<'py>,
    list: Vec<T>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    PyArray1::from_vec(py, list).into_any().call_method1("view", (dtype,))
}

/// Text as `str`; bytes that are not UTF-8 become lone surrogates, which writing turns back.
fn text_of(py: Python<'_>, text: Option<&[u8]>) -> PyResult<Py<PyAny>> {
    let Some(text) = text else { return Ok(py.None()) };
    match std::str::from_utf8(text) {
        Ok(text) => Ok(PyString::new(py, text).into_any().unbind()),
        Err(_) => {
            let bytes = PyBytes::new(py, text);
            Ok(bytes.call_method1("decode", ("utf-8", "surrogateescape"))?.unbind())
        }
    }
}

fn vlens<'py>(
    py: Python<'py>,
    ends: &[usize],
    elements: Values,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let base = dtype.getattr("metadata")?.get_item("vlen")?;
    let all = to_array(py, elements, &base)?;
    let mut start = 0;
    let mut items = Vec::with_capacity(ends.len());
    for end in ends {
        let slice = pyo3::types::PySlice::new(py, isize::try_from(start)?, isize::try_from(*end)?, 1);
        items.push(all.get_item(slice)?.call_method0("copy")?.unbind());
        start = *end;
    }
    PyArray1::from_vec(py, items).into_any().call_method1("view", (dtype,))
}

fn compounds<'py>(
    py: Python<'py>,
    len: usize,
    fields: Vec<Values>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = py.import("numpy")?.getattr("zeros")?.call1((len, dtype))?;
    let names: Vec<String> = dtype.getattr("names")?.extract()?;
    for (name, column) in names.iter().zip(fields) {
        let field = dtype.get_item(name)?;
        let base = field.getattr("base")?;
        let shape: Vec<usize> = field.getattr("shape")?.extract()?;
        let shape = PyTuple::new(py, [&[len], shape.as_slice()].concat())?;
        let column = to_array(py, column, &base)?.call_method1("reshape", (shape,))?;
        array.set_item(name, column)?;
    }
    Ok(array)
}

/// The values of an array of one dimension, whose dtype is that of the type.
pub(crate) fn from_array(model: &Model, ty: TypeRef, array: &Bound<'_, PyAny>) -> PyResult<Values> {
    let atomic = match ty {
        TypeRef::Atomic(Atomic::String) => return strings(array),
        TypeRef::Atomic(atomic) => atomic,
        TypeRef::User(id) => {
            let found = model.user_type(id).map(|ty| &ty.kind);
            match found.ok_or_else(|| invalid(array.py(), "the type was removed"))? {
                UserKind::Enum { base, .. } => *base,
                UserKind::Opaque(size) => {
                    let size = usize::try_from(*size)?;
                    return Ok(Values::Opaque { size, bytes: bytes_of(array)? });
                }
                UserKind::Vlen(base) => return from_vlens(model, *base, array),
                UserKind::Compound(fields) => {
                    let columns = fields.iter().map(|field| {
                        let column = array.get_item(field.name.as_str())?.call_method1("reshape", (-1,))?;
                        from_array(model, field.ty, &column)
                    });
                    let fields = columns.collect::<PyResult<Vec<_>>>()?;
                    return Ok(Values::Compound { len: array.len()?, fields });
                }
            }
        }
    };
    let bytes = bytes_of(array)?;
    let values = Values::from_native_bytes(atomic, &bytes);
    let broken = || Error::internal(format!("{} bytes are no values of type {}", bytes.len(), atomic.name()));
    values.ok_or_else(|| crate::errors::exception(array.py(), &broken()))
}

/// The memory of an array, copied.
fn bytes_of(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let bytes = array.call_method0("tobytes")?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Text of an array of objects; `None` is null.
fn strings(array: &Bound<'_, PyAny>) -> PyResult<Values> {
    // Fields of compounds are not aligned.
    let aligned = array.py().import("numpy")?.getattr("require")?.call1((array, "O", ["C", "A"]))?;
    let items: PyReadonlyArray1<'_, Py<PyAny>> = aligned.cast::<PyArray1<Py<PyAny>>>()?.try_readonly()?;
    let mut strings = Strings::new();
    for item in items.as_slice()? {
        push_text(&mut strings, item.bind(array.py()))?;
    }
    Ok(Values::String(strings))
}

/// One text: a string of any length, or characters.
pub(crate) fn of_text(text: &Bound<'_, PyString>, is_string: bool) -> PyResult<Values> {
    with_bytes(text, |bytes| {
        if !is_string {
            return Values::Char(bytes.to_vec());
        }
        let mut strings = Strings::new();
        strings.push(Some(bytes));
        Values::String(strings)
    })
}

/// Does something with the bytes of a text; lone surrogates stand for bytes that are not UTF-8.
fn with_bytes<T>(text: &Bound<'_, PyString>, then: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    if let Ok(text) = text.to_str() {
        return Ok(then(text.as_bytes()));
    }
    let bytes = text.call_method1("encode", ("utf-8", "surrogateescape"))?;
    Ok(then(bytes.cast::<PyBytes>()?.as_bytes()))
}

fn push_text(strings: &mut Strings, item: &Bound<'_, PyAny>) -> PyResult<()> {
    if item.is_none() {
        strings.push(None);
    } else if let Ok(text) = item.cast::<PyString>() {
        with_bytes(text, |bytes| strings.push(Some(bytes)))?;
    } else if let Ok(bytes) = item.cast::<PyBytes>() {
        strings.push(Some(bytes.as_bytes()));
    } else {
        return Err(PyTypeError::new_err(format!("{} is no text", item.repr()?)));
    }
    Ok(())
}

fn from_vlens(model: &Model, base: TypeRef, array: &Bound<'_, PyAny>) -> PyResult<Values> {
    let py = array.py();
    let dtype = dtype(py, &describe(py, model, base)?)?;
    let items = py.import("ncirrus.types")?.getattr("joined_vlens")?.call1((array, dtype))?;
    let (ends, elements): (Vec<usize>, Bound<'_, PyAny>) = items.extract()?;
    Ok(Values::Vlen { ends, elements: Box::new(from_array(model, base, &elements)?) })
}
