//! Where chunks lie.
use crate::{CellList, ObjectId, Step, View};
use bytes::Bytes;
use std::fmt::Debug;
use std::ops::Range;

/// Tells where chunks lie. An index is a function, not a table: an array of 10^8 chunks costs nothing to open.
pub trait ChunkIndex: Debug + Send + Sync {
    /// Locates every cell, in the order given; may stall for index nodes and shard footers. Batched on purpose.
    ///
    /// # Errors
    /// A need, or the damage of an index node.
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>>;

    /// What people call the codec at that place of the chain, for messages about one that is not there; `None` where
    /// its identifier says it all.
    fn codec_name(&self, _codec: usize) -> Option<&str> {
        None
    }
}

/// Where one chunk lies and which of the codecs were skipped for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRef {
    /// Its bytes.
    pub location: Location,
    /// Bit i set: codec i of the chain was not applied (HDF5 filter mask).
    pub mask: u32,
}

/// Where bytes lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A range of an object.
    Bytes(ObjectId, Range<u64>),
    /// A whole object; when it does not exist, the chunk was never written.
    Object(ObjectId),
    /// At hand.
    Inline(Bytes),
    /// Never written.
    Absent,
}

impl ChunkRef {
    /// A chunk that went through all codecs.
    pub fn new(location: Location) -> Self {
        Self { location, mask: 0 }
    }
}
