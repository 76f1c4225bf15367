//! The bytes of a shard: its chunks, and the index that locates them (Zarr v3, `sharding_indexed` 1.0;
//! docs/spec/zarr3.md 1).
use crate::read::array::ShardingLayout;
use crate::read::shard::{ABSENT, crc32c};
use bytes::Bytes;
use ncirrus_layout::{ByteOrder, ChunkGrid, Error, Result, Sharding};
use ncirrus_model::Shards;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Bytes of an index entry.
const ENTRY: usize = 16;
/// Bytes of the checksum.
const CHECKSUM: usize = 4;

/// The form of new shards, of an array with these chunks.
///
/// # Errors
/// `Invalid` if a length is 0 or not a multiple of the chunk's; `Limit` if a shard has too many chunks.
pub fn sharding_of(shards: &Shards, chunks: &[u64]) -> Result<Arc<dyn Sharding>> {
    Ok(Arc::new(ShardingLayout::new(shards, chunks)?))
}

impl ShardingLayout {
    /// Shards of that shape on a grid of chunks, in the form that every reader knows: numbers little-endian, with a checksum.
    ///
    /// # Errors
    /// `Invalid` if a length is 0 or not a multiple of the chunk's; `Limit` if a shard has too many chunks.
    pub(crate) fn new(shards: &Shards, chunks: &[u64]) -> Result<Self> {
        let shape = &shards.shape;
        if shape.len() != chunks.len() {
            return Err(Error::invalid(format!("shard shape {shape:?} has not {} lengths", chunks.len())));
        }
        let mut per_shard = Vec::with_capacity(shape.len());
        for (axis, (shard, chunk)) in shape.iter().zip(chunks).enumerate() {
            match shard.checked_div(*chunk) {
                Some(count) if count > 0 && shard.is_multiple_of(*chunk) => per_shard.push(count),
                _ => {
                    let message = format!(
                        "shard length {shard} of axis {axis} is not a multiple of the chunk length {chunk}"
                    );
                    return Err(Error::invalid(message));
                }
            }
        }
        let count = per_shard.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        if count.is_none_or(|count| count > MOST_CHUNKS) {
            let message = format!("a shard of {shape:?} has more than {MOST_CHUNKS} chunks of {chunks:?}");
            return Err(Error::limit(message));
        }
        Ok(Self {
            axes: (0..per_shard.len()).collect(),
            per_shard,
            index_at_end: !shards.index_first,
            index_order: ByteOrder::Little,
            has_checksum: true,
            ends: None,
            outer: Vec::new(),
            inner: None,
        })
    }

    /// The shards of an array with that chunk grid, in the model.
    pub(crate) fn of_chunks(&self, grid: &ChunkGrid) -> Option<Shards> {
        let ChunkGrid::Regular(chunks) = grid else { return None };
        if !self.is_writable() {
            return None;
        }
        let lens = chunks.iter().zip(&self.per_shard).map(|(chunk, count)| chunk.checked_mul(*count));
        Some(Shards { shape: lens.collect::<Option<_>>()?, index_first: !self.index_at_end })
    }

    /// The codec of an array with these chunks and codecs inside its shards.
    pub(crate) fn to_json(&self, chunks: &[u64], codecs: &[Value]) -> Value {
        let endian = if self.index_order == ByteOrder::Big { "big" } else { "little" };
        let mut index_codecs = vec![json!({"name": "bytes", "configuration": {"endian": endian}})];
        if self.has_checksum {
            index_codecs.push(json!({"name": "crc32c"}));
        }
        let location = if self.index_at_end { "end" } else { "start" };
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": chunks,
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": location,
        }})
    }

    fn slots(&self) -> Result<usize> {
        let count = self.per_shard.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| Error::limit("a shard has too many chunks for this machine"))
    }

    /// Bytes of the index.
    fn index_size(&self) -> Result<usize> {
        let checksum = if self.has_checksum { CHECKSUM } else { 0 };
        let len = self.slots()?.checked_mul(ENTRY).and_then(|len| len.checked_add(checksum));
        len.ok_or_else(|| Error::limit("a shard index is too large for this machine"))
    }

    /// The part of the bytes of a shard that is its index of `len` bytes.
    pub(crate) fn index_within<'a>(&self, shard: &'a [u8], len: usize) -> Option<&'a [u8]> {
        let start = if self.index_at_end { shard.len().checked_sub(len)? } else { 0 };
        shard.get(start..start.checked_add(len)?)
    }

    fn push_number(&self, index: &mut Vec<u8>, number: u64) {
        match self.index_order {
            ByteOrder::Little => index.extend_from_slice(&number.to_le_bytes()),
            ByteOrder::Big => index.extend_from_slice(&number.to_be_bytes()),
        }
    }
}

