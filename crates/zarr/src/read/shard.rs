//! Chunks that share an object: the index of a shard (Zarr v3, `sharding_indexed`).
use super::array::ShardingLayout;
use super::keys::KeyIndex;
use ncirrus_layout::{
    ByteOrder, CellList, ChunkIndex, ChunkRef, Error, Location, ObjectBytes, ObjectId, Result, Sharding,
    Step, View, Want, join,
};
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The memo key of parsed indexes.
const PARSED: &str = "zarr shard index";
/// The index entry of a chunk that was never written.
const ABSENT: u64 = u64::MAX;

/// Locates chunks by the indexes of their shards.
#[derive(Debug)]
pub(super) struct ShardIndex {
    /// Names of the shards.
    pub(super) shards: KeyIndex,
    /// The layout of a shard.
    pub(super) form: ShardingLayout,
}

/// Offset and length of every chunk of a shard, in stored order.
type ShardEntries = Vec<(u64, u64)>;

impl ChunkIndex for ShardIndex {
    fn sharding(&self) -> Option<Arc<dyn Sharding>> {
        Some(Arc::new(self.form.clone()))
    }

    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let mut order: Vec<Vec<u64>> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        let places: Vec<(usize, usize)> = cells
            .iter()
            .map(|cell| {
                let (shard, inner) = self.split(cell);
                let at = *known.entry(shard).or_insert_with_key(|shard| {
                    order.push(shard.clone());
                    order.len() - 1
                });
                (at, inner)
            })
            .collect();
        let objects: Vec<ObjectId> = order.iter().map(|shard| self.shards.object(shard)).collect();
        let indexes = join(&objects, |object| self.entries(view, object))?;
        let chunk = |(at, inner): (usize, usize)| {
            let entry = indexes.get(at).and_then(Option::as_ref).and_then(|entries| entries.get(inner));
            let location = match (entry, objects.get(at)) {
                (Some((offset, len)), Some(object)) if *offset != ABSENT || *len != ABSENT => {
                    Location::Bytes(object.clone(), *offset..offset.saturating_add(*len))
                }
                _ => Location::Absent,
            };
            ChunkRef::new(location)
        };
        Ok(places.into_iter().map(chunk).collect())
    }
}

impl ShardIndex {
    /// The shard that holds a chunk, and the chunk's position in its index.
    fn split(&self, cell: &[u64]) -> (Vec<u64>, usize) {
        let form: &dyn Sharding = &self.form;
        (form.shard_of(cell), form.slot(cell))
    }

    /// The index of a shard; `None` if the shard was never written.
    fn entries(&self, view: &dyn View, object: &ObjectId) -> Step<Option<Arc<ShardEntries>>> {
        let count = self.form.per_shard.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        let checksum = if self.form.has_checksum { 4 } else { 0 };
        let len = count.and_then(|count| count.checked_mul(16)?.checked_add(checksum));
        let len = len.ok_or_else(|| Error::limit("a shard index of more than 2^64 bytes"))?;
        view.limits().metadata_len(len, "shard index").map_err(|error| error.at_object(object))?;
        let want = if self.form.index_at_end { Want::Suffix(len) } else { Want::Range(0..len) };
        let Some(blob) = view.read(object, want)? else { return Ok(None) };
        if let Some(known) = view.memo().find::<ShardEntries>(object, Some(&blob.tag), 0, PARSED) {
            return Ok(Some(known));
        }
        let entries =
            self.parse(&blob, len).map_err(|error| error.at_object(object).at_offset(blob.offset))?;
        let cost = blob.bytes.len();
        Ok(Some(view.memo().keep(object, Some(&blob.tag), 0, PARSED, entries, cost)))
    }

    fn parse(&self, blob: &ObjectBytes, len: u64) -> Result<ShardEntries> {
        if blob.bytes.len() as u64 != len {
            let message = format!("the shard has {} bytes, its index alone {len}", blob.size);
            return Err(Error::malformed(message));
        }
        let mut bytes = blob.bytes.as_ref();
        if self.form.has_checksum {
            let (index, sum) = bytes.split_at(bytes.len().saturating_sub(4));
            if sum != crc32c(index).to_le_bytes() {
                return Err(Error::malformed("the checksum of the shard index is wrong"));
            }
            bytes = index;
        }
        let number = |at: &[u8]| {
            let word = at.try_into().unwrap_or([0; 8]);
            match self.form.index_order {
                ByteOrder::Little => u64::from_le_bytes(word),
                ByteOrder::Big => u64::from_be_bytes(word),
            }
        };
        let entry = |pair: &[u8]| {
            let (offset, len) = pair.split_at(8);
            let (offset, len) = (number(offset), number(len));
            let is_absent = offset == ABSENT && len == ABSENT;
            match offset.checked_add(len) {
                _ if is_absent => Ok((offset, len)),
                Some(end) if end <= blob.size => Ok((offset, len)),
                _ => Err(Error::malformed(format!(
                    "a chunk at {offset} of {len} bytes in a shard of {}",
                    blob.size
                ))),
            }
        };
        bytes.chunks_exact(16).map(entry).collect()
    }
}

/// CRC-32C (Castagnoli), reflected, as in RFC 3720.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let [low, ..] = (sum ^ u32::from(*byte)).to_le_bytes();
        CRC_TABLE.get(usize::from(low)).map_or(0, |entry| entry ^ (sum >> 8))
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// The remainder of every byte.
const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    let mut first = 0u32;
    while byte < 256 {
        let mut sum = first;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
        first += 1;
    }
    table
};
