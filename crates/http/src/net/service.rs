//! Sends requests until they are answered.
use super::answer;
use super::answer::{PartialAnswers, PendingRequest, StatusMeaning};
use super::bucket::TokenBucket;
use super::failure::RequestFailure;
use super::monitored_body::MonitoredBody;
use super::operation::StoreOperation;
use super::record::{NetworkTraffic, RequestRecord, TrafficCounters};
use super::request_limiter::{RequestLimiter, RequestQueue};
use crate::connections::guard::HostGuard;
use crate::connections::guard_rules;
use crate::context::NetworkContext;
use ncirrus_layout::LockExt;
use ncirrus_store::{RetryPolicy, StoreOptions};
use reqwest::{Client, Request, StatusCode, Url};
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An answer whose body is still to come.
pub type ResponseHead = http::Response<MonitoredBody>;

/// Sends requests of stores and retries them while that may help.
///
/// This is the only place with retries: they are disabled in the layers above.
#[derive(Clone)]
pub struct RequestService {
    client: Client,
    timeout: Duration,
    retries: u32,
    pub(super) retry_policy: RetryPolicy,
    pub(super) shared: Arc<SharedService>,
    queue: RequestQueue,
    parts: PartialAnswers,
    /// Checks the requests to a server that a dataset named, and to hosts below its name.
    guard: Option<(HostGuard, String)>,
}

/// What all services of a session share.
#[derive(Debug)]
pub(crate) struct SharedService {
    pub(super) bucket: TokenBucket,
    pub(super) tally: TrafficCounters,
    pub(crate) limiter: RequestLimiter,
    /// Hosts that have answered before.
    known: Mutex<HashSet<String>>,
}

impl SharedService {
    /// Nothing sent yet; at most this many requests will be in flight at once.
    pub(crate) fn new(requests: usize) -> Self {
        let (bucket, tally, known) = (TokenBucket::default(), TrafficCounters::default(), Mutex::default());
        Self { bucket, tally, limiter: RequestLimiter::new(requests), known }
    }

    /// Totals sent and received so far.
    pub(crate) fn traffic(&self) -> NetworkTraffic {
        self.tally.read()
    }

    fn is_known(&self, host: &str) -> bool {
        self.known.guard().contains(host)
    }

    fn note(&self, host: &str) {
        let mut known = self.known.guard();
        if !known.contains(host) {
            known.insert(host.to_owned());
        }
    }
}

/// Maximum number of bytes read from an error answer.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Maximum number of bytes read from the answer to a request with a body to be processed.
const REPLY: usize = 16 << 20;
/// Attempts for a server that has never answered.
const MAX_FIRST_ATTEMPTS: u32 = 2;
/// Timeout for the instance metadata service.
const METADATA: Duration = Duration::from_secs(2);

impl RequestService {
    /// Sends requests to a host that accepts at most this many at once.
    pub(crate) fn new(
        client: Client,
        options: &StoreOptions,
        shared: &Arc<SharedService>,
        (place, max): (&str, usize),
    ) -> Self {
        Self {
            client,
            timeout: options.timeout,
            retries: options.retries,
            retry_policy: options.retry_policy,
            shared: Arc::clone(shared),
            queue: shared.limiter.queue(place, max),
            parts: PartialAnswers::default(),
            guard: None,
        }
    }

    /// The same, for a server that the address names: its host is checked before each request, unless all hosts may be
    /// reached. Other servers, such as those that give credentials, are the user's own.
    #[must_use]
    pub fn at_server(self, server: &str, context: &NetworkContext) -> Self {
        let rules = guard_rules(&context.options, &context.config);
        let host = Url::parse(server).ok().and_then(|server| server.host_str().map(str::to_owned));
        Self { guard: rules.map(HostGuard::new).zip(host), ..self }
    }

    /// The same, for a client that can use partial answers whatever their range.
    pub(crate) fn of_any_parts(self) -> Self {
        Self { parts: PartialAnswers::Any, ..self }
    }

    /// A request for an object.
    pub(crate) fn get(&self, address: Url) -> reqwest::RequestBuilder {
        self.client.get(address)
    }

    /// Sends a request, with retries, until the head of an answer has arrived.
    pub async fn send(
        &self,
        make: impl Fn() -> Result<Request, RequestFailure>,
    ) -> Result<ResponseHead, RequestFailure> {
        let mut operation = StoreOperation::current();
        loop {
            let request = make()?;
            self.check_host(request.url()).await?;
            let operation = operation.get_or_insert_with(|| Arc::new(of_request(request.url())));
            let permit = self.queue.acquire().await;
            let record = RequestRecord::new(self, Arc::clone(operation), &request, permit);
            match self.attempt(request, record).await {
                Ok(answered) => return Ok(answered),
                Err(failure) => operation.again(failure, self).await?,
            }
        }
    }

