//! Codecs: the conversion between the bytes of a stored chunk and the bytes of its elements.
//!
//! Formats describe codecs as [`CodecSpec`](ncirrus_model::CodecSpec)s, in the terms of HDF5, Zarr v2 or Zarr v3. A
//! [`CodecRegistry`] binds a list of them to a [`CodecChain`], which encodes and decodes chunks.
//!
//! | codec | HDF5 | Zarr v2 | Zarr v3 | decodes | encodes |
//! |---|---|---|---|---|---|
//! | zlib (deflate) | 1 | `zlib` | `numcodecs.zlib` | yes | yes |
//! | gzip (HDF5: its zlib) | 1 | `gzip` | `gzip` | yes | yes |
//! | byte shuffle | 2 | `shuffle` | `numcodecs.shuffle` | yes | yes |
//! | Fletcher-32 | 3 | `fletcher32` | `numcodecs.fletcher32` | yes | yes |
//! | szip | 4 | `szip` | `szip` | yes | yes |
//! | n-bit | 5 | `nbit` | `nbit` | yes | yes |
//! | scale-offset | 6 | `scaleoffset` | `scaleoffset` | yes | yes |
//! | bzip2 | 307 | `bz2` | `numcodecs.bz2` | yes | yes |
//! | LZF | 32000 | `lzf` | `lzf` | yes | yes |
//! | Blosc | 32001 | `blosc` | `blosc` | yes | yes |
//! | LZ4 | 32004 | `lz4` | `numcodecs.lz4` | yes | yes |
//! | bit shuffle | 32008 | `bitshuffle` | `bitshuffle` | yes | yes |
//! | ZFP | 32013 | `zfpy` | `numcodecs.zfpy` | yes | yes |
//! | ZFP of the registry of Zarr v3 | | | `zfp` | yes | yes |
//! | Zstandard | 32015 | `zstd` | `zstd` | yes | yes |
//! | Blosc 2 | 32026 | `blosc2` | `blosc2` | yes | yes |
//! | BitGroom (nothing to undo) | 32022 | `bitgroom` | `bitgroom` | yes | yes |
//! | Granular BitRound (nothing to undo) | 32023 | `granularbitround` | `granularbitround` | yes | yes |
//! | LZMA | | `lzma` | `numcodecs.lzma` | yes | yes |
//! | delta | | `delta` | `numcodecs.delta` | yes | yes |
//! | fixed scale and offset | | `fixedscaleoffset` | `numcodecs.fixedscaleoffset` | yes | yes |
//! | quantization | | `quantize` | `numcodecs.quantize` | yes | yes |
//! | bit rounding | | `bitround` | `numcodecs.bitround` | yes | yes |
//! | packed bits | | `packbits` | `numcodecs.packbits` | yes | yes |
//! | packed bits of the registry of Zarr v3 | | | `packbits` | yes | yes |
//! | cast by value | | | `cast_value` | yes | yes |
//! | scale and offset in the element type | | | `scale_offset` | yes | yes |
//! | another shape | | | `reshape` | yes | yes |
//! | codecs skipped for single chunks | | | `conditional` | yes | yes |
//! | blocks of N5 | | | `n5_default` | yes | yes |
//! | pcodec | | `pcodec` | `numcodecs.pcodec` | yes | yes |
//! | type conversion | | `astype` | `numcodecs.astype` | yes | yes |
//! | CRC-32 | | `crc32` | `numcodecs.crc32` | yes | yes |
//! | CRC-32C | | `crc32c` | `crc32c` | yes | yes |
//! | Adler-32 | | `adler32` | `numcodecs.adler32` | yes | yes |
//! | Jenkins lookup3 | | `jenkins_lookup3` | `numcodecs.jenkins_lookup3` | yes | yes |
//! | order of dimensions | | | `transpose` | yes | yes |
//! | byte order (nothing to do) | | | `bytes` | yes | yes |
//! | text (by the element type) | | `vlen-utf8` | `vlen-utf8` | yes | yes |
//! | bytes (by the element type) | | `vlen-bytes` | `vlen-bytes` | yes | yes |
//! | arrays (by the element type) | | `vlen-array` | `vlen-array` | yes | yes |
//! | JSON (by the element type) | | `json2` | `numcodecs.json2` | yes | yes |
//! | shards (an index of chunks) | | | `sharding_indexed` | no | no |
//!
//! ```
//! use ncirrus_codec::{ChunkInfo, DecodedElement, CodecRegistry, CodecScratch};
//! use ncirrus_model::CodecSpec;
//!
//! let chunk = ChunkInfo { shape: vec![4, 8], element: DecodedElement::sized(Some(4)) };
//! let chain = CodecRegistry::builtin().bind(&[CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[4])], &chunk)?;
//! let mut scratch = CodecScratch::default();
//! let (encoded, skipped) = chain.encode(&[7; 128], &mut scratch)?;
//! let mut decoded = [0; 128];
//! chain.decode_into(&encoded, skipped, &mut decoded, &mut scratch)?;
//! assert_eq!(decoded, [7; 128]);
//! # Ok::<(), ncirrus_codec::CodecError>(())
//! ```
#![deny(unsafe_code)]

mod bits;
mod chain;
mod chunk;
mod codec;
mod codecs;
pub mod conformance;
mod custom;
mod entry;
mod error;
#[expect(unsafe_code, reason = "calls into C codecs")]
mod ffi;
pub mod names;
mod number;
mod parameters;
#[cfg(feature = "plugins")]
mod plugin;
#[expect(unsafe_code, reason = "calls of functions for instructions that were detected")]
mod processor;
mod registry;
mod scratch;
mod stream;

pub use chain::CodecChain;
pub use chunk::{ChunkInfo, DecodedElement};
pub use custom::{CodecFactory, CustomCodec};
pub use entry::{CodecEntry, CodecOrigin, IgnoredPlugin};
pub use error::CodecError;
pub use number::{NumberKind, NumberType};
#[cfg(feature = "plugins")]
pub use plugin::PluginOptions;
pub use registry::CodecRegistry;
pub use scratch::CodecScratch;
