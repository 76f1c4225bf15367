//! Byte shuffle: all first bytes of the elements, then all second bytes, and so on (HDF5 filter 2).
//!
//! - HDF5 filter: 2 (value: element size).
//! - Zarr v2: `shuffle`.
//! - Zarr v3: `numcodecs.shuffle`; `shuffle` is read, too.
//! - Parameters: `elementsize`: bytes of an element. If it is missing or 0, as netCDF-C writes it, the size of the type
//!   (docs/spec/nczarr.md 11.3); 1 changes nothing. Bytes that are left at the end are not shuffled.
//! - Compatible: HDF5, netCDF-C and numcodecs.
//!
//! ```json
//! {"filter": 2, "values": [4]}
//! {"id": "shuffle", "elementsize": 4}
//! {"id": "shuffle", "elementsize": "0"}
//! {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}
//! ```
use crate::CodecError;
use crate::codec::Codec;
use crate::processor::{self, VectorLoop};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::ops::Range;

/// Shuffle of elements of `size` bytes. Bytes after the last whole element are not moved.
#[derive(Debug)]
pub(crate) struct Shuffle {
    pub(crate) size: usize,
}

impl Codec for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        Some(len)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(input.len()))
    }

    fn framed_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(input.len()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        if out.len() == input.len() {
            unshuffle(input, self.size, out);
        } else {
            let whole = contexts.spare.prepare(input.len());
            unshuffle(input, self.size, whole);
            crate::codec::copy_prefix(whole, out);
        }
        Ok(input.len())
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let wanted: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        if out.len() != input.len() || wanted > input.len() / 4 {
            return self.decode_into(input, out, contexts);
        }
        for range in ranges {
            unshuffle_range(input, self.size, range.clone(), out);
        }
        Ok(input.len())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        shuffle(input, self.size, out.prepare(input.len()));
        Ok(())
    }
}

/// Elements that are processed at a time, so that the lines of all planes stay in the first-level cache.
const TILE: usize = 512;

pub(crate) fn unshuffle(input: &[u8], size: usize, out: &mut [u8]) {
    match size {
        2 => processor::run(Unshuffle::<2> { input, out }),
        4 => processor::run(Unshuffle::<4> { input, out }),
        8 => processor::run(Unshuffle::<8> { input, out }),
        _ => unshuffle_any(input, size, out),
    }
}

struct Unshuffle<'a, const N: usize> {
    input: &'a [u8],
    out: &'a mut [u8],
}

impl<const N: usize> VectorLoop for Unshuffle<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        unshuffle_fixed::<N>(self.input, self.out);
    }
}

#[inline(always)]
fn unshuffle_fixed<const N: usize>(input: &[u8], out: &mut [u8]) {
    let count = input.len() / N;
    let (planes, tail) = input.split_at(count * N);
    let (elements, out_tail) = out.split_at_mut(count * N);
    out_tail.copy_from_slice(tail);
    if count == 0 {
        return;
    }
    let mut plane = planes.chunks_exact(count);
    let planes: [&[u8]; N] = std::array::from_fn(|_| plane.next().unwrap_or_default());
    let (elements, _) = elements.as_chunks_mut::<N>();
    for (tile, elements) in elements.chunks_mut(TILE).enumerate() {
        let start = tile * TILE;
        let lines: [&[u8]; N] =
            std::array::from_fn(|i| planes[i].get(start..start + elements.len()).unwrap_or_default());
        merge(&lines, elements);
    }
}

/// Assembles elements from a line of every plane.
#[inline(always)]
pub(crate) fn merge<const N: usize>(lines: &[&[u8]; N], elements: &mut [[u8; N]]) {
    let len = elements.len();
    if lines.iter().any(|line| line.len() != len) {
        return;
    }
    for (i, element) in elements.iter_mut().enumerate() {
        *element = std::array::from_fn(|byte| lines[byte][i]);
    }
}

