//! The chain of codecs of one variable's chunks.
use crate::CodecError;
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{CodecScratch, LibraryContexts, ScratchBuffer};
use std::ops::Range;
use std::sync::Arc;

/// The codecs of a variable, bound to the shape and element of its chunks, in the order of encoding.
#[derive(Debug, Clone)]
pub struct CodecChain {
    stages: Arc<[ChainStage]>,
}

/// One codec that changes bytes.
#[derive(Debug, Clone)]
pub(crate) struct ChainStage {
    /// Its index among the descriptions: the bit of the mask that says that a chunk was stored without it.
    pub(crate) position: usize,
    /// Whether chunks may be stored without it if it fails.
    pub(crate) optional: bool,
    pub(crate) codec: Arc<dyn Codec>,
}

impl CodecChain {
    pub(crate) fn new(stages: Vec<ChainStage>) -> Self {
        Self { stages: stages.into() }
    }

    /// The codecs, for checks of each.
    pub(crate) fn codecs(&self) -> impl Iterator<Item = &dyn Codec> {
        self.stages.iter().map(|stage| stage.codec.as_ref())
    }

    /// Whether the stored bytes are the elements.
    pub fn is_identity(&self) -> bool {
        self.stages.is_empty()
    }

    /// Decodes a chunk of known length into `out`, and returns how many bytes it has beyond that (as far as that is
    /// cheap to find out: at least one if there are any).
    ///
    /// `mask`: bit `i` is set if the chunk was stored without codec `i`.
    ///
    /// # Errors
    /// `Short` if the chunk has fewer bytes (those present are then at the start of `out`, unless the order of the
    /// dimensions differs), `Malformed` if it is damaged, `Limit` if it is far larger between two codecs than it can
    /// be.
    pub fn decode_into(
        &self,
        input: &[u8],
        mask: u32,
        out: &mut [u8],
        scratch: &mut CodecScratch,
    ) -> Result<usize, CodecError> {
        let want = out.len();
        let have = self.decode_with(input, mask, want, scratch, |last, bytes, contexts| match last {
            Some(codec) => codec.decode_into(bytes, out, contexts),
            None => {
                copy_prefix(bytes, out);
                Ok(bytes.len())
            }
        })?;
        have.checked_sub(want).ok_or(CodecError::Short { have, want })
    }

    /// Decodes those bytes of a chunk of known length that are in `ranges` (ascending), each to its place in `out`;
    /// other bytes of `out` may be left unchanged.
    ///
    /// Stops when the last of them is decoded, so that damage after it can go unnoticed.
    ///
    /// # Errors
    /// As [`decode_into`](Self::decode_into); `Short` only if bytes in the ranges are missing; `Long` if the chunk is
    /// known to have more bytes than `out` (the ranges are decoded then, too).
    pub fn decode_ranges(
        &self,
        input: &[u8],
        mask: u32,
        ranges: &[Range<usize>],
        out: &mut [u8],
        scratch: &mut CodecScratch,
    ) -> Result<(), CodecError> {
        let want = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        if want > out.len() {
            return Err(CodecError::Short { have: out.len(), want });
        }
        let out_len = out.len();
        let have = self.decode_with(input, mask, out_len, scratch, |last, bytes, contexts| match last {
            Some(codec) => codec.decode_ranges(bytes, ranges, out, contexts),
            None => {
                copy_ranges(bytes, ranges, out);
                Ok(bytes.len())
            }
        })?;
        if have < want {
            return Err(CodecError::Short { have, want });
        }
        if have > out_len { Err(CodecError::Long { have, want: out_len }) } else { Ok(()) }
    }

    /// Decodes a chunk of unknown length, up to `limit` bytes.
    ///
    /// # Errors
    /// `Malformed` if the chunk is damaged, `Limit` if it has more bytes.
    pub fn decode(
        &self,
        input: &[u8],
        mask: u32,
        limit: usize,
        scratch: &mut CodecScratch,
    ) -> Result<Vec<u8>, CodecError> {
        let active = self.active(mask);
        let bounds = bounds(&active, None, limit);
        let Some(((first, rest), bound)) = active.split_first().zip(bounds.first()) else {
            return limited(input, limit);
        };
        let outer = decode_outer(rest, input, bounds.get(1..).unwrap_or_default(), scratch)?;
        let (bytes, contexts) = outer.bytes(input, &mut scratch.buffers, &mut scratch.contexts);
        if let Some(peeled) = first.peel(bytes)? {
            return limited(bytes.get(peeled).unwrap_or_default(), limit);
        }
        let mut out = ScratchBuffer::default();
        first.decode_all(bytes, None, bound.limit, &mut out, contexts)?;
        Ok(out.into_vec())
    }

