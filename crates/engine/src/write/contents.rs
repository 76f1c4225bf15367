//! The contents of a chunk while it is written: its elements in memory, and its state in the store.
use bytes::Bytes;
use ncirrus_layout::{ChunkRef, Tag};
use ncirrus_model::Values;

/// The contents of a cached chunk: all elements of the whole chunk, including those outside the array.
#[derive(Debug, Clone)]
pub(super) enum DirtyContents {
    /// Elements as they are stored, before codecs.
    Bytes(Vec<u8>),
    /// Elements without a fixed size.
    Values(Values),
}

impl DirtyContents {
    /// Approximate number of bytes held.
    pub(super) fn byte_len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Values(values) => cost_of(values),
        }
    }
}

/// Approximate number of bytes that values hold.
pub(super) fn cost_of(values: &Values) -> usize {
    match values {
        Values::String(strings) => strings.byte_len() + 9 * strings.len(),
        Values::Vlen { ends, elements } => 8 * ends.len() + cost_of(elements),
        Values::Compound { fields, .. } => fields.iter().map(cost_of).sum(),
        fixed => fixed.as_bytes().map_or(0, <[u8]>::len),
    }
}

/// Where a chunk is, and its bytes once they are loaded.
#[derive(Debug, Clone)]
pub(super) enum StoredChunk {
    /// Never written.
    Absent,
    /// In a local store; read when needed.
    There(ChunkRef),
    /// The bytes, the codecs that were skipped, and the tag of the object, if all bytes are of one.
    Bytes(Bytes, u32, Option<Tag>),
    /// The elements of the whole chunk, for elements that are stored elsewhere and referred to.
    Values(Values),
}

impl StoredChunk {
    /// Number of bytes held.
    pub(super) fn byte_len(&self) -> usize {
        match self {
            Self::Bytes(bytes, ..) => bytes.len(),
            Self::Absent | Self::There(_) | Self::Values(_) => 0,
        }
    }

    /// The codecs that a stored chunk was encoded without; `None` if there are no bytes of it.
    pub(super) fn mask(&self) -> Option<u32> {
        match self {
            Self::Bytes(_, mask, _) => Some(*mask),
            Self::There(found) => Some(found.mask),
            Self::Absent | Self::Values(_) => None,
        }
    }
}
