//! Interpretation of server answers (RFC 9110).
use super::HttpStore;
use super::partial::{ObjectState, PartialBody, changed, tag_of};
use super::redirects::DRAINED;
use crate::byte_ranges::{self, ContentRange, MultipartFault};
use crate::net::{MonitoredBody, RequestFailure, ResponseHead, content_coding, content_range};
use bytes::Bytes;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, Tag, Want};
use ncirrus_store::want;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName};
use std::ops::Range;

/// What a server answered.
#[derive(Debug)]
pub(super) enum HttpAnswer {
    /// There is no such object.
    Absent,
    /// The requested bytes.
    Part(ObjectBytes),
    /// All bytes, requested or not.
    Whole(WholeObject),
    /// A part of an object whose size the server does not state.
    Unsized,
    /// Fewer bytes than were requested.
    Short(PartialBody),
}

/// A whole object.
#[derive(Debug, Clone)]
pub(super) struct WholeObject {
    pub(super) bytes: Bytes,
    pub(super) tag: Tag,
}

impl WholeObject {
    /// What is requested.
    pub(super) fn blob(&self, want: &Want) -> ObjectBytes {
        want::blob(&self.bytes, want, self.tag.clone())
    }
}

/// An answer, or why it was interrupted and what had arrived.
pub(super) type ReadOutcome = Result<HttpAnswer, (RequestFailure, Option<PartialBody>)>;

/// Reads an answer: to the whole request, or to the rest of an interrupted one.
pub(super) async fn read(
    response: ResponseHead,
    want: &Want,
    begun: Option<PartialBody>,
    known_size: Option<u64>,
    store: &HttpStore,
) -> Result<ReadOutcome, RequestFailure> {
    let status = response.status();
    if status.is_success() {
        check_encoding(response.headers())?;
    }
    match status {
        StatusCode::PARTIAL_CONTENT => part(response, want, begun, known_size, store).await,
        // A proxy may have changed what a server sent: it is all there is (RFC 9110, 15.3.4).
        StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => {
            whole(response, want, begun.as_ref(), store).await
        }
        StatusCode::RANGE_NOT_SATISFIABLE if begun.is_none() => {
            Ok(Ok(nothing_there(response.headers(), want, known_size)))
        }
        StatusCode::RANGE_NOT_SATISFIABLE if is_same_size(response.headers(), begun.as_ref()) => {
            Err(malformed("the server rejects a range that the object has"))
        }
        StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED => Err(changed()),
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Ok(HttpAnswer::Absent)),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(RequestFailure::lasting(Error::new(
            ErrorKind::Denied,
            format!("access denied: server answered {status}"),
        ))),
        _ => {
            let error = Error::new(ErrorKind::Io { retryable: false }, format!("server answered {status}"));
            Err(RequestFailure::lasting(error))
        }
    }
}

/// Ranges of compressed bytes are not ranges of the object.
fn check_encoding(headers: &HeaderMap) -> Result<(), RequestFailure> {
    match content_coding(headers) {
        None => Ok(()),
        Some(coding) => Err(RequestFailure::lasting(Error::unsupported(format!(
            "the server sent content encoding {coding:?}, which was not requested"
        )))),
    }
}

/// A partial answer: to the whole request, or to the rest of one.
async fn part(
    response: ResponseHead,
    want: &Want,
    begun: Option<PartialBody>,
    known_size: Option<u64>,
    store: &HttpStore,
) -> Result<ReadOutcome, RequestFailure> {
    let (parts, body) = response.into_parts();
    let boundary = text(&parts.headers, &CONTENT_TYPE).and_then(byte_ranges::boundary);
    match (content_range(&parts.headers), boundary) {
        (Some(sent), _) => {
            let Some(begun) = going_on(&parts.headers, sent, want, begun, known_size, store)? else {
                return Ok(Ok(HttpAnswer::Unsized));
            };
            begun.check_place(&sent, max_unrequested(store))?;
            Ok(fill(body, begun, sent.bytes(), u64::MAX).await.map(finished))
        }
        (None, Some(boundary)) => {
            several_parts(&parts.headers, (body, &boundary), want, begun, known_size, store).await
        }
        (None, None) => Err(malformed("the server sent a range without Content-Range")),
    }
}

