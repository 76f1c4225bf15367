//! Operations of a store. All requests of one share a retry budget.
use super::failure::{RequestFailure, RetryOutlook};
use super::service::RequestService;
use ncirrus_layout::{Error, ErrorKind, LockExt, ObjectId, Want};
use reqwest::header::{HeaderName, HeaderValue};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

tokio::task_local! {
    static CURRENT: Arc<StoreOperation>;
}

/// An operation of a store on an object, for which requests are made.
#[derive(Debug)]
pub struct StoreOperation {
    pub(super) store: String,
    pub(super) object: String,
    /// Maximum size of one answer.
    pub(super) max: Option<u64>,
    /// Its requests are not retried.
    is_once: bool,
    /// Its answers are computed: what a server says of a failure is an answer, too.
    pub(super) is_query: bool,
    state: Mutex<OperationState>,
    /// The service that sends its requests.
    service: OnceLock<RequestService>,
}

#[derive(Debug, Default)]
struct OperationState {
    attempts: u32,
    /// Failures since the last success, and when the first of them was.
    failures: u32,
    since: Option<Instant>,
    /// Number of failures by kind.
    reported: Vec<(String, u32)>,
    in_doubt: bool,
    expired: bool,
    /// A header of the request that completes a multipart upload.
    condition: Option<(HeaderName, HeaderValue)>,
}

/// Runs an operation of a store on an object: its requests share one retry budget and its name appears in errors.
pub async fn operation<T>(object: &ObjectId, work: impl Future<Output = T>) -> T {
    let operation = StoreOperation::new(object.store.as_str(), object.key(), None);
    CURRENT.scope(Arc::new(operation), work).await
}

/// As [`operation`], for reads: answers larger than the given size are refused before they are fetched.
pub async fn read_operation<T>(object: &ObjectId, want: &Want, work: impl Future<Output = T>) -> T {
    let operation = StoreOperation::new(object.store.as_str(), object.key(), want.max_bytes());
    CURRENT.scope(Arc::new(operation), work).await
}

/// As [`read_operation`], for answers that a server computes: most of its failures are permanent.
pub(crate) async fn query_operation<T>(object: &ObjectId, want: &Want, work: impl Future<Output = T>) -> T {
    let operation = StoreOperation::new(object.store.as_str(), object.key(), want.max_bytes());
    CURRENT.scope(Arc::new(StoreOperation { is_query: true, ..operation }), work).await
}

/// Sends the requests of an operation without retries.
pub async fn once<T>(work: impl Future<Output = T>) -> T {
    let operation = match StoreOperation::current() {
        Some(current) => StoreOperation::new(&current.store, &current.object, current.max),
        None => StoreOperation::new("", "", None),
    };
    CURRENT.scope(Arc::new(StoreOperation { is_once: true, ..operation }), work).await
}

/// Waits until the rest of an interrupted answer may be requested.
pub async fn again(failure: RequestFailure) -> Result<(), RequestFailure> {
    let Some(operation) = StoreOperation::current() else { return Err(failure) };
    match operation.service.get() {
        Some(service) => operation.again(failure, service).await,
        None => Err(failure),
    }
}

impl StoreOperation {
    pub(super) fn new(store: &str, object: &str, max: Option<u64>) -> Self {
        let (store, object) = (store.to_owned(), object.to_owned());
        let (state, service) = (Mutex::default(), OnceLock::new());
        Self { store, object, max, is_once: false, is_query: false, state, service }
    }

    /// The operation of the running task.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Whether a request that failed may have been carried out nevertheless.
    pub fn is_in_doubt() -> bool {
        Self::current().is_some_and(|operation| operation.lock().in_doubt)
    }

    /// Whether credentials were rejected as expired since this was last called.
    pub fn take_expired() -> bool {
        Self::current().is_some_and(|operation| std::mem::take(&mut operation.lock().expired))
    }

