//! Locations of chunks.
use crate::{CellList, ObjectId, Sharding, Step, View};
use bytes::Bytes;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Locates chunks. An index is a function, not a table: an array of 10^8 chunks costs nothing to open.
pub trait ChunkIndex: Debug + Send + Sync {
    /// Locates every chunk, in the order given; may stall for index nodes and shard footers. Batched on purpose.
    ///
    /// # Errors
    /// A need, or the damage of an index node.
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>>;

    /// The common name of the codec at that position of the chain, for messages about missing codecs; `None` if its
    /// identifier is sufficient.
    fn codec_name(&self, _codec: usize) -> Option<&str> {
        None
    }

    /// Offset of the last structure of the index that [`locate`](Self::locate) has visited; `None` if it has visited none, or
    /// if the index is not stored among the chunks.
    fn last_structure(&self) -> Option<u64> {
        None
    }

    /// How the chunks share objects; `None` if each is an object of its own or the format has no shards.
    fn sharding(&self) -> Option<Arc<dyn Sharding>> {
        None
    }

    /// The object that has a chunk, if it is decoded whole before the chunk is located in it: a shard with codecs around it.
    /// `None` if the location of the chunk names the object.
    fn decoded_object(&self, _cell: &[u64]) -> Option<ObjectId> {
        None
    }

    /// The object of a shard, whose index along each axis is given; `None` if there is no [`sharding`](Self::sharding).
    fn shard_object(&self, _shard: &[u64]) -> Option<ObjectId> {
        None
    }
}

/// The location of one chunk, and which of the codecs were skipped for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRef {
    /// Its bytes.
    pub location: Location,
    /// Bit i set: codec i of the chain was not applied (HDF5 filter mask).
    pub mask: u32,
}

/// The location of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A range of an object.
    Bytes(ObjectId, Range<u64>),
    /// A whole object; if it does not exist, the chunk was never written.
    Object(ObjectId),
    /// In memory.
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
