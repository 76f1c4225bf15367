//! szip (HDF5 filter 4; CCSDS 121.0-B, "Lossless Data Compression"; docs/spec/nczarr.md 11.5).
//!
//! A chunk is its decoded length in 4 bytes, little-endian, and a stream of bits, highest first. Each scanline is coded
//! in blocks of pixels, every block with the best coding option, and starts afresh from a reference pixel. Pixels of 4
//! and 8 bytes are coded byte by byte, after a shuffle of the whole chunk.
//!
//! - HDF5 filter: 4 (values: options, pixels per block, bits per pixel, pixels per scanline).
//! - Zarr v2: `szip`.
//! - Zarr v3: `szip`.
//! - Parameters: `mask`: options, of which 16 (highest byte first) and 32 (differences to the neighbour) matter.
//!   `pixels-per-block`: even, 2 to 32 (default 16). `bits-per-pixel` and `pixels-per-scanline`: by default as HDF5
//!   computes them from type and chunk.
//! - Compatible: libaec and szlib, and therefore HDF5 and netCDF-C. numcodecs has no such codec.
//!
//! ```json
//! {"filter": 4, "values": [141, 16, 32, 32]}
//! {"id": "szip", "mask": 32, "pixels-per-block": 16}
//! ```
mod encode;

use super::shuffle::{shuffle, unshuffle};
use crate::bits::BitReader;
use crate::codec::{Codec, copy_prefix};
use crate::parameters::CodecParameters;
use crate::processor::{self, VectorLoop};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use serde_json::Value;

const NAME: &str = "szip";

/// Bits of the options mask.
const MOST_SIGNIFICANT_FIRST: i64 = 16;
const NEAREST_NEIGHBOUR: i64 = 32;

/// The limits of szlib (`SZ_MAX_BLOCKS_PER_SCANLINE`, `SZ_MAX_PIXELS_PER_SCANLINE`): it refuses longer scanlines.
const MAX_BLOCKS_PER_SCANLINE: u64 = 128;
const MAX_PIXELS_PER_SCANLINE: u64 = 4096;

/// How the pixels of a chunk are coded.
#[derive(Debug)]
pub(crate) struct Szip {
    /// Bytes of an element that were separated by a shuffle, otherwise 1.
    spread: usize,
    samples: SampleBlock,
    /// Samples in a block.
    block: usize,
    /// Samples in a scanline.
    scanline: usize,
    /// Whether that is only what HDF5 would choose for the chunk: netcdf-c uses the variable's shape instead, and does
    /// not store its choice in Zarr (docs/spec/nczarr.md 11.5).
    guessed: bool,
}

/// One coded sample.
#[derive(Debug, Clone, Copy)]
struct SampleBlock {
    bits: u32,
    bytes: usize,
    big_endian: bool,
    /// Whether differences from the previous sample are coded.
    differences: bool,
}

impl Szip {
    /// Parameters that depend on the chunk are computed as in HDF5, if they are not given.
    ///
    /// # Errors
    /// `Malformed` for invalid parameters, `Unsupported` for elements without a fixed size.
    pub(crate) fn new(parameters: &CodecParameters, chunk: &ChunkInfo) -> Result<Self, CodecError> {
        let mask = parameters.integer("mask")?.unwrap_or(NEAREST_NEIGHBOUR);
        let block = parameters.size("pixels-per-block")?.unwrap_or(16);
        if !matches!(block, 2..=32) || block % 2 != 0 {
            return Err(parameters.bad("pixels-per-block", &Value::from(block)));
        }
        let bits = match parameters.size("bits-per-pixel")?.or(chunk.element.byte_len.map(|len| len * 8)) {
            Some(bits @ 1..=24) => bits,
            Some(25..=32) => 32,
            Some(33..=64) => 64,
            other => {
                let reason = format!("pixels of {} bits", other.unwrap_or(0));
                return Err(CodecError::unsupported(NAME, reason));
            }
        };
        let stated = parameters.size("pixels-per-scanline")?;
        let scanline = match stated {
            Some(0) => return Err(parameters.bad("pixels-per-scanline", &Value::from(0))),
            Some(pixels) => pixels,
            None => usual_scanline(&chunk.shape, block as u64)?,
        };
        // As in szip, numbers of 32 and 64 bits are coded as planes of bytes.
        let spread = if bits > 24 { bits / 8 } else { 1 };
        let sample_bits = if spread > 1 { 8 } else { bits };
        let samples = SampleBlock {
            bits: u32::try_from(sample_bits).unwrap_or(8),
            bytes: sample_bits.div_ceil(8).next_power_of_two(),
            big_endian: mask & MOST_SIGNIFICANT_FIRST != 0,
            differences: mask & NEAREST_NEIGHBOUR != 0,
        };
        Ok(Self { spread, samples, block, scanline, guessed: stated.is_none() })
    }

