//! Progress as it is reported to Python.
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Calls a callable with the progress, at most ten times a second, and keeps what it raises.
pub(crate) struct Reporter {
    callable: Option<Py<PyAny>>,
    state: Mutex<ReporterState>,
}

#[derive(Default)]
struct ReporterState {
    reported: Option<Instant>,
    raised: Option<PyErr>,
}

/// Time between two calls, at least.
const PAUSE: Duration = Duration::from_millis(100);

impl Reporter {
    pub(crate) fn new(callable: Option<Py<PyAny>>) -> Arc<Self> {
        Arc::new(Self { callable, state: Mutex::default() })
    }

    /// So much is done; the end is always reported.
    pub(crate) fn report(&self, done: u64, total: u64) {
        let Some(callable) = &self.callable else { return };
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = state.reported.is_none_or(|reported| reported.elapsed() >= PAUSE) || done == total;
            if !is_due || state.raised.is_some() {
                return;
            }
            state.reported = Some(Instant::now());
        }
        // The lock is not held meanwhile: the callable may take its time, or call again.
        let raised = Python::attach(|py| callable.call1(py, (done, total)).err());
        if raised.is_some() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).raised = raised;
        }
    }

    /// Whether the callable raised something; it is not called again.
    pub(crate) fn has_raised(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).raised.is_some()
    }

    /// What the callable raised.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).raised.take()
    }
}
