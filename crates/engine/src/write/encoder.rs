//! From elements to stored bytes and back: the bytes of encoded chunks, and the remaining work once they have been
//! placed. If a chunk is an object and the store can be written to immediately, the bytes are borrowed from their
//! owner: the caller, or a codec.
mod body;
mod load;

pub(super) use body::{EncodedBody, WholeChunk};
pub(super) use load::{cells_of, count_of};

use super::cells::ChunkPart;
use super::contents::DirtyContents;
use super::driven_placer::DrivenPlacer;
use super::put::TargetStore;
use super::rows::WriteWindow;
use super::shards::{ShardKey, ShardSlot};
use super::target::{EncodingSubject, WriteTarget};
use super::write_back_cache::ChunkKey;
use crate::convert;
use crate::resources::{SharedResources, WorkerBuffers};
use body::encode;
use bytes::Bytes;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ObjectId, PreparedPlacement, Result, StorePut, StoredType};
use ncirrus_model::{CodecSpace, Model, Values};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The remaining work for a chunk that has been placed.
pub(super) enum PlacedChunk<'a> {
    /// To replace one object.
    Object(ObjectId, EncodedBody<'a>),
    /// To store it in a shard.
    InShard(ShardSlot, EncodedBody<'a>),
    /// To carry out changes.
    Puts(Vec<StorePut>),
}

impl PlacedChunk<'_> {
    /// The same as puts that own their bytes.
    pub(super) fn into_puts(self) -> Vec<StorePut> {
        match self {
            Self::Object(object, body) | Self::InShard(ShardSlot { object, .. }, body) => {
                vec![StorePut::Object { object, body: body.into_bytes() }]
            }
            Self::Puts(puts) => puts,
        }
    }
}

/// Turns elements into stored bytes, and stored bytes into elements, according to the format's encoding.
pub(super) struct ChunkEncoder {
    shared: Arc<SharedResources>,
    output: TargetStore,
    placer: Arc<DrivenPlacer>,
    /// Chunks that were clipped at the former end of the array, along an axis that grows, and the shape of the array
    /// then.
    cut: Mutex<HashMap<ChunkKey, Vec<u64>>>,
}

impl ChunkEncoder {
    /// The encoder of the dataset that `placer` places in `output`.
    pub(super) fn new(shared: Arc<SharedResources>, output: TargetStore, placer: Arc<DrivenPlacer>) -> Self {
        Self { shared, output, placer, cut: Mutex::default() }
    }

