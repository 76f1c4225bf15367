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
            shards: ChunkGrid::Regular(per_shard),
            index_at_end: !shards.index_first,
            index_order: ByteOrder::Little,
            has_checksum: true,
            outer: Vec::new(),
            inner: None,
        })
    }

    /// The shards of an array with that chunk grid, in the model, which has no shards of different sizes.
    pub(crate) fn of_chunks(&self, grid: &ChunkGrid) -> Option<Shards> {
        let (ChunkGrid::Regular(chunks), ChunkGrid::Regular(per_shard)) = (grid, &self.shards) else {
            return None;
        };
        if !self.is_writable() {
            return None;
        }
        let lens = chunks.iter().zip(per_shard).map(|(chunk, count)| chunk.checked_mul(*count));
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

    fn slots(&self, shard: &[u64]) -> Result<usize> {
        // A scalar does not show the axes that its array has.
        let at = if shard.is_empty() { vec![0; self.shards.rank()] } else { shard.to_vec() };
        let Some(shape) = self.shards.cell_shape(&at) else {
            return Err(Error::invalid(format!("there is no shard {shard:?}")));
        };
        let count = shape.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        let count = count.and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| Error::limit("a shard has too many chunks for this machine"))
    }

    /// Bytes of the index of a shard.
    fn index_size(&self, shard: &[u64]) -> Result<usize> {
        let checksum = if self.has_checksum { CHECKSUM } else { 0 };
        let len = self.slots(shard)?.checked_mul(ENTRY).and_then(|len| len.checked_add(checksum));
        len.ok_or_else(|| Error::limit("a shard index is too large for this machine"))
    }

    /// The part of the bytes of a shard that is its index of `len` bytes.
    pub(crate) fn index_within<'a>(&self, shard: &'a [u8], len: usize) -> Option<&'a [u8]> {
        let start = if self.index_at_end { shard.len().checked_sub(len)? } else { 0 };
        shard.get(start..start.checked_add(len)?)
    }

    /// The lengths, in chunks, of the shards that are added along an axis so that `count` chunks have one. Where all shards are
    /// alike, they have the same length. Otherwise one shard has all that is missing, but none becomes longer than the longest.
    fn missing_shards(&self, axis: usize, count: u64) -> Result<Option<Vec<u64>>> {
        let ChunkGrid::Rectilinear(axes) = &self.shards else { return Ok(None) };
        let Some(ends) = axes.get(axis) else { return Ok(None) };
        let missing = count.saturating_sub(ends.last().copied().unwrap_or(0));
        if missing == 0 {
            return Ok(None);
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lens: Vec<u64> = ends.iter().zip(starts).map(|(end, start)| end.saturating_sub(start)).collect();
        let longest = lens.iter().copied().max().unwrap_or(1).max(1);
        let is_even = lens.len() > 1 && lens.iter().all(|len| *len == longest);
        let shards = missing.div_ceil(longest);
        if shards > MOST_CHUNKS {
            return Err(Error::limit(format!("{shards} more shards of {longest} chunks along axis {axis}")));
        }
        let len = |at: u64| if is_even { longest } else { longest.min(missing - at * longest) };
        Ok(Some((0..shards).map(len).collect()))
    }

    fn push_number(&self, index: &mut Vec<u8>, number: u64) {
        match self.index_order {
            ByteOrder::Little => index.extend_from_slice(&number.to_le_bytes()),
            ByteOrder::Big => index.extend_from_slice(&number.to_be_bytes()),
        }
    }
}

impl Sharding for ShardingLayout {
    fn shards(&self) -> &ChunkGrid {
        &self.shards
    }

    fn reaching(&self, chunks: &[u64]) -> Result<Option<Arc<dyn Sharding>>> {
        let mut grown: Option<Self> = None;
        for (axis, count) in chunks.iter().enumerate() {
            let form = grown.as_ref().unwrap_or(self);
            if let Some(lens) = form.missing_shards(axis, *count)? {
                let shards = form.shards.with_chunks(axis, &lens)?;
                grown = Some(Self { shards, ..form.clone() });
            }
        }
        Ok(grown.map(|form| Arc::new(form) as Arc<dyn Sharding>))
    }

    fn slot(&self, cell: &[u64]) -> usize {
        let sharding: &dyn Sharding = self;
        self.number(cell, &sharding.shard_of(cell)).at
    }

    fn is_index_first(&self) -> bool {
        !self.index_at_end
    }

    fn index_len(&self, shard: &[u64]) -> Result<u64> {
        Ok(self.index_size(shard)? as u64)
    }

    fn stated_ranges(&self, shard: &[u64], index: &[u8]) -> Result<Vec<Option<Range<u64>>>> {
        let len = self.index_size(shard)?;
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

    fn ranges(&self, shard: &[u64], object: &Bytes) -> Result<Vec<Option<Range<usize>>>> {
        let len = self.index_size(shard)?;
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

    fn assemble(&self, shard: &[u64], chunks: &[Option<Bytes>]) -> Result<Bytes> {
        let slots = self.slots(shard)?;
        if chunks.len() > slots {
            return Err(Error::internal(format!("{} chunks for a shard of {slots}", chunks.len())));
        }
        let index_len = self.index_size(shard)?;
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
