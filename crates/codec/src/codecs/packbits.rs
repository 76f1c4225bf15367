//! Booleans, eight to a byte, the first one in the highest bit; the first byte is the number of unused bits at the end.
//!
//! - HDF5 filter: none.
//! - Zarr v2: `packbits`.
//! - Zarr v3: `numcodecs.packbits`.
//! - Parameters: none. Elements are bytes; every byte other than 0 is stored as 1.
//! - Compatible: numcodecs.
//!
//! The registry of Zarr v3 has another codec of that name (`bitpack.rs`).
//!
//! ```json
//! {"id": "packbits"}
//! {"name": "numcodecs.packbits", "configuration": {}}
//! ```
use crate::CodecError;
use crate::codec::{Codec, copy_prefix};
use crate::processor::{self, VectorLoop};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "packbits";

/// One byte per value on the decoded side.
#[derive(Debug)]
pub(crate) struct PackBits;

impl Codec for PackBits {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        Some(1 + len.div_ceil(8))
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        let padding = input.first().copied().map(usize::from);
        let bits = input.len().saturating_sub(1).checked_mul(8);
        match padding.filter(|&padding| padding < 8).zip(bits).and_then(|(p, bits)| bits.checked_sub(p)) {
            Some(len) => Ok(Some(len)),
            None => Err(CodecError::malformed(NAME, "the count of unused bits is wrong")),
        }
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.decoded_len(input)?.unwrap_or(0);
        let packed = input.get(1..).unwrap_or_default();
        let within = len.min(out.len());
        let out = out.get_mut(..within).unwrap_or_default();
        let (groups, rest) = out.as_chunks_mut::<8>();
        let last = packed.get(groups.len()..).unwrap_or_default();
        processor::run(SpreadBits { packed, groups });
        if let Some(byte) = last.first() {
            copy_prefix(&spread(*byte), rest);
        }
        Ok(len)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let out = out.prepare(1 + input.len().div_ceil(8));
        let (padding, packed) = out.split_at_mut(1);
        padding.fill(u8::try_from((8 - input.len() % 8) % 8).unwrap_or(0));
        let (groups, rest) = input.as_chunks::<8>();
        let all = processor::run(GatherBits { groups, packed });
        if rest.iter().fold(all, |all, value| all | value) > 1 {
            let other = input.iter().copied().find(|value| *value > 1).unwrap_or_default();
            return Err(CodecError::unsupported(NAME, format!("the value {other}: it stores only 0 and 1")));
        }
        if let (Some(byte), false) = (packed.get_mut(groups.len()), rest.is_empty()) {
            let mut values = [0; 8];
            copy_prefix(rest, &mut values);
            *byte = gather(values);
        }
        Ok(())
    }
}

struct SpreadBits<'a> {
    packed: &'a [u8],
    groups: &'a mut [[u8; 8]],
}

impl VectorLoop for SpreadBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (values, byte) in self.groups.iter_mut().zip(self.packed) {
            *values = spread(*byte);
        }
    }
}

/// Packs groups of 8 values, and returns their union.
struct GatherBits<'a> {
    groups: &'a [[u8; 8]],
    packed: &'a mut [u8],
}

impl VectorLoop for GatherBits<'_> {
    type Output = u8;

    #[inline(always)]
    fn run(self) -> u8 {
        let mut all = 0;
        for (byte, values) in self.packed.iter_mut().zip(self.groups) {
            all |= u64::from_le_bytes(*values);
            *byte = gather(*values);
        }
        all.to_le_bytes().iter().fold(0, |all, value| all | value)
    }
}

/// A byte for every bit, the highest one first.
#[inline(always)]
fn spread(byte: u8) -> [u8; 8] {
    // Eight copies, each byte of which keeps a different bit; adding 127 carries that into the highest one.
    let bits = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x0102_0408_1020_4080;
    (((bits + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101).to_le_bytes()
}

/// The lowest bit of every byte, the first one highest.
#[inline(always)]
fn gather(values: [u8; 8]) -> u8 {
    let ones = u64::from_le_bytes(values) & 0x0101_0101_0101_0101;
    // The product moves bit 8 i to bit 63 - i.
    (ones.wrapping_mul(0x8040_2010_0804_0201) >> 56).to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::tests::with_each;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_those_of_the_values(values in proptest::collection::vec(0u8..2, 0..700), place in any::<prop::sample::Index>()) {
            let encode = |values: &[u8]| {
                let mut out = ScratchBuffer::default();
                PackBits.encode(values, &mut out, &mut LibraryContexts::default()).map(|()| out.into_vec())
            };
            let mut defined = vec![u8::try_from((8 - values.len() % 8) % 8).unwrap()];
            let byte = |values: &[u8]| values.iter().enumerate().fold(0, |byte, (at, value)| byte | (value << (7 - at)));
            defined.extend(values.chunks(8).map(byte));
            for (set, packed) in with_each(|| encode(&values)) {
                prop_assert_eq!(packed.as_ref(), Ok(&defined), "{:?}", set);
            }
            for (set, unpacked) in with_each(|| {
                let mut out = vec![9; values.len()];
                PackBits.decode_into(&defined, &mut out, &mut LibraryContexts::default()).map(|_| out)
            }) {
                prop_assert_eq!(unpacked.as_ref(), Ok(&values), "{:?}", set);
            }
            if !values.is_empty() {
                let mut values = values.clone();
                let place = place.index(values.len());
                values[place] = 6;
                for (set, refused) in with_each(|| encode(&values)) {
                    let error = refused.unwrap_err().to_string();
                    prop_assert!(error.contains("the value 6"), "{:?}: {}", set, error);
                }
            }
        }
    }
}
