//! ZFP (HDF5 filter 32013): blocks of 4 numbers along every axis, transformed and coded bit plane by bit plane
//! (P. Lindstrom, "Fixed-Rate Compressed Floating-Point Arrays", 2014; docs/spec/hdf5-netcdf4.md G.3).
//!
//! - HDF5 filter: 32013 (values: a version and the words of a header; users give the mode 1 rate, 2 precision, 3
//!   accuracy, 4 expert, 5 reversible).
//! - Zarr v2: `zfpy`.
//! - Zarr v3: `numcodecs.zfpy`, with the parameters of Zarr v2 (`zfpy` is read, too); `zfp`, whose chunks have no header, with the `mode`
//!   `reversible`, `fixed_accuracy` (`tolerance`), `fixed_rate` (`rate`), `fixed_precision` (`precision`) or `expert`
//!   (`minbits`, `maxbits`, `maxprec`, `minexp`).
//! - Parameters: `mode`: 2 `rate` (bits of a number), 3 `precision` (bit planes), 4 `tolerance` (the maximum error;
//!   default mode), 5 reversible. Unused members are -1.
//! - Compatible: zfp 1.0; HDF5: H5Z-ZFP, whose chunks have no header; Zarr: numcodecs, whose chunks have one each.
//!
//! ```json
//! {"filter": 32013, "values": [5]}
//! {"id": "zfpy", "mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1}
//! {"name": "numcodecs.zfpy", "configuration": {"mode": 5, "tolerance": -1, "rate": -1, "precision": -1}}
//! {"name": "zfp", "configuration": {"mode": "fixed_accuracy", "tolerance": 0.001}}
//! ```
mod bits;
mod block;
mod encode;
mod header;
mod mode;
mod order;
mod planes;
mod scalar;
mod transform;

use crate::codec::{Codec, with_room};
use crate::parameters::CodecParameters;
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError, NumberKind};
use bits::{BitWriter, ZfpBits};
use block::BlockDecoder;
use header::{ZfpHeader, ZfpKind};
use mode::ZfpMode;
pub(crate) use mode::{is_reversible, members, user_numbers};
use scalar::ZfpScalar;

const NAME: &str = "zfpy";

/// ZFP.
#[derive(Debug)]
pub(crate) struct Zfp {
    /// The coding parameters.
    header: Result<ZfpHeader, CodecError>,
    /// Whether every chunk begins with its header.
    in_chunks: bool,
}

impl Zfp {
    /// Chunks that begin with their header, as in numcodecs. The type of the chunk and the members are needed for
    /// encoding only.
    pub(crate) fn with_headers(parameters: &CodecParameters, chunk: &ChunkInfo) -> Self {
        let is_unsigned = chunk.element.number.is_some_and(|number| number.kind == NumberKind::Unsigned);
        let header = match ZfpMode::of_members(parameters) {
            Ok(_) if is_unsigned => Err(CodecError::unsupported(NAME, "unsigned numbers")),
            Ok(mode) => ZfpHeader::new(mode, &chunk.element, &chunk.shape),
            Err(error) => Err(error),
        };
        Self { header, in_chunks: true }
    }

    /// Chunks without a header, as in the registry of Zarr v3: all that it would say is in the members and the chunk's shape,
    /// all of whose axes count. Those that an early writer put a header into say so (`write_header`).
    ///
    /// # Errors
    /// `Malformed` for members that are invalid, `Unsupported` if such chunks cannot be coded.
    pub(crate) fn without_headers(
        parameters: &CodecParameters,
        chunk: &ChunkInfo,
    ) -> Result<Self, CodecError> {
        let mode = ZfpMode::of_words(parameters)?;
        if chunk.element.number.is_some_and(|number| number.kind == NumberKind::Unsigned) {
            return Err(CodecError::unsupported(NAME, "unsigned numbers"));
        }
        let header = ZfpHeader::of_field(mode, &chunk.element, &chunk.shape)?;
        Ok(Self { header: Ok(header), in_chunks: parameters.flag("write_header")? })
    }

    /// The header as in HDF5: in the parameters, after a version number.
    ///
    /// # Errors
    /// `Malformed` if there is none.
    pub(crate) fn new(parameters: &[u32]) -> Result<Self, CodecError> {
        Ok(Self { header: Ok(header_of(parameters)?), in_chunks: false })
    }

    /// The header that applies to a chunk, and its stream.
    fn open<'a>(&self, input: &'a [u8]) -> Result<(ZfpHeader, ZfpBits<'a>), CodecError> {
        let mut bits = ZfpBits::new(input);
        if !self.in_chunks {
            return Ok((self.header.clone()?, bits));
        }
        let header = ZfpHeader::read(&mut bits);
        let header =
            header.ok_or_else(|| CodecError::malformed(NAME, "the chunk does not begin with a header"))?;
        Ok((header, bits))
    }
}

