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
        self.object_by(cell, &mut String::new())
    }

    /// As [`object`](Self::object), with memory for the name: names are made by the hundred thousand.
    fn object_by(&self, cell: &[u64], name: &mut String) -> ObjectId {
        name.clear();
        name.push_str(self.prefix.key());
        if !name.is_empty() {
            name.push('/');
        }
        match self.hidden_axes {
            0 => self.keys.append(cell, name),
            count => self.keys.append(&[cell, &vec![0; count]].concat(), name),
        }
        ObjectId::new(self.prefix.store.clone(), name.as_str())
    }
}

impl ChunkIndex for KeyIndex {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let mut name = String::new();
        let locate = |cell| ChunkRef::new(Location::Object(self.object_by(cell, &mut name)));
        Ok(cells.iter().map(locate).collect())
    }
}
