//! What servers answer (RFC 9110).
use super::retry::Failure;
use crate::want;
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{Blob, Error, ErrorKind, Limits, Tag, Want};
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderName, LAST_MODIFIED, RETRY_AFTER,
};
use reqwest::{Response, StatusCode};
use std::time::Duration;

/// What a server answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// That there is no such object.
    Absent,
    /// The bytes that were asked for.
    Part(Blob),
    /// All bytes, asked for or not.
    Whole(Whole),
}

/// A whole object.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    bytes: Bytes,
    tag: Tag,
}

impl Whole {
    /// What is wanted of it.
    pub(super) fn blob(&self, want: &Want) -> Blob {
        let size = self.bytes.len() as u64;
        let range = want::resolve(want, size);
        let at = |offset: u64| usize::try_from(offset).unwrap_or(self.bytes.len()).min(self.bytes.len());
        let bytes = self.bytes.slice(at(range.start)..at(range.end));
        Blob { bytes, offset: range.start, size, tag: self.tag.clone() }
    }
}

/// Most bytes of an object whose server does not know ranges.
const MOST_WITHOUT_RANGES: u64 = 1 << 30;

/// Reads an answer.
pub(super) async fn read(response: Response, want: &Want, limits: &Limits) -> Result<Answer, Failure> {
    let status = response.status();
    match status {
        StatusCode::PARTIAL_CONTENT | StatusCode::OK => check_encoding(&response)?,
        _ => {}
    }
    match status {
        StatusCode::PARTIAL_CONTENT => part(response, want).await.map(Answer::Part),
        StatusCode::OK => whole(response, want, limits).await.map(Answer::Whole),
        StatusCode::RANGE_NOT_SATISFIABLE => nothing_there(&response).map(Answer::Part),
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Answer::Absent),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::for_good(Error::new(
            ErrorKind::Denied,
            format!("access denied: server answered {status}"),
        ))),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Err(passing(&response)),
        _ if status.is_server_error() => Err(passing(&response)),
        _ => {
            let error = Error::new(ErrorKind::Io { retryable: false }, format!("server answered {status}"));
            Err(Failure::for_good(error))
        }
    }
}

/// Ranges of compressed bytes are not ranges of the object.
fn check_encoding(response: &Response) -> Result<(), Failure> {
    match header(response, &CONTENT_ENCODING) {
        None | Some("" | "identity") => Ok(()),
        Some(encoding) => Err(Failure::for_good(Error::unsupported(format!(
            "server sends content encoding {encoding:?} unasked"
        )))),
    }
}

async fn part(response: Response, want: &Want) -> Result<Blob, Failure> {
    let malformed = |message: &str| Failure::for_good(Error::malformed(message));
    let place = header(&response, &CONTENT_RANGE).and_then(read_content_range);
    let Some((first, last, size)) = place else {
        return Err(malformed("server sent a part without its place"));
    };
    let asked = want::resolve(want, size);
    // For an empty range a byte was asked for.
    let last_asked = asked.end.max((asked.start + 1).min(size));
    let is_empty = asked.is_empty();
    if (first != asked.start && !is_empty) || last > last_asked.saturating_sub(1) {
        return Err(malformed("server sent another part than was asked for"));
    }
    let tag = tag_of(&response, size);
    let bytes = body(response, last - first + 1).await?;
    if bytes.len() as u64 != last - first + 1 {
        return Err(Failure::passing("answer was cut off".to_owned(), None));
    }
    let bytes = if is_empty { Bytes::new() } else { bytes };
    Ok(Blob { bytes, offset: asked.start, size, tag })
}

async fn whole(response: Response, want: &Want, limits: &Limits) -> Result<Whole, Failure> {
    let most =
        if *want == Want::All { limits.chunk_bytes } else { MOST_WITHOUT_RANGES.min(limits.chunk_bytes) };
    let declared = header(&response, &CONTENT_LENGTH).and_then(|len| len.parse::<u64>().ok());
    let too_large = |len: u64| {
        let why = if *want == Want::All { "" } else { " and its server does not know ranges" };
        Failure::for_good(Error::limit(format!("object has {len} bytes, more than the limit of {most}{why}")))
    };
    if let Some(len) = declared.filter(|len| *len > most) {
        return Err(too_large(len));
    }
    let state =
        (header(&response, &ETAG).map(str::to_owned), header(&response, &LAST_MODIFIED).map(str::to_owned));
    let bytes = body(response, most + 1).await?;
    if bytes.len() as u64 > most {
        return Err(too_large(bytes.len() as u64));
    }
    if declared.is_some_and(|len| len != bytes.len() as u64) {
        return Err(Failure::passing("answer was cut off".to_owned(), None));
    }
    let tag = tag(state.0.as_deref(), state.1.as_deref(), bytes.len() as u64);
    Ok(Whole { bytes, tag })
}

/// The range starts behind the end of the object.
fn nothing_there(response: &Response) -> Result<Blob, Failure> {
    let size =
        header(response, &CONTENT_RANGE).and_then(|place| place.strip_prefix("bytes */")?.parse().ok());
    let Some(size) = size else {
        return Err(Failure::for_good(Error::malformed("server refused the range without telling the size")));
    };
    Ok(Blob { bytes: Bytes::new(), offset: size, size, tag: tag_of(response, size) })
}

/// Reads a body up to a number of bytes, a piece at a time.
async fn body(mut response: Response, most: u64) -> Result<Bytes, Failure> {
    let mut bytes = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(Failure::of)? {
        bytes.extend_from_slice(&piece);
        if bytes.len() as u64 > most {
            break;
        }
    }
    Ok(bytes.freeze())
}

/// First and last byte, and the size of the object.
fn read_content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (place, size) = text.strip_prefix("bytes ")?.trim().split_once('/')?;
    let (first, last) = place.split_once('-')?;
    let (first, last, size) = (first.parse().ok()?, last.parse().ok()?, size.parse().ok()?);
    (first <= last && last < size).then_some((first, last, size))
}

fn passing(response: &Response) -> Failure {
    let after = header(response, &RETRY_AFTER).and_then(|wait| wait.parse().ok()).map(Duration::from_secs);
    Failure::passing(format!("server answered {}", response.status()), after)
}

fn tag_of(response: &Response, size: u64) -> Tag {
    tag(header(response, &ETAG), header(response, &LAST_MODIFIED), size)
}

fn tag(etag: Option<&str>, modified: Option<&str>, size: u64) -> Tag {
    match etag {
        Some(etag) => Tag::new(etag),
        None => Tag::new(format!("{}-{size}", modified.unwrap_or_default())),
    }
}

fn header<'a>(response: &'a Response, name: &HeaderName) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}
