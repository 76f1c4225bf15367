//! Writing one dataset by several processes (docs/design/013-joint-writing.md).
use crate::encoders::with_bytes;
use crate::errors::{exception, wait};
use crate::session::Session;
use crate::types::{Described, describe};
use crate::values;
use ncirrus::{Error, Region};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{PoisonError, RwLock};

/// A dataset that is written by several processes, as one of them; gone once it was closed.
#[pyclass(frozen, weakref, module = "ncirrus._ncirrus")]
pub(crate) struct JointWriter {
    url: String,
    writer: RwLock<Option<ncirrus::JointWriter>>,
}

#[pymethods]
impl JointWriter {
    #[staticmethod]
    fn join(py: Python<'_>, ticket: &str, session: &Bound<'_, PyAny>) -> PyResult<Self> {
        let session = Session::of(session)?;
        let writer = wait(py, || ncirrus::Dataset::join(ticket, &session))?;
        Ok(Self { url: writer.url().to_owned(), writer: RwLock::new(Some(writer)) })
    }

    /// Another part of the same writing, with a receipt of its own.
    fn part(&self, py: Python<'_>) -> PyResult<Self> {
        let writer = self.look(py, |writer| Ok(writer.part()))?;
        Ok(Self { url: self.url.clone(), writer: RwLock::new(Some(writer)) })
    }

    fn url(&self) -> &str {
        &self.url
    }

    /// Paths of the variables that can be written.
    fn paths(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, |writer| Ok(writer.paths().map(str::to_owned).collect()))
    }

    fn shape<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.look(py, |writer| Ok(writer.encoder(path)?.shape().to_vec()))?)
    }

    /// The type of a variable, described.
    fn ty<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Described<'py>> {
        let (model, ty) = self.look(py, |writer| {
            let (model, ty) = writer.encoder(path)?.element_type();
            Ok((model.clone(), ty))
        })?;
        describe(py, &model, ty)
    }

    /// The value of elements of a variable that are never written: an array of one element.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fill = self.look(py, |writer| Ok(writer.encoder(path)?.fill().clone()))?;
        values::to_array(py, fill, dtype)
    }

    /// Writes a box of whole chunks from an array in C order.
    fn write(
        &self,
        py: Python<'_>,
        path: &str,
        start: Vec<u64>,
        count: Vec<u64>,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let region = Region { start, count };
        with_bytes(array, |bytes| wait(py, || self.with(|writer| writer.write_bytes(path, &region, bytes))))
    }

    /// Ends this process's part, and gives the receipt.
    fn close(&self, py: Python<'_>) -> PyResult<String> {
        // Waits for the threads that are writing.
        wait(py, || {
            let writer = self.writer.write().unwrap_or_else(PoisonError::into_inner).take();
            writer.ok_or_else(|| self.closed())?.close()
        })
    }

    /// Keeps what it holds for as long as the process lives: after a fork nothing of it can be ended.
    fn leak(&self) {
        let writer = self.writer.try_write().ok().and_then(|mut writer| writer.take());
        std::mem::forget(writer);
    }
}

impl JointWriter {
    fn closed(&self) -> Error {
        Error::invalid("this part of the joint writing was closed").at_object(&self.url)
    }

    fn with<T>(&self, act: impl FnOnce(&ncirrus::JointWriter) -> ncirrus::Result<T>) -> ncirrus::Result<T> {
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        act(writer.as_ref().ok_or_else(|| self.closed())?)
    }

    fn look<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&ncirrus::JointWriter) -> ncirrus::Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| self.with(act)).map_err(|error| exception(py, &error))
    }
}
