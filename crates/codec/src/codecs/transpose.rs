//! Order of the dimensions in the stored chunk (Zarr v3 `transpose`, Zarr v2 `order: "F"`).
use crate::CodecError;
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{Buffer, Contexts};

const NAME: &str = "transpose";

/// The dimensions of a chunk, put into another order.
#[derive(Debug)]
pub(crate) struct Transpose {
    /// Bytes of one element.
    size: usize,
    /// Elements along each dimension as stored.
    stored_shape: Vec<usize>,
    /// Elements between neighbours along each stored dimension, in the decoded chunk.
    strides: Vec<usize>,
    byte_len: usize,
}

impl Transpose {
    /// A chunk of that shape; stored dimension `i` is dimension `order[i]`. `None` when nothing changes.
    ///
    /// # Errors
    /// `Malformed` when `order` is not a permutation, `Unsupported` when the chunk has no fixed size.
    pub(crate) fn new(
        shape: &[u64],
        size: Option<usize>,
        order: &[usize],
    ) -> Result<Option<Self>, CodecError> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..shape.len()) {
            return Err(CodecError::malformed(
                NAME,
                format!("{order:?} is not an order of {} dimensions", shape.len()),
            ));
        }
        if order.iter().copied().eq(0..shape.len()) {
            return Ok(None);
        }
        let size = size.ok_or_else(|| CodecError::unsupported(NAME, "elements without a fixed size"))?;
        let too_large = || CodecError::unsupported(NAME, format!("a chunk of shape {shape:?}"));
        let shape: Vec<usize> = shape
            .iter()
            .map(|&len| usize::try_from(len).map_err(|_| too_large()))
            .collect::<Result<_, _>>()?;
        let mut strides = vec![1usize; shape.len()];
        let mut product = 1usize;
        for (stride, &len) in strides.iter_mut().zip(&shape).rev() {
            *stride = product;
            product = product.checked_mul(len).ok_or_else(too_large)?;
        }
        let byte_len = product.checked_mul(size).ok_or_else(too_large)?;
        let pick = |from: &[usize]| order.iter().filter_map(|&axis| from.get(axis).copied()).collect();
        Ok(Some(Self { size, stored_shape: pick(&shape), strides: pick(&strides), byte_len }))
    }
}

impl Codec for Transpose {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        Some(len)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(input.len().min(self.byte_len)))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut Contexts,
    ) -> Result<usize, CodecError> {
        let Some(elements) = input.get(..self.byte_len) else {
            return Err(CodecError::Short { have: input.len(), want: self.byte_len });
        };
        if let Some(out) = out.get_mut(..self.byte_len) {
            self.walk(|stored, decoded| copy_element(elements, stored, out, decoded, self.size));
        } else {
            let whole = contexts.spare.prepare(self.byte_len);
            self.walk(|stored, decoded| copy_element(elements, stored, whole, decoded, self.size));
            copy_prefix(whole, out);
        }
        Ok(input.len())
    }

    fn encode(&self, input: &[u8], out: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        if input.len() != self.byte_len {
            return Err(CodecError::malformed(
                NAME,
                format!("the chunk has {} bytes instead of {}", input.len(), self.byte_len),
            ));
        }
        let out = out.prepare(self.byte_len);
        self.walk(|stored, decoded| copy_element(input, decoded, out, stored, self.size));
        Ok(())
    }
}

impl Transpose {
    /// Calls `pair` with the element index in the stored and in the decoded chunk, for every element.
    fn walk(&self, mut pair: impl FnMut(usize, usize)) {
        if self.byte_len == 0 {
            return;
        }
        let mut index = vec![0usize; self.stored_shape.len()];
        let mut decoded = 0;
        let last = self.stored_shape.len().saturating_sub(1);
        let (row, step) = (self.stored_shape[last], self.strides[last]);
        let mut stored = 0;
        loop {
            for i in 0..row {
                pair(stored + i, decoded + i * step);
            }
            stored += row;
            if !self.advance(&mut index, &mut decoded, last) {
                return;
            }
        }
    }

    /// Moves to the next row; false behind the last one.
    fn advance(&self, index: &mut [usize], decoded: &mut usize, last: usize) -> bool {
        for axis in (0..last).rev() {
            index[axis] += 1;
            *decoded += self.strides[axis];
            if index[axis] < self.stored_shape[axis] {
                return true;
            }
            *decoded -= self.strides[axis] * index[axis];
            index[axis] = 0;
        }
        false
    }
}

fn copy_element(from: &[u8], at: usize, to: &mut [u8], to_at: usize, size: usize) {
    let source = from.get(at * size..at * size + size);
    if let (Some(to), Some(from)) = (to.get_mut(to_at * size..to_at * size + size), source) {
        to.copy_from_slice(from);
    }
}
