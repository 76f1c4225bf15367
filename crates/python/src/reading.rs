//! Reading into arrays.
use crate::elements::{ElementForm, bytes_of, on_number};
use crate::errors::wait;
use crate::values;
use ncirrus::{PointSelection, Selection, Variable};
use numpy::{BorrowError, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyEllipsis, PyTuple};

/// What is read: boxes and lists along the axes, or single elements.
pub(crate) enum Wanted<'a> {
    Selection(&'a Selection),
    Points(&'a PointSelection),
}

impl Wanted<'_> {
    /// Copies a few values that are at hand, while no other thread of Python needs to run.
    fn copy_held(&self, variable: &Variable, out: &mut [u8]) -> bool {
        matches!(self, Self::Selection(selection) if ncirrus::pace::copy_held(variable, selection, out))
    }

    fn fill(&self, variable: &Variable, out: &mut [u8]) -> ncirrus::Result<()> {
        match self {
            Self::Selection(selection) => variable.read_bytes_into(selection, out),
            Self::Points(points) => variable.read_points_into(points, out),
        }
    }

    fn values(&self, variable: &Variable) -> ncirrus::Result<ncirrus::Values> {
        match self {
            Self::Selection(selection) => variable.values(selection),
            Self::Points(points) => variable.point_values(points),
        }
    }
}

/// `numpy.empty`.
static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A new array of that shape with the values.
pub(crate) fn new_array<'py>(
    py: Python<'py>,
    variable: &Variable,
    (wanted, shape): (&Wanted<'_>, &[usize]),
    dtype: &Bound<'py, PyAny>,
    form: ElementForm,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    if let ElementForm::Columns = form {
        let values = wait(py, || wanted.values(variable))?;
        return values::to_array(py, values, dtype)?.call_method1("reshape", (shape,));
    }
    let array = EMPTY.import(py, "numpy", "empty")?.call1((shape, dtype))?;
    into_array(py, variable, wanted, &array, form)?;
    Ok(array)
}

/// Fills an array whose memory is in C order.
pub(crate) fn into_array(
    py: Python<'_>,
    variable: &Variable,
    wanted: &Wanted<'_>,
    array: &Bound<'_, PyAny>,
    form: ElementForm,
) -> PyResult<()> {
    let fill = |out: &mut [u8]| {
        if wanted.copy_held(variable, out) { Ok(()) } else { wait(py, || wanted.fill(variable, out)) }
    };
    match form {
        ElementForm::Number(number) => on_number!(number, T => with_memory::<T>(array, fill)),
        ElementForm::Packed => with_memory::<u8>(&bytes_of(array)?, fill),
        ElementForm::Columns => {
            let dtype = array.getattr("dtype")?;
            let values = values::to_array(py, wait(py, || wanted.values(variable))?, &dtype)?;
            let shaped = values.call_method1("reshape", (array.getattr("shape")?,))?;
            array.set_item(PyEllipsis::get(py), shaped)
        }
    }
}

fn with_memory<T: numpy::Element + bytemuck::Pod>(
    array: &Bound<'_, PyAny>,
    fill: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<()> {
    let array = array.cast::<PyArrayDyn<T>>()?;
    let busy = |error: BorrowError| PyValueError::new_err(format!("out cannot be written to: {error}"));
    let mut borrowed = array.try_readwrite().map_err(busy)?;
    fill(bytemuck::cast_slice_mut(borrowed.as_slice_mut()?))
}
