//! Truth values, eight to a byte, the first one in the highest bit; the first byte counts the unused bits at the end.
use crate::CodecError;
use crate::codec::Codec;
use crate::scratch::{Buffer, Contexts};

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

    fn decode_into(&self, input: &[u8], out: &mut [u8], _: &mut Contexts) -> Result<usize, CodecError> {
        let len = self.decoded_len(input)?.unwrap_or(0);
        let packed = input.get(1..).unwrap_or_default();
        let within = len.min(out.len());
        for (values, byte) in out.get_mut(..within).unwrap_or_default().chunks_mut(8).zip(packed) {
            for (bit, value) in values.iter_mut().enumerate() {
                *value = (byte >> (7 - bit)) & 1;
            }
        }
        Ok(len)
    }

    fn encode(&self, input: &[u8], out: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let out = out.prepare(1 + input.len().div_ceil(8));
        let (padding, packed) = out.split_at_mut(1);
        padding.fill(u8::try_from((8 - input.len() % 8) % 8).unwrap_or(0));
        for (byte, values) in packed.iter_mut().zip(input.chunks(8)) {
            *byte = values
                .iter()
                .enumerate()
                .fold(0, |byte, (bit, value)| byte | (u8::from(*value != 0) << (7 - bit)));
        }
        Ok(())
    }
}
