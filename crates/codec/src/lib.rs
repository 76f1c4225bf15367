//! Codecs: what lies between the bytes of a stored chunk and the bytes of its elements.
//!
//! Formats describe codecs as [`CodecSpec`](ncirrus_model::CodecSpec)s, in the words of HDF5, Zarr v2 or Zarr v3.
//! A [`Registry`] binds a list of them to a [`CodecChain`], which encodes and decodes chunks.
//!
//! | codec | HDF5 | Zarr v2 | Zarr v3 | decodes | encodes |
//! |---|---|---|---|---|---|
//! | zlib | 1 | `zlib` | `numcodecs.zlib` | yes | yes |
//! | gzip | | `gzip` | `gzip` | yes | yes |
//! | shuffle | 2 | `shuffle` | `numcodecs.shuffle` | yes | yes |
//! | fletcher32 | 3 | `fletcher32` | `numcodecs.fletcher32` | yes | yes |
//! | zstd | 32015 | `zstd` | `zstd` | yes | yes |
//! | blosc | 32001 | `blosc` | `blosc` | yes | yes |
//! | crc32c | | `crc32c` | `crc32c` | yes | yes |
//! | transpose | | | `transpose` | yes | yes |
//!
//! ```
//! use ncirrus_codec::{ChunkInfo, Element, Registry, Scratch};
//! use ncirrus_model::CodecSpec;
//!
//! let chunk = ChunkInfo { shape: vec![4, 8], element: Element { byte_len: Some(4) } };
//! let chain = Registry::builtin().bind(&[CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[4])], &chunk)?;
//! let mut scratch = Scratch::default();
//! let (encoded, skipped) = chain.encode(&[7; 128], &mut scratch)?;
//! let mut decoded = [0; 128];
//! chain.decode_into(&encoded, skipped, &mut decoded, &mut scratch)?;
//! assert_eq!(decoded, [7; 128]);
//! # Ok::<(), ncirrus_codec::CodecError>(())
//! ```
#![deny(unsafe_code)]

mod chain;
mod chunk;
mod codec;
mod codecs;
mod error;
#[expect(unsafe_code, reason = "calls into C codecs")]
mod ffi;
pub mod names;
mod number;
mod parameters;
mod registry;
mod scratch;
mod stream;

pub use chain::CodecChain;
pub use chunk::{ChunkInfo, Element};
pub use error::CodecError;
pub use registry::{CodecEntry, Registry};
pub use scratch::Scratch;
