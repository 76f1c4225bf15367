//! Checksums stored with the bytes: fletcher32, crc32, crc32c, adler32.
//!
//! - HDF5 filter: 3 (Fletcher-32; no values).
//! - Zarr v2: `fletcher32`, `crc32`, `crc32c`, `adler32`, `jenkins_lookup3`.
//! - Zarr v3: `numcodecs.fletcher32`, `numcodecs.crc32`, `crc32c`, `numcodecs.adler32`, `numcodecs.jenkins_lookup3`;
//!   `fletcher32`, `crc32`, `numcodecs.crc32c`, `adler32` and `jenkins_lookup3` are read, too.
//! - Parameters: `location` (not of Fletcher-32): `start` (default of CRC-32 and Adler-32) or `end` (default of
//!   CRC-32C). Of `jenkins_lookup3`: `initval` (default 0) and `prefix`, bytes in front of those that are summed.
//! - Compatible: HDF5 and numcodecs. The sums of Fletcher-32 are HDF5's, over big-endian words of 16 bits
//!   (docs/spec/hdf5-netcdf4.md G.2).
//!
//! ```json
//! {"filter": 3, "values": []}
//! {"id": "fletcher32"}
//! {"id": "crc32", "location": "end"}
//! {"name": "crc32c", "configuration": {}}
//! {"name": "numcodecs.adler32", "configuration": {}}
//! {"id": "jenkins_lookup3", "initval": 1, "prefix": [1, 2]}
//! ```
mod lookup3;

use crate::CodecError;
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use std::ops::Range;
use std::sync::Arc;

/// A sum of 32 bits, little-endian, before or after the bytes.
#[derive(Debug)]
pub(crate) struct Checksum {
    pub(crate) algorithm: ChecksumAlgorithm,
    pub(crate) at_start: bool,
}

/// The algorithm of the sum.
#[derive(Debug, Clone)]
pub(crate) enum ChecksumAlgorithm {
    /// HDF5's: sums of 16-bit big-endian words, modulo 65535 (filter 3; `docs/spec/nczarr.md` 11.3).
    Fletcher32,
    /// As in gzip and zip.
    Crc32,
    /// Castagnoli's, as in iSCSI.
    Crc32c,
    /// As in zlib.
    Adler32,
    /// Bob Jenkins' hash, of the bytes after a prefix.
    Lookup3 { initial: u32, prefix: Arc<[u8]> },
}

impl Codec for Checksum {
    fn name(&self) -> &'static str {
        match self.algorithm {
            ChecksumAlgorithm::Fletcher32 => "fletcher32",
            ChecksumAlgorithm::Crc32 => "crc32",
            ChecksumAlgorithm::Crc32c => "crc32c",
            ChecksumAlgorithm::Adler32 => "adler32",
            ChecksumAlgorithm::Lookup3 { .. } => "jenkins_lookup3",
        }
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        len.checked_add(4)
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(self.split(input)?.0.len()))
    }

    fn peel(&self, input: &[u8]) -> Result<Option<Range<usize>>, CodecError> {
        let (range, stored) = self.split(input)?;
        let bytes = input.get(range.clone()).unwrap_or_default();
        let sum = self.algorithm.sum(bytes);
        if sum == stored || self.algorithm.accepts(bytes, stored) {
            return Ok(Some(range));
        }
        Err(CodecError::malformed(
            self.name(),
            format!("the bytes have the checksum {sum:08x} instead of {stored:08x}"),
        ))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let range = self.peel(input)?.unwrap_or_default();
        let bytes = input.get(range).unwrap_or_default();
        copy_prefix(bytes, out);
        Ok(bytes.len())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let sum = self.algorithm.sum(input).to_le_bytes();
        let out = out.prepare(input.len().saturating_add(4));
        let (first, second) = if self.at_start { (&sum[..], input) } else { (input, &sum[..]) };
        let (start, end) = out.split_at_mut(first.len());
        start.copy_from_slice(first);
        end.copy_from_slice(second);
        Ok(())
    }
}

impl Checksum {
    /// The range of the bytes, and the stored sum.
    fn split(&self, input: &[u8]) -> Result<(Range<usize>, u32), CodecError> {
        let found = if self.at_start {
            input.first_chunk::<4>().map(|sum| (4..input.len(), sum))
        } else {
            input.last_chunk::<4>().map(|sum| (0..input.len() - 4, sum))
        };
        let (range, sum) = found.ok_or_else(|| {
            CodecError::malformed(self.name(), format!("{} bytes have no room for a checksum", input.len()))
        })?;
        Ok((range, u32::from_le_bytes(*sum)))
    }
}

impl ChecksumAlgorithm {
    fn sum(&self, bytes: &[u8]) -> u32 {
        match self {
            Self::Fletcher32 => fletcher32(bytes),
            Self::Crc32 => libdeflater::crc32(bytes),
            Self::Crc32c => crc32c::crc32c(bytes),
            Self::Adler32 => libdeflater::adler32(bytes),
            Self::Lookup3 { initial, prefix } if prefix.is_empty() => lookup3::lookup3(bytes, *initial),
            Self::Lookup3 { initial, prefix } => lookup3::lookup3(&[prefix, bytes].concat(), *initial),
        }
    }

    /// HDF5 up to 1.6.2 stored fletcher32 sums with the bytes of each half swapped; its readers still accept them.
    fn accepts(&self, bytes: &[u8], stored: u32) -> bool {
        matches!(self, Self::Fletcher32) && {
            let [a, b, c, d] = fletcher32(bytes).to_le_bytes();
            stored == u32::from_le_bytes([b, a, d, c])
        }
    }
}

/// Words between two reductions: the maximum for which the sums cannot overflow 32 bits (as in HDF5, whose result
/// depends on it if a sum is a multiple of 65535).
const FLETCHER_WORDS: usize = 360;

fn fletcher32(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let (mut first, mut second) = (0u32, 0u32);
    for block in words.chunks(FLETCHER_WORDS) {
        for word in block {
            first += u32::from(u16::from_be_bytes(*word));
            second += first;
        }
        first = fold(first);
        second = fold(second);
    }
    if let [last] = odd {
        first = fold(first + (u32::from(*last) << 8));
        second = fold(second + first);
    }
    (fold(second) << 16) | fold(first)
}

fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}
