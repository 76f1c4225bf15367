//! One line per request, and the totals at the end (`docs/network.md`).
use indicatif::MultiProgress;
use ncirrus::{Error, ErrorKind, Result};
use ncirrus_tools::{RequestEvent, request_log};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Instant;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Progress bars: lines on standard error are written above them.
pub(crate) static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// The output, and the totals so far.
pub(crate) struct RequestTrace(Arc<SharedTrace>);

struct SharedTrace {
    level: u64,
    /// Standard error, unless there is a file.
    file: Option<Mutex<File>>,
    sums: Mutex<TraceSums>,
    start: Instant,
}

#[derive(Default)]
struct TraceSums {
    requests: u64,
    failed: u64,
    again: u64,
    received: u64,
    sent: u64,
}

impl RequestTrace {
    /// Starts tracing: at level 1 each request, and each read and write of local stores, at level 2 also reads from remote
    /// stores. `file` is the
    /// argument of `--trace`, `-` for standard error.
    pub(crate) fn start(file: Option<&PathBuf>, level: Option<u64>) -> Result<Option<Self>> {
        let level = level.unwrap_or(0).max(file.is_some().into());
        if level == 0 {
            return Ok(None);
        }
        let file = file.filter(|file| file.as_os_str() != "-").map(|file| create(file)).transpose()?;
        let (file, sums) = (file.map(Mutex::new), Mutex::default());
        let shared = Arc::new(SharedTrace { level, file, sums, start: Instant::now() });
        // A trace may already be active.
        let _ = tracing::subscriber::set_global_default(TraceLines(Arc::clone(&shared)));
        Ok(Some(Self(shared)))
    }
}

/// Prints the totals, when everything is done.
impl Drop for RequestTrace {
    fn drop(&mut self) {
        let sums = self.0.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!(
            "{} requests ({} failed, {} made again), {} bytes received, {} sent, {:.2} s",
            sums.requests,
            sums.failed,
            sums.again,
            sums.received,
            sums.sent,
            self.0.start.elapsed().as_secs_f64()
        );
        self.0.print(&line);
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| {
        Error::new(ErrorKind::Io { retryable: false }, format!("cannot write the trace: {error}"))
            .at_object(path.display())
    })
}

impl SharedTrace {
    /// Failures to write the trace are ignored.
    fn print(&self, line: &str) {
        let line = crate::message::plain(line);
        match &self.file {
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writeln!(file, "{line}");
            }
            None => BARS.suspend(|| {
                let _ = writeln!(anstream::stderr().lock(), "trace: {line}");
            }),
        }
    }

    fn count(&self, fields: &RequestEvent) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.requests += 1;
        sums.failed += u64::from(!fields.outcome.is_empty());
        sums.again += u64::from(fields.attempt > 1);
        sums.received += fields.received;
        sums.sent += fields.sent;
    }
}

/// Turns the events of requests into lines; ignores all others.
struct TraceLines(Arc<SharedTrace>);

impl Subscriber for TraceLines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        match metadata.target() {
            "ncirrus::request" | "ncirrus::retry" | "ncirrus::local" => metadata.is_event(),
            "ncirrus::fetch" => metadata.is_event() && self.0.level > 1,
            _ => false,
        }
    }

    fn event(&self, event: &Event<'_>) {
        request_log::note(event);
        let (fields, target) = (RequestEvent::of(event), event.metadata().target());
        if target == "ncirrus::request" {
            self.0.count(&fields);
        }
        self.0.print(&fields.line(target));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
