//! Chunks that are separate objects.
use crate::chunk_key::ChunkKeys;
use ncirrus_layout::{CellList, ChunkIndex, ChunkRef, Location, ObjectId, Step, View};

/// Names of chunk objects below an array, as a function of their coordinates.
#[derive(Debug)]
pub(super) struct KeyIndex {
    /// The array.
    pub(super) prefix: ObjectId,
    /// How coordinates are encoded as names.
    pub(super) keys: ChunkKeys,
    /// Axes of length 1 that are stored but not shown (scalars, docs/spec/nczarr.md 3.7).
    pub(super) hidden_axes: usize,
}

impl KeyIndex {
    /// The object that holds a chunk.
    pub(super) fn object(&self, cell: &[u64]) -> ObjectId {
        let name = match self.hidden_axes {
            0 => self.keys.key(cell),
            count => self.keys.key(&[cell, &vec![0; count]].concat()),
        };
        self.prefix.child(&name)
    }
}

impl ChunkIndex for KeyIndex {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        Ok(cells.iter().map(|cell| ChunkRef::new(Location::Object(self.object(cell)))).collect())
    }
}
