//! Writing from arrays.
use crate::elements::{ElementForm, bytes_of, on_number};
use crate::errors::wait;
use crate::values;
use ncirrus::{Model, PointSelection, Selection, TypeRef, Values, Variable};
use numpy::{BorrowError, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Where values are written: boxes and lists along the axes, or single elements.
pub(crate) enum Target<'a> {
    Selection(&'a Selection),
    Points(&'a PointSelection),
}

impl Target<'_> {
    fn write_bytes(&self, variable: &Variable, bytes: &[u8]) -> ncirrus::Result<()> {
        match self {
            Self::Selection(selection) => variable.write_bytes(selection, bytes),
            Self::Points(points) => variable.write_point_bytes(points, bytes),
        }
    }

    fn write_values(&self, variable: &Variable, values: &Values) -> ncirrus::Result<()> {
        match self {
            Self::Selection(selection) => variable.write_values(selection, values),
            Self::Points(points) => variable.write_point_values(points, values),
        }
    }
}

/// Writes an array in C order, whose dtype is the variable's.
pub(crate) fn from_array(
    py: Python<'_>,
    variable: &Variable,
    target: &Target<'_>,
    array: &Bound<'_, PyAny>,
    (model, ty): (&Model, TypeRef),
) -> PyResult<()> {
    let write = |bytes: &[u8]| wait(py, || target.write_bytes(variable, bytes));
    match ElementForm::of(model, ty) {
        ElementForm::Number(number) => on_number!(number, T => with_memory::<T>(array, write)),
        ElementForm::Packed => with_memory::<u8>(&bytes_of(array)?, write),
        ElementForm::Columns => {
            let flat = array.call_method1("reshape", (-1,))?;
            let values = values::from_array(model, ty, &flat)?;
            wait(py, || target.write_values(variable, &values))
        }
    }
}

fn with_memory<T: numpy::Element + bytemuck::Pod>(
    array: &Bound<'_, PyAny>,
    write: impl FnOnce(&[u8]) -> PyResult<()>,
) -> PyResult<()> {
    let array = array.cast::<PyArrayDyn<T>>()?;
    let busy = |error: BorrowError| PyValueError::new_err(format!("the values are being changed: {error}"));
    let borrowed = array.try_readonly().map_err(busy)?;
    write(bytemuck::cast_slice(borrowed.as_slice()?))
}
