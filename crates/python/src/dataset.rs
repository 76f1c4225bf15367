//! An open dataset.
use crate::errors::{exception, wait};
use crate::group::Group;
use crate::json;
use crate::kind::DatasetKind;
use crate::model::OpenDataset;
use crate::netcdf_view::{SpecialValue, root_attribute};
use crate::options::{create_options, open_options};
use crate::pending::Pending;
use crate::session::Session;
use crate::values;
use crate::variable::Variable;
use bytes::Bytes;
use ncirrus::internals::DatasetInternals;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A dataset that is open.
#[pyclass(frozen, weakref, module = "ncirrus._ncirrus")]
pub(crate) struct Dataset {
    open: Arc<OpenDataset>,
    session: ncirrus::Session,
}

#[pymethods]
impl Dataset {
    /// Opens for reading.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (options, session) = (open_options(options)?, Session::of(session)?);
        let dataset = wait(py, || ncirrus::Dataset::open_with(url, &options, &session))?;
        Ok(Self { open: OpenDataset::new(dataset), session })
    }

    /// Opens for changing.
    #[staticmethod]
    fn update(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (options, session) = (open_options(options)?, Session::of(session)?);
        let dataset = wait(py, || ncirrus::Dataset::update_with(url, &options, &session))?;
        Ok(Self { open: OpenDataset::new(dataset), session })
    }

    #[staticmethod]
    fn create(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (options, session) = (create_options(options)?, Session::of(session)?);
        let dataset = wait(py, || ncirrus::Dataset::create_with(url, &options, &session))?;
        Ok(Self { open: OpenDataset::new(dataset), session })
    }

    /// Opens the bytes of a file for reading. They are not copied.
    #[staticmethod]
    fn open_bytes(
        py: Python<'_>,
        body: PyBackedBytes,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (options, session) = (open_options(options)?, Session::of(session)?);
        let body = Bytes::from_owner(body);
        let dataset = wait(py, || ncirrus::Dataset::open_bytes(body, &options, &session))?;
        Ok(Self { open: OpenDataset::new(dataset), session })
    }

    /// Creates a dataset in memory, whose bytes `finish_bytes` gives.
    #[staticmethod]
    fn create_bytes(
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (options, session) = (create_options(options)?, Session::of(session)?);
        let dataset = wait(py, || ncirrus::Dataset::create_bytes(&options, &session))?;
        Ok(Self { open: OpenDataset::new(dataset), session })
    }

    /// Ends writing, and gives the bytes as an array.
    fn finish_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let dataset = self.open.dataset(py)?;
        self.open.take();
        let body = wait(py, || dataset.finish_bytes())?;
        Ok(PyArray1::from_vec(py, Vec::from(body)))
    }

    fn root(&self, py: Python<'_>) -> PyResult<Group> {
        let root = self.open.model(py)?.root();
        Ok(Group { open: Arc::clone(&self.open), id: root })
    }

    fn kind(&self, py: Python<'_>) -> PyResult<DatasetKind> {
        Ok(self.open.dataset(py)?.kind().into())
    }

    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.open.dataset(py)?.name().to_owned())
    }

    fn facts(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
        Ok(self.open.dataset(py)?.facts().pairs())
    }

    /// An attribute of the root group that the file does not store as one.
    fn root_attribute(&self, py: Python<'_>, name: &str, is_new: bool) -> PyResult<Option<SpecialValue>> {
        Ok(root_attribute(&self.open.dataset(py)?, name, is_new))
    }

    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.open.dataset(py)?.warnings())
    }

    /// Fragments that were filled in, in words.
    fn absence(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.open.dataset(py)?.absence())
    }

    /// What `ncirrus info --json` prints.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dataset = self.open.dataset(py)?;
        let reported = wait(py, || ncirrus_tools::info(&dataset).map(|info| info.to_json()))?;
        json::to_python(py, &reported)
    }

    /// Changes of definitions that follow count together.
    fn begin_edit(&self, py: Python<'_>) -> PyResult<()> {
        self.open.begin(py)
    }

    fn finish_edit(&self, py: Python<'_>) -> PyResult<()> {
        self.open.finish(py)
    }

    fn abandon_edit(&self) {
        self.open.abandon();
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.open.dataset(py)?;
        wait(py, || dataset.sync())
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.open.take() {
            Some(dataset) => wait(py, || dataset.close()),
            None => Ok(()),
        }
    }

    /// Ends without keeping what was not synced.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        match self.open.take() {
            Some(dataset) => wait(py, || dataset.abort()),
            None => Ok(()),
        }
    }

    /// A text with which other processes join in writing; of these variables every chunk must come.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn ticket(&self, py: Python<'_>, variables: Vec<Bound<'_, Variable>>) -> PyResult<String> {
        let dataset = self.open.dataset(py)?;
        let ids: Vec<_> = variables.iter().map(|variable| variable.get().id()).collect();
        wait(py, || dataset.ticket(&ids))
    }

    /// As `ticket`, for another handle to finish; this one is abandoned.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn hand_over(&self, py: Python<'_>, variables: Vec<Bound<'_, Variable>>) -> PyResult<String> {
        let dataset = self.open.dataset(py)?;
        let ids: Vec<_> = variables.iter().map(|variable| variable.get().id()).collect();
        let ticket = wait(py, || dataset.hand_over(&ids))?;
        self.open.take();
        Ok(ticket)
    }

    /// Ends joint writing, by a ticket that was handed over or its own; where receipts are refused, it can be tried again.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn finish(&self, py: Python<'_>, receipts: Vec<String>, ticket: Option<String>) -> PyResult<()> {
        let dataset = self.open.dataset(py)?;
        wait(py, || match &ticket {
            Some(ticket) => dataset.finish_for(ticket, &receipts),
            None => dataset.finish(&receipts),
        })?;
        self.open.take();
        Ok(())
    }

    /// What distinguishes this state of the dataset from another.
    fn tag(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.open.dataset(py)?.tag())
    }

    /// Values of several variables, each with axes that were resolved, fetched together: arrays of one dimension.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        wanted: Vec<(Bound<'py, Variable>, Bound<'py, PyAny>)>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let dataset = self.open.dataset(py)?;
        let selected = wanted.iter().map(|(variable, axes)| variable.get().selected(axes));
        let selected = selected.collect::<PyResult<Vec<_>>>()?;
        let values = wait(py, || dataset.read_many(&selected))?;
        self.open.warn_of_filled(py)?;
        let array = |((variable, _), values): (&(Bound<'py, Variable>, _), _)| {
            values::to_array(py, values, &variable.get().dtype(py)?)
        };
        wanted.iter().zip(values).map(array).collect()
    }

    /// Begins to open for reading; the callable is given the dataset, or an error.
    #[staticmethod]
    fn begin_open(
        py: Python<'_>,
        url: &str,
        options: &Bound<'_, PyDict>,
        session: &Bound<'_, PyAny>,
        callable: Py<PyAny>,
    ) -> PyResult<Pending> {
        let (options, session) = (open_options(options)?, Session::of(session)?);
        let opening = ncirrus::Dataset::open_async(url, options, &session);
        let kept = session.clone();
        let make = move |py: Python<'_>, dataset| {
            let made = Self { open: OpenDataset::new(dataset), session: kept };
            Ok(Py::new(py, made)?.into_any())
        };
        Pending::begin(py, &session, opening, make, callable)
    }

    /// Keeps what it holds for as long as the process lives: after a fork nothing of it can be ended.
    fn leak(&self) {
        std::mem::forget((Arc::clone(&self.open), self.session.clone()));
    }

    fn is_closed(&self) -> bool {
        self.open.is_closed()
    }

    /// Whether it is open for changing; an error when it is not.
    fn check_writable(&self, py: Python<'_>) -> PyResult<()> {
        self.open.dataset(py)?.writer().map(|_| ()).map_err(|error| exception(py, &error))
    }
}

impl Dataset {
    /// A dataset that is open already.
    pub(crate) fn of_facade(dataset: ncirrus::Dataset, session: ncirrus::Session) -> Self {
        Self { open: OpenDataset::new(dataset), session }
    }

    /// The facade's handle.
    pub(crate) fn facade(&self, py: Python<'_>) -> PyResult<ncirrus::Dataset> {
        self.open.dataset(py)
    }
}
