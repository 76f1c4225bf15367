//! Interpretation of server answers (RFC 9110).
use super::HttpStore;
use crate::net::{RequestFailure, ResponseHead, content_range, in_bytes};
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, Tag, Want};
use ncirrus_store::want;
use reqwest::StatusCode;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED,
};
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
}

/// A whole object.
#[derive(Debug, Clone)]
pub(super) struct WholeObject {
    bytes: Bytes,
    tag: Tag,
}

impl WholeObject {
    /// What is requested.
    pub(super) fn blob(&self, want: &Want) -> ObjectBytes {
        want::blob(&self.bytes, want, self.tag.clone())
    }
}

/// An answer of which some bytes arrived.
#[derive(Debug)]
pub(super) struct PartialBody {
    /// The bytes of the object that the answer should contain.
    range: Range<u64>,
    size: u64,
    /// Whether the range is the whole object but was not requested as such.
    is_whole: bool,
    bytes: BytesMut,
    tag: Tag,
    /// The tag of the object, if bytes of two answers with it may be joined.
    etag: Option<String>,
}

impl PartialBody {
    /// The header that requests the rest.
    pub(super) fn rest(&self) -> String {
        format!("bytes={}-{}", self.range.start + self.bytes.len() as u64, self.range.end - 1)
    }

    /// The tag that the rest must have.
    pub(super) fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Whether an answer with this range and tag continues where this one was interrupted.
    fn goes_on(&self, (first, last, size): (u64, u64, u64), tag: &Tag) -> bool {
        first == self.range.start + self.bytes.len() as u64
            && (last, size) == (self.range.end - 1, self.size)
            && *tag == self.tag
    }

    /// Whether requesting only the rest makes sense.
    fn is_worth_going_on(&self) -> bool {
        self.etag.is_some()
            && !self.bytes.is_empty()
            && (self.bytes.len() as u64) < self.range.end - self.range.start
    }

