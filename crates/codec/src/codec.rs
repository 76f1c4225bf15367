//! The operations of every codec.
use crate::CodecError;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::fmt::Debug;
use std::ops::Range;

/// One codec with its parameters, bound to a chunk.
pub(crate) trait Codec: Debug + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// Why it cannot encode any chunk, if chunks must not be stored without it for that reason.
    fn encode_fault(&self) -> Option<CodecError> {
        None
    }

    /// The number of bytes to which `len` bytes are encoded, if that depends on their number alone.
    fn encoded_len(&self, _len: usize) -> Option<usize> {
        None
    }

    /// The number of bytes to which the input decodes, if that can be determined without decoding.
    ///
    /// # Errors
    /// If the input cannot have been produced by this codec.
    fn decoded_len(&self, _input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(None)
    }

    /// The number of bytes to which the input decodes, if its framing shows that it is complete: lengths of all its
    /// parts. `None` if only decoding can show that.
    ///
    /// # Errors
    /// If the input is truncated, or cannot have been produced by this codec.
    fn framed_len(&self, _input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(None)
    }

    /// The range of the input that contains the decoded bytes, if they are stored unchanged.
    ///
    /// # Errors
    /// If the input is damaged.
    fn peel(&self, _input: &[u8]) -> Result<Option<Range<usize>>, CodecError> {
        Ok(None)
    }

    /// Decodes as much as fits, and returns the number of bytes to which the input decodes: fewer than `out` has, or
    /// more (then at least one more; the exact number if that is cheap).
    ///
    /// # Errors
    /// If the input is damaged.
    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError>;

    /// Decodes what is needed for `ranges` (ascending) of the decoded bytes to the same place in `out`; returns how
    /// many bytes from the start are known to exist.
    ///
    /// # Errors
    /// If the input is damaged.
    fn decode_ranges(
        &self,
        input: &[u8],
        _ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        self.decode_into(input, out, contexts)
    }

    /// Decodes everything: `expected` bytes if that is known, at most `limit`.
    ///
    /// # Errors
    /// If the input is damaged or decodes to more than `limit` bytes.
    fn decode_all(
        &self,
        input: &[u8],
        _expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let Some(len) = self.decoded_len(input)? else {
            return Err(CodecError::unsupported(self.name(), "the decoded length is not known"));
        };
        if len > limit {
            return Err(CodecError::limit(self.name(), limit));
        }
        let have = self.decode_into(input, out.prepare(len), contexts)?;
        out.truncate(have);
        Ok(())
    }

    /// Encodes a chunk.
    ///
    /// # Errors
    /// If this codec cannot encode, or not these bytes.
    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError>;
}

/// Copies as much as fits.
pub(crate) fn copy_prefix(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}

/// The number of elements of `size` bytes in decoded bytes.
///
/// # Errors
/// `Malformed` if there is a rest.
pub(crate) fn element_count(codec: &str, input: &[u8], size: usize) -> Result<usize, CodecError> {
    match input.len().checked_rem(size) {
        Some(0) => Ok(input.len() / size),
        _ => {
            let reason = format!("{} bytes are not a whole number of elements of {size} bytes", input.len());
            Err(CodecError::malformed(codec, reason))
        }
    }
}

/// Runs a decoder that needs room for exactly `len` bytes: in `out`, or in a spare buffer if they are slightly more.
///
/// # Errors
/// Those of the decoder; `Limit` if far more bytes are needed than fit.
pub(crate) fn with_room(
    name: &str,
    len: usize,
    out: &mut [u8],
    contexts: &mut LibraryContexts,
    decode: impl FnOnce(&mut [u8], &mut LibraryContexts) -> Result<(), CodecError>,
) -> Result<usize, CodecError> {
    if let Some(out) = out.get_mut(..len) {
        return decode(out, contexts).map(|()| len);
    }
    if len > out.len().saturating_mul(2).saturating_add(1 << 16) {
        return Err(CodecError::limit(name, out.len()));
    }
    let mut spare = std::mem::take(&mut contexts.spare);
    let whole = spare.prepare(len);
    let decoded = decode(whole, contexts);
    copy_prefix(whole, out);
    contexts.spare = spare;
    decoded.map(|()| len)
}

/// Repeats `len` bytes that begin `distance` bytes before `at`; they may overlap what is written. `None` if they begin
/// before the start, or do not fit.
pub(crate) fn copy_match(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance).filter(|&from| from < at)?;
    let window = out.get_mut(from..at.checked_add(len)?)?;
    // The available bytes are copied after themselves, doubling each time.
    let mut have = distance;
    while have < window.len() {
        let count = have.min(window.len() - have);
        window.copy_within(..count, have);
        have += count;
    }
    Some(())
}
