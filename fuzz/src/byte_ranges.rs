//! Answers of web servers to requests for ranges.
use crate::ranges::{ContentRange, MultipartFault, boundary, parts, unsatisfied_size};
use bytes::Bytes;

/// A header in the first line, and a body: each part has the bytes of its range.
pub fn byte_ranges(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (header, body) = data.split_at(end);
    let header = String::from_utf8_lossy(header);
    if let Some(range) = ContentRange::parse(&header) {
        assert!(range.bytes().end - range.bytes().start == range.byte_len());
    }
    _ = unsatisfied_size(&header);
    let Some(boundary) = boundary(&header) else { return };
    match parts(&Bytes::copy_from_slice(body.get(1..).unwrap_or_default()), &boundary) {
        Ok(found) => {
            assert!(found.parts.is_sorted_by_key(|part| part.range.first));
            assert!(found.parts.iter().all(|part| part.bytes.len() as u64 == part.range.byte_len()));
            assert!(
                found.parts.iter().all(|part| part.range.size.is_none() || part.range.size == found.size)
            );
        }
        Err(MultipartFault::Malformed(why)) => assert!(!why.is_empty()),
        Err(MultipartFault::Cut) => {}
    }
}
