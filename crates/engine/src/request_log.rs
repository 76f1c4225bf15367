//! The log of a process that addresses (`#log`, `#log=FILE`) and netCDF's files request: a line for each request, and
//! for each read and write of a local store (`docs/network.md`).
use crate::request_event::RequestEvent;
use ncirrus_layout::{Error, ErrorKind, LockExt, ObjectId, Result};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Files by name; an empty name is standard error.
static FILES: Mutex<Option<HashMap<String, Option<File>>>> = Mutex::new(None);

/// Starts logging to a file, to which lines are appended; an empty name is standard error. A program with a subscriber
/// of its own for `tracing` passes events on to [`note`], or keeps them for itself.
///
/// # Errors
/// If the file cannot be written.
pub fn start(name: &str) -> Result<()> {
    let mut files = FILES.guard();
    let files = files.get_or_insert_default();
    if files.contains_key(name) {
        return Ok(());
    }
    let file = (!name.is_empty()).then(|| OpenOptions::new().create(true).append(true).open(name));
    let failed = |error| {
        Error::new(ErrorKind::Io { retryable: false }, format!("cannot write the log: {error}"))
            .at_object(name)
    };
    files.insert(name.to_owned(), file.transpose().map_err(failed)?);
    IS_ON.store(true, Ordering::Release);
    let _ = tracing::subscriber::set_global_default(LogLines);
    tracing::callsite::rebuild_interest_cache();
    Ok(())
}

/// Whether something is logged.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Whether events with that target are lines of the log.
pub fn is_logged(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    metadata.is_event() && matches!(target, "ncirrus::request" | "ncirrus::retry" | "ncirrus::local")
}

/// Writes the line of an event, if something is logged. Failures to write are ignored.
pub fn note(event: &Event<'_>) {
    if !is_on() || !is_logged(event.metadata()) {
        return;
    }
    let line = format!("{}\n", RequestEvent::of(event).line(event.metadata().target()));
    for file in FILES.guard().iter_mut().flat_map(HashMap::values_mut) {
        let _ = match file {
            Some(file) => file.write_all(line.as_bytes()),
            None => std::io::stderr().write_all(format!("trace: {line}").as_bytes()),
        };
    }
}

/// Traces a read of a local store: the bytes that were read, `None` if there is no such object.
pub(crate) fn read_locally(object: &ObjectId, range: Option<&Range<u64>>, read: Option<usize>) {
    tracing::trace!(
        target: "ncirrus::local",
        method = "read",
        store = object.store.as_str(),
        object = object.key(),
        range = range.map_or_else(String::new, |range| format!("{}-{}", range.start, range.end.saturating_sub(1))),
        received = read.unwrap_or(0) as u64,
        outcome = if read.is_some() { "" } else { "not there" },
    );
}

/// Traces a put to a local store.
pub(crate) fn put_locally(method: &str, object: &ObjectId, offset: Option<u64>, bytes: usize) {
    let bytes = bytes as u64;
    tracing::trace!(
        target: "ncirrus::local",
        method,
        store = object.store.as_str(),
        object = object.key(),
        range = offset.map_or_else(String::new, |offset| format!("{offset}-{}", (offset + bytes).saturating_sub(1))),
        sent = bytes,
        outcome = "",
    );
}

/// Writes the log where the program has no subscriber.
struct LogLines;

impl Subscriber for LogLines {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if is_logged(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_logged(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        note(event);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