    /// Checks that a chunk is intact, as cheaply as its codecs allow: by checksums, by the lengths of all parts of a
    /// frame, and if only decoding can show it, by undoing the last codec.
    ///
    /// # Errors
    /// `Short` if it has fewer bytes than `want`, `Long` if it has more, `Malformed` if it is damaged or truncated.
    pub fn check(
        &self,
        input: &[u8],
        mask: u32,
        want: usize,
        scratch: &mut CodecScratch,
    ) -> Result<(), CodecError> {
        let active = self.active(mask);
        let bounds = bounds(&active, Some(want), usize::MAX);
        let (mut bytes, mut expected) = (input, Some(want));
        for (codec, bound) in active.iter().zip(&bounds).rev() {
            expected = bound.expected;
            if let Some(peeled) = codec.peel(bytes)? {
                bytes = bytes.get(peeled).unwrap_or_default();
                continue;
            }
            let have = match codec.framed_len(bytes)? {
                Some(len) => len,
                None => {
                    let CodecScratch { buffers: [first, _], contexts } = scratch;
                    codec.decode_all(bytes, bound.expected, bound.limit, first, contexts)?;
                    first.as_slice().len()
                }
            };
            return exactly(have, expected);
        }
        exactly(bytes.len(), expected)
    }

    /// Encodes a chunk; returns the bytes and the mask of the optional codecs that were skipped.
    ///
    /// # Errors
    /// If a codec that is not optional cannot encode the chunk.
    pub fn encode(&self, input: &[u8], scratch: &mut CodecScratch) -> Result<(Vec<u8>, u32), CodecError> {
        self.encode_in(input, scratch).map(|(encoded, skipped)| (encoded.to_vec(), skipped))
    }

    /// As [`encode`](Self::encode), without a copy: the bytes stay in `scratch`, or are the input if no codec changed
    /// it.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_in<'a>(
        &self,
        input: &'a [u8],
        scratch: &'a mut CodecScratch,
    ) -> Result<(&'a [u8], u32), CodecError> {
        self.encode_without(input, 0, scratch)
    }

    /// As [`encode_in`](Self::encode_in), but without the codecs whose bits are set in `left_out`, whether they are
    /// optional or not.
    ///
    /// # Errors
    /// As [`encode_in`](Self::encode_in).
    pub fn encode_without<'a>(
        &self,
        input: &'a [u8],
        left_out: u32,
        scratch: &'a mut CodecScratch,
    ) -> Result<(&'a [u8], u32), CodecError> {
        let mut skipped = 0;
        let mut current = BytesPlace::Input;
        for stage in self.stages.iter() {
            if let Some(bit) = stage.bit().filter(|bit| left_out & bit != 0) {
                skipped |= bit;
                continue;
            }
            let next = current.next();
            let [first, second] = &mut scratch.buffers;
            // Two buffers are enough: each codec reads one and writes the other.
            let (bytes, out) = match current {
                BytesPlace::Input => (input, first),
                BytesPlace::First => (first.as_slice(), second),
                BytesPlace::Second => (second.as_slice(), first),
            };
            match stage.codec.encode(bytes, out, &mut scratch.contexts) {
                Ok(()) => current = next,
                Err(error) => skipped |= stage.bit().filter(|_| stage.optional).ok_or(error)?,
            }
        }
        let encoded = match current {
            BytesPlace::Input => input,
            BytesPlace::First => scratch.buffers[0].as_slice(),
            BytesPlace::Second => scratch.buffers[1].as_slice(),
        };
        Ok((encoded, skipped))
    }

    /// Undoes all codecs except the first, and passes that one on with its input.
    fn decode_with<T>(
        &self,
        input: &[u8],
        mask: u32,
        want: usize,
        scratch: &mut CodecScratch,
        finish: impl FnOnce(Option<&dyn Codec>, &[u8], &mut LibraryContexts) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        let active = self.active(mask);
        let Some((first, rest)) = active.split_first() else {
            return finish(None, input, &mut scratch.contexts);
        };
        let bounds = bounds(&active, Some(want), usize::MAX);
        let outer = decode_outer(rest, input, bounds.get(1..).unwrap_or_default(), scratch)?;
        let (bytes, contexts) = outer.bytes(input, &mut scratch.buffers, &mut scratch.contexts);
        match first.peel(bytes)? {
            Some(peeled) => finish(None, bytes.get(peeled).unwrap_or_default(), contexts),
            None => finish(Some(*first), bytes, contexts),
        }
    }

    fn active(&self, mask: u32) -> Vec<&dyn Codec> {
        let used = |stage: &&ChainStage| stage.bit().is_none_or(|bit| mask & bit == 0);
        self.stages.iter().filter(used).map(|stage| &*stage.codec).collect()
    }
}

