//! Some bits of every number, one after the other, the first one in the lowest bit of a byte (the codec of the registry of
//! Zarr v3; numcodecs has another one of that name, which begins with the highest bit).
//!
//! - HDF5 filter: none.
//! - Zarr v2: none.
//! - Zarr v3: `packbits`.
//! - Parameters: `first_bit` and `last_bit`: the bits of a number that are stored, counted from the lowest (default: all).
//!   `padding_encoding`: `first_byte` or `last_byte` if the number of unused bits of the last byte is stored, `none`
//!   (default).
//! - Bits that are not stored are 0, above the last one copies of it for signed integers. Numbers that have other bits
//!   there are not encoded.
//! - Compatible: zarrs (but for its `first_bit` above 0, docs/spec/zarr3.md 4).
//!
//! ```json
//! {"name": "packbits", "configuration": {}}
//! {"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}
//! ```
use crate::codec::{Codec, element_count};
use crate::number::NumberKind;
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};

const NAME: &str = "packbits";

/// The codec `packbits` of the registry of Zarr v3.
#[derive(Debug)]
pub(crate) struct BitPack {
    padding: PaddingByte,
    /// The stored bits of a number.
    first: usize,
    count: usize,
    /// Bytes of a number.
    size: usize,
    /// Bits of a number, and whether the last stored one is copied to those above it.
    bits: usize,
    signed: bool,
}

/// Where the number of unused bits is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PaddingByte {
    Absent,
    First,
    Last,
}

impl BitPack {
    /// Reads `padding_encoding`, `first_bit` and `last_bit`. The reader of Zarr adds `component_bits`, the bits of one
    /// number of the data type, and `component_bytes`; otherwise they are those of the element, one bit if it is a byte of which nothing is known.
    ///
    /// # Errors
    /// `Malformed` for parameters that are unknown or do not fit the type.
    pub(crate) fn new(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Self, CodecError> {
        let padding = match parameters.text("padding_encoding")? {
            None | Some("none") => PaddingByte::Absent,
            Some("first_byte" | "start_byte") => PaddingByte::First,
            Some("last_byte" | "end_byte") => PaddingByte::Last,
            Some(other) => {
                return Err(CodecError::malformed(NAME, format!("padding_encoding {other:?} is not known")));
            }
        };
        let element = chunk
            .element
            .byte_len
            .ok_or_else(|| CodecError::unsupported(NAME, "elements without a fixed size"))?;
        let size = parameters.size("component_bytes")?.unwrap_or(element);
        let is_bit = size == 1 && chunk.element.number.is_none();
        let usual = if is_bit { 1 } else { size.saturating_mul(8) };
        let bits = parameters.size("component_bits")?.unwrap_or(usual);
        if size == 0 || size > 8 || bits == 0 || bits > 8 * size || !element.is_multiple_of(size) {
            return Err(CodecError::unsupported(NAME, format!("elements of {element} bytes")));
        }
        let first = parameters.size("first_bit")?.unwrap_or(0);
        let last = parameters.size("last_bit")?.unwrap_or(bits - 1);
        if first > last || last >= bits {
            return Err(CodecError::malformed(
                NAME,
                format!("bits {first} to {last} of numbers of {bits} bits"),
            ));
        }
        let signed = chunk.element.number.is_some_and(|number| number.kind == NumberKind::Signed);
        Ok(Self { padding, first, count: last + 1 - first, size, bits, signed })
    }

    /// The packed bytes, and how many bits they hold if that is stored.
    fn packed<'a>(&self, input: &'a [u8]) -> Result<(&'a [u8], Option<usize>), CodecError> {
        let split = match self.padding {
            PaddingByte::Absent => return Ok((input, None)),
            PaddingByte::First => input.split_first(),
            PaddingByte::Last => input.split_last(),
        };
        let bad = || CodecError::malformed(NAME, "the count of unused bits is wrong");
        let (padding, packed) = split.filter(|(padding, _)| **padding < 8).ok_or_else(bad)?;
        let len = packed.len().checked_mul(8).and_then(|bits| bits.checked_sub(usize::from(*padding)));
        Ok((packed, Some(len.ok_or_else(bad)?)))
    }

