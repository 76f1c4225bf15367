//! Chunks that share an object: a shard.
use crate::{ChunkGrid, Result};
use bytes::Bytes;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// How the chunks of an array share objects. Pure: formats that have shards supply it, readers of definitions and the
/// writer use it. Chunks of a shard are numbered; the order is the format's.
pub trait Sharding: Debug + Send + Sync {
    /// Which chunks share a shard: a grid whose elements are the chunks of the array. Shards may differ in size.
    fn shards(&self) -> &ChunkGrid;

    /// The same with more shards, so that every chunk of an array with so many chunks along each axis has one; `None` if it has
    /// already. Only shards of different sizes are listed; others have no end.
    ///
    /// # Errors
    /// `Limit` if an axis gets too many shards.
    fn reaching(&self, chunks: &[u64]) -> Result<Option<Arc<dyn Sharding>>>;

    /// The number of a chunk in its shard.
    fn slot(&self, cell: &[u64]) -> usize;

    /// Whether the index is at the start of the object.
    fn is_index_first(&self) -> bool;

    /// Bytes of the index of a shard.
    ///
    /// # Errors
    /// `Limit` if it is too large for this machine.
    fn index_len(&self, shard: &[u64]) -> Result<u64>;

    /// Where the chunks of a shard are according to its index, by number, even if that is outside of the object.
    ///
    /// # Errors
    /// `Malformed` if the index has another length or its checksum is wrong.
    fn stated_ranges(&self, shard: &[u64], index: &[u8]) -> Result<Vec<Option<Range<u64>>>>;

    /// Where the chunks of a shard are in the bytes of its object, by number; `None` for those that were never written.
    ///
    /// # Errors
    /// `Malformed` if the index is damaged or names bytes outside of the object.
    fn ranges(&self, shard: &[u64], object: &Bytes) -> Result<Vec<Option<Range<usize>>>>;

    /// The object of a shard with these chunks, by number.
    ///
    /// # Errors
    /// `Invalid` if there are more chunks than the shard has, `Limit` if the object is too large for this machine.
    fn assemble(&self, shard: &[u64], chunks: &[Option<Bytes>]) -> Result<Bytes>;
}

impl dyn Sharding + '_ {
    /// Number of chunks in a shard; 0 if there is no such shard.
    pub fn slot_count(&self, shard: &[u64]) -> u64 {
        let shape = self.shards().cell_shape(shard);
        shape.map_or(0, |shape| shape.iter().fold(1, |product, count| product.saturating_mul(*count)))
    }

    /// The chunks of a shard along each axis, if all shards are alike.
    pub fn per_shard(&self) -> Option<&[u64]> {
        match self.shards() {
            ChunkGrid::Regular(counts) => Some(counts),
            ChunkGrid::Rectilinear(_) => None,
        }
    }

    /// The shard that contains a chunk: its index along each axis.
    pub fn shard_of(&self, cell: &[u64]) -> Vec<u64> {
        let shards = self.shards();
        let along = |(axis, at): (usize, &u64)| {
            // Behind the last shard: a number that no shard has.
            shards.cell_at(axis, *at).unwrap_or_else(|| shards.cells_along(axis, u64::MAX))
        };
        cell.iter().enumerate().map(along).collect()
    }

    /// The chunks of a shard, in ascending order.
    pub fn cells_of(&self, shard: &[u64]) -> impl Iterator<Item = Vec<u64>> {
        let chunks = self.shards().region(shard);
        let mut next = chunks.as_ref().map(|chunks| chunks.start.clone());
        std::iter::from_fn(move || {
            let cell = next.take()?;
            let (mut after, chunks) = (cell.clone(), chunks.as_ref()?);
            for ((at, first), count) in after.iter_mut().zip(&chunks.start).zip(&chunks.count).rev() {
                *at = at.saturating_add(1);
                if *at < first.saturating_add(*count) {
                    next = Some(after);
                    break;
                }
                *at = *first;
            }
            Some(cell)
        })
    }
}
