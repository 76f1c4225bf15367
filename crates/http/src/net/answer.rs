//! What answers say besides their bodies: whether and when to retry, and whether they match the request.
use super::failure::RequestFailure;
use crate::byte_ranges::ContentRange;
use ncirrus_layout::{Error, ErrorKind};
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, DATE, HeaderMap, HeaderName, RANGE,
    RETRY_AFTER,
};
use reqwest::{Method, StatusCode};
use std::time::{Duration, SystemTime};

/// What is remembered of a request until it is answered.
#[derive(Debug, Clone)]
pub(super) struct PendingRequest {
    pub(super) method: Method,
    range: Option<String>,
    pub(super) parts: PartialAnswers,
    is_signed: bool,
    /// Seconds by which the time of its signature is ahead of this machine's clock.
    ahead: i64,
}

/// Which partial answers a client can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum PartialAnswers {
    /// Those of the requested range: the client rejects others, so that a shorter one is requested again here.
    #[default]
    Requested,
    /// All: the client requests what is missing, and leaves out what was not requested.
    Any,
}

impl PendingRequest {
    pub(super) fn new(request: &reqwest::Request, parts: PartialAnswers) -> Self {
        let headers = request.headers();
        Self {
            method: request.method().clone(),
            parts,
            range: text(headers, &RANGE).map(str::to_owned),
            is_signed: headers.contains_key("x-amz-date") || has_shared_key(headers),
            ahead: signed_at(headers).map_or(0, |at| seconds_ahead(at, SystemTime::now())),
        }
    }
}

/// Whether an answer means that the same request may succeed later.
pub(super) fn is_passing(status: StatusCode) -> bool {
    matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
        || (status.is_server_error()
            && !matches!(status, StatusCode::NOT_IMPLEMENTED | StatusCode::HTTP_VERSION_NOT_SUPPORTED))
}

/// Whether a server that computes its answers says by this status what is wrong with a query: the same query fails again.
pub(super) fn is_about_query(status: StatusCode) -> bool {
    matches!(status, StatusCode::INTERNAL_SERVER_ERROR | StatusCode::REQUEST_TIMEOUT)
        || status.as_u16() > StatusCode::GATEWAY_TIMEOUT.as_u16()
}

/// The failure of a status that may be temporary.
pub(super) fn passing(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> RequestFailure {
    let code = code(body).map(|code| format!(" ({code})")).unwrap_or_default();
    let failure = RequestFailure::passing(format!("server answered {status}{code}"));
    // A request refused for rate limits was not carried out.
    let in_doubt = !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    RequestFailure { after: retry_after(headers, SystemTime::now()), in_doubt, ..failure }
}

/// Whether the body determines what the status means.
pub(super) fn needs_body(status: StatusCode, requested: &PendingRequest) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN | StatusCode::CONFLICT)
        || (requested.method == Method::POST && status.is_success())
}

/// What an error code in the body adds to the status (names of Amazon's service, which others adopted).
pub(super) fn check_code(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    requested: &PendingRequest,
) -> Result<StatusMeaning, RequestFailure> {
    match code(body) {
        Some("RequestTimeout" | "ConditionalRequestConflict" | "OperationAborted") => {
            Err(passing(status, headers, body))
        }
        // Some answers begin before their outcome is known.
        Some("InternalError" | "SlowDown" | "ServiceUnavailable") if status.is_success() => {
            Err(passing(status, headers, body))
        }
        Some("ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired") => Ok(StatusMeaning::Expired),
        code => match clocks_differ(headers, SystemTime::now(), requested.ahead) {
            Some(ahead) if code == Some("RequestTimeTooSkewed") || is_refused(status, requested) => {
                let error =
                    Error::new(ErrorKind::Denied, format!("access denied: {}", clock_difference_text(ahead)));
                Err(RequestFailure { clock: Some(ahead), ..RequestFailure::lasting(error) })
            }
            _ => Ok(StatusMeaning::Other),
        },
    }
}

/// What a code means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusMeaning {
    Other,
    /// The credentials have expired.
    Expired,
}

fn is_refused(status: StatusCode, requested: &PendingRequest) -> bool {
    status == StatusCode::FORBIDDEN && requested.is_signed
}

/// How far clocks may differ before signatures are refused.
const CLOCKS: u64 = 300;

/// Seconds by which the server's clock is ahead of this machine's, if a signature time that is `signed` seconds ahead
/// differs too much from it.
fn clocks_differ(headers: &HeaderMap, now: SystemTime, signed: i64) -> Option<i64> {
    let server = httpdate::parse_http_date(text(headers, &DATE)?).ok()?;
    let ahead = seconds_ahead(server, now);
    (ahead.abs_diff(signed) > CLOCKS).then_some(ahead)
}