/// An answer of several parts, although one range was requested (RFC 9110, 15.3.7.2).
async fn several_parts(
    headers: &HeaderMap,
    (mut body, boundary): (MonitoredBody, &str),
    want: &Want,
    begun: Option<PartialBody>,
    known_size: Option<u64>,
    store: &HttpStore,
) -> Result<ReadOutcome, RequestFailure> {
    let requested = match (&begun, want) {
        (Some(begun), _) => begun.missing(),
        (None, Want::Range(range) | Want::Parse(range)) => range.end.saturating_sub(range.start),
        (None, Want::Suffix(len)) => *len,
        (None, Want::All | Want::AtMost(_)) => {
            return Err(malformed("the server sent parts of a whole object"));
        }
    };
    let max = usize::try_from(requested.saturating_add(MAX_BETWEEN_PARTS)).unwrap_or(usize::MAX);
    let bytes = match body.collect(max.saturating_add(1)).await {
        Ok(bytes) if bytes.len() > max => {
            let message = format!("an answer of several parts has more than {max} bytes for {requested}");
            return Err(RequestFailure::lasting(Error::limit(message)));
        }
        Ok(bytes) => bytes,
        Err(failure) => return Ok(Err((failure, begun))),
    };
    let parsed = match byte_ranges::parts(&bytes, boundary) {
        Ok(parsed) => parsed,
        Err(MultipartFault::Cut) => {
            let failure = RequestFailure::passing("an answer of several parts was cut off");
            return Ok(Err((body.refuse(&failure), begun)));
        }
        Err(MultipartFault::Malformed(why)) => {
            return Err(malformed(format!("the server sent several parts that cannot be read: {why}")));
        }
    };
    let ranges = || parsed.parts.iter().map(|part| part.range);
    let (first, last) = (ranges().map(|range| range.first).min(), ranges().map(|range| range.last).max());
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let sent = ContentRange { first, last, size: parsed.size };
    let Some(mut begun) = going_on(headers, sent, want, begun, known_size, store)? else {
        return Ok(Ok(HttpAnswer::Unsized));
    };
    begun.add_parts(&parsed)?;
    Ok(Ok(finished(begun)))
}

/// What a partial answer is added to; `None` if the size of the object is unknown.
fn going_on(
    headers: &HeaderMap,
    sent: ContentRange,
    want: &Want,
    begun: Option<PartialBody>,
    known_size: Option<u64>,
    store: &HttpStore,
) -> Result<Option<PartialBody>, RequestFailure> {
    if let Some(begun) = begun {
        begun.check_state(sent.size, headers)?;
        return Ok(Some(begun));
    }
    // A suffix range ends at the end of the object.
    let at_end = matches!(want, Want::Suffix(_)).then(|| sent.last.saturating_add(1));
    let known_size = known_size.filter(|size| sent.last < *size);
    let Some(size) = sent.size.or(at_end).or(known_size) else { return Ok(None) };
    let limit = store.limits.chunk_bytes;
    if want.is_whole() && size > limit {
        return Err(RequestFailure::lasting(too_large(size, limit, "")));
    }
    want::check_size(want, size).map_err(RequestFailure::lasting)?;
    Ok(Some(PartialBody::of_range(want::resolve(want, size), size, headers)))
}

/// An answer with everything that arrived.
fn finished(begun: PartialBody) -> HttpAnswer {
    if begun.is_complete() { begun.answer() } else { HttpAnswer::Short(begun) }
}

/// Maximum number of bytes that are read before the requested ones.
fn max_unrequested(store: &HttpStore) -> u64 {
    store.whole_bytes.min(store.limits.chunk_bytes)
}

/// Maximum number of bytes of boundaries, headers and unrequested parts.
const MAX_BETWEEN_PARTS: u64 = 64 << 10;