fn unshuffle_any(input: &[u8], size: usize, out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    let (planes, tail) = input.split_at(count * size);
    let (elements, out_tail) = out.split_at_mut(count * size);
    out_tail.copy_from_slice(tail);
    if count == 0 {
        return;
    }
    for (tile, elements) in elements.chunks_mut(TILE * size).enumerate() {
        for (byte, plane) in planes.chunks_exact(count).enumerate() {
            let line = plane.get(tile * TILE..).unwrap_or_default();
            for (element, value) in elements.chunks_exact_mut(size).zip(line) {
                element[byte] = *value;
            }
        }
    }
}

/// Sets the bytes of one range of the result.
fn unshuffle_range(input: &[u8], size: usize, range: Range<usize>, out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    let whole = count * size;
    for at in range {
        let from = if at < whole { (at % size) * count + at / size } else { at };
        if let (Some(to), Some(from)) = (out.get_mut(at), input.get(from)) {
            *to = *from;
        }
    }
}

pub(crate) fn shuffle(input: &[u8], size: usize, out: &mut [u8]) {
    match size {
        2 => processor::run(Shuffle2 { input, out }),
        4 => processor::run(Shuffle4 { input, out }),
        8 => processor::run(Shuffle8 { input, out }),
        _ => shuffle_any(input, size, out),
    }
}

/// Whole words are shifted and truncated: compilers produce better code for that than for picking bytes.
macro_rules! shuffle {
    ($name:ident, $word:ty) => {
        struct $name<'a> {
            input: &'a [u8],
            out: &'a mut [u8],
        }

        impl VectorLoop for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                shuffle_fixed(self.input, self.out, |word, byte| {
                    (<$word>::from_le_bytes(word) >> (8 * byte)).to_le_bytes()[0]
                });
            }
        }
    };
}

shuffle!(Shuffle2, u16);
shuffle!(Shuffle4, u32);
shuffle!(Shuffle8, u64);

#[inline(always)]
fn shuffle_fixed<const N: usize>(input: &[u8], out: &mut [u8], pick: impl Fn([u8; N], usize) -> u8) {
    let (elements, tail) = input.as_chunks::<N>();
    let count = elements.len();
    let (planes, out_tail) = out.split_at_mut(count * N);
    out_tail.copy_from_slice(tail);
    if count == 0 {
        return;
    }
    for (tile, elements) in elements.chunks(TILE).enumerate() {
        for (byte, plane) in planes.chunks_exact_mut(count).enumerate() {
            let line = plane.get_mut(tile * TILE..).unwrap_or_default();
            for (to, element) in line.iter_mut().zip(elements) {
                *to = pick(*element, byte);
            }
        }
    }
}

fn shuffle_any(input: &[u8], size: usize, out: &mut [u8]) {
    let count = input.len().checked_div(size).unwrap_or(0);
    let (elements, tail) = input.split_at(count * size);
    let (planes, out_tail) = out.split_at_mut(count * size);
    out_tail.copy_from_slice(tail);
    if count == 0 {
        return;
    }
    for (tile, elements) in elements.chunks(TILE * size).enumerate() {
        for (byte, plane) in planes.chunks_exact_mut(count).enumerate() {
            let line = plane.get_mut(tile * TILE..).unwrap_or_default();
            for (to, element) in line.iter_mut().zip(elements.chunks_exact(size)) {
                *to = element[byte];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::tests::with_each;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_go_to_their_planes(
            size in 1usize..17,
            seed in any::<u64>(),
            len in prop_oneof![0usize..200, 4000usize..20_000],
        ) {
            let byte = |i: usize| (seed.wrapping_mul(i as u64 + 7) >> 29).to_le_bytes()[0];
            let input: Vec<u8> = (0..len).map(byte).collect();
            let count = len / size;
            let mut defined = input.clone();
            for at in 0..count * size {
                defined[at % size * count + at / size] = input[at];
            }
            for (set, (planes, back)) in with_each(|| {
                let (mut planes, mut back) = (vec![1; len], vec![2; len]);
                shuffle(&input, size, &mut planes);
                unshuffle(&planes, size, &mut back);
                (planes, back)
            }) {
                prop_assert_eq!(&planes, &defined, "{:?}", set);
                prop_assert_eq!(&back, &input, "{:?}", set);
            }
        }
    }
}
