//! What every codec can do.
use crate::CodecError;
use crate::scratch::{Buffer, Contexts};
use std::fmt::Debug;
use std::ops::Range;

/// One codec with its parameters, bound to a chunk.
pub(crate) trait Codec: Debug + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

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
    fn decode_into(&self, input: &[u8], out: &mut [u8], contexts: &mut Contexts)
    -> Result<usize, CodecError>;

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
        contexts: &mut Contexts,
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
        out: &mut Buffer,
        contexts: &mut Contexts,
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
    fn encode(&self, input: &[u8], out: &mut Buffer, contexts: &mut Contexts) -> Result<(), CodecError>;
}

/// Copies as much as fits.
pub(crate) fn copy_prefix(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}
