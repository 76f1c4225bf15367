//! LZF (HDF5 filter 32000).
//!
//! A byte below 32 announces that many literal bytes plus one; any other a repetition of decoded bytes: its length
//! minus two in the upper three bits (7: another byte with more follows), its distance minus one in the lower five and
//! the next byte.
//!
//! - HDF5 filter: 32000 (values: filter version, LZF version, chunk bytes; not needed).
//! - Zarr v2: `lzf`.
//! - Zarr v3: `lzf`.
//! - Parameters: none.
//! - Compatible: h5py (`compression="lzf"`). numcodecs has no such codec.
//!
//! ```json
//! {"filter": 32000, "values": [4, 261, 128]}
//! {"id": "lzf"}
//! ```
mod encode;

use crate::CodecError;
use crate::codec::{Codec, copy_match, copy_prefix};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "lzf";

/// LZF.
#[derive(Debug)]
pub(crate) struct Lzf;

impl Codec for Lzf {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        let mut len = 0usize;
        let mut rest = input;
        while let Some((piece, behind)) = LzfPiece::read(rest)? {
            len = len.saturating_add(piece.len());
            rest = behind;
        }
        Ok(Some(len))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let mut at = 0usize;
        let mut rest = input;
        while let Some((piece, behind)) = LzfPiece::read(rest)? {
            piece.write(out, at)?;
            at = at.saturating_add(piece.len());
            rest = behind;
        }
        Ok(at)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let mut stream = out.take();
        encode::encode(input, &mut stream);
        out.set(stream);
        Ok(())
    }
}

/// One step of the stream.
enum LzfPiece<'a> {
    Literal(&'a [u8]),
    Repeat { len: usize, distance: usize },
}

impl<'a> LzfPiece<'a> {
    /// The first piece, and the rest; `None` at the end.
    fn read(input: &'a [u8]) -> Result<Option<(Self, &'a [u8])>, CodecError> {
        let Some((&control, rest)) = input.split_first() else { return Ok(None) };
        let control = usize::from(control);
        if control < 32 {
            let (literal, rest) = rest.split_at_checked(control + 1).ok_or_else(cut)?;
            return Ok(Some((Self::Literal(literal), rest)));
        }
        let (more, rest) = if control >> 5 == 7 { byte(rest)? } else { (0, rest) };
        let (low, rest) = byte(rest)?;
        let distance = ((control & 31) << 8) + low + 1;
        Ok(Some((Self::Repeat { len: (control >> 5) + more + 2, distance }, rest)))
    }

    fn len(&self) -> usize {
        match self {
            Self::Literal(bytes) => bytes.len(),
            Self::Repeat { len, .. } => *len,
        }
    }

    /// Writes the piece; bytes that do not fit are dropped.
    fn write(&self, out: &mut [u8], at: usize) -> Result<(), CodecError> {
        match *self {
            Self::Literal(bytes) => copy_prefix(bytes, out.get_mut(at..).unwrap_or_default()),
            Self::Repeat { len, distance } => {
                let len = len.min(out.len().saturating_sub(at));
                copy_match(out, at.min(out.len()), distance, len).ok_or_else(|| {
                    CodecError::malformed(
                        NAME,
                        format!("a back reference over {distance} bytes at byte {at}"),
                    )
                })?;
            }
        }
        Ok(())
    }
}

fn byte(input: &[u8]) -> Result<(usize, &[u8]), CodecError> {
    let (&byte, rest) = input.split_first().ok_or_else(cut)?;
    Ok((usize::from(byte), rest))
}

fn cut() -> CodecError {
    CodecError::malformed(NAME, "the stream is cut short")
}
