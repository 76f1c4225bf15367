//! The bytes of an object that answers have given so far. An answer may be interrupted, may have fewer bytes than were
//! requested (RFC 9110, 15.3.7), or more.
use super::answer::{HttpAnswer, WholeObject};
use crate::byte_ranges::{ContentRange, MultipartBody};
use crate::net::RequestFailure;
use bytes::BytesMut;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, Tag};
use reqwest::header::{DATE, ETAG, HeaderMap, HeaderName, HeaderValue, LAST_MODIFIED};
use std::ops::Range;
use std::time::{Duration, UNIX_EPOCH};

/// The state that an object must have for bytes of several answers to be joined (RFC 9110, 8.8 and 13.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ObjectState {
    /// A strong tag: `If-Match`.
    Tag(HeaderValue),
    /// The time of the last change: `If-Unmodified-Since`.
    Time(HeaderValue),
}

impl ObjectState {
    /// The state that an answer reports, if two answers share it only if they have the same bytes: a strong tag, or a
    /// time that was over by a second when the answer was made (RFC 9110, 8.8.2.2).
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        if let Some(tag) = headers.get(ETAG) {
            let is_strong =
                tag.len() > 1 && tag.as_bytes().starts_with(b"\"") && tag.as_bytes().ends_with(b"\"");
            return is_strong.then(|| Self::Tag(tag.clone()));
        }
        let time = headers.get(LAST_MODIFIED)?;
        let at = |value: &HeaderValue| httpdate::parse_http_date(value.to_str().ok()?).ok();
        let age = at(headers.get(DATE)?)?.duration_since(at(time)?).ok()?;
        (age >= Duration::from_secs(1)).then(|| Self::Time(time.clone()))
    }
}

/// The bytes of a request that arrived, in one answer or several.
#[derive(Debug)]
pub(super) struct PartialBody {
    /// The bytes of the object that are requested; none if only its size and state are.
    range: Range<u64>,
    size: u64,
    /// Whether the range is the whole object but was not requested as such.
    is_whole: bool,
    bytes: BytesMut,
    tag: Tag,
    /// The state that the rest must have, if there is one by which it can be requested.
    state: Option<ObjectState>,
}

impl PartialBody {
    /// Nothing yet of a range.
    pub(super) fn of_range(range: Range<u64>, size: u64, headers: &HeaderMap) -> Self {
        let (tag, state) = (tag_of(headers, size), ObjectState::of(headers));
        Self { range, size, is_whole: false, bytes: BytesMut::new(), tag, state }
    }

    /// Nothing yet of an object that is sent whole.
    pub(super) fn of_whole(size: u64, tag: Tag, state: Option<ObjectState>) -> Self {
        Self { range: 0..size, size, is_whole: true, bytes: BytesMut::new(), tag, state }
    }

    /// The header that requests the rest.
    pub(super) fn rest(&self) -> String {
        format!("bytes={}-{}", self.reached(), self.range.end.saturating_sub(1))
    }

    /// The state that the rest must have.
    pub(super) fn state(&self) -> Option<&ObjectState> {
        self.state.as_ref()
    }

    pub(super) fn tag(&self) -> &Tag {
        &self.tag
    }

    /// Size of the object.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Number of bytes that arrived.
    pub(super) fn byte_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Number of bytes that are missing.
    pub(super) fn missing(&self) -> u64 {
        self.range.end.saturating_sub(self.reached())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing() == 0
    }

    /// Whether requesting only the rest makes sense.
    pub(super) fn is_worth_going_on(&self) -> bool {
        self.state.is_some() && !self.bytes.is_empty() && !self.is_complete()
    }

    /// The next byte of the object that is needed.
    fn reached(&self) -> u64 {
        self.range.start + self.bytes.len() as u64
    }

    /// Checks that another answer is of the same object in the same state.
    pub(super) fn check_state(&self, size: Option<u64>, headers: &HeaderMap) -> Result<(), RequestFailure> {
        let size = size.unwrap_or(self.size);
        if size == self.size && tag_of(headers, size) == self.tag { Ok(()) } else { Err(changed()) }
    }

