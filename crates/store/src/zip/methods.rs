//! The compression methods of zip files besides deflate (APPNOTE 6.3, 4.4.5).
use super::format::{BZIP2, DEFLATE64, EntryHeader, LZMA, XZ, ZSTD, ZSTD_DRAFT};
use crate::zstd_reader::ZstdReader;
use bzip2::bufread::MultiBzDecoder;
use deflate64::Deflate64Decoder;
use lzma_rust2::{LzmaReader, XzReader};
use ncirrus_layout::{Error, Result};
use std::io::Read;

/// Decompresses an entry of `len` bytes; a result that is longer than `len` ends one byte behind it.
pub(super) fn decompress(header: &EntryHeader, bytes: &[u8], len: usize) -> Result<Vec<u8>> {
    match header.method {
        BZIP2 => collect(MultiBzDecoder::new(bytes), len),
        DEFLATE64 => collect(Deflate64Decoder::with_buffer(bytes), len),
        LZMA => collect(lzma(header, bytes)?, len),
        XZ => collect(XzReader::new_mem_limit(bytes, true, DICTIONARY_KIB), len),
        ZSTD | ZSTD_DRAFT => collect(ZstdReader::new(bytes), len),
        other => Err(unknown(other)),
    }
}

/// Whether [`decompress`] has the method.
pub(super) fn is_known(method: u16) -> bool {
    matches!(method, BZIP2 | DEFLATE64 | LZMA | XZ | ZSTD | ZSTD_DRAFT)
}

/// The error for a method that cannot be decompressed, by the name that APPNOTE gives it.
pub(super) fn unknown(method: u16) -> Error {
    let name = match method {
        1 => " (shrunk)",
        2..=5 => " (reduced)",
        6 => " (imploded)",
        10 => " (PKWARE DCL implode)",
        16 => " (IBM z/OS CMPSC)",
        18 => " (IBM TERSE)",
        19 => " (IBM LZ77)",
        94 => " (MP3)",
        96 => " (JPEG)",
        97 => " (WavPack)",
        98 => " (PPMd)",
        _ => "",
    };
    Error::unsupported(format!("zip entry is compressed by the unsupported method {method}{name}"))
}

/// Memory grows with what is decompressed, not with what is declared.
fn collect(stream: impl Read, len: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let max = u64::try_from(len).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(max).read_to_end(&mut out).map_err(|error| damaged().because(error))?;
    Ok(out)
}

/// LZMA in zip files has a header of its own: version, length of the properties, properties (APPNOTE 5.8.8).
fn lzma<'a>(header: &EntryHeader, bytes: &'a [u8]) -> Result<LzmaReader<&'a [u8]>> {
    let Some(([_, _, 5, 0, properties, d0, d1, d2, d3], stream)) = bytes.split_first_chunk() else {
        return Err(damaged());
    };
    let dictionary = u32::from_le_bytes([*d0, *d1, *d2, *d3]);
    LzmaReader::new_with_props(stream, header.size, *properties, dictionary, None)
        .map_err(|error| damaged().because(error))
}

pub(super) fn damaged() -> Error {
    Error::malformed("compressed zip entry is damaged")
}

/// Dictionaries of the highest preset of xz have 64 MiB.
const DICTIONARY_KIB: u32 = 128 << 10;
