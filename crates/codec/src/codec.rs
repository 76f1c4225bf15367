//! What every codec can do.
use crate::CodecError;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::fmt::Debug;
use std::ops::Range;

/// One codec with its parameters, bound to a chunk.
pub(crate) trait Codec: Debug + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// Why it cannot encode any chunk, where chunks may not go without it for that reason.
    fn encode_fault(&self) -> Option<CodecError> {
        None
    }

    /// How many bytes `len` bytes are encoded to, where that depends on their number alone.
    fn encoded_len(&self, _len: usize) -> Option<usize> {
        None
    }

    /// How many bytes the input decodes to, where that can be told without decoding.
    ///
    /// # Errors
    /// When the input cannot be what this codec made.
    fn decoded_len(&self, _input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(None)
    }

    /// How many bytes the input decodes to, where that it is whole can be told from its framing: lengths of all its parts.
    /// `None` where only decoding tells.
    ///
    /// # Errors
    /// When the input is cut short, or cannot be what this codec made.
    fn framed_len(&self, _input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(None)
    }

    /// Where in the input the decoded bytes lie, when they lie there as they are.
    ///
    /// # Errors
    /// When the input is damaged.
    fn peel(&self, _input: &[u8]) -> Result<Option<Range<usize>>, CodecError> {
        Ok(None)
    }

    /// Decodes as much as fits, and returns how many bytes the input decodes to: fewer than `out` has, or more (then at
    /// least one more; the exact number where it is cheap).
    ///
    /// # Errors
    /// When the input is damaged.
    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError>;

    /// Decodes what is needed of `ranges` (ascending) of the decoded bytes to the same place in `out`; returns how many
    /// bytes from the start are known to exist.
    ///
    /// # Errors
    /// When the input is damaged.
    fn decode_ranges(
        &self,
        input: &[u8],
        _ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        self.decode_into(input, out, contexts)
    }

    /// Decodes all, `expected` bytes where that is known, at most `limit`.
    ///
    /// # Errors
    /// When the input is damaged or decodes to more than `limit` bytes.
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

    /// Encodes.
    ///
    /// # Errors
    /// When this codec cannot encode, or not these bytes.
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

/// Runs a decoder that needs room for exactly `len` bytes: in `out`, or in a spare buffer when they are a little more.
///
/// # Errors
/// Those of the decoder; `Limit` when the bytes are far more than fit.
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

/// Repeats `len` bytes that begin `distance` bytes before `at`; they may overlap what is written. `None` when they begin
/// before the start, or do not fit.
pub(crate) fn copy_match(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<()> {
    let from = at.checked_sub(distance).filter(|&from| from < at)?;
    let window = out.get_mut(from..at.checked_add(len)?)?;
    // What is there is copied behind itself, and doubles each time.
    let mut have = distance;
    while have < window.len() {
        let count = have.min(window.len() - have);
        window.copy_within(..count, have);
        have += count;
    }
    Some(())
}
