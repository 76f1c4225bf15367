//! Chunks that are encoded apart from the dataset that they are for.
use crate::elements::bytes_of;
use crate::errors::{exception, wait};
use crate::session::Session;
use crate::types::{Described, describe};
use crate::values;
use crate::variable::Variable;
use ncirrus::{EncodedChunk, Region, VariableEncoder};
use numpy::{BorrowError, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What makes stored chunks of a variable from arrays.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Encoder(VariableEncoder);

#[pymethods]
impl Encoder {
    /// The encoder of a variable in its present shape.
    #[staticmethod]
    fn of(py: Python<'_>, variable: &Bound<'_, Variable>) -> PyResult<Self> {
        let variable = variable.get().facade(py)?;
        wait(py, || variable.encoder()).map(Self)
    }

    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str, session: &Bound<'_, PyAny>) -> PyResult<Self> {
        let session = Session::of(session)?;
        wait(py, || ncirrus::Variable::encoder_from_text(text, &session)).map(Self)
    }

    fn to_text(&self, py: Python<'_>) -> PyResult<String> {
        self.0.to_text().map_err(|error| exception(py, &error))
    }

    fn path(&self) -> &str {
        self.0.path()
    }

    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }

    /// The type, described.
    fn ty<'py>(&self, py: Python<'py>) -> PyResult<Described<'py>> {
        let (model, ty) = self.0.element_type();
        describe(py, model, ty)
    }

    /// The value of elements that are never written: an array of one element.
    fn fill<'py>(&self, py: Python<'py>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        values::to_array(py, self.0.fill().clone(), dtype)
    }

    /// The position of a chunk: its first element, and its lengths inside of the array.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn region(&self, py: Python<'_>, chunk: Vec<u64>) -> PyResult<(Vec<u64>, Vec<u64>)> {
        let region = self.0.region(&chunk).map_err(|error| exception(py, &error))?;
        Ok((region.start, region.count))
    }

    /// The chunks that a box consists of.
    fn whole_chunks(&self, py: Python<'_>, start: Vec<u64>, count: Vec<u64>) -> PyResult<Vec<Vec<u64>>> {
        self.0.whole_chunks(&Region { start, count }).map_err(|error| exception(py, &error))
    }

    /// The stored bytes of a chunk from an array in C order, and which codecs were left out.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        chunk: Vec<u64>,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<u8>>, u32)> {
        let encoded = with_bytes(array, |bytes| wait(py, || self.0.encode(&chunk, bytes)))?;
        Ok((PyArray1::from_vec(py, Vec::from(encoded.body)), encoded.mask))
    }
}

/// Stores chunks as they are: coordinates, bytes, and which codecs were left out.
#[pyfunction]
pub(crate) fn write_encoded(
    py: Python<'_>,
    variable: &Bound<'_, Variable>,
    chunks: Vec<(Vec<u64>, PyReadonlyArray1<'_, u8>, u32)>,
) -> PyResult<()> {
    let variable = variable.get().facade(py)?;
    let encoded = chunks
        .into_iter()
        .map(|(cell, body, mask)| Ok(EncodedChunk { cell, body: body.as_slice()?.to_vec().into(), mask }));
    let encoded = encoded.collect::<PyResult<Vec<_>>>()?;
    wait(py, || variable.write_encoded(encoded))
}

/// Raises the lengths of dimensions that grow.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(crate) fn grow_to(py: Python<'_>, variable: &Bound<'_, Variable>, shape: Vec<u64>) -> PyResult<()> {
    let variable = variable.get().facade(py)?;
    wait(py, || variable.grow_to(&shape))
}

/// Does something with the memory of an array in C order.
pub(crate) fn with_bytes<T>(array: &Bound<'_, PyAny>, act: impl FnOnce(&[u8]) -> PyResult<T>) -> PyResult<T> {
    let bytes = bytes_of(array)?;
    let bytes = bytes.cast::<PyArray1<u8>>()?;
    let busy = |error: BorrowError| PyValueError::new_err(format!("the values are being changed: {error}"));
    let borrowed = bytes.try_readonly().map_err(busy)?;
    act(borrowed.as_slice()?)
}