    /// Checks that a range has the next byte that is needed, and not too many before it.
    pub(super) fn check_place(&self, sent: &ContentRange, max: u64) -> Result<(), RequestFailure> {
        if self.range.is_empty() {
            return Ok(());
        }
        let reached = self.reached();
        if !sent.bytes().contains(&reached) {
            return Err(other_range());
        }
        if reached - sent.first > max {
            let message = format!(
                "the server sent bytes {}-{} of which the first needed one is {reached}: more than the limit of {max} precede it",
                sent.first, sent.last
            );
            return Err(RequestFailure::lasting(Error::limit(message)));
        }
        Ok(())
    }

    /// Appends what is needed of bytes that begin at an offset of the object.
    pub(super) fn add(&mut self, offset: u64, bytes: &[u8]) {
        let skipped = self.reached().saturating_sub(offset);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        if let Some(new) = bytes.get(skipped..).filter(|_| offset <= self.reached()) {
            let missing = usize::try_from(self.missing()).unwrap_or(usize::MAX);
            self.bytes.extend_from_slice(new.get(..missing).unwrap_or(new));
        }
    }

    /// Appends what is needed of an answer of several parts.
    pub(super) fn add_parts(&mut self, body: &MultipartBody) -> Result<(), RequestFailure> {
        let before = self.byte_len();
        for part in &body.parts {
            self.add(part.range.first, &part.bytes);
        }
        if self.byte_len() > before || self.range.is_empty() { Ok(()) } else { Err(other_range()) }
    }

    /// What is to be requested next after an answer that was too short: the rest, or everything again if nothing says
    /// that the object is the same by then. `count` answers were too short so far.
    pub(super) fn after_short(self, count: u32) -> Result<Option<Self>, RequestFailure> {
        let (len, all) = (self.byte_len(), self.range.end - self.range.start);
        if self.state.is_none() && count >= MAX_WITHOUT_STATE {
            let message = format!(
                "answer has {len} of {all} bytes, and neither a strong ETag nor a Last-Modified with which the rest can be requested"
            );
            return Err(RequestFailure::lasting(Error::new(ErrorKind::Io { retryable: true }, message)));
        }
        if count >= MAX_SHORT {
            let message = format!("{count} answers have only {len} of the {all} bytes that were requested");
            return Err(RequestFailure::lasting(Error::limit(message)));
        }
        Ok(self.state.is_some().then_some(self))
    }

    pub(super) fn answer(self) -> HttpAnswer {
        let (bytes, tag) = (self.bytes.freeze(), self.tag);
        if self.is_whole {
            return HttpAnswer::Whole(WholeObject { bytes, tag });
        }
        HttpAnswer::Part(ObjectBytes { bytes, offset: self.range.start, size: self.size, tag })
    }
}

/// Maximum number of answers that are shorter than what was requested.
pub(super) const MAX_SHORT: u32 = 256;
/// The same, if the rest cannot be requested.
const MAX_WITHOUT_STATE: u32 = 3;

pub(super) fn changed() -> RequestFailure {
    RequestFailure::lasting(Error::new(ErrorKind::Changed, "the object changed while it was read"))
}

fn other_range() -> RequestFailure {
    RequestFailure::lasting(Error::malformed("the server sent a different range than was requested"))
}

/// Identifies the state of an object, whether or not the bytes of two answers may be joined.
pub(super) fn tag_of(headers: &HeaderMap, size: u64) -> Tag {
    let modified = text(headers, &LAST_MODIFIED);
    let time = modified.as_deref().and_then(|time| httpdate::parse_http_date(time).ok());
    let seconds = time.and_then(|time| Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs()));
    let tag = match text(headers, &ETAG) {
        Some(etag) => Tag::new(etag),
        None => Tag::new(format!("{}-{size}", modified.unwrap_or_default())),
    };
    tag.modified_at(seconds)
}

/// The value of a header; bytes beyond ASCII, which tags may have (RFC 9110, 8.8.3), are Latin-1.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| value.as_bytes().iter().map(|byte| char::from(*byte)).collect())
}