    /// The condition for completing a multipart upload, which the clients of object stores cannot express.
    pub fn depend(condition: Option<(HeaderName, HeaderValue)>) {
        if let Some(operation) = Self::current() {
            operation.lock().condition = condition;
        }
    }

    /// The header for the request that completes a multipart upload.
    pub fn condition() -> Option<(HeaderName, HeaderValue)> {
        Self::current().and_then(|operation| operation.lock().condition.clone())
    }

    /// The number of the next attempt, from 1.
    pub(super) fn begin(&self, service: &RequestService) -> u32 {
        self.service.get_or_init(|| service.clone());
        let mut state = self.lock();
        state.attempts += 1;
        state.attempts
    }

    /// An answer arrived completely.
    pub(super) fn succeeded(&self) {
        let mut state = self.lock();
        (state.failures, state.since) = (0, None);
        state.reported.clear();
    }

    pub(super) fn note_expired(&self) {
        self.lock().expired = true;
    }

    /// Waits until a request may be retried.
    pub(super) async fn again(
        &self,
        failure: RequestFailure,
        service: &RequestService,
    ) -> Result<(), RequestFailure> {
        let message = failure.error.message().to_owned();
        let wait = self.judge(failure, service)?;
        tracing::info!(
            target: "ncirrus::retry",
            store = self.store, object = self.object, wait = wait.as_secs_f64(), "{message}: trying again"
        );
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// How long to wait, or why the request is given up.
    fn judge(&self, failure: RequestFailure, service: &RequestService) -> Result<Duration, RequestFailure> {
        let now = Instant::now();
        let mut state = self.lock();
        state.in_doubt |= failure.in_doubt;
        if failure.outlook == RetryOutlook::Final || self.is_once {
            return Err(failure);
        }
        state.count(failure.error.message());
        let since = *state.since.get_or_insert(now);
        let max = service.retries(failure.outlook == RetryOutlook::Unreached);
        if state.failures > max {
            return Err(state.summary(&failure, now, None));
        }
        let retry_policy = &service.retry_policy;
        let wait = retry_policy.wait(state.failures).saturating_add(failure.after.unwrap_or_default());
        let wait = wait.max(service.shared.bucket.take(retry_policy.reserve, now));
        if now.saturating_duration_since(since).saturating_add(wait) > retry_policy.longest {
            let requested = failure.after.filter(|after| *after > retry_policy.longest);
            return Err(state.summary(&failure, now, requested));
        }
        Ok(wait)
    }

    fn lock(&self) -> MutexGuard<'_, OperationState> {
        self.state.guard()
    }
}

impl OperationState {
    fn count(&mut self, message: &str) {
        self.failures += 1;
        match self.reported.iter_mut().find(|(reported, _)| reported == message) {
            Some((_, times)) => *times += 1,
            None => self.reported.push((message.to_owned(), 1)),
        }
    }

    /// The failure, with the number of occurrences of each kind.
    fn summary(&self, failure: &RequestFailure, now: Instant, requested: Option<Duration>) -> RequestFailure {
        let mut message = failure.error.message().to_owned();
        if self.failures > 1 {
            let others: Vec<String> =
                self.reported.iter().map(|(reported, times)| format!("{times} x {reported}")).collect();
            let seconds = self.since.map_or(0.0, |since| now.saturating_duration_since(since).as_secs_f64());
            message = format!(
                "{message}; given up after {} attempts in {seconds:.1} s ({})",
                self.failures,
                others.join(", ")
            );
        }
        if let Some(requested) = requested {
            message = format!("{message}; the server asks to wait {} s", requested.as_secs());
        }
        let error = Error::new(ErrorKind::Io { retryable: true }, message);
        let error = match failure.error.detail() {
            Some(detail) => error.with_detail(detail.clone()),
            None => error,
        };
        RequestFailure { error, outlook: RetryOutlook::Final, ..failure.clone() }
    }
}
