//! Trace of each request, and totals.
use super::operation::StoreOperation;
use super::request_limiter::RequestPermit;
use super::service::{RequestService, SharedService};
use reqwest::{Method, StatusCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What was sent and received over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkTraffic {
    /// Requests, including retries.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Bytes of bodies received.
    pub received: u64,
    /// Bytes of bodies sent.
    pub sent: u64,
}

/// The same, as counters.
#[derive(Debug, Default)]
pub(super) struct TrafficCounters {
    requests: AtomicU64,
    failed: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

impl TrafficCounters {
    pub(super) fn read(&self) -> NetworkTraffic {
        NetworkTraffic {
            requests: self.requests.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
        }
    }
}

/// One request, traced when it ends or is dropped.
#[derive(Debug)]
pub(super) struct RequestRecord {
    shared: Arc<SharedService>,
    pub(super) operation: Arc<StoreOperation>,
    method: Method,
    range: Option<String>,
    attempt: u32,
    sent: u64,
    start: Instant,
    first: Option<Duration>,
    status: Option<StatusCode>,
    received: u64,
    outcome: RequestOutcome,
    /// The permit is held until the request ends.
    _permit: RequestPermit,
}

#[derive(Debug)]
enum RequestOutcome {
    /// It was dropped before it ended.
    Open,
    Done,
    Failed(String),
}

impl RequestRecord {
    pub(super) fn new(
        service: &RequestService,
        operation: Arc<StoreOperation>,
        request: &reqwest::Request,
        permit: RequestPermit,
    ) -> Self {
        let range = request.headers().get(reqwest::header::RANGE);
        Self {
            shared: Arc::clone(&service.shared),
            method: request.method().clone(),
            range: range.and_then(|range| range.to_str().ok()).map(|range| range.replace("bytes=", "")),
            attempt: operation.begin(service),
            sent: super::service::body_len(request),
            operation,
            start: Instant::now(),
            first: None,
            status: None,
            received: 0,
            outcome: RequestOutcome::Open,
            _permit: permit,
        }
    }

    pub(super) fn answered(&mut self, status: StatusCode) {
        self.first = Some(self.start.elapsed());
        self.status = Some(status);
    }

    pub(super) fn received(&mut self, bytes: usize) {
        self.received += bytes as u64;
    }

    pub(super) fn failed(&mut self, message: &str) {
        self.outcome = RequestOutcome::Failed(message.to_owned());
    }

    /// The answer arrived completely.
    pub(super) fn done(&mut self) {
        if matches!(self.outcome, RequestOutcome::Open) {
            self.outcome = RequestOutcome::Done;
        }
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        if matches!(self.outcome, RequestOutcome::Done) {
            self.operation.succeeded();
            self.shared.bucket.reward();
        }
        let tally = &self.shared.tally;
        tally.requests.fetch_add(1, Ordering::Relaxed);
        tally.failed.fetch_add(matches!(self.outcome, RequestOutcome::Failed(_)).into(), Ordering::Relaxed);
        tally.received.fetch_add(self.received, Ordering::Relaxed);
        tally.sent.fetch_add(self.sent, Ordering::Relaxed);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let outcome = match &self.outcome {
            RequestOutcome::Open => "dropped",
            RequestOutcome::Done => "",
            RequestOutcome::Failed(message) => message,
        };
        tracing::debug!(
            target: "ncirrus::request",
            store = self.operation.store,
            method = self.method.as_str(),
            object = self.operation.object,
            range = self.range.as_deref().unwrap_or_default(),
            status = self.status.map_or(0, |status| status.as_u16()),
            received = self.received,
            sent = self.sent,
            first_ms = self.first.map_or(0, millis),
            total_ms = millis(self.start.elapsed()),
            attempt = self.attempt,
            outcome,
        );
    }
}