    fn answer(self, want: &Want) -> HttpAnswer {
        let bytes = self.bytes.freeze();
        if self.is_whole {
            return HttpAnswer::Whole(WholeObject { bytes, tag: self.tag });
        }
        let requested = want::resolve(want, self.size);
        // For an empty range one byte was requested.
        let bytes = if requested.is_empty() { Bytes::new() } else { bytes };
        HttpAnswer::Part(ObjectBytes { bytes, offset: requested.start, size: self.size, tag: self.tag })
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
    if matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::OK) {
        check_encoding(response.headers())?;
    }
    match status {
        StatusCode::PARTIAL_CONTENT => match begun {
            Some(begun) => rest(response, want, begun).await,
            None => part(response, want, known_size).await,
        },
        StatusCode::OK => whole(response, want, begun.as_ref(), store).await,
        StatusCode::RANGE_NOT_SATISFIABLE if begun.is_none() => {
            Ok(Ok(nothing_there(response.headers(), want, known_size)))
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
    match text(headers, &CONTENT_ENCODING).map(str::trim) {
        None | Some("") => Ok(()),
        // Names of codings have no case (RFC 9110, 8.4.1).
        Some(encoding) if encoding.eq_ignore_ascii_case("identity") => Ok(()),
        Some(encoding) => Err(RequestFailure::lasting(Error::unsupported(format!(
            "the server sent content encoding {encoding:?}, which was not requested"
        )))),
    }
}

async fn part(
    response: ResponseHead,
    want: &Want,
    known_size: Option<u64>,
) -> Result<ReadOutcome, RequestFailure> {
    let malformed = |message: &str| RequestFailure::lasting(Error::malformed(message));
    let Some((first, last, size)) = content_range(response.headers()) else {
        return Err(malformed("the server sent a range without Content-Range"));
    };
    // A suffix range ends at the end of the object.
    let at_end = matches!(want, Want::Suffix(_)).then(|| last.saturating_add(1));
    let Some(size) = size.or(at_end).or(known_size.filter(|size| last < *size)) else {
        return Ok(Ok(HttpAnswer::Unsized));
    };
    let requested = want::resolve(want, size);
    // For an empty range one byte was requested.
    let last_requested = requested.end.max((requested.start + 1).min(size));
    if (first != requested.start && !requested.is_empty()) || last > last_requested.saturating_sub(1) {
        return Err(malformed("the server sent a different range than was requested"));
    }
    let begun = PartialBody {
        range: first..last + 1,
        size,
        is_whole: false,
        bytes: BytesMut::new(),
        tag: tag_of(response.headers(), size),
        etag: strong(response.headers()),
    };
    Ok(fill(response, begun, want, u64::MAX).await)
}

/// The rest of an interrupted answer.
async fn rest(
    response: ResponseHead,
    want: &Want,
    begun: PartialBody,
) -> Result<ReadOutcome, RequestFailure> {
    let Some((first, last, size)) = content_range(response.headers()) else {
        return Err(RequestFailure::lasting(Error::malformed(
            "the server sent a range without Content-Range",
        )));
    };
    let size = size.unwrap_or(begun.size);
    if !begun.goes_on((first, last, size), &tag_of(response.headers(), size)) {
        return Err(changed());
    }
    Ok(fill(response, begun, want, u64::MAX).await)
}

async fn whole(
    response: ResponseHead,
    want: &Want,
    begun: Option<&PartialBody>,
    store: &HttpStore,
) -> Result<ReadOutcome, RequestFailure> {
    let limit = store.limits.chunk_bytes;
    let max = if want.is_whole() { limit } else { store.whole_bytes.min(limit) };
    let declared = text(response.headers(), &CONTENT_LENGTH).and_then(|len| len.parse::<u64>().ok());
    let too_large = |len: u64| {
        let why = if want.is_whole() { "" } else { " and the server does not support byte ranges" };
        RequestFailure::lasting(Error::limit(format!(
            "object has {len} bytes, more than the limit of {max}{why}"
        )))
    };
    if let Some(len) = declared.filter(|len| *len > max) {
        return Err(too_large(len));
    }
    let size = declared.unwrap_or(u64::MAX);
    let tag = tag_of(response.headers(), size);
    if begun.is_some_and(|begun| begun.tag != tag) {
        return Err(changed());
    }
    let etag = strong(response.headers()).filter(|_| declared.is_some());
    let fresh = PartialBody { range: 0..size, size, is_whole: true, bytes: BytesMut::new(), tag, etag };
    match fill(response, fresh, want, max).await {
        Ok(HttpAnswer::Whole(whole)) if whole.bytes.len() as u64 > max => {
            Err(too_large(whole.bytes.len() as u64))
        }
        Ok(HttpAnswer::Whole(whole)) if declared.is_none() => {
            Ok(Ok(HttpAnswer::Whole(whole.of_known_size())))
        }
        other => Ok(other),
    }
}

impl WholeObject {
    /// Without a tag the object's state is identified by its size, which is known now.
    fn of_known_size(self) -> Self {
        let tag = self.tag.as_str().replace(&u64::MAX.to_string(), &self.bytes.len().to_string());
        Self { tag: Tag::new(tag), ..self }
    }
}

/// Appends the bytes of a body; more than `max` are an error.
async fn fill(response: ResponseHead, mut begun: PartialBody, want: &Want, max: u64) -> ReadOutcome {
    let mut body = response.into_body();
    while let Some(piece) = body.piece().await {
        match piece {
            Ok(piece) => begun.bytes.extend_from_slice(&piece),
            Err(failure) => return Err((failure, Some(begun).filter(PartialBody::is_worth_going_on))),
        }
        if begun.bytes.len() as u64 > max {
            break;
        }
    }
    Ok(begun.answer(want))
}

/// The size of an object, from the answer to a request for its last byte; `None` if it is not stated.
pub(super) fn size_of(response: &ResponseHead) -> Option<u64> {
    let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
    let (_, last, size) = content_range(response.headers()).filter(|_| is_part)?;
    size.or(last.checked_add(1))
}

/// The range starts behind the end of the object, wherever that is.
fn nothing_there(headers: &HeaderMap, want: &Want, known_size: Option<u64>) -> HttpAnswer {
    // A range from the first byte, or of the last, is unsatisfiable only in an empty object.
    let is_empty = matches!(
        want,
        Want::Range(Range { start: 0, .. }) | Want::Parse(Range { start: 0, .. }) | Want::Suffix(_)
    );
    let reported = text(headers, &CONTENT_RANGE)
        .and_then(|place| in_bytes(place)?.strip_prefix("*/")?.trim().parse().ok());
    let Some(size) = reported.or(known_size).or(is_empty.then_some(0)) else { return HttpAnswer::Unsized };
    HttpAnswer::Part(ObjectBytes { bytes: Bytes::new(), offset: size, size, tag: tag_of(headers, size) })
}

fn changed() -> RequestFailure {
    RequestFailure::lasting(Error::new(ErrorKind::Changed, "the object changed while it was read"))
}

/// A tag that two answers share only if they have the same bytes.
fn strong(headers: &HeaderMap) -> Option<String> {
    text(headers, &ETAG).filter(|etag| etag.starts_with('"')).map(str::to_owned)
}

fn tag_of(headers: &HeaderMap, size: u64) -> Tag {
    match text(headers, &ETAG) {
        Some(etag) => Tag::new(etag),
        None => Tag::new(format!("{}-{size}", text(headers, &LAST_MODIFIED).unwrap_or_default())),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
