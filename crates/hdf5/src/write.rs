//! Writing netCDF-4/HDF5: new files, and in-place changes of files (docs/spec/hdf5-netcdf4.md I, J).
//!
//! - [`space`]: where new bytes go;
//! - [`out`], [`message`], [`types`], [`value`], [`heap`], [`header`]: from the data model to bytes;
//! - [`dense`]: attributes that are too long for a header;
//! - [`index`]: chunk indexes, built and changed;
//! - [`edit`]: messages of existing headers, changed in place;
//! - [`objects`], [`placer`]: the objects of a model, and the order in which they become visible;
//! - [`update`]: the same for existing files.
mod dense;
mod edit;
mod header;
mod heap;
mod index;
mod message;
mod objects;
mod out;
mod placer;
mod put;
mod space;
mod types;
mod update;
mod value;

pub use placer::{FileStructures, Hdf5Writer};

pub(crate) use index::{IndexGrid, byte_len as index_len};

use crate::address::FileAddress;
use bytes::Bytes;

/// Bytes at an address of the file (relative to its base).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    pub(crate) addr: FileAddress,
    pub(crate) body: Bytes,
}

/// A change of a structure that readers know: new bytes without references, then the writes that make them visible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StructureChange {
    /// New bytes without references: put first, in any order.
    pub(crate) fresh: Vec<FilePatch>,
    /// Put after a barrier, in this order; the structure is valid after each of them.
    pub(crate) then: Vec<FilePatch>,
    /// Space that is unused once all is done and durable.
    pub(crate) released: Vec<(FileAddress, u64)>,
}

/// A stored chunk: its location, its length, and which filters were skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredChunk {
    pub(crate) addr: FileAddress,
    pub(crate) len: u64,
    pub(crate) mask: u32,
}

#[cfg(test)]
mod tests;