impl ChainStage {
    fn bit(&self) -> Option<u32> {
        u32::try_from(self.position).ok().and_then(|position| 1u32.checked_shl(position))
    }
}

/// How long the decoded bytes of a codec should be, and may be.
#[derive(Debug, Clone, Copy)]
struct DecodedBound {
    expected: Option<usize>,
    limit: usize,
}

/// For every codec, from the expected length of the chunk: far more bytes between two codecs than the chunk calls for
/// are refused, so that small inputs cannot take much memory.
fn bounds(codecs: &[&dyn Codec], expected: Option<usize>, limit: usize) -> Vec<DecodedBound> {
    let limit = expected.map_or(limit, slack);
    let mut bound = DecodedBound { expected, limit };
    let mut bounds = Vec::with_capacity(codecs.len());
    for codec in codecs {
        bounds.push(bound);
        let expected = bound.expected.and_then(|len| codec.encoded_len(len));
        let limit = slack(codec.encoded_len(bound.limit).unwrap_or(bound.limit));
        bound = DecodedBound { expected, limit: expected.map_or(limit, slack) };
    }
    bounds
}

fn exactly(have: usize, want: Option<usize>) -> Result<(), CodecError> {
    match want {
        Some(want) if have < want => Err(CodecError::Short { have, want }),
        Some(want) if have > want => Err(CodecError::Long { have, want }),
        _ => Ok(()),
    }
}

/// Surplus that is tolerated between codecs: compressed random bytes are slightly longer than the bytes, and some
/// writers store more than a chunk.
fn slack(len: usize) -> usize {
    len.saturating_add(len / 4).saturating_add(1 << 16)
}

/// The location of the bytes between two codecs.
#[derive(Debug, Clone, Copy)]
enum BytesPlace {
    Input,
    First,
    Second,
}

impl BytesPlace {
    fn next(self) -> Self {
        match self {
            Self::Input | Self::Second => Self::First,
            Self::First => Self::Second,
        }
    }
}

/// A part of the input or of a buffer.
struct OuterBuffer {
    place: BytesPlace,
    range: Range<usize>,
}

impl OuterBuffer {
    fn bytes<'a>(
        &self,
        input: &'a [u8],
        buffers: &'a mut [ScratchBuffer; 2],
        contexts: &'a mut LibraryContexts,
    ) -> (&'a [u8], &'a mut LibraryContexts) {
        let whole = match self.place {
            BytesPlace::Input => input,
            BytesPlace::First => buffers[0].as_slice(),
            BytesPlace::Second => buffers[1].as_slice(),
        };
        (whole.get(self.range.clone()).unwrap_or_default(), contexts)
    }
}

/// Undoes the codecs from the last to the first, using the two buffers.
fn decode_outer(
    codecs: &[&dyn Codec],
    input: &[u8],
    bounds: &[DecodedBound],
    scratch: &mut CodecScratch,
) -> Result<OuterBuffer, CodecError> {
    let mut current = OuterBuffer { place: BytesPlace::Input, range: 0..input.len() };
    for (codec, bound) in codecs.iter().zip(bounds).rev() {
        let [first, second] = &mut scratch.buffers;
        let (whole, out) = match current.place {
            BytesPlace::Input => (input, first),
            BytesPlace::First => (first.as_slice(), second),
            BytesPlace::Second => (second.as_slice(), first),
        };
        let bytes = whole.get(current.range.clone()).unwrap_or_default();
        if let Some(peeled) = codec.peel(bytes)? {
            let start = current.range.start;
            current.range = start + peeled.start..start + peeled.end;
            continue;
        }
        codec.decode_all(bytes, bound.expected, bound.limit, out, &mut scratch.contexts)?;
        current = OuterBuffer { range: 0..out.as_slice().len(), place: current.place.next() };
    }
    Ok(current)
}

fn limited(bytes: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
    if bytes.len() > limit { Err(CodecError::limit("bytes", limit)) } else { Ok(bytes.to_vec()) }
}

fn copy_ranges(bytes: &[u8], ranges: &[Range<usize>], out: &mut [u8]) {
    for range in ranges {
        let end = range.end.min(bytes.len());
        if let (Some(to), Some(from)) = (out.get_mut(range.start..end), bytes.get(range.start..end)) {
            to.copy_from_slice(from);
        }
    }
}
