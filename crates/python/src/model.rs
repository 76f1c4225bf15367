//! The open dataset that all handles share, and the definitions that they see.
use crate::errors::{exception, wait};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Draft, Error, Model, VarId};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::ThreadId;

/// A dataset that its groups and variables share; gone once it was closed.
pub(crate) struct OpenDataset {
    pub(crate) url: String,
    dataset: RwLock<Option<ncirrus::Dataset>>,
    draft: Mutex<Option<OpenDraft>>,
    /// The number of fragments and chunks that were filled in and reported to the user.
    filled: AtomicUsize,
}

/// Definitions that are changed together.
struct OpenDraft {
    by: ThreadId,
    draft: Draft,
}

impl OpenDataset {
    pub(crate) fn new(dataset: ncirrus::Dataset) -> Arc<Self> {
        let url = dataset.url().to_owned();
        let dataset = RwLock::new(Some(dataset));
        Arc::new(Self { url, dataset, draft: Mutex::default(), filled: AtomicUsize::new(0) })
    }

    /// The dataset, unless it was closed.
    pub(crate) fn dataset(&self, py: Python<'_>) -> PyResult<ncirrus::Dataset> {
        let open = self.dataset.read().unwrap_or_else(PoisonError::into_inner).clone();
        open.ok_or_else(|| exception(py, &Error::invalid("the dataset was closed").at_object(&self.url)))
    }

    /// Takes the dataset out, for closing.
    pub(crate) fn take(&self) -> Option<ncirrus::Dataset> {
        *self.draft() = None;
        self.dataset.write().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Warns of what reads filled in since this was called last.
    pub(crate) fn warn_of_filled(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.dataset.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(dataset) = open else { return Ok(()) };
        let count = dataset.filled_count();
        if self.filled.fetch_max(count, Ordering::Relaxed) >= count {
            return Ok(());
        }
        for text in [dataset.absence(), dataset.missing_chunks()].into_iter().flatten() {
            py.import("ncirrus.errors")?.getattr("warn_of_filled")?.call1((&self.url, text))?;
        }
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.dataset.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// The definitions: those that this thread is changing, else those that count. Attributes may be pending.
    pub(crate) fn model(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        let dataset = self.dataset(py)?;
        let draft = self.draft();
        Ok(match &*draft {
            Some(open) if open.is_mine() => open.draft.shared(),
            _ => dataset.snapshot(),
        })
    }

    /// A variable for its values: one that is made together with others has none before these definitions count.
    pub(crate) fn variable(&self, py: Python<'_>, id: VarId) -> PyResult<ncirrus::Variable> {
        let dataset = self.dataset(py)?;
        let draft = self.draft().as_ref().filter(|open| open.is_mine()).map(|open| open.draft.shared());
        if let Some(model) = draft.filter(|_| dataset.snapshot().variable(id).is_none()) {
            let message = "the variable is made in this block `with ds.edit()`: read and write its values after the block";
            let error = Error::invalid(message).at_object(&self.url).at_path(model.variable_path(id));
            return Err(exception(py, &error));
        }
        Ok(dataset.variable_by_id(id))
    }

    /// Changes definitions, at once or with those that are changed together.
    pub(crate) fn edit<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Model) -> ncirrus::Result<T> + Send,
    ) -> PyResult<T> {
        let dataset = self.dataset(py)?;
        let mut open = self.draft();
        if let Some(open) = open.as_mut().filter(|open| open.is_mine()) {
            return open.draft.change(change).map_err(|error| exception(py, &error.at_object(&self.url)));
        }
        drop(open);
        wait(py, || dataset.edit(change).map_err(|error| error.at_object(&self.url)))
    }

    /// Begins to change definitions together.
    pub(crate) fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.dataset(py)?;
        dataset.writer().map_err(|error| exception(py, &error))?;
        let mut draft = self.draft();
        if draft.is_some() {
            let error = Error::invalid("definitions are being changed together already").at_object(&self.url);
            return Err(exception(py, &error));
        }
        let by = std::thread::current().id();
        *draft = Some(OpenDraft { by, draft: dataset.draft().map_err(|error| exception(py, &error))? });
        Ok(())
    }

    /// Makes the changes count, all of them or, where they fail, none.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.dataset(py)?;
        let Some(OpenDraft { mut draft, .. }) = self.draft().take() else { return Ok(()) };
        wait(py, || dataset.adopt_draft(&mut draft).map_err(|error| error.at_object(&self.url)))
    }

    /// Forgets the changes.
    pub(crate) fn abandon(&self) {
        *self.draft() = None;
    }

    fn draft(&self) -> MutexGuard<'_, Option<OpenDraft>> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenDraft {
    fn is_mine(&self) -> bool {
        self.by == std::thread::current().id()
    }
}
