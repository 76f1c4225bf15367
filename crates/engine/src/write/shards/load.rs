//! Reading chunks of shards: to complete partly written ones, and to read back.
use super::{ShardKey, ShardTurn, StoredShard};
use crate::write::DatasetWriter;
use crate::write::contents::StoredChunk;
use crate::write::target::WriteTarget;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use ncirrus_layout::{CellList, ChunkGrid, Error, Location, ObjectBytes, ObjectId, Result, Sharding, Want};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The chunks of one shard that are read: their places in the list, and their numbers.
struct WantedShard {
    key: ShardKey,
    object: ObjectId,
    chunks: Vec<(usize, usize)>,
}

impl DatasetWriter {
    /// Chunks of shards, which the caller has locked: those that wait, else those that are stored. A shard is read as a whole,
    /// once for all of its chunks, since it has to be read before it is replaced.
    pub(in crate::write) async fn find_in_shards(
        &self,
        target: &WriteTarget,
        sharding: &Arc<dyn Sharding>,
        cells: CellList,
    ) -> Result<Vec<StoredChunk>> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        let located = self.placer.drive(|view, placer| placer.locate(view, target.var, &cells)).await;
        let located = located.map_err(|error| error.at_path(target.path.clone()))?;
        let mut found = vec![StoredChunk::Absent; cells.len()];
        let mut wanted: BTreeMap<ShardKey, WantedShard> = BTreeMap::new();
        for (at, (cell, place)) in cells.iter().zip(located).enumerate() {
            let key = ShardKey { var: target.var, shard: sharding.shard_of(cell) };
            let slot = sharding.slot(cell);
            match (self.shards.body(&key, slot), place.location) {
                (Some(body), _) => {
                    if let Some(found) = found.get_mut(at) {
                        *found = StoredChunk::Bytes(body, 0, None);
                    }
                }
                (None, Location::Object(object)) => {
                    let new = || WantedShard { key: key.clone(), object, chunks: Vec::new() };
                    wanted.entry(key.clone()).or_insert_with(new).chunks.push((at, slot));
                }
                (None, _) => {}
            }
        }
        let at_once = self.shards_at_once(target, sharding.as_ref());
        let reads = wanted.into_values().map(|wanted| self.read_wanted(target, sharding, wanted));
        let mut reads = stream::iter(reads).buffer_unordered(at_once);
        while let Some(chunks) = reads.try_next().await? {
            for (at, chunk) in chunks {
                if let Some(found) = found.get_mut(at) {
                    *found = chunk;
                }
            }
        }
        Ok(found)
    }

    /// How many shards may be in memory beside the chunks that wait.
    pub(super) fn shards_at_once(&self, target: &WriteTarget, sharding: &dyn Sharding) -> usize {
        let chunk = target.cell_cost(&vec![0; target.encoding.grid.rank()]);
        let shards = sharding.shards();
        let longest = |axis: usize| match shards {
            ChunkGrid::Regular(counts) => counts.get(axis).copied().unwrap_or(1),
            ChunkGrid::Rectilinear(_) => (0..shards.cells_along(axis, u64::MAX))
                .filter_map(|at| shards.span(axis, at))
                .map(|chunks| chunks.end - chunks.start)
                .max()
                .unwrap_or(1),
        };
        let most = (0..shards.rank()).map(longest).fold(1u64, u64::saturating_mul);
        let shard = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(chunk);
        (self.window_budget() / shard.max(1)).clamp(1, AT_ONCE)
    }

    async fn read_wanted(
        &self,
        target: &WriteTarget,
        sharding: &Arc<dyn Sharding>,
        wanted: WantedShard,
    ) -> Result<Vec<(usize, StoredChunk)>> {
        let turn = self.shards.turn(&wanted.key).await;
        self.forget_if_changed(&turn, &wanted.object).await?;
        let stored = self.stored_shard(sharding, &turn, &wanted.object).await;
        let stored = stored.map_err(|error| error.at_path(target.path.clone()))?;
        let chunk = |(at, slot)| {
            let bytes = stored.as_ref().and_then(|stored| stored.chunk(slot));
            (at, bytes.map_or(StoredChunk::Absent, |bytes| StoredChunk::Bytes(bytes.clone(), 0, None)))
        };
        Ok(wanted.chunks.into_iter().map(chunk).collect())
    }

    /// Forgets a stored shard that another program has replaced: what is read is to be as it is now.
    async fn forget_if_changed(&self, turn: &ShardTurn, object: &ObjectId) -> Result<()> {
        let Some(known) = turn.known().filter(|_| self.conflicts.is_shared()) else { return Ok(()) };
        let now = match self.output.local() {
            Some(local) => local.stat(object)?.map(|(_, tag)| tag),
            None => self.output.get_part(object, 0..1).await?.map(|part| part.tag),
        };
        if now.is_none_or(|now| now != known.tag) {
            turn.keep(None, self.known_budget());
        }
        Ok(())
    }

    /// The stored shard, as this writer knows it or as it is now; `None` if there is none.
    pub(super) async fn stored_shard(
        &self,
        sharding: &Arc<dyn Sharding>,
        turn: &ShardTurn,
        object: &ObjectId,
    ) -> Result<Option<Arc<StoredShard>>> {
        if let Some(known) = turn.known() {
            return Ok(Some(known));
        }
        let stored = self.present_shard(sharding, turn, object).await?;
        turn.keep(stored.clone(), self.known_budget());
        Ok(stored)
    }

    /// The stored shard as it is now.
    pub(super) async fn present_shard(
        &self,
        sharding: &Arc<dyn Sharding>,
        turn: &ShardTurn,
        object: &ObjectId,
    ) -> Result<Option<Arc<StoredShard>>> {
        let Some(blob) = self.shard_object(object).await? else { return Ok(None) };
        let limits = &self.session.shared.limits;
        limits.chunk_len(blob.size, "a shard").map_err(|error| error.at_object(object))?;
        let stored = StoredShard::read(sharding.as_ref(), &turn.key.shard, &blob);
        let stored = stored.map_err(|error| error.at_object(object))?;
        Ok(Some(Arc::new(stored)))
    }

    pub(super) async fn shard_object(&self, object: &ObjectId) -> Result<Option<ObjectBytes>> {
        match self.output.local() {
            // No more is read than the limit, however large the object is.
            Some(local) => {
                let limit = self.session.shared.limits.chunk_bytes;
                let blob =
                    local.read(object, &Want::Range(0..limit)).map_err(|error| error.at_object(object))?;
                self.session.shared.counters.fetched(blob.as_ref().map_or(0, |blob| blob.bytes.len()));
                Ok(blob)
            }
            None => self.output.get(object).await.map_err(|error: Error| error.at_object(object)),
        }
    }

    /// Bytes of stored shards that are kept for the next change.
    pub(super) fn known_budget(&self) -> usize {
        self.window_budget() / 2
    }
}

/// Maximum number of shards that are read or replaced at once.
const AT_ONCE: usize = 16;
