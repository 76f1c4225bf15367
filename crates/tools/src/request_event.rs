//! What the library tells of a request through `tracing` (`docs/network.md`).
use std::fmt::Debug;
use tracing::field::{Field, Visit};

/// The fields of an event whose target is `ncirrus::request`, `ncirrus::retry` or `ncirrus::fetch`; those that an event
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