    /// Decodes samples until `out` is full.
    fn decode_samples(&self, stream: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        let left = processor::run(DecodeLines { codec: self, stream, out }).ok_or_else(damaged)?;
        if self.guessed && left >= 8 {
            let reason = format!("its pixels per scanline are not stated, and are not {}", self.scanline);
            return Err(CodecError::malformed(NAME, reason));
        }
        Ok(())
    }

    /// Decodes a block, or a run of blocks of zeros, to the samples of the scanline from `at` on; returns where they end.
    #[inline(always)]
    fn block(&self, bits: &mut BitReader, blocks: usize, line: &mut [u32], at: usize) -> Option<usize> {
        let sample = self.samples;
        let option_bits = sample.option_bits();
        let option = bits.take(option_bits);
        let low_entropy = if option == 0 { Some(bits.take(1)) } else { None };
        let end = at + self.block;
        let out = line.get_mut(at..end)?;
        if option == (1 << option_bits) - 1 {
            out.iter_mut().for_each(|value| *value = bits.take(sample.bits));
            return (!bits.is_over()).then_some(end);
        }
        let has_reference = at == 0 && sample.differences;
        let (reference, coded) = out.split_at_mut(usize::from(has_reference));
        reference.iter_mut().for_each(|value| *value = bits.take(sample.bits));
        let end = match low_entropy {
            Some(0) => {
                let run = zero_blocks(bits.zeros(), at / self.block, blocks)?;
                let end = run.checked_mul(self.block)?.checked_add(at)?.min(line.len());
                line.get_mut(at + usize::from(has_reference)..end)?.fill(0);
                end
            }
            Some(_) => {
                pairs(bits, has_reference, coded)?;
                end
            }
            None => {
                split(bits, coded, option - 1);
                end
            }
        };
        (!bits.is_over()).then_some(end)
    }
}

impl SampleBlock {
    /// Bits that name the coding option of a block.
    fn option_bits(self) -> u32 {
        match self.bits {
            0..=8 => 3,
            9..=16 => 4,
            _ => 5,
        }
    }

    /// Reconstructs the samples from the differences, and writes them.
    #[inline(always)]
    fn write(self, line: &[u32], out: &mut [u8]) {
        match (self.bytes, self.big_endian) {
            (1, _) => self.store::<1>(line, out, |word| [word.to_le_bytes()[0]]),
            (2, false) => self.store::<2>(line, out, |word| [word.to_le_bytes()[0], word.to_le_bytes()[1]]),
            (2, true) => self.store::<2>(line, out, |word| [word.to_le_bytes()[1], word.to_le_bytes()[0]]),
            (_, false) => self.store::<4>(line, out, u32::to_le_bytes),
            (_, true) => self.store::<4>(line, out, u32::to_be_bytes),
        }
    }

    #[inline(always)]
    fn store<const N: usize>(self, line: &[u32], out: &mut [u8], bytes: impl Fn(u32) -> [u8; N]) {
        let pairs = line.iter().zip(out.as_chunks_mut::<N>().0);
        if !self.differences {
            return pairs.for_each(|(value, out)| *out = bytes(*value));
        }
        let max = u32::MAX >> (32 - self.bits);
        let mut last = None;
        for (value, out) in pairs {
            let this = last.map_or(*value, |last| undo(*value, last, max));
            *out = bytes(this);
            last = Some(this);
        }
    }
}

/// Decodes scanlines until `out` is full; returns the number of bits that are left, `None` if the stream is damaged.
struct DecodeLines<'a> {
    codec: &'a Szip,
    stream: &'a [u8],
    out: &'a mut [u8],
}

impl VectorLoop for DecodeLines<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self) -> Option<usize> {
        decode_lines(self.codec, self.stream, self.out)
    }
}

#[inline(always)]
fn decode_lines(codec: &Szip, stream: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut bits = BitReader::new(stream);
    let blocks = codec.scanline.div_ceil(codec.block);
    let bytes = codec.samples.bytes;
    let most = codec.scanline.min(out.len() / bytes);
    let mut line = vec![0u32; most.next_multiple_of(codec.block)];
    for out in out.chunks_mut(codec.scanline.saturating_mul(bytes)) {
        // The last scanline may end early, after any block.
        let wanted = out.len() / bytes;
        let line = line.get_mut(..wanted.next_multiple_of(codec.block))?;
        let mut at = 0;
        while at < wanted {
            at = codec.block(&mut bits, blocks, line, at)?;
        }
        codec.samples.write(line, out);
    }
    Some(bits.left())
}