impl Sharding for ShardingLayout {
    fn per_shard(&self) -> &[u64] {
        &self.per_shard
    }

    fn slot(&self, cell: &[u64]) -> usize {
        self.number(cell, &self.shard_of(cell).1).at
    }

    fn is_index_first(&self) -> bool {
        !self.index_at_end
    }

    fn index_len(&self) -> Result<u64> {
        Ok(self.index_size()? as u64)
    }

    fn stated_ranges(&self, index: &[u8]) -> Result<Vec<Option<Range<u64>>>> {
        let len = self.index_size()?;
        if index.len() != len {
            let message = format!("the shard has {} bytes for its index of {len}", index.len());
            return Err(Error::malformed(message));
        }
        let range = |(offset, len): (u64, u64)| {
            let is_absent = offset == ABSENT && len == ABSENT;
            (!is_absent).then(|| offset..offset.saturating_add(len))
        };
        Ok(self.stated(index)?.into_iter().map(range).collect())
    }

    fn ranges(&self, object: &Bytes) -> Result<Vec<Option<Range<usize>>>> {
        let len = self.index_size()?;
        let entries =
            self.parse(self.index_within(object, len).unwrap_or_default(), object.len() as u64, len as u64)?;
        // No end is behind that of the object.
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let range = |(offset, len): (u64, u64)| {
            let is_absent = offset == ABSENT && len == ABSENT;
            (!is_absent).then(|| place(offset)..place(offset.saturating_add(len)))
        };
        Ok(entries.into_iter().map(range).collect())
    }

    fn assemble(&self, chunks: &[Option<Bytes>]) -> Result<Bytes> {
        let slots = self.slots()?;
        if chunks.len() > slots {
            return Err(Error::internal(format!("{} chunks for a shard of {slots}", chunks.len())));
        }
        let index_len = self.index_size()?;
        let start = if self.index_at_end { 0 } else { index_len };
        let mut end = start as u64;
        let mut index = Vec::with_capacity(index_len);
        for slot in 0..slots {
            let (offset, len) = match chunks.get(slot).and_then(Option::as_ref) {
                Some(chunk) => (end, chunk.len() as u64),
                None => (ABSENT, ABSENT),
            };
            self.push_number(&mut index, offset);
            self.push_number(&mut index, len);
            end = if offset == ABSENT { end } else { end.saturating_add(len) };
        }
        if self.has_checksum {
            let sum = crc32c(&index);
            index.extend_from_slice(&sum.to_le_bytes());
        }
        let whole = if self.index_at_end { end.saturating_add(index_len as u64) } else { end };
        let whole = usize::try_from(whole)
            .map_err(|_| Error::limit(format!("a shard of {whole} bytes is too large for this machine")))?;
        let mut object = Vec::with_capacity(whole);
        if !self.index_at_end {
            object.extend_from_slice(&index);
        }
        chunks.iter().flatten().for_each(|chunk| object.extend_from_slice(chunk));
        if self.index_at_end {
            object.extend_from_slice(&index);
        }
        Ok(object.into())
    }
}

/// The most chunks of a shard that is written: an index of 256 MiB.
const MOST_CHUNKS: u64 = 1 << 24;