async fn whole(
    response: ResponseHead,
    want: &Want,
    begun: Option<&PartialBody>,
    store: &HttpStore,
) -> Result<ReadOutcome, RequestFailure> {
    let limit = store.limits.chunk_bytes;
    let max = if want.is_whole() { limit } else { max_unrequested(store) };
    let declared = text(response.headers(), &CONTENT_LENGTH).and_then(|len| len.parse::<u64>().ok());
    let why = if want.is_whole() { "" } else { " and the server does not support byte ranges" };
    let too_large = |len: u64| RequestFailure::lasting(too_large(len, max, why));
    if let Some(len) = declared.filter(|len| *len > max) {
        return Err(too_large(len));
    }
    let size = declared.unwrap_or(u64::MAX);
    let tag = tag_of(response.headers(), size);
    if begun.is_some_and(|begun| *begun.tag() != tag) {
        return Err(changed());
    }
    // What a proxy has changed is not joined with what the server sends.
    let may_join = declared.is_some() && response.status() == StatusCode::OK;
    let state = ObjectState::of(response.headers()).filter(|_| may_join);
    let fresh = PartialBody::of_whole(size, tag, state);
    let filled = fill(response.into_body(), fresh, 0..size, max).await;
    match filled.map(PartialBody::answer) {
        Ok(HttpAnswer::Whole(whole)) if whole.bytes.len() as u64 > max => {
            Err(too_large(whole.bytes.len() as u64))
        }
        Ok(HttpAnswer::Whole(whole)) if declared.is_none() => {
            Ok(Ok(HttpAnswer::Whole(whole.of_known_size())))
        }
        other => Ok(other),
    }
}

fn too_large(len: u64, max: u64, why: &str) -> Error {
    Error::limit(format!("object has {len} bytes, more than the limit of {max}{why}"))
}

impl WholeObject {
    /// Without a tag the object's state is identified by its size, which is known now.
    fn of_known_size(self) -> Self {
        let tag = self.tag.as_str().replace(&u64::MAX.to_string(), &self.bytes.len().to_string());
        Self { tag: Tag::new(tag).modified_at(self.tag.modified()), ..self }
    }
}

/// Appends the bytes of a body that is sent for a range; it ends after the first of more than `max`. Bytes behind those
/// that are needed are read only if they are few, so that the connection can be used again.
async fn fill(
    mut body: MonitoredBody,
    mut begun: PartialBody,
    sent: Range<u64>,
    max: u64,
) -> Result<PartialBody, (RequestFailure, Option<PartialBody>)> {
    let mut at = sent.start;
    while begun.byte_len() <= max && !(begun.is_complete() && sent.end.saturating_sub(at) > DRAINED as u64) {
        match body.piece().await {
            Some(Ok(piece)) => {
                begun.add(at, &piece);
                at = at.saturating_add(piece.len() as u64);
            }
            Some(Err(failure)) if !begun.is_complete() => {
                return Err((failure, Some(begun).filter(PartialBody::is_worth_going_on)));
            }
            Some(Err(_)) | None => break,
        }
    }
    Ok(begun)
}

/// The size of an object, from the answer to a request for its last byte; `None` if it is not stated.
pub(super) fn size_of(response: &ResponseHead) -> Option<u64> {
    let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
    let sent = content_range(response.headers()).filter(|_| is_part)?;
    sent.size.or(sent.last.checked_add(1))
}

/// The range starts behind the end of the object, wherever that is.
fn nothing_there(headers: &HeaderMap, want: &Want, known_size: Option<u64>) -> HttpAnswer {
    // A range from the first byte, or of the last, is unsatisfiable only in an empty object.
    let is_empty = matches!(
        want,
        Want::Range(Range { start: 0, .. }) | Want::Parse(Range { start: 0, .. }) | Want::Suffix(_)
    );
    let reported = text(headers, &CONTENT_RANGE).and_then(byte_ranges::unsatisfied_size);
    let Some(size) = reported.or(known_size).or(is_empty.then_some(0)) else { return HttpAnswer::Unsized };
    HttpAnswer::Part(ObjectBytes { bytes: Bytes::new(), offset: size, size, tag: tag_of(headers, size) })
}

/// Whether an answer without bytes reports the size that the object had before.
fn is_same_size(headers: &HeaderMap, begun: Option<&PartialBody>) -> bool {
    let reported = text(headers, &CONTENT_RANGE).and_then(byte_ranges::unsatisfied_size);
    begun.is_some_and(|begun| reported == Some(begun.size()))
}

fn malformed(message: impl Into<String>) -> RequestFailure {
    RequestFailure::lasting(Error::malformed(message.into()))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests;
