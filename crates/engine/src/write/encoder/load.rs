//! Reading stored chunks: to complete partly written ones, and to read back.
use super::ChunkEncoder;
use crate::resources::InFlight;
use crate::write::cells::to_index;
use crate::write::contents::{DirtyContents, StoredChunk};
use crate::write::target::WriteTarget;
use ncirrus_codec::CodecScratch;
use ncirrus_layout::{CellList, ChunkRef, Error, Location, ObjectBytes, Result, StoredType, Want};
use ncirrus_model::Model;

impl ChunkEncoder {
    /// Locates chunks; those in remote stores are fetched, many at once.
    pub(in crate::write) async fn find(
        &self,
        target: &WriteTarget,
        cells: CellList,
        array: &[u64],
    ) -> Result<Vec<StoredChunk>> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.placer.drive(|view, placer| placer.locate(view, target.var, &cells)).await;
        let found = found.map_err(|error| error.at_path(target.path.clone()))?;
        let found = match self.output.local() {
            Some(_) => found.into_iter().map(at_hand).collect(),
            None => self.fetch(found).await?,
        };
        match &target.encoding.stored {
            StoredType::Reference { .. } => self.follow((target, array), &cells, found).await,
            _ => Ok(found),
        }
    }

    /// Resolves the references in chunks.
    async fn follow(
        &self,
        (target, array): (&WriteTarget, &[u64]),
        cells: &CellList,
        found: Vec<StoredChunk>,
    ) -> Result<Vec<StoredChunk>> {
        let Some(resolver) = self.placer.guard().resolver(target.var) else { return Ok(found) };
        let limits = &self.shared.limits;
        let mut followed = Vec::with_capacity(found.len());
        for (cell, stored) in cells.iter().zip(found) {
            let mut bytes = Vec::new();
            let (raw, mask) = match &stored {
                StoredChunk::Bytes(bytes, mask, _) => (bytes.as_ref(), *mask),
                StoredChunk::There(found) if self.read_local(found, &mut bytes)? => {
                    (bytes.as_slice(), found.mask)
                }
                _ => {
                    followed.push(StoredChunk::Absent);
                    continue;
                }
            };
            let located = |error: Error| target.located(error, cell);
            let raw = target.decode_references(cell, (raw, mask), limits).map_err(located)?;
            // Formats may store edge chunks cut at the end of the array; the cache holds whole ones.
            let shape = target.stored_shape(cell, array)?;
            let count = shape.iter().product();
            let values =
                self.placer.drive(|view, _| resolver.resolve(view, &raw, count)).await.map_err(located)?;
            followed.push(StoredChunk::Values(target.unclip_values(cell, &shape, values)?));
        }
        Ok(followed)
    }

    async fn fetch(&self, found: Vec<ChunkRef>) -> Result<Vec<StoredChunk>> {
        let mut stored: Vec<StoredChunk> = found.into_iter().map(at_hand).collect();
        let requests: Vec<_> =
            stored.iter().enumerate().filter_map(|(at, stored)| request(at, stored)).collect();
        let begin = |(at, object, want, mask)| {
            let is_whole = want == Want::All;
            let fetching = self.shared.network.fetch(self.output.store(), object, want)?;
            Ok(async move { (at, mask, is_whole, fetching.await) })
        };
        let limits = InFlight::at_most(self.output.store().facts().concurrency);
        limits
            .for_each(
                requests,
                begin,
                |(at, mask, is_whole, blob): (usize, u32, bool, Result<Option<ObjectBytes>>)| {
                    let slot = stored
                        .get_mut(at)
                        .ok_or_else(|| Error::internal(format!("no chunk {at} was asked for")))?;
                    let there = |blob: ObjectBytes| {
                        StoredChunk::Bytes(blob.bytes, mask, is_whole.then_some(blob.tag))
                    };
                    *slot = blob?.map_or(StoredChunk::Absent, there);
                    Ok(())
                },
            )
            .await?;
        Ok(stored)
    }

    /// The elements of a whole chunk, fill where nothing was written.
    pub(in crate::write) fn load(
        &self,
        (target, model): (&WriteTarget, &Model),
        cell: &[u64],
        stored: &StoredChunk,
        (encoded, scratch): (&mut Vec<u8>, &mut CodecScratch),
    ) -> Result<DirtyContents> {
        let array = model.shape(target.var);
        let limits = &self.shared.limits;
        let decode = |raw: &[u8], mask: u32, scratch: &mut CodecScratch| -> Result<DirtyContents> {
            let contents = target.decode(model, cell, &array, (raw, mask), limits, scratch);
            let contents = contents.map_err(|error| target.located(error, cell))?;
            self.shared.counters.decoded(contents.byte_len());
            Ok(contents)
        };
        match stored {
            StoredChunk::Bytes(bytes, mask, _) => decode(bytes, *mask, scratch),
            StoredChunk::There(found) if self.read_local(found, encoded)? => {
                decode(encoded, found.mask, scratch)
            }
            StoredChunk::Values(values) => Ok(DirtyContents::Values(values.clone())),
            StoredChunk::There(_) | StoredChunk::Absent => target.blank(&target.cell_shape(cell)?),
        }
    }

    /// A chunk that is an object of a local store, with its bytes and tag; none for any other.
    pub(in crate::write) fn fetched(&self, stored: &StoredChunk) -> Result<Option<StoredChunk>> {
        let (StoredChunk::There(found), Some(local)) = (stored, self.output.local()) else { return Ok(None) };
        let Location::Object(object) = &found.location else { return Ok(None) };
        let limit = self.shared.limits.chunk_bytes;
        // No more is read than a chunk may have, however large the object is.
        let blob = local.read(object, &Want::Range(0..limit))?;
        let Some(blob) = blob else { return Ok(Some(StoredChunk::Absent)) };
        if blob.size > limit {
            return Err(Error::limit(format!("a chunk of {} bytes", blob.size)).at_object(object));
        }
        Ok(Some(StoredChunk::Bytes(blob.bytes, found.mask, Some(blob.tag))))
    }

    /// Reads a chunk into the buffer; false if it does not exist.
    fn read_local(&self, found: &ChunkRef, encoded: &mut Vec<u8>) -> Result<bool> {
        let Some(local) = self.output.local() else { return Ok(false) };
        let limit = self.shared.limits.chunk_bytes;
        encoded.clear();
        match &found.location {
            Location::Object(object) => Ok(local.read_whole(object, limit, encoded)?.is_some()),
            Location::Bytes(object, range) => {
                let len = self.shared.limits.chunk_len(range.end.saturating_sub(range.start), "a chunk")?;
                encoded.resize(len, 0);
                let have = local.read_into(object, range.start, encoded)?;
                encoded.truncate(have.unwrap_or(0));
                Ok(have.is_some())
            }
            Location::Inline(_) | Location::Absent => Ok(false),
        }
    }
}

fn at_hand(found: ChunkRef) -> StoredChunk {
    match found.location {
        Location::Absent => StoredChunk::Absent,
        Location::Inline(bytes) => StoredChunk::Bytes(bytes, found.mask, None),
        Location::Bytes(..) | Location::Object(_) => StoredChunk::There(found),
    }
}

fn request(at: usize, stored: &StoredChunk) -> Option<(usize, ncirrus_layout::ObjectId, Want, u32)> {
    let StoredChunk::There(found) = stored else { return None };
    match &found.location {
        Location::Object(object) => Some((at, object.clone(), Want::All, found.mask)),
        Location::Bytes(object, range) => Some((at, object.clone(), Want::Range(range.clone()), found.mask)),
        Location::Inline(_) | Location::Absent => None,
    }
}

/// Chunks with the given coordinates.
pub(in crate::write) fn cells_of<'a>(rank: usize, cells: impl Iterator<Item = &'a [u64]>) -> CellList {
    let mut list = CellList::new(rank);
    cells.for_each(|cell| list.push(cell));
    list
}

/// A number of elements as an index in memory.
pub(in crate::write) fn count_of(count: Option<u64>) -> Result<usize> {
    to_index(count.unwrap_or(u64::MAX))
}
