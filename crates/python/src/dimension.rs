//! A dimension.
use crate::errors::exception;
use crate::model::OpenDataset;
use ncirrus::{DimId, Error};
use pyo3::prelude::*;
use std::sync::Arc;

/// A dimension of an open dataset.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Dimension {
    pub(crate) open: Arc<OpenDataset>,
    pub(crate) id: DimId,
}

#[pymethods]
impl Dimension {
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |dimension| dimension.name.clone())
    }

    fn path(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.open.model(py)?.dimension_path(self.id))
    }

    /// The present length.
    fn length(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |dimension| dimension.len.current())
    }

    /// Whether it may be written beyond its end.
    fn grows(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |dimension| dimension.len.is_unlimited())
    }

    /// The same, where the format stores it.
    fn is_unlimited(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.grows(py)? && self.open.dataset(py)?.keeps_unlimited())
    }
}

impl Dimension {
    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&ncirrus::Dimension) -> T) -> PyResult<T> {
        let model = self.open.model(py)?;
        let gone = || exception(py, &Error::not_found("the dimension was removed").at_object(&self.open.url));
        model.dimension(self.id).map(look).ok_or_else(gone)
    }
}
