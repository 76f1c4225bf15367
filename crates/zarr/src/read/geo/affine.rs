//! Values that are computed instead of read.
use bytes::Bytes;
use ncirrus_layout::{CellList, ChunkIndex, ChunkRef, Location, Step, View};

/// Elements of a computed chunk. It is small because all chunks of a batch, 2^15 of them, are in memory at the same time: 128 MiB.
pub(super) const CHUNK: u64 = 1 << 9;

/// Coordinates at equal distances, in chunks.
#[derive(Debug)]
pub(super) struct AffineIndex {
    pub(super) start: f64,
    pub(super) step: f64,
}

impl AffineIndex {
    #[expect(clippy::cast_precision_loss, reason = "indices of coordinates are far below 2^53")]
    fn chunk(&self, cell: &[u64]) -> Bytes {
        let first = cell.first().copied().unwrap_or(0).saturating_mul(CHUNK);
        let number = |index: u64| self.start + self.step * first.saturating_add(index) as f64;
        (0..CHUNK).flat_map(|index| number(index).to_le_bytes()).collect()
    }
}

impl ChunkIndex for AffineIndex {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        Ok(cells.iter().map(|cell| ChunkRef::new(Location::Inline(self.chunk(cell)))).collect())
    }
}

/// The same bytes for each chunk.
#[derive(Debug)]
pub(super) struct FixedBytes(Bytes);

/// An index of chunks that all have these bytes.
pub(super) fn values_of(bytes: Vec<u8>) -> FixedBytes {
    FixedBytes(bytes.into())
}

impl ChunkIndex for FixedBytes {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        Ok(cells.iter().map(|_| ChunkRef::new(Location::Inline(self.0.clone()))).collect())
    }
}
