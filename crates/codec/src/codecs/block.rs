//! Compressed blocks of known decoded length, inside other codecs.
use super::blosclz;
use crate::ffi::lz4_decode;
use crate::scratch::LibraryContexts;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use zstd_safe::{CCtx, DCtx};

/// How a block is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockFormat {
    /// Blosc's own; for reading only.
    BloscLz,
    /// An LZ4 block.
    Lz4,
    /// Snappy without framing.
    Snappy,
    Zlib,
    Zstd,
}

/// Decodes a block to exactly the bytes of `out`; `None` if it does not decode to that.
pub(crate) fn decompress(
    format: BlockFormat,
    input: &[u8],
    out: &mut [u8],
    contexts: &mut LibraryContexts,
) -> Option<()> {
    let len = match format {
        BlockFormat::BloscLz => blosclz::decode(input, out)?,
        BlockFormat::Lz4 => lz4_decode(input, out)?,
        BlockFormat::Snappy => snap::raw::Decoder::new().decompress(input, out).ok()?,
        BlockFormat::Zlib => {
            contexts.inflate.get_or_insert_with(Decompressor::new).zlib_decompress(input, out).ok()?
        }
        BlockFormat::Zstd => {
            contexts.zstd_decoder.get_or_insert_with(DCtx::create).decompress(out, input).ok()?
        }
    };
    (len == out.len()).then_some(())
}

/// Maximum number of bytes to which `len` bytes are encoded.
pub(crate) fn compress_bound(format: BlockFormat, len: usize) -> usize {
    match format {
        BlockFormat::BloscLz => 0,
        BlockFormat::Lz4 => lz4_flex::block::get_maximum_output_size(len),
        BlockFormat::Snappy => snap::raw::max_compress_len(len),
        // Blocks of at least 5000 bytes with 5 bytes of overhead each, and an envelope.
        BlockFormat::Zlib => len.saturating_add(len / 1000).saturating_add(64),
        BlockFormat::Zstd => zstd_safe::compress_bound(len),
    }
}

/// Encodes a block, and returns its length; `None` if that is not possible.
pub(crate) fn compress(
    format: BlockFormat,
    level: i32,
    input: &[u8],
    out: &mut [u8],
    contexts: &mut LibraryContexts,
) -> Option<usize> {
    match format {
        BlockFormat::BloscLz => None,
        BlockFormat::Lz4 => lz4_flex::block::compress_into(input, out).ok(),
        BlockFormat::Snappy => snap::raw::Encoder::new().compress(input, out).ok(),
        BlockFormat::Zlib => {
            let kept = contexts.deflate.take().filter(|(kept, _)| *kept == level);
            let new = || CompressionLvl::new(level).ok().map(|known| (level, Compressor::new(known)));
            contexts.deflate = kept.or_else(new);
            contexts.deflate.as_mut()?.1.zlib_compress(input, out).ok()
        }
        BlockFormat::Zstd => {
            contexts.zstd_encoder.get_or_insert_with(CCtx::create).compress(out, input, level).ok()
        }
    }
}
