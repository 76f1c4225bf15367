//! Conditional requests, ranges and bodies.
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use std::ops::Range;
use tokio::sync::OwnedSemaphorePermit;

/// A body, and its length if that is known before it is made.
pub(crate) struct Representation {
    pub(crate) body: Body,
    pub(crate) len: Option<u64>,
}

impl From<Body> for Representation {
    fn from(body: Body) -> Self {
        Self { body, len: None }
    }
}

/// 304 if the client has this state already (RFC 9110, 13.1.2).
pub(crate) fn unchanged(headers: &HeaderMap, etag: Option<&str>) -> Option<Response> {
    let etag = etag?;
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = known.flat_map(|list| list.split(',')).map(str::trim);
    let tag = tags.find(|tag| tag.trim_start_matches("W/") == etag || *tag == "*")?;
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    // A cache recognises its copy by the tag with which it was sent: compressed copies have weak ones (RFC 9111, 4.3.4).
    let weak = tag.starts_with("W/").then(|| format!("W/{etag}"));
    put_etag(response.headers_mut(), Some(weak.as_deref().unwrap_or(etag)));
    Some(response)
}

/// Adds the tag. Copies are used after a check only.
pub(crate) fn put_etag(headers: &mut HeaderMap, etag: Option<&str>) {
    if let Some(value) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
        headers.insert(header::ETAG, value);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
}

/// The bytes that are asked for of so many (RFC 9110, 14): the first range; the outer `None` if none is asked for, or they
/// are asked for of another state; the inner one if there are no such bytes.
pub(crate) fn range_of(headers: &HeaderMap, etag: Option<&str>, len: u64) -> Option<Option<Range<u64>>> {
    let text = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let wanted = headers.get(header::IF_RANGE).map(|value| value.to_str().unwrap_or_default());
    if wanted.is_some_and(|wanted| Some(wanted) != etag) || text.contains(',') {
        return None;
    }
    let (first, last) = text.trim().split_once('-')?;
    let range = match (first.trim(), last.trim()) {
        ("", count) => len.saturating_sub(count.parse::<u64>().ok()?)..len,
        (first, "") => first.parse().ok()?..len,
        (first, last) => {
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(len)
        }
    };
    Some((range.start < range.end).then_some(range))
}

/// Bytes that are sent in parts, and their share of the memory.
struct HeldBytes<S> {
    bytes: Bytes,
    _share: S,
}

/// Bytes of a part.
const PART: usize = 256 << 10;

/// A body of bytes that keeps their share of the memory until they are sent.
pub(crate) fn held(bytes: Bytes, share: impl Send + 'static) -> Body {
    let held = HeldBytes { bytes, _share: share };
    Body::from_stream(stream::unfold(held, |mut held| async move {
        let part = held.bytes.split_to(PART.min(held.bytes.len()));
        (!part.is_empty()).then_some((Ok::<_, std::convert::Infallible>(part), held))
    }))
}

/// A response of bytes that are there, or the range of them that is asked for.
pub(crate) fn bytes(
    headers: &HeaderMap,
    content_type: &'static str,
    etag: Option<&str>,
    bytes: &Bytes,
) -> Response {
    part_of(headers, content_type, etag, bytes, Body::from)
}

/// As [`bytes`], for bytes that keep a share of the memory until they are sent.
pub(crate) fn held_bytes(
    headers: &HeaderMap,
    content_type: &'static str,
    etag: Option<&str>,
    bytes: &Bytes,
    share: OwnedSemaphorePermit,
) -> Response {
    part_of(headers, content_type, etag, bytes, |part| held(part, share))
}

fn part_of(
    headers: &HeaderMap,
    content_type: &'static str,
    etag: Option<&str>,
    bytes: &Bytes,
    body: impl FnOnce(Bytes) -> Body,
) -> Response {
    let len = bytes.len() as u64;
    let range = range_of(headers, etag, len);
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let (status, part) = match &range {
        None => (StatusCode::OK, bytes.clone()),
        Some(None) => (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new()),
        Some(Some(range)) => (StatusCode::PARTIAL_CONTENT, bytes.slice(at(range.start)..at(range.end))),
    };
    let part_len = part.len() as u64;
    let mut response = (status, body(part)).into_response();
    let response_headers = response.headers_mut();
    put_range(response_headers, range.as_ref(), len);
    response_headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response_headers.insert(header::CONTENT_LENGTH, HeaderValue::from(part_len));
    put_etag(response_headers, etag);
    response
}

/// Says which bytes follow.
pub(crate) fn put_range(headers: &mut HeaderMap, range: Option<&Option<Range<u64>>>, len: u64) {
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let text = match range {
        None => return,
        Some(None) => format!("bytes */{len}"),
        Some(Some(range)) => format!("bytes {}-{}/{len}", range.start, range.end.saturating_sub(1)),
    };
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(header::CONTENT_RANGE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn ranges_are_those_of_the_first_request() {
        let range = |text: &str| range_of(&with(header::RANGE, text), None, 10);
        assert_eq!(range("bytes=2-4"), Some(Some(2..5)));
        assert_eq!(range("bytes=7-99"), Some(Some(7..10)));
        assert_eq!(range("bytes=-3"), Some(Some(7..10)));
        assert_eq!(range("bytes=4-"), Some(Some(4..10)));
        assert_eq!(range("bytes=10-"), Some(None));
        for text in ["bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=x-y"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn a_known_state_is_not_sent_again() {
        let known = with(header::IF_NONE_MATCH, "\"a\", W/\"b\"");
        for (tag, sent) in [("\"a\"", "\"a\""), ("\"b\"", "W/\"b\"")] {
            assert_eq!(unchanged(&known, Some(tag)).unwrap().headers()[header::ETAG], sent);
        }
        assert!(unchanged(&known, Some("\"c\"")).is_none());
        assert!(unchanged(&known, None).is_none());
    }
}
