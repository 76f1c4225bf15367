//! Decompression with a bound on the result. Memory grows with what is decompressed, not with what is declared.
use crate::zstd_reader::ZstdReader;
use ncirrus_layout::{Error, Result};
use std::io::Read;

/// The bytes of a page of `len` bytes, compressed by the codec of that number.
///
/// # Errors
/// `Malformed` for damaged bytes or another length, `Unsupported` naming the codec.
pub(super) fn decompress(codec: i64, bytes: &[u8], len: usize) -> Result<Vec<u8>> {
    let found = match codec {
        0 => bytes.to_vec(),
        1 => unsnappy(bytes, len)?,
        2 => gunzip(bytes, len)?,
        6 => unzstd(bytes, len)?,
        3 => return Err(unsupported("LZO")),
        4 => return Err(unsupported("Brotli")),
        5 | 7 => return Err(unsupported("LZ4")),
        other => return Err(unsupported(&other.to_string())),
    };
    if found.len() != len {
        let message = format!("a Parquet page of {len} bytes decompresses to {}", longer(found.len(), len));
        return Err(Error::malformed(message));
    }
    Ok(found)
}

fn longer(found: usize, len: usize) -> String {
    if found > len { "more".to_owned() } else { found.to_string() }
}

/// Decompresses zstd; a result that is longer than `max` ends one byte above it.
///
/// # Errors
/// `Malformed`.
fn unzstd(bytes: &[u8], max: usize) -> Result<Vec<u8>> {
    if bytes.is_empty() { Ok(Vec::new()) } else { collect("zstd", ZstdReader::new(bytes), max) }
}

/// Decompresses gzip with one or more members; a result that is longer than `max` ends one byte above it.
///
/// # Errors
/// `Malformed`.
fn gunzip(bytes: &[u8], max: usize) -> Result<Vec<u8>> {
    collect("gzip", flate2::read::MultiGzDecoder::new(bytes), max)
}

fn collect(codec: &str, stream: impl Read, max: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let max = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(max).read_to_end(&mut out).map_err(|error| damaged(codec).because(error))?;
    Ok(out)
}

fn unsnappy(bytes: &[u8], len: usize) -> Result<Vec<u8>> {
    let declared = snap::raw::decompress_len(bytes).map_err(|error| damaged("snappy").because(error))?;
    // The longest copy makes 64 bytes of three.
    if declared != len || declared / 32 > bytes.len() {
        return Err(damaged("snappy"));
    }
    snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| damaged("snappy").because(error))
}

fn damaged(codec: &str) -> Error {
    Error::malformed(format!("damaged {codec} data"))
}

fn unsupported(codec: &str) -> Error {
    Error::unsupported(format!("Parquet pages compressed by {codec}"))
}