/// Whole seconds from one time to another.
fn seconds_ahead(time: SystemTime, of: SystemTime) -> i64 {
    let whole = |difference: Duration| i64::try_from(difference.as_secs()).unwrap_or(i64::MAX);
    time.duration_since(of).map_or_else(|behind| -whole(behind.duration()), whole)
}

/// By how much the clocks differ.
pub fn clock_difference_text(ahead: i64) -> String {
    let word = if ahead < 0 { "ahead of" } else { "behind" };
    let seconds = ahead.unsigned_abs();
    format!("the clock of this machine is {} min {} s {word} the server's", seconds / 60, seconds % 60)
}

/// Whether a request is signed with the key of an account of Azure.
fn has_shared_key(headers: &HeaderMap) -> bool {
    text(headers, &AUTHORIZATION).is_some_and(|how| how.starts_with("SharedKey "))
}

/// The time of a request's signature.
fn signed_at(headers: &HeaderMap) -> Option<SystemTime> {
    if has_shared_key(headers) {
        return httpdate::parse_http_date(text(headers, &DATE)?).ok();
    }
    amazon_time(text(headers, &HeaderName::from_static("x-amz-date"))?)
}

/// A time such as `20260102T030405Z`.
fn amazon_time(text: &str) -> Option<SystemTime> {
    let time = chrono::NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%SZ").ok()?.and_utc();
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(time.timestamp()).ok()?))
}

/// The wait that a server requests, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let wait = text(headers, &RETRY_AFTER)?.trim();
    if let Ok(seconds) = wait.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(wait).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

/// The length of the body. A partial answer has the length of its range, and contains the requested one if the client
/// needs that.
pub(super) fn body_len(
    status: StatusCode,
    headers: &HeaderMap,
    requested: &PendingRequest,
) -> Result<Option<u64>, RequestFailure> {
    let is_empty = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if requested.method == Method::HEAD || is_empty {
        return Ok(Some(0));
    }
    let declared = text(headers, &CONTENT_LENGTH).and_then(|len| len.trim().parse::<u64>().ok());
    let place = (status == StatusCode::PARTIAL_CONTENT).then(|| content_range(headers)).flatten();
    // Unrequested compression is reported above: a retry would not help.
    let place = place.filter(|_| content_coding(headers).is_none());
    let Some(ContentRange { first, last, size }) = place else { return Ok(declared) };
    let len = last - first + 1;
    if let Some(declared) = declared.filter(|declared| *declared != len) {
        return Err(RequestFailure::passing(format!(
            "the answer declares {declared} bytes for a range of {len}"
        )));
    }
    let range = requested.range.as_deref().filter(|_| requested.parts == PartialAnswers::Requested);
    match range.and_then(requested_range) {
        Some((start, end)) if first == start && size.is_some_and(|size| last < end.min(size - 1)) => {
            let wanted = size.map_or(end, |size| end.min(size - 1)) - start + 1;
            Err(RequestFailure::passing(format!("answer has {len} of {wanted} bytes")))
        }
        _ => Ok(Some(len)),
    }
}

/// The first coding of a body that changes its bytes (RFC 9110, 8.4): names have no case, elements of lists may be empty.
pub(crate) fn content_coding(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(CONTENT_ENCODING).iter();
    let names = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let mut names = names.map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned());
    names.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

/// Whether a body of this size is allowed.
pub(super) fn check_len(len: Option<u64>, max: Option<u64>) -> Result<(), RequestFailure> {
    match (len, max) {
        (Some(len), Some(max)) if len > max => {
            let reported = format!("object has {len} bytes, more than the limit of {max}");
            Err(RequestFailure::lasting(Error::limit(reported)))
        }
        _ => Ok(()),
    }
}

/// First and last byte of a requested range.
fn requested_range(range: &str) -> Option<(u64, u64)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The range of a partial answer; `None` if there is none, or more than one.
pub(crate) fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let mut lines = headers.get_all(CONTENT_RANGE).iter();
    let first = lines.next()?;
    if lines.any(|other| other != first) {
        return None;
    }
    ContentRange::parse(first.to_str().ok()?)
}

/// The code of an error in XML.
fn code(body: &[u8]) -> Option<&str> {
    let text = str::from_utf8(body.get(..body.len().min(CODE_WITHIN))?).ok()?;
    let (_, error) = text.split_once("<Error")?;
    let (_, rest) = error.split_once("<Code>")?;
    Some(rest.split_once("</Code>")?.0).filter(|code| code.len() <= 64)
}

/// How far into the body an error code is looked for.
const CODE_WITHIN: usize = 2048;

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests;
