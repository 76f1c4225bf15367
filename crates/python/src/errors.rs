//! Errors of the library as exceptions, and waiting without the interpreter's lock.
use crate::progress::Reporter;
use crate::requests_log;
use ncirrus::{Detail, Error, ErrorKind, Found, Member};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Does something that may wait, while other Python threads run. A signal's exception ends it, a panic is an `Internal`
/// error.
pub(crate) fn wait<T: Send>(py: Python<'_>, work: impl FnOnce() -> ncirrus::Result<T> + Send) -> PyResult<T> {
    wait_telling(py, None, work)
}

/// As [`wait`], ended also by an exception of the callable that is called with the progress.
pub(crate) fn wait_telling<T: Send>(
    py: Python<'_>,
    reporter: Option<&Arc<Reporter>>,
    work: impl FnOnce() -> ncirrus::Result<T> + Send,
) -> PyResult<T> {
    let reported = reporter.cloned();
    requests_log::look(py)?;
    let (outcome, raised) = py.detach(|| watched(reported, work));
    let handed_on = requests_log::hand_on(py);
    if let Some(raised) = raised.or_else(|| reporter.and_then(|reporter| reporter.raised())) {
        return Err(raised);
    }
    handed_on?;
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(exception(py, &error)),
        Err(panic) => Err(exception(py, &Error::internal(panic_text(&*panic)))),
    }
}

/// Time between two looks at whether a signal came.
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two looks at whether a callable raised something.
const SHORT_PAUSE: Duration = Duration::from_millis(1);

/// What came of the work, and what a signal's handler raised meanwhile.
fn watched<T>(
    reporter: Option<Arc<Reporter>>,
    work: impl FnOnce() -> ncirrus::Result<T>,
) -> (std::thread::Result<ncirrus::Result<T>>, Option<PyErr>) {
    let raised = Rc::new(RefCell::new(None));
    let kept = Rc::clone(&raised);
    // What a callable raises ends the work as soon as can be: it may be nearly done.
    let interval = if reporter.is_some() { SHORT_PAUSE } else { PAUSE };
    let looked = Cell::new(Instant::now());
    let stops = move || {
        if reporter.as_ref().is_some_and(|reporter| reporter.has_raised()) {
            return true;
        }
        // Each wait asks when it begins: of many short ones not each needs the interpreter.
        if looked.get().elapsed() < PAUSE / 2 {
            return false;
        }
        looked.set(Instant::now());
        let looks = |py: Python<'_>| {
            requests_log::hand_on(py)?;
            py.check_signals()
        };
        match Python::attach(looks) {
            Ok(()) => false,
            Err(error) => {
                *kept.borrow_mut() = Some(error);
                true
            }
        }
    };
    let outcome = ncirrus::watch(interval, stops, || catch_unwind(AssertUnwindSafe(work)));
    let raised = raised.take();
    (outcome, raised)
}

/// The exception of an error: the class is `ncirrus.errors`' choice.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    made(py, error).map_or_else(|failed| failed, PyErr::from_value)
}

fn made<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let place = error.place();
    let (kind, retryable) = kind_name(error.kind());
    let about = PyDict::new(py);
    about.set_item("kind", kind)?;
    about.set_item("message", error.message())?;
    about.set_item("object", place.object.as_deref())?;
    about.set_item("path", place.path.as_deref())?;
    about.set_item("chunk", place.chunk.as_deref())?;
    about.set_item("offset", place.offset)?;
    about.set_item("driver", place.driver)?;
    about.set_item("retryable", retryable)?;
    about.set_item("detail", error.detail().and_then(detail_name))?;
    py.import("ncirrus.errors")?.getattr("of_native")?.call((), Some(&about))
}

/// The error that a broken rule of this module is.
pub(crate) fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    exception(py, &Error::invalid(message))
}

/// The kind in a word, and whether trying again may help.
fn kind_name(kind: ErrorKind) -> (&'static str, bool) {
    match kind {
        ErrorKind::NotFound => ("not_found", false),
        ErrorKind::Denied => ("denied", false),
        ErrorKind::Io { retryable } => ("io", retryable),
        ErrorKind::Malformed => ("malformed", false),
        ErrorKind::Unsupported => ("unsupported", false),
        ErrorKind::Limit => ("limit", false),
        ErrorKind::Changed => ("changed", false),
        ErrorKind::Conflict => ("conflict", false),
        ErrorKind::Missing => ("missing", false),
        ErrorKind::Invalid => ("invalid", false),
        ErrorKind::Interrupted => ("interrupted", true),
        _ => ("internal", false),
    }
}

/// What exactly is wrong, in a word that the hints go by.
fn detail_name(detail: &Detail) -> Option<&'static str> {
    Some(match detail {
        Detail::NoMember(Member::Group) => "no_group",
        Detail::NoMember(Member::Dimension) => "no_dimension",
        Detail::NoMember(Member::Type) => "no_type",
        Detail::NoMember(Member::Variable) => "no_variable",
        Detail::NoMember(Member::Attribute) => "no_attribute",
        Detail::Exists => "exists",
        Detail::IsSource => "is_source",
        Detail::NotReplaced => "not_replaced",
        Detail::JoinedByAggregation => "joined_by_aggregation",
        Detail::UnknownCodec(_) => "unknown_codec",
        Detail::UnusableCodec(_) => "unusable_codec",
        Detail::BeyondClassic => "beyond_classic",
        Detail::ReservedName => "reserved_name",
        Detail::BeyondHeader => "beyond_header",
        Detail::ReadOnlyProtocol => "read_only_protocol",
        Detail::NoListings => "no_listings",
        Detail::UnknownScheme => "unknown_scheme",
        Detail::Found(Found::Page) => "found_page",
        Detail::Found(Found::Directory) => "found_directory",
        Detail::Found(Found::EmptyDirectory) => "found_empty_directory",
        Detail::Unreachable => "unreachable",
        _ => return None,
    })
}

/// What a panic says of itself.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("the library panicked: {}", text.unwrap_or_default())
}