    async fn check_host(&self, url: &Url) -> Result<(), RequestFailure> {
        let Some((guard, server)) = &self.guard else { return Ok(()) };
        let prefix = url.host_str().and_then(|host| host.strip_suffix(server.as_str()));
        match prefix {
            Some(prefix) if prefix.is_empty() || prefix.ends_with('.') => {
                guard.check(url, None).await.map_err(RequestFailure::lasting)
            }
            _ => Ok(()),
        }
    }

    /// The number of retries of a request.
    pub(super) fn retries(&self, is_unreached: bool) -> u32 {
        if is_unreached { self.retries.min(MAX_FIRST_ATTEMPTS) } else { self.retries }
    }

    async fn attempt(
        &self,
        request: Request,
        mut record: RequestRecord,
    ) -> Result<ResponseHead, RequestFailure> {
        let requested = PendingRequest::new(&request, self.parts);
        let host = request.url().authority().to_owned();
        let limit = self.limit(&request);
        let answer = match tokio::time::timeout(limit, self.client.execute(request)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.unanswered(RequestFailure::of(error), &host, record)),
            Err(_) => {
                let failure = RequestFailure::passing(format!("no answer within {} s", limit.as_secs_f64()));
                return Err(self.unanswered(failure, &host, record));
            }
        };
        self.shared.note(&host);
        record.answered(answer.status());
        self.inspect(http::Response::from(answer), &requested, record).await
    }

    /// A failed connection to a server that has answered before may recover.
    fn unanswered(
        &self,
        mut failure: RequestFailure,
        host: &str,
        mut record: RequestRecord,
    ) -> RequestFailure {
        record.failed(failure.error.message());
        if failure.outlook == super::failure::RetryOutlook::Unreached && self.shared.is_known(host) {
            failure.outlook = super::failure::RetryOutlook::Passing;
        }
        failure
    }

    async fn inspect(
        &self,
        answer: http::Response<reqwest::Body>,
        requested: &PendingRequest,
        record: RequestRecord,
    ) -> Result<ResponseHead, RequestFailure> {
        let (parts, body) = answer.into_parts();
        let (status, headers) = (parts.status, &parts.headers);
        let needs_body = answer::needs_body(status, requested);
        let pace = if needs_body || !status.is_success() {
            // Some work for minutes, and send a blank now and then to keep the connection alive.
            (1, self.timeout)
        } else {
            (self.retry_policy.min_bytes(), self.retry_policy.window)
        };
        let len = answer::body_len(status, headers, requested);
        let len = len.and_then(|len| answer::check_len(len, record.operation.max).map(|()| len));
        let mut body = MonitoredBody::new(body, len.as_ref().ok().copied().flatten(), pace, record);
        if let Err(failure) = len {
            return Err(body.refuse(&failure));
        }
        let is_query = body.operation().is_some_and(|operation| operation.is_query);
        if answer::is_passing(status) && !(is_query && answer::is_about_query(status)) {
            let reported = body.collect(MAX_ERROR_BYTES).await.unwrap_or_default();
            let failure = answer::passing(status, headers, &reported);
            if is_query && matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
                self.queue.slow_down(failure.after.unwrap_or_default().min(self.retry_policy.longest));
            }
            return Err(body.refuse(&failure));
        }
        if !needs_body || is_query {
            return Ok(http::Response::from_parts(parts, body));
        }
        let reported = body.collect(if status.is_success() { REPLY } else { MAX_ERROR_BYTES }).await?;
        match answer::check_code(status, headers, &reported, requested) {
            Err(failure) => return Err(body.refuse(&failure)),
            Ok(StatusMeaning::Expired) => _ = body.operation().map(|operation| operation.note_expired()),
            Ok(StatusMeaning::Other) => {}
        }
        Ok(http::Response::from_parts(parts, MonitoredBody::ready(reported)))
    }

    /// Timeout for the head of an answer, including the time for sending the body.
    fn limit(&self, request: &Request) -> Duration {
        if is_metadata(request.url()) {
            return self.timeout.min(METADATA);
        }
        self.timeout.saturating_add(self.retry_policy.time_for(body_len(request)))
    }
}

/// Size of the request body.
pub(super) fn body_len(request: &Request) -> u64 {
    let body = request.body().map(http_body::Body::size_hint);
    body.map_or(0, |hint| hint.lower())
}

/// A request without a named object: its address, without what may be secret.
fn of_request(url: &Url) -> StoreOperation {
    StoreOperation::new(
        &format!("{}://{}", url.scheme(), host_of(url)),
        url.path().trim_start_matches('/'),
        None,
    )
}

fn host_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

/// Whether an address is that of the instance metadata service, which does not answer where there is none.
fn is_metadata(url: &Url) -> bool {
    matches!(url.host_str(), Some("169.254.169.254" | "[fd00:ec2::254]" | "metadata.google.internal"))
}

impl fmt::Debug for RequestService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service")
    }
}
