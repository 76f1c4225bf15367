//! Ranges of bytes in answers (RFC 9110, 14.4 and 14.6): `Content-Range`, and bodies of several parts.
//!
//! Everything here comes from a server: sizes and counts are bounded, and no length is trusted before the bytes are
//! there. This file needs nothing else of the crate: the fuzz targets include it without the network.
use bytes::Bytes;
use std::ops::Range;

/// The range of an object that an answer, or a part of one, contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Size of the object, if the server states it.
    pub(crate) size: Option<u64>,
}

/// A body of several parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MultipartBody {
    /// In the order of their first bytes; they may overlap.
    pub(crate) parts: Vec<BodyPart>,
    /// Size of the object, if one of them states it.
    pub(crate) size: Option<u64>,
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodyPart {
    pub(crate) range: ContentRange,
    pub(crate) bytes: Bytes,
}

/// Why a body of several parts cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MultipartFault {
    /// It ends before its last boundary.
    Cut,
    Malformed(&'static str),
}

impl ContentRange {
    /// The value of `Content-Range`; `None` if it is invalid, or not in bytes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (place, size) = in_bytes(text)?.split_once('/')?;
        let (first, last) = place.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let size = match size.trim() {
            "*" => None,
            size => Some(number(size)?),
        };
        (first <= last && last < size.unwrap_or(u64::MAX)).then_some(Self { first, last, size })
    }

    /// Number of bytes.
    pub(crate) fn byte_len(&self) -> u64 {
        self.last - self.first + 1
    }

    /// The same, as a half-open range.
    pub(crate) fn bytes(&self) -> Range<u64> {
        self.first..self.last + 1
    }
}

/// The size of an object in the answer to a range that it does not have: `bytes */10`.
pub(crate) fn unsatisfied_size(text: &str) -> Option<u64> {
    number(in_bytes(text)?.strip_prefix("*/")?)
}

/// What a `Content-Range` says in bytes. Names of units have no case (RFC 9110, 14.1).
fn in_bytes(range: &str) -> Option<&str> {
    let (unit, rest) = range.trim().split_once([' ', '\t'])?;
    unit.eq_ignore_ascii_case("bytes").then(|| rest.trim())
}

/// A number of digits only.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The boundary of a body of several ranges, from the value of `Content-Type`; `None` for any other body.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    let (kind, mut rest) = content_type.split_once(';')?;
    // The second one is of servers older than the standard.
    let is_ranges = |known: &str| kind.trim().eq_ignore_ascii_case(known);
    if !is_ranges("multipart/byteranges") && !is_ranges("multipart/x-byteranges") {
        return None;
    }
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, next) = parameter_value(after)?;
        if name.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case("boundary") {
            return Some(value).filter(|value| (1..=MAX_BOUNDARY).contains(&value.len()));
        }
        rest = next;
    }
}

/// A token or a quoted string (RFC 9110, 5.6.6), and what follows.
fn parameter_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
        return Some((value.trim_end().to_owned(), rest));
    };
    let (mut value, mut letters) = (String::new(), quoted.chars());
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}

/// The parts of a body. The length of each is that of its range, so that bytes which look like a boundary are not one.
///
/// # Errors
/// [`MultipartFault`] if it ends too early, or is not what RFC 9110 14.6 describes.
pub(crate) fn parts(body: &Bytes, boundary: &str) -> Result<MultipartBody, MultipartFault> {
    let mut rest = BodyCursor { body, at: 0 };
    rest.skip_preamble(boundary)?;
    let mut found = MultipartBody { parts: Vec::new(), size: None };
    loop {
        if found.parts.len() == MAX_PARTS {
            return Err(MultipartFault::Malformed("it has too many parts"));
        }
        let range = rest.headers()?;
        if found.size.is_some() && range.size.is_some() && found.size != range.size {
            return Err(MultipartFault::Malformed("its parts state different sizes of the object"));
        }
        found.size = found.size.or(range.size);
        found.parts.push(BodyPart { range, bytes: rest.take(range.byte_len())? });
        rest.skip(b"\r\n--")?;
        rest.skip(boundary.as_bytes())?;
        if rest.left().starts_with(b"--") {
            found.parts.sort_by_key(|part| part.range.first);
            return Ok(found);
        }
        if !rest.line()?.trim_ascii().is_empty() {
            return Err(MultipartFault::Malformed("a boundary is longer than it should be"));
        }
    }
}

/// A position in a body.
struct BodyCursor<'a> {
    body: &'a Bytes,
    at: usize,
}

impl<'a> BodyCursor<'a> {
    fn left(&self) -> &'a [u8] {
        self.body.get(self.at..).unwrap_or_default()
    }

    /// Continues behind the first boundary.
    fn skip_preamble(&mut self, boundary: &str) -> Result<(), MultipartFault> {
        for _ in 0..MAX_LINES {
            let line = self.line()?.trim_ascii_end();
            if line.strip_prefix(b"--") == Some(boundary.as_bytes()) {
                return Ok(());
            }
        }
        Err(MultipartFault::Malformed("its first boundary is missing"))
    }

    /// The range in the headers of a part.
    fn headers(&mut self) -> Result<ContentRange, MultipartFault> {
        let mut range = None;
        for _ in 0..MAX_LINES {
            let line = self.line()?;
            if line.is_empty() {
                return range.ok_or(MultipartFault::Malformed("one of its parts has no Content-Range"));
            }
            let Some((name, value)) = str::from_utf8(line).ok().and_then(|line| line.split_once(':')) else {
                continue;
            };
            if name.trim().eq_ignore_ascii_case("content-range") {
                let parsed = ContentRange::parse(value).filter(|_| range.is_none());
                range =
                    Some(parsed.ok_or(MultipartFault::Malformed("a Content-Range of a part is invalid"))?);
            }
        }
        Err(MultipartFault::Malformed("one of its parts has too many headers"))
    }

    /// A line without its end.
    fn line(&mut self) -> Result<&'a [u8], MultipartFault> {
        let left = self.left();
        let within = left.get(..MAX_LINE_BYTES).unwrap_or(left);
        match within.windows(2).position(|two| two == b"\r\n") {
            Some(len) => {
                self.at += len + 2;
                Ok(within.get(..len).unwrap_or_default())
            }
            None if left.len() < MAX_LINE_BYTES => Err(MultipartFault::Cut),
            None => Err(MultipartFault::Malformed("one of its lines is too long")),
        }
    }

    fn take(&mut self, len: u64) -> Result<Bytes, MultipartFault> {
        let len = usize::try_from(len).ok().filter(|len| *len <= self.left().len());
        let end = self.at + len.ok_or(MultipartFault::Cut)?;
        let bytes = self.body.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }

    /// Continues behind a text that must be here.
    fn skip(&mut self, text: &[u8]) -> Result<(), MultipartFault> {
        match self.left() {
            left if left.starts_with(text) => {
                self.at += text.len();
                Ok(())
            }
            left if text.starts_with(left) => Err(MultipartFault::Cut),
            _ => Err(MultipartFault::Malformed("one of its parts has another length than its Content-Range")),
        }
    }
}

/// Maximum length of a boundary (RFC 2046, 5.1.1).
pub(crate) const MAX_BOUNDARY: usize = 70;
/// Maximum number of parts: one range was requested.
pub(crate) const MAX_PARTS: usize = 64;
/// Maximum number of lines before the first boundary, and of headers of a part.
pub(crate) const MAX_LINES: usize = 32;
/// Maximum length of a line.
pub(crate) const MAX_LINE_BYTES: usize = 4096;
