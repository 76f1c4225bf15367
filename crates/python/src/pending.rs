//! What runs while an event loop does something else.
use crate::errors::exception;
use crate::requests_log;
use ncirrus::{Session, SessionTask};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Work in progress that calls a callable when it has ended.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Pending(Mutex<Option<SessionTask<()>>>);

#[pymethods]
impl Pending {
    /// Ends it: its requests are cancelled, and the callable is not called.
    fn cancel(&self, py: Python<'_>) {
        let task = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // It may be calling its callable just now, which needs the interpreter.
        py.detach(|| drop(task));
    }
}

impl Pending {
    /// Begins something on the session's own threads. The callable is given what `make` makes of the result and no error,
    /// or nothing and the error.
    pub(crate) fn begin<T: Send + 'static>(
        py: Python<'_>,
        session: &Session,
        work: impl Future<Output = ncirrus::Result<T>> + Send + 'static,
        make: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
        callable: Py<PyAny>,
    ) -> PyResult<Self> {
        let task = async move {
            let outcome = work.await;
            Python::attach(|py| {
                if let Err(error) = requests_log::hand_on(py) {
                    // Signals are the main thread's; this thread does not wait.
                    error.write_unraisable(py, None);
                }
                call_back(py, outcome, make, &callable);
            });
            Ok(())
        };
        requests_log::look(py)?;
        let task = py.detach(|| session.spawn(task)).map_err(|error| exception(py, &error))?;
        Ok(Self(Mutex::new(Some(task))))
    }
}

fn call_back<T>(
    py: Python<'_>,
    outcome: ncirrus::Result<T>,
    make: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>>,
    callable: &Py<PyAny>,
) {
    let made = outcome.map_err(|error| exception(py, &error)).and_then(|value| make(py, value));
    let reported = match made {
        Ok(value) => callable.call1(py, (value, py.None())),
        Err(error) => callable.call1(py, (py.None(), error.into_value(py))),
    };
    if let Err(error) = reported {
        // The event loop has ended: no task waits any more.
        error.write_unraisable(py, None);
    }
}
