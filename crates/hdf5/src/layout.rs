//! The locations of a dataset's elements: layouts, filter pipelines, chunk indexes, virtual datasets
//! (docs/spec/hdf5-netcdf4.md E, G.1).
mod chunk;
mod dataset;
mod external;
mod message;
mod virtuals;

#[cfg(test)]
mod tests;

pub(crate) use chunk::{ArrayShape, ElementHome, size_width as chunk_size_width};
pub(crate) use dataset::{dataset, layout};

use crate::address::FileAddress;
use crate::datatypes::{Dataspace, Datatype};
use bytes::Bytes;
use ncirrus_model::CodecSpec;
use std::sync::Arc;

/// A dataset as described by its object header.
#[derive(Debug)]
pub(crate) struct StoredDataset {
    pub(crate) space: Dataspace,
    /// The whole datatype.
    pub(crate) datatype: Arc<Datatype>,
    /// The datatype of one element of [`shape`](Self::shape): the base of an array type, otherwise the datatype.
    pub(crate) element: Arc<Datatype>,
    /// The dataspace's lengths, then those of an array type.
    pub(crate) shape: Vec<u64>,
    pub(crate) arrangement: ElementLayout,
    /// The filters in the order of encoding, and their common names (empty: none).
    pub(crate) filters: Vec<CodecSpec>,
    pub(crate) filter_names: Vec<String>,
}

/// The arrangement of the elements: the layout message, with external files.
#[derive(Debug, Clone)]
pub(crate) enum ElementLayout {
    /// In the object header.
    Compact(Bytes),
    /// In one run; `None` if it was never allocated.
    Contiguous { addr: Option<FileAddress>, byte_len: u64 },
    /// In one run of bytes of other files.
    External(Arc<[ExternalPart]>),
    /// In chunks of that shape, one length per dimension of the dataspace.
    Chunked {
        shape: Vec<u64>,
        index: IndexKind,
        addr: Option<FileAddress>,
        edges_unfiltered: bool,
        version: u8,
    },
    /// Composed of other datasets: the global-heap object with the mappings.
    Virtual { collection: Option<FileAddress>, index: u32 },
}

/// A part of an external file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalPart {
    pub(crate) file: String,
    pub(crate) offset: u64,
    /// `None`: to the end of the file.
    pub(crate) byte_len: Option<u64>,
}

/// How chunks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexKind {
    BTree1,
    Single { filtered: Option<(u64, u32)> },
    Implicit,
    FixedArray { page_bits: u8 },
    ExtensibleArray { max_bits: u8, in_index: u8, min_pointers: u8, min_elements: u8, page_bits: u8 },
    BTree2,
}
