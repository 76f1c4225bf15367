//! bzip2: the Burrows-Wheeler transform and Huffman codes. A chunk is one stream (docs/spec/hdf5-netcdf4.md G.3).
//!
//! - HDF5 filter: 307 (value: level).
//! - Zarr v2: `bz2`; `bzip2` is read, too.
//! - Zarr v3: `numcodecs.bz2`; `bz2` is read, too.
//! - Parameters: `level`: 1 to 9 (default 1), the block size in units of 100,000 bytes.
//! - Compatible: bzip2, and therefore numcodecs, netCDF-C (`nc_def_var_bzip2`) and `hdf5plugin`.
//!
//! ```json
//! {"filter": 307, "values": [9]}
//! {"id": "bz2", "level": 9}
//! {"name": "numcodecs.bz2", "configuration": {"level": 1}}
//! ```
use crate::CodecError;
use crate::codec::Codec;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::stream;
use bzip2::bufread::{BzEncoder, MultiBzDecoder};
use std::ops::Range;

const NAME: &str = "bz2";

/// bzip2; the level is the block size in units of 100,000 bytes.
#[derive(Debug)]
pub(crate) struct Bzip2 {
    level: u32,
}

impl Bzip2 {
    /// Checks the level, 1 to 9.
    ///
    /// # Errors
    /// `Malformed` for any other level.
    pub(crate) fn new(level: i64) -> Result<Self, CodecError> {
        match u32::try_from(level) {
            Ok(level @ 1..=9) => Ok(Self { level }),
            _ => Err(CodecError::malformed(NAME, format!("level {level} is not between 1 and 9"))),
        }
    }
}

impl Codec for Bzip2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        stream::decode_into(NAME, &mut MultiBzDecoder::new(input), out)
    }

    fn decode_ranges(
        &self,
        input: &[u8],
        ranges: &[Range<usize>],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        stream::fill(NAME, &mut MultiBzDecoder::new(input), stream::up_to_last(ranges, out))
    }

    fn decode_all(
        &self,
        input: &[u8],
        expected: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        stream::decode_all(NAME, &mut MultiBzDecoder::new(input), (expected, input.len()), limit, out)
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let mut stream = BzEncoder::new(input, bzip2::Compression::new(self.level));
        stream::decode_all(NAME, &mut stream, (Some(input.len()), input.len()), usize::MAX, out)
    }
}
