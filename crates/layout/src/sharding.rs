//! Chunks that share an object: a shard.
use crate::Result;
use bytes::Bytes;
use std::fmt::Debug;
use std::ops::Range;

/// How the chunks of an array share objects. Pure: formats that have shards supply it, readers of definitions and the
/// writer use it. Chunks of a shard are numbered; the order is the format's.
pub trait Sharding: Debug + Send + Sync {
    /// Chunks of a shard along each axis of the array.
    fn per_shard(&self) -> &[u64];

    /// The number of a chunk in its shard.
    fn slot(&self, cell: &[u64]) -> usize;

    /// Whether the index is at the start of the object.
    fn is_index_first(&self) -> bool;

    /// Bytes of the index.
    ///
    /// # Errors
    /// `Limit` if it is too large for this machine.
    fn index_len(&self) -> Result<u64>;

    /// Where the chunks of a shard are according to its index, by number, even if that is outside of the object.
    ///
    /// # Errors
    /// `Malformed` if the index has another length or its checksum is wrong.
    fn stated_ranges(&self, index: &[u8]) -> Result<Vec<Option<Range<u64>>>>;

    /// Where the chunks of a shard are in the bytes of its object, by number; `None` for those that were never written.
    ///
    /// # Errors
    /// `Malformed` if the index is damaged or names bytes outside of the object.
    fn ranges(&self, object: &Bytes) -> Result<Vec<Option<Range<usize>>>>;

    /// The object of a shard with these chunks, by number.
    ///
    /// # Errors
    /// `Invalid` if there are more chunks than the shard has, `Limit` if the object is too large for this machine.
    fn assemble(&self, chunks: &[Option<Bytes>]) -> Result<Bytes>;
}

impl dyn Sharding + '_ {
    /// Number of chunks in a shard.
    pub fn slot_count(&self) -> u64 {
        self.per_shard().iter().fold(1, |product, count| product.saturating_mul(*count))
    }

    /// The shard that contains a chunk: its index along each axis.
    pub fn shard_of(&self, cell: &[u64]) -> Vec<u64> {
        cell.iter().zip(self.per_shard()).map(|(at, count)| at / (*count).max(1)).collect()
    }

    /// The chunks of a shard, in ascending order.
    pub fn cells_of(&self, shard: &[u64]) -> impl Iterator<Item = Vec<u64>> {
        let per_shard: Vec<u64> = self.per_shard().iter().map(|count| (*count).max(1)).collect();
        let first: Vec<u64> =
            shard.iter().zip(&per_shard).map(|(at, count)| at.saturating_mul(*count)).collect();
        let mut next = (first.len() == per_shard.len()).then(|| first.clone());
        std::iter::from_fn(move || {
            let cell = next.take()?;
            let mut after = cell.clone();
            for ((at, first), count) in after.iter_mut().zip(&first).zip(&per_shard).rev() {
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
