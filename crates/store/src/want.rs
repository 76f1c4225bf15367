//! Resolves which bytes of an object of known size are meant.
use bytes::Bytes;
use ncirrus_layout::{Error, ObjectBytes, Result, Tag, Want};
use std::ops::Range;

/// The requested bytes, limited to the end of the object.
pub fn resolve(want: &Want, size: u64) -> Range<u64> {
    match want {
        Want::All | Want::AtMost(_) => 0..size,
        Want::Range(range) | Want::Parse(range) => {
            let start = range.start.min(size);
            start..range.end.clamp(start, size)
        }
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

/// The requested part of a whole object.
pub fn blob(whole: &Bytes, want: &Want, tag: Tag) -> ObjectBytes {
    let size = whole.len() as u64;
    let range = resolve(want, size);
    let at = |offset: u64| usize::try_from(offset).map_or(whole.len(), |at| at.min(whole.len()));
    ObjectBytes { bytes: whole.slice(at(range.start)..at(range.end)), offset: range.start, size, tag }
}

/// Whether an object of that size may be sent.
///
/// # Errors
/// `Limit` if it has more bytes than requested.
pub fn check_size(want: &Want, size: u64) -> Result<()> {
    match want.max_bytes() {
        Some(max) if size > max => {
            Err(Error::limit(format!("object has {size} bytes, more than the limit of {max}")))
        }
        _ => Ok(()),
    }
}