impl Codec for Zfp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode_fault(&self) -> Option<CodecError> {
        self.header.as_ref().err().cloned()
    }

    fn decoded_len(&self, input: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(self.open(input)?.0.len()))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let (header, bits) = self.open(input)?;
        with_room(NAME, header.len(), out, contexts, |out, _| {
            let decoded = match header.kind {
                ZfpKind::Int32 => decode::<i32>(&header, bits, out),
                ZfpKind::Int64 => decode::<i64>(&header, bits, out),
                ZfpKind::Float32 => decode::<f32>(&header, bits, out),
                ZfpKind::Float64 => decode::<f64>(&header, bits, out),
            };
            decoded.ok_or_else(|| {
                CodecError::malformed(NAME, format!("the stream of {} bytes is cut short", input.len()))
            })
        })
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let header = self.header.as_ref().map_err(CodecError::clone)?;
        let mut stream = out.take();
        let mut bits = BitWriter::new(&mut stream);
        let begun = if self.in_chunks { header.write(&mut bits) } else { Some(()) };
        let encoded = begun.and_then(|()| match header.kind {
            ZfpKind::Int32 => encode::encode::<i32>(header, input, bits),
            ZfpKind::Int64 => encode::encode::<i64>(header, input, bits),
            ZfpKind::Float32 => encode::encode::<f32>(header, input, bits),
            ZfpKind::Float64 => encode::encode::<f64>(header, input, bits),
        });
        if self.in_chunks {
            // Its readers read words of eight bytes.
            stream.resize(stream.len().next_multiple_of(8), 0);
        }
        out.set(stream);
        encoded.ok_or_else(|| {
            let reason =
                format!("numbers that are not finite, or {} bytes instead of {}", input.len(), header.len());
            CodecError::unsupported(NAME, reason)
        })
    }
}

/// The header in the parameters of HDF5.
fn header_of(parameters: &[u32]) -> Result<ZfpHeader, CodecError> {
    let words = parameters.get(1..).unwrap_or_default();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    // A machine with the other byte order wrote the words in its own.
    let turned: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let header =
        ZfpHeader::read(&mut ZfpBits::new(&bytes)).or_else(|| ZfpHeader::read(&mut ZfpBits::new(&turned)));
    header.ok_or_else(|| {
        CodecError::malformed(NAME, format!("parameters {parameters:?} hold no header of a stream"))
    })
}

/// The parameters of HDF5 for chunks of that shape and element, from those of other chunks or from those that users
/// give.
///
/// # Errors
/// `Malformed` if they are neither, `Unsupported` if such chunks cannot be coded.
pub(crate) fn fitted(parameters: &[u32], chunk: &ChunkInfo) -> Result<Vec<u32>, CodecError> {
    let (version, header) = match ZfpMode::of_user(parameters) {
        Some(mode) => (VERSION, ZfpHeader::new(mode, &chunk.element, &chunk.shape)?),
        None => {
            let mut header = header_of(parameters)?;
            header.shape = mode::axes(&chunk.shape)?;
            if chunk.element.number.is_some() {
                header.kind = mode::kind_of(&chunk.element)?;
            }
            (parameters.first().copied().unwrap_or(VERSION), header)
        }
    };
    let mut bytes = Vec::new();
    let mut bits = BitWriter::new(&mut bytes);
    let written = header.write(&mut bits);
    written.ok_or_else(|| CodecError::unsupported(NAME, format!("chunks of shape {:?}", chunk.shape)))?;
    bits.finish();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    Ok([version].into_iter().chain(words).collect())
}

/// The version that H5Z-ZFP 1.1.1 with ZFP 1.0.1 writes in front of the header.
const VERSION: u32 = 0x1010_5111;

/// The type is part of the header.
fn unknown_type() -> CodecError {
    CodecError::unsupported(NAME, "the type of the numbers is not known")
}

fn decode<S: ZfpScalar>(header: &ZfpHeader, bits: ZfpBits, out: &mut [u8]) -> Option<()> {
    match header.shape.len() {
        1 => decode_blocks::<S, 4>(header, bits, out),
        2 => decode_blocks::<S, 16>(header, bits, out),
        3 => decode_blocks::<S, 64>(header, bits, out),
        _ => decode_blocks::<S, 256>(header, bits, out),
    }
}

fn decode_blocks<S: ZfpScalar, const SIZE: usize>(
    header: &ZfpHeader,
    bits: ZfpBits,
    out: &mut [u8],
) -> Option<()> {
    let mut decoder = BlockDecoder::<S, SIZE>::new(bits, header.coding);
    let mut block = [S::default(); SIZE];
    for origin in header.blocks() {
        decoder.block(&mut block);
        header.rows(&origin, |row, start, count| {
            let values = block.get(row * 4..row * 4 + count).unwrap_or_default();
            let out = out.get_mut(start * size_of::<S>()..).unwrap_or_default();
            for (value, out) in values.iter().zip(out.chunks_exact_mut(size_of::<S>())) {
                value.store(out);
            }
        });
        if decoder.is_over() {
            return None;
        }
    }
    Some(())
}
