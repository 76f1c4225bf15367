//! Requests, logged to Python's logger `ncirrus` where that is on.
//!
//! Network threads never wait for the interpreter: they leave lines in a queue, and whoever waits for them hands these on.
use ncirrus_tools::{RequestEvent, request_log};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

/// Whether the logger wanted lines when it was last checked.
static IS_ON: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<VecDeque<RequestEvent>> = Mutex::new(VecDeque::new());
static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Lines that wait, at most; the oldest go first.
const MAX_LINES: usize = 10_000;
/// The level of the lines, that of `logging.DEBUG`.
const LEVEL: u8 = 10;
/// How often a lock is tried that is held for an instant, or for ever by a thread that a fork left behind.
const TRIES: u32 = 1000;

/// Logs requests of this process. A program that has a subscriber of its own keeps that.
pub(crate) fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| _ = tracing::subscriber::set_global_default(RequestLines));
}

/// Looks whether the logger wants lines. A program that never imported `logging` has none that does.
///
/// # Errors
/// What interrupts the program, such as Ctrl-C: handlers of signals run in any code of Python's.
pub(crate) fn look(py: Python<'_>) -> PyResult<()> {
    let wanted = wants(py);
    IS_ON.store(*wanted.as_ref().unwrap_or(&false), Ordering::Relaxed);
    wanted.map_or_else(|error| unless_interrupted(py, error), |_| Ok(()))
}

/// Passes an interrupt on; other failures of the logger's own code end nothing.
fn unless_interrupted(py: Python<'_>, error: PyErr) -> PyResult<()> {
    if !error.is_instance_of::<PyException>(py) {
        return Err(error);
    }
    error.write_unraisable(py, None);
    Ok(())
}

fn wants(py: Python<'_>) -> PyResult<bool> {
    let Some(logger) = logger(py)? else { return Ok(false) };
    logger.call_method1(pyo3::intern!(py, "isEnabledFor"), (LEVEL,))?.is_truthy()
}

fn logger<'py>(py: Python<'py>) -> PyResult<Option<&'py Bound<'py, PyAny>>> {
    if let Some(logger) = LOGGER.get(py) {
        return Ok(Some(logger.bind(py)));
    }
    // When the interpreter ends nothing can be imported any more, and no handler is left.
    let Ok(sys) = py.import(pyo3::intern!(py, "sys")) else { return Ok(None) };
    let modules = sys.getattr(pyo3::intern!(py, "modules"))?;
    let Ok(modules) = modules.cast::<PyDict>() else { return Ok(None) };
    let found = modules.get_item(pyo3::intern!(py, "logging"))?;
    let Some(logging) = found.filter(|module| module.hasattr("getLogger").unwrap_or(false)) else {
        return Ok(None);
    };
    let logger = logging.call_method1("getLogger", ("ncirrus",))?.unbind();
    Ok(Some(LOGGER.get_or_init(py, || logger).bind(py)))
}

/// Hands the lines on that wait.
///
/// # Errors
/// As [`look`]; the other lines are handed on before.
pub(crate) fn hand_on(py: Python<'_>) -> PyResult<()> {
    if !IS_ON.load(Ordering::Relaxed) {
        return Ok(());
    }
    let lines = locked().map(|mut lines| std::mem::take(&mut *lines)).unwrap_or_default();
    let mut outcome = Ok(());
    for line in lines {
        if let Err(error) = log(py, &line) {
            outcome = outcome.and(unless_interrupted(py, error));
        }
    }
    outcome
}

fn log(py: Python<'_>, line: &RequestEvent) -> PyResult<()> {
    let Some(logger) = logger(py)? else { return Ok(()) };
    let about = PyDict::new(py);
    let object = line.address();
    about.set_item("method", &line.method)?;
    about.set_item("object", &object)?;
    about.set_item("range", (!line.range.is_empty()).then_some(&line.range))?;
    about.set_item("status", (line.status > 0).then_some(line.status))?;
    about.set_item("received", line.received)?;
    about.set_item("sent", line.sent)?;
    about.set_item("milliseconds", line.total_ms)?;
    about.set_item("attempt", line.attempt)?;
    about.set_item("error", (!line.outcome.is_empty()).then_some(&line.outcome))?;
    let range = line.range_suffix();
    let answer = match line.status {
        0 => "no answer".to_owned(),
        status => status.to_string(),
    };
    let outcome = if line.outcome.is_empty() { String::new() } else { format!(": {}", line.outcome) };
    let extra = PyDict::new(py);
    extra.set_item("request", about)?;
    let keywords = PyDict::new(py);
    keywords.set_item("extra", extra)?;
    let text = "%s %s%s %s, %d bytes received, %d sent, %d ms%s";
    let (received, sent, time) = (line.received, line.sent, line.total_ms);
    let arguments = (LEVEL, text, &line.method, object, range, answer, received, sent, time, outcome);
    logger.call_method("log", arguments, Some(&keywords)).map(|_| ())
}

/// The lines, unless the lock cannot be had.
fn locked() -> Option<MutexGuard<'static, VecDeque<RequestEvent>>> {
    for _ in 0..TRIES {
        match LINES.try_lock() {
            Ok(lines) => return Some(lines),
            Err(TryLockError::Poisoned(lines)) => return Some(lines.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// Takes the events of requests; ignores all others.
struct RequestLines;

impl Subscriber for RequestLines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The logger may be switched on and off.
        if request_log::is_logged(metadata) { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_wanted = is_request(metadata) && IS_ON.load(Ordering::Relaxed);
        is_wanted || (request_log::is_on() && request_log::is_logged(metadata))
    }

    fn event(&self, event: &Event<'_>) {
        request_log::note(event);
        if !is_request(event.metadata()) || !IS_ON.load(Ordering::Relaxed) {
            return;
        }
        let line = RequestEvent::of(event);
        let Some(mut lines) = locked() else { return };
        if lines.len() >= MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn is_request(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "ncirrus::request" && metadata.is_event()
}
