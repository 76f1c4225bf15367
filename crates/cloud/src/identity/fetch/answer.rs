//! Credentials in the formats of services and programs.
use super::super::clock::sign_for;
use super::super::source::StaticKeys;
use super::TokenClient;
use chrono::DateTime;
use ncirrus_http::{RequestFailure, clock_difference_text};
use ncirrus_layout::{Error, ErrorKind, Result};
use object_store::HeaderValue;
use object_store::aws::AwsCredential;
use object_store::client::{HttpError, HttpRequest, HttpRequestBody, HttpResponse};
use reqwest::StatusCode;
use serde_json::Value as Json;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Credentials and their expiry.
#[derive(Debug, Clone)]
pub(in crate::identity) struct FreshCredentials {
    pub(in crate::identity) credential: Arc<AwsCredential>,
    pub(super) until: Option<SystemTime>,
}

impl FreshCredentials {
    /// Keys that never expire.
    pub(super) fn lasting(keys: &StaticKeys) -> Self {
        let credential = AwsCredential {
            key_id: keys.access.exposed().to_owned(),
            secret_key: keys.secret.exposed().to_owned(),
            token: keys.token.as_ref().map(|token| token.exposed().to_owned()),
        };
        Self { credential: Arc::new(credential), until: None }
    }

    /// Keys that expire at a time, in whole seconds since 1970.
    pub(super) fn new(keys: &StaticKeys, until: Option<i64>) -> Self {
        let since = |seconds: i64| Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        // A time beyond the clock's range never comes.
        let time = |seconds: i64| SystemTime::UNIX_EPOCH.checked_add(since(seconds));
        Self { until: until.and_then(time), ..Self::lasting(keys) }
    }

    /// When they expire.
    pub(super) fn until(&self) -> Option<String> {
        let seconds = self.until?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        time(i64::try_from(seconds).ok()?)
    }

    pub(super) fn is_good(&self, at: SystemTime) -> bool {
        self.until.is_none_or(|until| until > at)
    }
}

/// Seconds since 1970 of a time such as `2026-01-02T03:04:05Z`.
pub(super) fn seconds(text: &str) -> Option<i64> {
    // Files of single sign-on once spelled out the zone.
    let text = text.strip_suffix("UTC").map_or(text.to_owned(), |time| format!("{time}Z"));
    DateTime::parse_from_rfc3339(&text).ok().map(|time| time.timestamp())
}

/// A time such as `2026-01-02T03:04:05Z`, of seconds since 1970.
pub(super) fn time(seconds: i64) -> Option<String> {
    Some(DateTime::from_timestamp(seconds, 0)?.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Keys in a JSON object, under names that differ from service to service.
pub(super) fn keys_of(json: &Json, names: [&str; 4]) -> Option<FreshCredentials> {
    let [access, secret, token, until] = names.map(|name| json.get(name));
    let keys = StaticKeys::new(access?.as_str()?, secret?.as_str()?, token.and_then(Json::as_str)).ok()?;
    let until = match until {
        Some(Json::String(text)) => Some(seconds(text)?),
        Some(Json::Number(milliseconds)) => Some(milliseconds.as_i64()? / 1000),
        _ => None,
    };
    Some(FreshCredentials::new(&keys, until))
}

/// A request without a body.
pub(super) fn request(address: &str) -> Result<HttpRequest> {
    let mut request = HttpRequest::new(HttpRequestBody::empty());
    let wrong = |_| Error::invalid("the service's address is malformed");
    *request.uri_mut() = address.parse().map_err(wrong)?;
    Ok(request)
}

/// Adds a header that is not shown.
pub(super) fn with_secret(request: &mut HttpRequest, name: &'static str, value: &str) -> Result<()> {
    let wrong = |_| Error::invalid(format!("{name} has characters that cannot be sent"));
    let mut value = HeaderValue::from_str(value).map_err(wrong)?;
    value.set_sensitive(true);
    request.headers_mut().insert(name, value);
    Ok(())
}

/// Sends a request and returns the answer's status and text; `who` is named in errors.
pub(super) async fn ask(
    request: HttpRequest,
    token_client: &TokenClient,
    who: &str,
) -> Result<(StatusCode, String)> {
    let answer = token_client.client.execute(request).await.map_err(|error| unanswered(&error, who))?;
    read(answer, who).await
}

/// As [`ask`], with a signed request; retried with the service's clock if its time is rejected.
pub(super) async fn ask_signed(
    mut request: HttpRequest,
    credential: &AwsCredential,
    place: (&str, &str),
    token_client: &TokenClient,
    who: &str,
) -> Result<(StatusCode, String)> {
    let error = match token_client.client.execute(request.clone()).await {
        Ok(answer) => return read(answer, who).await,
        Err(error) => error,
    };
    let ahead = RequestFailure::below(&error).and_then(|failure| failure.clock);
    match ahead.and_then(|ahead| sign_for(&mut request, credential, place, ahead)) {
        Some(()) => ask(request, token_client, who).await,
        None => Err(unanswered(&error, who)),
    }
}

async fn read(answer: HttpResponse, who: &str) -> Result<(StatusCode, String)> {
    let status = answer.status();
    let body = answer.into_body().bytes().await.map_err(|_| none(who, &format!("{status}, cut off")))?;
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// Reports only that a clock is wrong: messages may contain addresses.
fn unanswered(error: &HttpError, who: &str) -> Error {
    let clock = RequestFailure::below(error).and_then(|failure| failure.clock);
    none(who, &clock.map_or_else(|| "no answer".to_owned(), clock_difference_text))
}

fn none(who: &str, why: &str) -> Error {
    Error::new(ErrorKind::Denied, format!("no credentials from {who}: {why}"))
}
