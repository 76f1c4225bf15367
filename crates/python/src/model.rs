//! The open dataset that all handles share, and the definitions that they see.
use crate::errors::{exception, wait};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Error, ErrorKind, Model, VarId};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::ThreadId;

/// A dataset that its groups and variables share; gone once it was closed.
pub(crate) struct OpenDataset {
    pub(crate) url: String,
    dataset: RwLock<Option<ncirrus::Dataset>>,
    draft: Mutex<Option<Draft>>,
    /// Of how many fragments and chunks that were filled in the user was told.
    filled: AtomicUsize,
}

/// Definitions that are changed together.
struct Draft {
    by: ThreadId,
    /// What they were when the change began.
    base: Arc<Model>,
    model: Arc<Model>,
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
            Some(draft) if draft.is_mine() => Arc::clone(&draft.model),
            _ => dataset.snapshot(),
        })
    }

    /// A variable for its values: one that is made together with others has none before these definitions count.
    pub(crate) fn variable(&self, py: Python<'_>, id: VarId) -> PyResult<ncirrus::Variable> {
        let dataset = self.dataset(py)?;
        let draft =
            self.draft().as_ref().filter(|draft| draft.is_mine()).map(|draft| Arc::clone(&draft.model));
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
        if let Some(draft) = open.as_mut().filter(|draft| draft.is_mine()) {
            let mut model = Model::clone(&draft.model);
            let answer = change(&mut model).map_err(|error| exception(py, &error.at_object(&self.url)))?;
            draft.model = Arc::new(model);
            return Ok(answer);
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
        let base = dataset.snapshot();
        *draft = Some(Draft { by: std::thread::current().id(), model: Arc::clone(&base), base });
        Ok(())
    }

    /// Makes the changes count, all of them or, where they fail, none.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let dataset = self.dataset(py)?;
        let Some(Draft { base, model, .. }) = self.draft().take() else { return Ok(()) };
        wait(py, || {
            dataset
                .edit(|present| {
                    let mut model = Model::clone(&model);
                    follow(&base, present, &mut model)?;
                    *present = model;
                    Ok(())
                })
                .map_err(|error| error.at_object(&self.url))
        })
    }

    /// Forgets the changes.
    pub(crate) fn abandon(&self) {
        *self.draft() = None;
    }

    fn draft(&self) -> MutexGuard<'_, Option<Draft>> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Draft {
    fn is_mine(&self) -> bool {
        self.by == std::thread::current().id()
    }
}

/// Takes over how far dimensions grew meanwhile; other changes are a conflict.
fn follow(base: &Model, present: &Model, changed: &mut Model) -> ncirrus::Result<()> {
    let mut grown = base.clone();
    let groups = base.walk();
    for dim in groups.iter().filter_map(|group| base.group(*group)).flat_map(|group| &group.dims) {
        let Some(now) = present.dimension(*dim).filter(|dim| dim.len.is_unlimited()) else { continue };
        grown.grow(*dim, now.len.current())?;
        if changed.dimension(*dim).is_some() {
            changed.grow(*dim, now.len.current())?;
        }
    }
    if grown != *present {
        let message = "another thread changed the definitions meanwhile";
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    Ok(())
}
