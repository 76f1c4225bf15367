//! Decoding of streams whose length is known only at their end.
use crate::CodecError;
use crate::scratch::ScratchBuffer;
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Decodes from the start until `out` is full, and slightly more to find out whether there is more; returns the number
/// of decoded bytes.
pub(crate) fn decode_into(name: &str, stream: &mut dyn Read, out: &mut [u8]) -> Result<usize, CodecError> {
    let have = fill(name, stream, out)?;
    if have < out.len() {
        return Ok(have);
    }
    Ok(have + fill(name, stream, &mut [0; 4096])?)
}

/// Decodes everything: `expected` bytes if that is known (otherwise about four times the `encoded` ones), at most
/// `limit`.
pub(crate) fn decode_all(
    name: &str,
    stream: &mut dyn Read,
    (expected, encoded): (Option<usize>, usize),
    limit: usize,
    out: &mut ScratchBuffer,
) -> Result<(), CodecError> {
    let first = expected.unwrap_or(encoded.saturating_mul(4)).saturating_add(1);
    grow(name, first, limit, out, |tail| {
        let added = fill(name, stream, tail)?;
        Ok((added, added < tail.len()))
    })
}

/// The part of `out` that ends with the last of the ranges.
pub(crate) fn up_to_last<'a>(ranges: &[Range<usize>], out: &'a mut [u8]) -> &'a mut [u8] {
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    out.get_mut(..end).unwrap_or_default()
}

/// Reads until `out` is full or the stream ends.
pub(crate) fn fill(name: &str, stream: &mut dyn Read, out: &mut [u8]) -> Result<usize, CodecError> {
    let mut have = 0;
    while let Some(tail) = out.get_mut(have..).filter(|tail| !tail.is_empty()) {
        match stream.read(tail) {
            Ok(0) => break,
            Ok(added) => have += added,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(CodecError::malformed(name, error.to_string())),
        }
    }
    Ok(have)
}

/// Decodes a stream of unknown length: `step` fills the tail of the buffer and returns how many bytes it added and
/// whether the stream is at its end.
pub(crate) fn grow(
    name: &str,
    first: usize,
    limit: usize,
    out: &mut ScratchBuffer,
    mut step: impl FnMut(&mut [u8]) -> Result<(usize, bool), CodecError>,
) -> Result<(), CodecError> {
    // One byte beyond the limit distinguishes a stream that ends there from one that continues.
    let max = limit.saturating_add(1);
    let mut len = 0;
    out.truncate(0);
    let mut capacity = first.clamp(1, max);
    loop {
        let (added, ended) = step(out.extend_to(capacity).get_mut(len..).unwrap_or_default())?;
        len += added;
        if len > limit {
            out.truncate(0);
            return Err(CodecError::limit(name, limit));
        }
        if ended {
            out.truncate(len);
            return Ok(());
        }
        if len == capacity {
            capacity = capacity.saturating_mul(2).clamp(1, max);
        } else if added == 0 {
            return Err(CodecError::malformed(name, "the stream ends too early"));
        }
    }
}
