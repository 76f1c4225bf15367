//! Blocks of N5 (the codec `n5_default` of the registry of Zarr v3): a header with the shape of the block, then its
//! elements, the first axis fastest and big-endian, perhaps compressed.
//!
//! - HDF5 filter: none.
//! - Zarr v2: none.
//! - Zarr v3: `n5_default`.
//! - Parameters: `codecs`: `transpose` that reverses all axes, `bytes`, and at most one codec from bytes to bytes.
//! - Blocks may be shorter or longer than the chunk: missing elements are 0, others are left out.
//!
//! ```json
//! {"name": "n5_default", "configuration": {"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}]}}
//! ```
use super::transpose::strides;
use crate::chain::CodecChain;
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{CodecScratch, LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use ncirrus_model::CodecSpec;
use serde_json::Value;

const NAME: &str = "n5_default";

/// Blocks of N5 for chunks of one shape.
#[derive(Debug)]
pub(crate) struct N5Block {
    /// The chunk.
    shape: Vec<usize>,
    /// Bytes of an element.
    size: usize,
    /// What compresses the elements.
    outer: CodecChain,
}

impl N5Block {
    /// Blocks for chunks like `chunk`, with what compresses their elements.
    ///
    /// # Errors
    /// `Unsupported` for elements without a fixed size.
    pub(crate) fn new(chunk: &ChunkInfo, outer: CodecChain) -> Result<Self, CodecError> {
        let unfit = || CodecError::unsupported(NAME, format!("chunks of shape {:?}", chunk.shape));
        let size = chunk.element.byte_len.filter(|size| *size > 0).ok_or_else(unfit)?;
        let shape = chunk.shape.iter().map(|len| usize::try_from(*len).ok()).collect::<Option<Vec<_>>>();
        let shape = shape.filter(|shape| byte_len(shape, size).is_some()).ok_or_else(unfit)?;
        Ok(Self { shape, size, outer })
    }

    /// The shape of a block, and its elements as they are stored.
    fn open(&self, input: &[u8], limit: usize) -> Result<(Vec<usize>, Vec<u8>), CodecError> {
        let bad = |what: String| CodecError::malformed(NAME, what);
        let cut = || bad(format!("a block of {} bytes has no header", input.len()));
        let (mode, rest) = input.split_first_chunk::<2>().ok_or_else(cut)?;
        let (rank, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
        let (mode, rank) = (u16::from_be_bytes(*mode), usize::from(u16::from_be_bytes(*rank)));
        if mode != 0 {
            return Err(CodecError::unsupported(NAME, format!("a block of mode {mode}")));
        }
        if rank != self.shape.len() {
            return Err(bad(format!("a block of {rank} axes in an array of {}", self.shape.len())));
        }
        let (lens, body) = rest.split_at_checked(4 * rank).ok_or_else(cut)?;
        let lens = lens.as_chunks::<4>().0.iter().map(|len| usize::try_from(u32::from_be_bytes(*len)).ok());
        let block = lens.collect::<Option<Vec<_>>>().ok_or_else(cut)?;
        let len = byte_len(&block, self.size).filter(|len| *len <= limit);
        let len = len.ok_or_else(|| CodecError::limit(NAME, limit))?;
        let elements = self.outer.decode(body, 0, len, &mut CodecScratch::default())?;
        if elements.len() < len {
            return Err(CodecError::Short { have: elements.len(), want: len });
        }
        Ok((block, elements))
    }

    /// The chunk: the last axis fastest.
    fn decoded(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        let len = byte_len(&self.shape, self.size).filter(|len| *len <= limit);
        let len = len.ok_or_else(|| CodecError::limit(NAME, limit))?;
        // A writer may pad blocks, but has no reason to make them much longer.
        let (block, elements) = self.open(input, len.saturating_mul(16).saturating_add(1 << 20))?;
        let mut out = vec![0; len];
        let inside: Vec<usize> =
            block.iter().zip(&self.shape).map(|(block, chunk)| *block.min(chunk)).collect();
        let (from, to) = (first_fastest(&block), strides(&self.shape));
        for_each_index(&inside, |index| {
            let place = |strides: &[usize]| {
                let element: usize = index.iter().zip(strides).map(|(at, stride)| at * stride).sum();
                element * self.size..(element + 1) * self.size
            };
            if let (Some(from), Some(to)) = (elements.get(place(&from)), out.get_mut(place(&to))) {
                to.copy_from_slice(from);
            }
        });
        Ok(out)
    }
}

/// Of the codecs in the parameters, those behind the order of the elements, which is always the same.
///
/// # Errors
/// `Malformed` for other codecs than N5 has.
pub(crate) fn outer_specs(specs: &[CodecSpec], rank: usize) -> Result<&[CodecSpec], CodecError> {
    let is = |spec: &CodecSpec, wanted: &str| spec.identifier() == wanted;
    let after = match specs {
        [transpose, bytes, after @ ..] if is(transpose, "transpose") && is(bytes, "bytes") => {
            reverses(transpose, rank).then_some(after)
        }
        // One axis needs no order.
        [bytes, after @ ..] if rank < 2 && is(bytes, "bytes") => Some(after),
        _ => None,
    };
    after.filter(|after| after.len() <= 1).ok_or_else(|| {
        let reason = "its codecs are not \"transpose\" of all axes, \"bytes\" and at most one more";
        CodecError::malformed(NAME, reason)
    })
}

/// Whether a `transpose` reverses all axes.
fn reverses(spec: &CodecSpec, rank: usize) -> bool {
    let CodecSpec::V3 { configuration, .. } = spec else { return false };
    match configuration.get("order") {
        Some(Value::Array(order)) => {
            order.iter().map(Value::as_u64).eq((0..rank).rev().map(|axis| Some(axis as u64)))
        }
        Some(Value::String(order)) => order == "F",
        _ => false,
    }
}

fn byte_len(shape: &[usize], size: usize) -> Option<usize> {
    shape.iter().try_fold(size, |product, len| product.checked_mul(*len))
}

/// Steps in elements along each axis, the first one fastest.
fn first_fastest(shape: &[usize]) -> Vec<usize> {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    strides(&reversed).into_iter().rev().collect()
}

/// Visits every index of a box, the last axis fastest.
fn for_each_index(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let moved = index.iter_mut().zip(shape).rev().any(|(at, len)| {
            *at += 1;
            let moved = *at < *len;
            if !moved {
                *at = 0;
            }
            moved
        });
        if !moved {
            return;
        }
    }
}

impl Codec for N5Block {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode_fault(&self) -> Option<CodecError> {
        self.outer.codecs().find_map(Codec::encode_fault)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let decoded = self.decoded(input, usize::MAX)?;
        copy_prefix(&decoded, out);
        Ok(decoded.len())
    }

    fn decode_all(
        &self,
        input: &[u8],
        _: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        out.set(self.decoded(input, limit)?);
        Ok(())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let unfit = || CodecError::unsupported(NAME, format!("chunks of shape {:?}", self.shape));
        let want = byte_len(&self.shape, self.size).ok_or_else(unfit)?;
        if input.len() != want {
            return Err(CodecError::Short { have: input.len(), want });
        }
        let mut block = vec![0, 0];
        block.extend(u16::try_from(self.shape.len()).map_err(|_| unfit())?.to_be_bytes());
        for len in &self.shape {
            block.extend(u32::try_from(*len).map_err(|_| unfit())?.to_be_bytes());
        }
        let mut elements = Vec::with_capacity(want);
        let from = strides(&self.shape);
        let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
        for_each_index(&reversed, |index| {
            let element: usize = index.iter().rev().zip(&from).map(|(at, stride)| at * stride).sum();
            elements.extend_from_slice(
                input.get(element * self.size..(element + 1) * self.size).unwrap_or_default(),
            );
        });
        let (encoded, _) = self.outer.encode(&elements, &mut CodecScratch::default())?;
        block.extend(encoded);
        out.set(block);
        Ok(())
    }
}
