//! Chunks that share an object: the index of a shard (Zarr v3, `sharding_indexed`).
use super::array::ShardingLayout;
use super::keys::KeyIndex;
use bytes::Bytes;
use ncirrus_layout::{
    ANY_LEN, ByteOrder, CellList, ChunkIndex, ChunkRef, Error, Location, ObjectId, Result, Sharding, Step,
    View, Want, join,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The memo key of parsed indexes.
const PARSED: &str = "zarr shard index";
/// The index entry of a chunk that was never written.
pub(crate) const ABSENT: u64 = u64::MAX;

/// The memo key of decoded shards.
const DECODED: &str = "zarr decoded shard";
/// Decoded shards up to this size are kept between the batches of one read.
const KEPT_SHARD: usize = 16 << 20;

/// Locates chunks by the indexes of their shards.
#[derive(Debug)]
pub(super) struct ShardIndex {
    /// Names of the shards.
    pub(super) shards: KeyIndex,
    /// The layout of a shard.
    pub(super) form: ShardingLayout,
}

/// Offset and length of every chunk of a shard, in stored order.
pub(crate) type ShardEntries = Vec<(u64, u64)>;

/// Where a shard is, at any level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ShardPlace {
    /// An object.
    Object(ObjectId),
    /// A range of an object: a chunk of a shard that is a shard itself.
    Part(ObjectId, Range<u64>),
    /// In memory: decoded, or a part of a shard that was.
    Memory(Bytes),
}

/// A shard whose index is known.
struct OpenedShard {
    entries: Arc<ShardEntries>,
    /// Where its bytes are; offsets count from the start.
    place: ShardPlace,
}

/// The number of a chunk in the index of its shard, at one level, and how many chunks that shard has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkNumber {
    pub(crate) at: usize,
    count: u64,
}

impl ChunkIndex for ShardIndex {
    fn sharding(&self) -> Option<Arc<dyn Sharding>> {
        self.form.is_writable().then(|| Arc::new(self.form.clone()) as Arc<dyn Sharding>)
    }

    fn decoded_object(&self, cell: &[u64]) -> Option<ObjectId> {
        let levels = self.levels(cell.len());
        let is_decoded = levels.iter().any(|level| !level.form.outer.is_empty());
        is_decoded.then(|| self.shards.object(&split(&levels, cell).0))
    }

    fn shard_object(&self, shard: &[u64]) -> Option<ObjectId> {
        self.form.is_writable().then(|| self.shards.object(shard))
    }

    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let levels = self.levels(cells.rank());
        let paths: Vec<(Vec<u64>, Vec<ChunkNumber>)> =
            cells.iter().map(|cell| split(&levels, cell)).collect();
        let (mut places, mut place_of) = distinct(paths.iter().map(|(shard, numbers)| {
            let count = numbers.first().map_or(1, |number| number.count);
            Some((ShardPlace::Object(self.shards.object(shard)), count))
        }));
        for (level, ShardLevel { form, .. }) in levels.iter().enumerate() {
            // The shards of one level are independent of each other.
            let opened = join(&places, |(place, count)| form.open(view, place, *count))?;
            let found = place_of.iter().zip(&paths).map(|(place, (_, numbers))| {
                let shard = opened.get((*place)?)?.as_ref()?;
                let next = shard.chunk(numbers.get(level)?.at)?;
                Some((next, numbers.get(level + 1).map_or(1, |number| number.count)))
            });
            (places, place_of) = distinct(found);
        }
        let location = |place: Option<usize>| match place.and_then(|place| places.get(place)) {
            Some((ShardPlace::Object(object), _)) => Location::Object(object.clone()),
            Some((ShardPlace::Part(object, range), _)) => Location::Bytes(object.clone(), range.clone()),
            Some((ShardPlace::Memory(bytes), _)) => Location::Inline(bytes.clone()),
            None => Location::Absent,
        };
        Ok(place_of.into_iter().map(|place| ChunkRef::new(location(place))).collect())
    }
}

/// The different places, and for each item which of them it has.
fn distinct(
    items: impl Iterator<Item = Option<(ShardPlace, u64)>>,
) -> (Vec<(ShardPlace, u64)>, Vec<Option<usize>>) {
    let mut places = Vec::new();
    let mut known: HashMap<(ShardPlace, u64), usize> = HashMap::new();
    let place_of = items.map(|item| {
        Some(*known.entry(item?).or_insert_with_key(|item| {
            places.push(item.clone());
            places.len() - 1
        }))
    });
    let place_of = place_of.collect();
    (places, place_of)
}