    /// The encoded bytes of a chunk that the values cover wholly.
    pub(super) fn whole_body<'a>(
        &self,
        window: &WriteWindow<'a>,
        part: &ChunkPart,
        (shape, element): (&[usize], usize),
        worker: &'a mut WorkerBuffers,
    ) -> Result<(EncodedBody<'a>, u32)> {
        let WriteWindow { target, array, data, touched, .. } = window;
        let chunk = self.whole_chunk((target, array), &part.cell, (shape, element));
        chunk.body_of_values(data, touched, part, worker)
    }

    /// The encoded bytes of a chunk of an array of that shape. `scatter` puts all elements that are inside the array
    /// into the chunk; those outside it are fill.
    ///
    /// # Errors
    /// Errors of `scatter` or of a codec.
    pub(super) fn body_of_elements<'a>(
        &self,
        (target, array): (&WriteTarget, &[u64]),
        cell: &[u64],
        (shape, element): (&[usize], usize),
        worker: &'a mut WorkerBuffers,
        scatter: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<(EncodedBody<'a>, u32)> {
        self.whole_chunk((target, array), cell, (shape, element)).body_of_elements(worker, scatter)
    }

    fn whole_chunk<'c>(
        &self,
        (target, array): (&'c WriteTarget, &'c [u64]),
        cell: &'c [u64],
        (shape, element): (&'c [usize], usize),
    ) -> WholeChunk<'c> {
        let skips = self.takes_mask(target, target.care.changing);
        WholeChunk { target, array, cell, shape, element, skips }
    }

    /// Encodes and places the elements of a whole chunk, some of which may have gone through the codecs before.
    pub(super) fn store_contents<'a>(
        &self,
        (target, model): (&WriteTarget, &Model),
        key: &ChunkKey,
        (contents, kept): (&'a DirtyContents, Option<&[u8]>),
        prepared: &PreparedPlacement,
        worker: &'a mut WorkerBuffers,
    ) -> Result<PlacedChunk<'a>> {
        let located = |error: Error| target.located(error, &key.cell);
        let array = model.shape(target.var);
        let shape = target.cell_shape(&key.cell)?;
        let stored = target.stored_shape(&key.cell, &array)?;
        // Encoded bytes that were kept are of the full chunk; an edge that is cut is encoded again.
        let kept = kept.filter(|_| stored == shape);
        let skips = self.takes_mask(target, target.care.changing);
        let subject = EncodingSubject { cell: &key.cell, array: &array, shape: &stored, kept, skips };
        let WorkerBuffers { scratch, encoded: cut, .. } = worker;
        let placed = match (contents, target.element) {
            (DirtyContents::Bytes(bytes), Some(element)) => {
                let raw = if stored == shape {
                    EncodedBody::Lent(bytes)
                } else {
                    *cut = WriteTarget::clip_bytes(bytes, &shape, &stored, element);
                    EncodedBody::Buffer(cut)
                };
                let (body, mask) = encode(target, &subject, raw, scratch).map_err(located)?;
                self.place_body(target, prepared, &key.cell, body, mask)?
            }
            (DirtyContents::Values(values), _) => {
                let values = WriteTarget::clip_values(values, &shape, &stored)?;
                let (raw, mut puts) = self.stored_values((target, model), &values).map_err(located)?;
                let (body, mask) =
                    encode(target, &subject, EncodedBody::Made(raw), scratch).map_err(located)?;
                // Values of variable length bring objects of their own, which have to be written with the chunk.
                if puts.is_empty() {
                    self.place_body(target, prepared, &key.cell, body, mask)?
                } else {
                    puts.extend(self.place(target, prepared, &key.cell, body.into_bytes(), mask)?);
                    PlacedChunk::Puts(puts)
                }
            }
            (DirtyContents::Bytes(_), None) => return Err(Error::internal("a staged cell of another kind")),
        };
        self.note_cut(key, target, &array)?;
        Ok(placed)
    }

    fn stored_values(
        &self,
        (target, model): (&WriteTarget, &Model),
        values: &Values,
    ) -> Result<(Bytes, Vec<StorePut>)> {
        if let StoredType::Reference { .. } = target.encoding.stored {
            return self.placer.guard().intern(target.var, values);
        }
        let raw = convert::encode(model, target.ty, &target.encoding.stored, values, 0..values.len())?;
        Ok((raw.into(), Vec::new()))
    }

    /// Passes an encoded chunk to the format.
    pub(super) fn place_body<'a>(
        &self,
        target: &WriteTarget,
        prepared: &PreparedPlacement,
        cell: &[u64],
        body: EncodedBody<'a>,
        mask: u32,
    ) -> Result<PlacedChunk<'a>> {
        if let Some(sharding) = &target.sharding {
            let object = self.placer.guard().place_whole(prepared, target.var, cell, mask);
            let object = object.map_err(|error| target.located(error, cell))?;
            let object = object
                .ok_or_else(|| target.located(Error::internal("a shard that is not an object"), cell))?;
            self.shared.counters.stored();
            let key = ShardKey { var: target.var, shard: sharding.shard_of(cell) };
            let per_shard = sharding.slot_count(&key.shard);
            let place = ShardSlot { key, slot: sharding.slot(cell), per_shard, object };
            return Ok(PlacedChunk::InShard(place, body));
        }
        if self.output.local().is_some() {
            let object = self.placer.guard().place_whole(prepared, target.var, cell, mask);
            if let Some(object) = object.map_err(|error| target.located(error, cell))? {
                self.shared.counters.stored();
                return Ok(PlacedChunk::Object(object, body));
            }
        }
        self.place(target, prepared, cell, body.into_bytes(), mask).map(PlacedChunk::Puts)
    }

    /// As [`place_body`](Self::place_body), for bytes that the format keeps.
    pub(super) fn place(
        &self,
        target: &WriteTarget,
        prepared: &PreparedPlacement,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>> {
        self.shared.counters.stored();
        let puts = self.placer.guard().place(prepared, target.var, cell, body, mask);
        puts.map_err(|error| target.located(error, cell))
    }

    /// Notes a chunk that is clipped at the present end of the array, along an axis that may grow.
    pub(super) fn note_cut(&self, key: &ChunkKey, target: &WriteTarget, array: &[u64]) -> Result<()> {
        if self.placer.abilities.sparse {
            return Ok(());
        }
        let (shape, stored) = (target.cell_shape(&key.cell)?, target.stored_shape(&key.cell, array)?);
        let axes = shape.iter().zip(&stored).zip(&target.growing);
        let is_cut = axes.into_iter().any(|((whole, stored), grows)| *grows && stored < whole);
        let mut cut = self.cut.guard();
        if is_cut {
            _ = cut.insert(key.clone(), array.to_vec());
        } else {
            _ = cut.remove(key);
        }
        Ok(())
    }

    /// Whether the format can record which codecs were skipped.
    pub(super) fn takes_mask(&self, target: &WriteTarget, mask: u32) -> bool {
        let known = mask.checked_shr(u32::try_from(target.encoding.codecs.len()).unwrap_or(u32::MAX));
        mask == 0 || (self.placer.abilities.codecs == Some(CodecSpace::Hdf5) && known.unwrap_or(0) == 0)
    }

    /// The chunks that are clipped, and the shapes of the array to which they are.
    pub(super) fn cut(&self) -> HashMap<ChunkKey, Vec<u64>> {
        self.cut.guard().clone()
    }

    /// Forgets clipped chunks, apart from those to be kept.
    pub(super) fn retain_cut(&self, keep: impl Fn(&ChunkKey) -> bool) {
        self.cut.guard().retain(|key, _| keep(key));
    }
}
