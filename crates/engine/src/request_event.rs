//! What the library reports of a request through `tracing` (`docs/network.md`).
use std::fmt::{Debug, Write};
use tracing::Event;
use tracing::field::{Field, Visit};

/// The fields of an event whose target is `ncirrus::request`, `ncirrus::retry`, `ncirrus::fetch` or `ncirrus::local`; those that an event
/// does not have are empty or 0. Record an event into it from a `tracing::Subscriber`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestEvent {
    /// The method, such as `GET`.
    pub method: String,
    /// The store: server and bucket.
    pub store: String,
    /// The object's key within the store.
    pub object: String,
    /// The bytes that were asked for, `first-last`; empty for a whole object.
    pub range: String,
    /// Why the request failed; empty if it did not.
    pub outcome: String,
    /// The event's message.
    pub message: String,
    /// Status of the answer; 0 without one.
    pub status: u64,
    /// Bytes received in the body.
    pub received: u64,
    /// Bytes sent in the body.
    pub sent: u64,
    /// Milliseconds to the head of the answer.
    pub first_ms: u64,
    /// Milliseconds to the end of the answer.
    pub total_ms: u64,
    /// 1 for the first attempt, 2 for the first retry.
    pub attempt: u64,
    /// Seconds to wait before the next attempt.
    pub wait: f64,
}

impl RequestEvent {
    /// The object's address: store and key.
    pub fn address(&self) -> String {
        let slash = if self.store.ends_with('/') || self.object.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.store, self.object)
    }

    /// The fields of an event.
    pub fn of(event: &Event<'_>) -> Self {
        let mut fields = Self::default();
        event.record(&mut fields);
        fields
    }

    /// The line of a trace for an event with that target.
    pub fn line(&self, target: &str) -> String {
        match target {
            "ncirrus::request" => self.request_line(),
            "ncirrus::retry" => format!("{}, in {:.2} s", self.message, self.wait),
            "ncirrus::fetch" => self.with_outcome(format!("{}, {} ms", self.read_line(), self.total_ms)),
            _ => self.with_outcome(self.read_line()),
        }
    }

    /// `GET http://host/x.nc [0-99] 206, 100 bytes, 12 ms to the first, 15 ms`
    fn request_line(&self) -> String {
        let mut line = format!("{} {}{}", self.method, self.address(), self.range_suffix());
        let _ = match self.status {
            0 => write!(line, " no answer"),
            status => write!(line, " {status}, {} bytes", self.received),
        };
        if self.sent > 0 {
            let _ = write!(line, ", {} sent", self.sent);
        }
        let _ = write!(line, ", {} ms to the first, {} ms", self.first_ms, self.total_ms);
        if self.attempt > 1 {
            let _ = write!(line, ", request {}", self.attempt);
        }
        self.with_outcome(line)
    }

    /// `read /data/a.zarr/v/0 [0-99] 100 bytes`
    fn read_line(&self) -> String {
        let (address, range) = (self.address(), self.range_suffix());
        let method = if self.method.is_empty() { "read" } else { &self.method };
        let bytes = self.received + self.sent;
        format!("{method} {address}{range} {bytes} bytes")
    }

    fn with_outcome(&self, mut line: String) -> String {
        if !self.outcome.is_empty() {
            let _ = write!(line, ": {}", self.outcome);
        }
        line
    }

    /// The range as it stands behind an address in a line of text: empty for a whole object.
    pub fn range_suffix(&self) -> String {
        if self.range.is_empty() { String::new() } else { format!(" [{}]", self.range) }
    }
}

impl Visit for RequestEvent {
    fn record_str(&mut self, field: &Field, value: &str) {
        let place = match field.name() {
            "method" => &mut self.method,
            "store" => &mut self.store,
            "object" => &mut self.object,
            "range" => &mut self.range,
            "outcome" => &mut self.outcome,
            _ => return,
        };
        value.clone_into(place);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "status" => self.status = value,
            "received" => self.received = value,
            "sent" => self.sent = value,
            "first_ms" => self.first_ms = value,
            "total_ms" => self.total_ms = value,
            "attempt" => self.attempt = value,
            _ => {}
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "wait" {
            self.wait = value;
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}
