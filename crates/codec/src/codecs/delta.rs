//! Differences between neighbours, in the order of the chunk; the first element is unchanged. Integers wrap around.
//!
//! - HDF5 filter: none.
//! - Zarr v2: `delta`.
//! - Zarr v3: `numcodecs.delta`; `delta` is read, too.
//! - Parameters: `dtype`: the type of the elements. `astype`: the type of the stored differences (by default the same).
//! - Compatible: numcodecs.
//!
//! ```json
//! {"id": "delta", "dtype": "<f4"}
//! {"id": "delta", "dtype": "<f4", "astype": "<f8"}
//! {"name": "numcodecs.delta", "configuration": {"dtype": "<f4"}}
//! ```
use crate::CodecError;
use crate::codec::{Codec, element_count};
use crate::number::{AnyNumber, NumberType};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "delta";

/// Differences, stored in a type of their own.
#[derive(Debug)]
pub(crate) struct Delta {
    pub(crate) decoded: NumberType,
    pub(crate) encoded: NumberType,
}

impl Codec for Delta {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        (len / self.decoded.size).checked_mul(self.encoded.size)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok((input.len() / self.encoded.size).checked_mul(self.decoded.size))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        match (self.is_plain(), self.decoded.size) {
            (true, 1) => sum(input, out, u8::from_le_bytes, u8::wrapping_add, u8::to_le_bytes),
            (true, 2) => sum(input, out, u16::from_le_bytes, u16::wrapping_add, u16::to_le_bytes),
            (true, 4) => sum(input, out, u32::from_le_bytes, u32::wrapping_add, u32::to_le_bytes),
            (true, 8) => sum(input, out, u64::from_le_bytes, u64::wrapping_add, u64::to_le_bytes),
            _ => self.sum_any(input, out),
        }
        Ok(input.len() / self.encoded.size * self.decoded.size)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let (from, to) = (self.decoded.size, self.encoded.size);
        let count = element_count(NAME, input, from)?;
        let out = out.prepare(count * to);
        match (self.is_plain(), from) {
            (true, 1) => differ(input, out, u8::from_le_bytes, u8::wrapping_sub, u8::to_le_bytes),
            (true, 2) => differ(input, out, u16::from_le_bytes, u16::wrapping_sub, u16::to_le_bytes),
            (true, 4) => differ(input, out, u32::from_le_bytes, u32::wrapping_sub, u32::to_le_bytes),
            (true, 8) => differ(input, out, u64::from_le_bytes, u64::wrapping_sub, u64::to_le_bytes),
            _ => self.differ_any(input, out),
        }
        Ok(())
    }
}

impl Delta {
    fn differ_any(&self, input: &[u8], out: &mut [u8]) {
        let (from, to) = (self.decoded.size, self.encoded.size);
        let mut before = AnyNumber::Int(0);
        for (element, out) in input.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
            let number = self.decoded.load(element);
            let difference = match (number, before) {
                (AnyNumber::Int(one), AnyNumber::Int(other)) => AnyNumber::Int(one - other),
                _ => AnyNumber::Float(self.decoded.round(number.to_f64() - before.to_f64())),
            };
            self.encoded.store(difference, out);
            before = number;
        }
    }

    /// Whether elements and differences are the same little-endian integers.
    fn is_plain(&self) -> bool {
        self.decoded == self.encoded && !self.decoded.is_float() && !self.decoded.big_endian
    }

    /// Sums in the wider of the two types.
    fn sum_any(&self, input: &[u8], out: &mut [u8]) {
        let whole = !self.decoded.is_float() && !self.encoded.is_float();
        let (mut total, mut float) = (0i64, 0f64);
        let elements = input.chunks_exact(self.encoded.size);
        for (element, out) in elements.zip(out.chunks_exact_mut(self.decoded.size)) {
            let difference = self.encoded.load(element);
            match difference {
                AnyNumber::Int(value) if whole => total = total.wrapping_add(wrap(value)),
                _ => float = self.round(float + difference.to_f64()),
            }
            let sum = if whole { AnyNumber::Int(i128::from(total)) } else { AnyNumber::Float(float) };
            self.decoded.store(sum, out);
        }
    }

    fn round(&self, value: f64) -> f64 {
        if self.decoded.size == self.encoded.size { self.decoded.round(value) } else { value }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sums wrap around at 64 bits")]
fn wrap(value: i128) -> i64 {
    value as i64
}

fn sum<const N: usize, T: Default + Copy>(
    input: &[u8],
    out: &mut [u8],
    load: impl Fn([u8; N]) -> T,
    add: impl Fn(T, T) -> T,
    store: impl Fn(T) -> [u8; N],
) {
    let mut total = T::default();
    let (differences, _) = input.as_chunks::<N>();
    let (elements, _) = out.as_chunks_mut::<N>();
    for (element, difference) in elements.iter_mut().zip(differences) {
        total = add(total, load(*difference));
        *element = store(total);
    }
}

fn differ<const N: usize, T: Default + Copy>(
    input: &[u8],
    out: &mut [u8],
    load: impl Fn([u8; N]) -> T,
    subtract: impl Fn(T, T) -> T,
    store: impl Fn(T) -> [u8; N],
) {
    let mut before = T::default();
    let (elements, _) = input.as_chunks::<N>();
    let (differences, _) = out.as_chunks_mut::<N>();
    for (difference, element) in differences.iter_mut().zip(elements) {
        let element = load(*element);
        *difference = store(subtract(element, before));
        before = element;
    }
}