impl Codec for Szip {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        let len = input.first_chunk().and_then(|len| usize::try_from(u32::from_le_bytes(*len)).ok());
        len.map(Some).ok_or_else(damaged)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.decoded_len(input)?.unwrap_or(0);
        let stream = input.get(4..).unwrap_or_default();
        let whole = len == out.len() && len.is_multiple_of(self.samples.bytes);
        if whole && self.spread == 1 {
            return self.decode_samples(stream, out).map(|()| len);
        }
        if len > out.len().saturating_mul(2).saturating_add(1 << 16) {
            return Err(CodecError::limit(NAME, out.len()));
        }
        let samples = contexts.spare.prepare(len);
        self.decode_samples(stream, samples)?;
        if whole {
            unshuffle(samples, self.spread, out);
        } else {
            let mut elements = vec![0; len];
            unshuffle(samples, self.spread, &mut elements);
            copy_prefix(&elements, out);
        }
        Ok(len)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        contexts: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let len = u32::try_from(input.len()).ok().filter(|_| input.len().is_multiple_of(self.samples.bytes));
        let len = len.ok_or_else(|| {
            CodecError::unsupported(NAME, format!("a chunk of {} bytes is not whole pixels", input.len()))
        })?;
        let planes = contexts.spare.prepare(input.len());
        let samples = if self.spread > 1 {
            shuffle(input, self.spread, planes);
            planes
        } else {
            input
        };
        let room = out.prepare(self.max_encoded(input.len()));
        let (head, body) = room.split_at_mut(4);
        head.copy_from_slice(&len.to_le_bytes());
        let used = encode::encode(self, samples, body);
        out.truncate(4 + used);
        Ok(())
    }
}

/// Pixels per scanline as HDF5 chooses them: the fastest dimension, if it is neither too short nor too long.
pub(crate) fn usual_scanline(shape: &[u64], block: u64) -> Result<usize, CodecError> {
    let fastest = shape.last().copied().unwrap_or(1);
    let total = shape.iter().try_fold(1u64, |product, &len| product.checked_mul(len));
    let scanline = if fastest < block {
        total.unwrap_or(u64::MAX).min(block * MAX_BLOCKS_PER_SCANLINE)
    } else if fastest <= MAX_PIXELS_PER_SCANLINE {
        fastest
    } else {
        block * MAX_BLOCKS_PER_SCANLINE
    };
    let scanline = usize::try_from(scanline).ok().filter(|&pixels| pixels > 0);
    scanline.ok_or_else(|| CodecError::unsupported(NAME, format!("a chunk of shape {shape:?}")))
}

/// The length of a run of zero blocks, after `done` earlier ones in the scanline of `blocks`.
///
/// The code 4 means "to the end of the segment of 64 blocks"; above it, codes are shifted by one.
fn zero_blocks(code: u32, done: usize, blocks: usize) -> Option<usize> {
    let left = blocks.checked_sub(done)?;
    let run = match code {
        4 => left.min(64 - done % 64),
        0..=3 => code as usize + 1,
        _ => code as usize,
    };
    (run <= left).then_some(run)
}

/// Second extension: two samples in one number, which enumerates the pairs by their sum. The first pair of a block that starts
/// with a reference has only the second sample.
#[inline(always)]
fn pairs(bits: &mut BitReader, has_reference: bool, out: &mut [u32]) -> Option<()> {
    let (single, pairs) = out.split_at_mut(usize::from(has_reference));
    for value in single {
        (_, *value) = pair(bits.zeros())?;
    }
    for [first, second] in pairs.as_chunks_mut::<2>().0 {
        (*first, *second) = pair(bits.zeros())?;
        if bits.is_over() {
            return None;
        }
    }
    Some(())
}

/// The pair with that number; `None` if a split would take fewer bits for any block.
#[inline(always)]
fn pair(number: u32) -> Option<(u32, u32)> {
    if number > 1 << 20 {
        return None;
    }
    let mut sum = 0;
    while (sum + 1) * (sum + 2) / 2 <= number {
        sum += 1;
    }
    let second = number - sum * (sum + 1) / 2;
    Some((sum - second, second))
}

/// Split samples: first the high parts of all, as runs of zeros, then the low `k` bits of all.
#[inline(always)]
fn split(bits: &mut BitReader, out: &mut [u32], k: u32) {
    for value in out.iter_mut() {
        *value = bits.zeros().wrapping_shl(k);
    }
    if k == 0 {
        return;
    }
    let mask = (1 << k) - 1;
    // As many as there are for sure in one look at the stream.
    for out in out.chunks_mut((BitReader::MOST / k) as usize) {
        let mut shift = k * u32::try_from(out.len()).unwrap_or(0);
        let word = bits.take_long(shift);
        for value in out {
            shift -= k;
            *value |= u32::try_from((word >> shift) & mask).unwrap_or(0);
        }
    }
}

/// The sample after `last`: small codes are differences of alternating sign; beyond the point where only one sign stays
/// within the range, the code is the distance.
#[inline(always)]
fn undo(code: u32, last: u32, max: u32) -> u32 {
    let half = (code >> 1) + (code & 1);
    let near = last.wrapping_add((code >> 1) ^ (code & 1).wrapping_neg());
    let far = if last > max / 2 { max ^ code } else { code };
    // Whether `half` is more than the distance to the nearer end of the range: one comparison, because each sample has to wait
    // for the one before.
    let is_far = last.wrapping_sub(half) >= (max + 1).saturating_sub(half.saturating_mul(2));
    max & if is_far { far } else { near }
}

fn damaged() -> CodecError {
    CodecError::malformed(NAME, "the stream is damaged or cut short")
}

#[cfg(test)]
mod tests;