impl OpenedShard {
    /// The place of a chunk; `None` if it was never written.
    fn chunk(&self, at: usize) -> Option<ShardPlace> {
        let (offset, len) = *self.entries.get(at)?;
        if offset == ABSENT && len == ABSENT {
            return None;
        }
        let range = offset..offset.saturating_add(len);
        Some(match &self.place {
            ShardPlace::Object(object) => ShardPlace::Part(object.clone(), range),
            ShardPlace::Part(object, whole) => {
                let start = whole.start.saturating_add(range.start);
                ShardPlace::Part(object.clone(), start..start.saturating_add(len))
            }
            ShardPlace::Memory(bytes) => {
                let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
                ShardPlace::Memory(bytes.get(range.clone()).map(|_| bytes.slice(range))?)
            }
        })
    }
}

/// One level of shards, and how many chunks of the last level one of its chunks has along each axis.
struct ShardLevel<'a> {
    form: &'a ShardingLayout,
    unit: Vec<u64>,
}

impl ShardIndex {
    /// The levels, from the objects to the chunks.
    fn levels(&self, rank: usize) -> Vec<ShardLevel<'_>> {
        let mut levels = Vec::new();
        let mut next = Some(&self.form);
        while let Some(form) = next {
            let inner = form.inner.as_deref();
            let unit = inner.map_or_else(|| vec![1; rank], |inner| inner.chunks_in(rank));
            levels.push(ShardLevel { form, unit });
            next = inner;
        }
        levels
    }
}

/// The shard that holds a chunk, and the chunk's number in the index of each level.
fn split(levels: &[ShardLevel], cell: &[u64]) -> (Vec<u64>, Vec<ChunkNumber>) {
    let mut shard = None;
    let number = |level: &ShardLevel| {
        let at: Vec<u64> = cell.iter().zip(&level.unit).map(|(at, unit)| at / (*unit).max(1)).collect();
        let of_level = level.form.shard_with(&at);
        let number = level.form.number(&at, &of_level);
        shard.get_or_insert(of_level);
        number
    };
    let numbers = levels.iter().map(number).collect();
    (shard.unwrap_or_default(), numbers)
}

impl ShardingLayout {
    /// Chunks of the last level in a shard of this one, along each axis. Only shards of the first level differ in size.
    fn chunks_in(&self, rank: usize) -> Vec<u64> {
        let below = self.inner.as_deref().map_or_else(|| vec![1; rank], |inner| inner.chunks_in(rank));
        let own = |axis: usize| self.shards.span(axis, 0).map_or(1, |chunks| chunks.end.max(1));
        below.iter().enumerate().map(|(axis, below)| below.saturating_mul(own(axis))).collect()
    }

    /// The shard of a chunk of this level.
    fn shard_with(&self, cell: &[u64]) -> Vec<u64> {
        let sharding: &dyn Sharding = self;
        sharding.shard_of(cell)
    }

    /// The number of a chunk in the index of its shard: in stored order.
    pub(crate) fn number(&self, cell: &[u64], shard: &[u64]) -> ChunkNumber {
        let mut number = 0u64;
        let mut count = 1u64;
        for &axis in &self.axes {
            // An axis that is not shown has one chunk.
            let (start, len) = match shard.get(axis) {
                Some(at) => {
                    let chunks = self.shards.span(axis, *at).unwrap_or_default();
                    (chunks.start, chunks.end - chunks.start)
                }
                None => (0, self.shards.span(axis, 0).map_or(1, |chunks| chunks.end)),
            };
            let at = cell.get(axis).copied().unwrap_or(0).saturating_sub(start);
            number = number.saturating_mul(len).saturating_add(at);
            count = count.saturating_mul(len);
        }
        ChunkNumber { at: usize::try_from(number).unwrap_or(usize::MAX), count }
    }

    /// The index of a shard of `count` chunks; `None` if the shard was never written.
    fn open(&self, view: &dyn View, place: &ShardPlace, count: u64) -> Step<Option<OpenedShard>> {
        let Some(place) = self.decoded(view, place)? else { return Ok(None) };
        let checksum = if self.has_checksum { 4 } else { 0 };
        let len = count.checked_mul(16).and_then(|len| len.checked_add(checksum));
        let len = len.ok_or_else(|| Error::limit("a shard index of more than 2^64 bytes"))?;
        let entries = match &place {
            ShardPlace::Object(object) => {
                let want = if self.index_at_end { Want::Suffix(len) } else { Want::Range(0..len) };
                let Some(entries) = self.entries(view, object, want, len, None)? else { return Ok(None) };
                entries
            }
            ShardPlace::Part(object, range) => {
                let size = range.end.saturating_sub(range.start);
                if size < len {
                    return Err(too_short(size, len).at_object(object).at_offset(range.start).into());
                }
                let start = if self.index_at_end { range.end - len } else { range.start };
                let want = Want::Range(start..start.saturating_add(len));
                let entries = self.entries(view, object, want, len, Some(size))?;
                entries.ok_or_else(|| Error::not_found("no such object").at_object(object))?
            }
            ShardPlace::Memory(bytes) => {
                let size = bytes.len() as u64;
                let index = usize::try_from(len).ok().and_then(|len| self.index_within(bytes, len));
                Arc::new(self.parse(index.unwrap_or_default(), size, len)?)
            }
        };
        Ok(Some(OpenedShard { entries, place }))
    }