    /// Numbers in that many stored bits.
    fn numbers(&self, bits: usize) -> usize {
        bits / self.count
    }

    /// The number whose stored bits those are.
    fn spread(&self, stored: u64) -> u64 {
        let number = stored << self.first;
        let top = self.first + self.count;
        let is_negative = self.signed && number >> (top - 1) & 1 == 1;
        let above = if is_negative && top < 64 { u64::MAX << top } else { 0 };
        (number | above) & low_bits(8 * self.size)
    }
}

/// The bits `at..at + count` of bytes, at most 64.
fn bits_at(bytes: &[u8], at: usize, count: usize) -> u64 {
    let mut word = 0u128;
    for (place, byte) in bytes.get(at / 8..).unwrap_or_default().iter().take(9).enumerate() {
        word |= u128::from(*byte) << (8 * place);
    }
    let bits = (word >> (at % 8)) & u128::from(low_bits(count));
    u64::try_from(bits).unwrap_or(u64::MAX)
}

fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn load(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl Codec for BitPack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        let bits = (len / self.size).checked_mul(self.count)?;
        Some(bits.div_ceil(8) + usize::from(self.padding != PaddingByte::Absent))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let (packed, stored) = self.packed(input)?;
        let have = self.numbers(stored.unwrap_or(packed.len().saturating_mul(8)));
        let want = out.len() / self.size;
        for (at, out) in out.chunks_exact_mut(self.size).enumerate().take(have) {
            let number = self.spread(bits_at(packed, at * self.count, self.count)).to_le_bytes();
            out.copy_from_slice(number.get(..self.size).unwrap_or_default());
        }
        // The last byte has unused bits, if their number is not stored.
        let is_whole = stored.is_none() && packed.len() == (want * self.count).div_ceil(8);
        Ok(if is_whole { want * self.size } else { have.saturating_mul(self.size) })
    }

    fn decode_all(
        &self,
        input: &[u8],
        expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let (packed, stored) = self.packed(input)?;
        let bits = stored.unwrap_or(packed.len().saturating_mul(8));
        let len = expected.filter(|_| stored.is_none());
        let len = len.unwrap_or_else(|| self.numbers(bits).saturating_mul(self.size));
        if len > limit {
            return Err(CodecError::limit(NAME, limit));
        }
        let have = self.decode_into(input, out.prepare(len), contexts)?;
        if have < len { Err(CodecError::Short { have, want: len }) } else { Ok(()) }
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let bits = element_count(NAME, input, self.size)?
            .checked_mul(self.count)
            .ok_or_else(|| CodecError::limit(NAME, usize::MAX))?;
        let mut packed = vec![0u8; bits.div_ceil(8)];
        for (at, element) in input.chunks_exact(self.size).enumerate() {
            let number = load(element);
            let stored = number >> self.first & low_bits(self.count);
            // Small signed integers are stored with any upper bits.
            let known = low_bits(self.bits);
            if self.spread(stored) & known != number & known || (!self.signed && number > known) {
                let bits = format!("{} to {}", self.first, self.first + self.count - 1);
                return Err(CodecError::unsupported(
                    NAME,
                    format!("the value {number:#x}, which bits {bits} do not hold"),
                ));
            }
            let start = at * self.count;
            let shifted = u128::from(stored) << (start % 8);
            let places = packed.get_mut(start / 8..).unwrap_or_default();
            places.iter_mut().zip(shifted.to_le_bytes()).for_each(|(place, byte)| *place |= byte);
        }
        let unused = u8::try_from(packed.len() * 8 - bits).unwrap_or(0);
        match self.padding {
            PaddingByte::Absent => {}
            PaddingByte::First => packed.insert(0, unused),
            PaddingByte::Last => packed.push(unused),
        }
        out.set(packed);
        Ok(())
    }
}
