//! Order of the dimensions in the stored chunk (Zarr v3 `transpose`, Zarr v2 `order: "F"`).
//!
//! - HDF5 filter: none.
//! - Zarr v2: none: the member `order` of the array.
//! - Zarr v3: `transpose`.
//! - Parameters: `order`: the axes of the array in the order in which they are stored; the texts `C` and `F` of early
//!   drafts are read, too.
//! - Compatible: zarr-python, zarrs, TensorStore (Zarr v3 core specification, "transpose").
//!
//! ```json
//! {"name": "transpose", "configuration": {"order": [1, 0]}}
//! {"name": "transpose", "configuration": {"order": "F"}}
//! ```
use crate::CodecError;
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "transpose";

/// A permutation of the dimensions of a chunk.
#[derive(Debug)]
pub(crate) struct Transpose {
    /// Bytes of one element.
    size: usize,
    /// The dimensions in stored order.
    axes: Vec<TransposedAxis>,
    byte_len: usize,
}

/// A dimension: its length, and its strides in elements in the stored and in the decoded chunk.
#[derive(Debug, Clone, Copy)]
struct TransposedAxis {
    len: usize,
    stored: usize,
    decoded: usize,
}

impl Transpose {
    /// A chunk of that shape; stored dimension `i` is dimension `order[i]`. `None` if nothing changes.
    ///
    /// # Errors
    /// `Malformed` if `order` is not a permutation, `Unsupported` if the chunk has no fixed size.
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
        let byte_len = shape.iter().try_fold(size, |product, &len| product.checked_mul(len));
        let byte_len = byte_len.ok_or_else(too_large)?;
        let decoded = strides(&shape);
        let lens: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let axes = order
            .iter()
            .zip(lens.iter().zip(strides(&lens)))
            .map(|(&axis, (&len, stored))| TransposedAxis { len, stored, decoded: decoded[axis] })
            .collect();
        Ok(Some(Self { size, axes, byte_len }))
    }
}

/// Strides in elements along each dimension of a chunk that fits in memory.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    let mut product = 1usize;
    for (stride, &len) in strides.iter_mut().zip(shape).rev() {
        *stride = product;
        product = product.saturating_mul(len);
    }
    strides
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
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let Some(elements) = input.get(..self.byte_len) else {
            return Err(CodecError::Short { have: input.len(), want: self.byte_len });
        };
        if let Some(out) = out.get_mut(..self.byte_len) {
            self.copy(elements, out, false);
        } else {
            let whole = contexts.spare.prepare(self.byte_len);
            self.copy(elements, whole, false);
            copy_prefix(whole, out);
        }
        Ok(input.len())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if input.len() != self.byte_len {
            return Err(CodecError::malformed(
                NAME,
                format!("the chunk has {} bytes instead of {}", input.len(), self.byte_len),
            ));
        }
        let out = out.prepare(self.byte_len);
        self.copy(input, out, true);
        Ok(())
    }
}

impl Transpose {
    /// Copies every element; `encode` sets the direction.
    fn copy(&self, from: &[u8], to: &mut [u8], encode: bool) {
        match self.size {
            1 => self.copy_fixed::<1>(from, to, encode),
            2 => self.copy_fixed::<2>(from, to, encode),
            4 => self.copy_fixed::<4>(from, to, encode),
            8 => self.copy_fixed::<8>(from, to, encode),
            _ => self.copy_any(from, to, encode),
        }
    }

    fn copy_fixed<const N: usize>(&self, from: &[u8], to: &mut [u8], encode: bool) {
        let (from, _) = from.as_chunks::<N>();
        let (to, _) = to.as_chunks_mut::<N>();
        let mut put = |to_at: usize, from_at: usize| {
            if let (Some(to), Some(from)) = (to.get_mut(to_at), from.get(from_at)) {
                *to = *from;
            }
        };
        if encode {
            self.walk(&mut put);
        } else {
            self.walk(|stored, decoded| put(decoded, stored));
        }
    }

    fn copy_any(&self, from: &[u8], to: &mut [u8], encode: bool) {
        let size = self.size;
        self.walk(|stored, decoded| {
            let (to_at, from_at) = if encode { (stored, decoded) } else { (decoded, stored) };
            let source = from.get(from_at * size..from_at * size + size);
            if let (Some(to), Some(from)) = (to.get_mut(to_at * size..to_at * size + size), source) {
                to.copy_from_slice(from);
            }
        });
    }

    /// Calls `pair` with the element index in the stored and in the decoded chunk, for every element.
    ///
    /// Proceeds in tiles over the two dimensions along which one of the chunks is contiguous, so that both stay in the
    /// cache.
    fn walk(&self, mut pair: impl FnMut(usize, usize)) {
        let last = self.axes.len().saturating_sub(1);
        let near = self.axes.iter().position(|axis| axis.decoded == 1 && axis.len > 1).unwrap_or(last);
        let (Some(&row), Some(&column)) = (self.axes.get(last), self.axes.get(near)) else { return };
        let outer: Vec<TransposedAxis> = outer(&self.axes, [last, near]);
        let rows = if near == last { 1 } else { column.len };
        for_each(&outer, &mut |stored, decoded| {
            for i0 in (0..rows).step_by(TILE) {
                for j0 in (0..row.len).step_by(TILE) {
                    for i in i0..rows.min(i0 + TILE) {
                        let (stored, decoded) = (stored + i * column.stored, decoded + i * column.decoded);
                        for j in j0..row.len.min(j0 + TILE) {
                            pair(stored + j * row.stored, decoded + j * row.decoded);
                        }
                    }
                }
            }
        });
    }
}

/// Elements along each side of a tile.
const TILE: usize = 32;

fn outer(axes: &[TransposedAxis], but: [usize; 2]) -> Vec<TransposedAxis> {
    axes.iter().enumerate().filter(|(at, _)| !but.contains(at)).map(|(_, axis)| *axis).collect()
}

/// Visits all combinations of steps along the axes, the last one fastest.
fn for_each(axes: &[TransposedAxis], visit: &mut impl FnMut(usize, usize)) {
    if axes.iter().any(|axis| axis.len == 0) {
        return;
    }
    let mut index = vec![0; axes.len()];
    let (mut stored, mut decoded) = (0, 0);
    loop {
        visit(stored, decoded);
        let mut moved = false;
        for (at, axis) in index.iter_mut().zip(axes).rev() {
            *at += 1;
            stored += axis.stored;
            decoded += axis.decoded;
            if *at < axis.len {
                moved = true;
                break;
            }
            stored -= axis.stored * *at;
            decoded -= axis.decoded * *at;
            *at = 0;
        }
        if !moved {
            return;
        }
    }
}