    /// A shard without the codecs around it.
    fn decoded(&self, view: &dyn View, place: &ShardPlace) -> Step<Option<ShardPlace>> {
        if self.outer.is_empty() {
            return Ok(Some(place.clone()));
        }
        let (object, part) = match place {
            ShardPlace::Object(object) => (object, None),
            ShardPlace::Part(object, range) => (object, Some(range.clone())),
            ShardPlace::Memory(_) => {
                let what = "codecs around shards inside of shards that have codecs around them, too";
                return Err(Error::unsupported(what).into());
            }
        };
        let Some(blob) = view.read(object, Want::Range(0..0))? else { return Ok(None) };
        let range = part.unwrap_or(0..blob.size);
        if let Some(known) = view.memo().find::<Bytes>(object, Some(&blob.tag), range.start, DECODED) {
            return Ok(Some(ShardPlace::Memory(known.as_ref().clone())));
        }
        let bytes = view.decoded(object, range.clone(), &self.outer, 0, ANY_LEN)?;
        if bytes.len() <= KEPT_SHARD {
            view.memo().keep(object, Some(&blob.tag), range.start, DECODED, bytes.clone(), bytes.len());
        }
        Ok(Some(ShardPlace::Memory(bytes)))
    }

    /// The parsed index at some place of an object, in a shard of `size` bytes or of the size of the object.
    fn entries(
        &self,
        view: &dyn View,
        object: &ObjectId,
        want: Want,
        len: u64,
        size: Option<u64>,
    ) -> Step<Option<Arc<ShardEntries>>> {
        view.limits().metadata_len(len, "shard index").map_err(|error| error.at_object(object))?;
        let Some(blob) = view.read(object, want)? else { return Ok(None) };
        let count = len / 16;
        let known = view.memo().find::<ShardEntries>(object, Some(&blob.tag), blob.offset, PARSED);
        if let Some(known) = known.filter(|known| known.len() as u64 == count) {
            return Ok(Some(known));
        }
        let entries = self.parse(&blob.bytes, size.unwrap_or(blob.size), len);
        let entries = entries.map_err(|error| error.at_object(object).at_offset(blob.offset))?;
        let cost = blob.bytes.len();
        Ok(Some(view.memo().keep(object, Some(&blob.tag), blob.offset, PARSED, entries, cost)))
    }

    /// Parses an index of `len` bytes of a shard of `size` bytes.
    pub(crate) fn parse(&self, index: &[u8], size: u64, len: u64) -> Result<ShardEntries> {
        if index.len() as u64 != len {
            return Err(too_short(size, len));
        }
        let entry = |(offset, len): (u64, u64)| {
            let is_absent = offset == ABSENT && len == ABSENT;
            match offset.checked_add(len) {
                _ if is_absent => Ok((offset, len)),
                Some(end) if end <= size => Ok((offset, len)),
                _ => {
                    Err(Error::malformed(format!("a chunk at {offset} of {len} bytes in a shard of {size}")))
                }
            }
        };
        self.stated(index)?.into_iter().map(entry).collect()
    }

    /// Offsets and lengths as an index states them.
    pub(crate) fn stated(&self, index: &[u8]) -> Result<ShardEntries> {
        let mut bytes = index;
        if self.has_checksum {
            let (index, sum) = bytes.split_at(bytes.len().saturating_sub(4));
            if sum != crc32c(index).to_le_bytes() {
                return Err(Error::malformed("the checksum of the shard index is wrong"));
            }
            bytes = index;
        }
        let number = |at: &[u8]| {
            let word = at.try_into().unwrap_or([0; 8]);
            match self.index_order {
                ByteOrder::Little => u64::from_le_bytes(word),
                ByteOrder::Big => u64::from_be_bytes(word),
            }
        };
        let entry = |pair: &[u8]| {
            let (offset, len) = pair.split_at(8);
            (number(offset), number(len))
        };
        Ok(bytes.chunks_exact(16).map(entry).collect())
    }
}

fn too_short(size: u64, len: u64) -> Error {
    Error::malformed(format!("the shard has {size} bytes, its index alone {len}"))
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
