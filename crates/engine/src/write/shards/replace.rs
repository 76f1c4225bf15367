//! Putting shards.
use super::{ShardKey, ShardPart, ShardTurn, StoredShard};
use crate::request_log;
use crate::write::DatasetWriter;
use crate::write::conflicts::{is_conflict, overtaken};
use crate::write::contents::StoredChunk;
use crate::write::target::WriteTarget;
use crate::write::write_back_cache::ChunkKey;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use ncirrus_layout::{CellList, Error, Location, ObjectId, Result, Sharding, StorePut};
use ncirrus_model::Model;
use ncirrus_store::{LocalStore, PutCondition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A shard that is put.
struct ShardTask<'a> {
    turn: &'a ShardTurn,
    target: &'a WriteTarget,
    sharding: &'a Arc<dyn Sharding>,
    object: ObjectId,
    /// The chunks that are put, by number.
    parts: BTreeMap<usize, ShardPart>,
    /// Whether a stored chunk, by number, stays if it is not replaced.
    kept: Vec<bool>,
    /// What the put depends on.
    basis: ShardBasis,
    /// Whether the array becomes longer, which one writer at a time does.
    grows: bool,
}

/// What the put of a shard depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShardBasis {
    /// Nothing: all chunks are replaced, and the last writer counts.
    Nothing,
    /// The shard must not exist: it is outside of the committed extent.
    Absent,
    /// The stored shard, of which chunks stay.
    Stored,
}

/// Whether detached puts may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::write) enum ShardPutting {
    /// A put of a whole shard may continue after the call.
    Detached,
    /// Every put is waited for.
    Awaited,
}

impl DatasetWriter {
    /// Shards all of whose chunks wait, and those that waited longest if more waits than fits in memory.
    pub(in crate::write) fn ready_shards(&self) -> Result<Vec<ShardKey>> {
        let waiting = self.shards.waiting();
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.model();
        let mut ready = Vec::new();
        for (key, count) in waiting {
            if model.variable(key.var).is_none() {
                continue;
            }
            let (target, model) = self.target(key.var)?;
            if count as u64 >= needed(&target, &model, &key.shard, true) {
                ready.push(key);
            }
        }
        if self.shards.held() > self.stage_budget() {
            for key in self.shards.oldest(self.stage_budget() / 4 * 3) {
                if model.variable(key.var).is_some() && !ready.contains(&key) {
                    ready.push(key);
                }
            }
        }
        Ok(ready)
    }

    /// Puts a shard all of whose chunks wait, in a local store that no other program writes. If another task has its turn,
    /// it is put later.
    pub(in crate::write) fn put_complete_shard(&self, local: &dyn LocalStore, key: &ShardKey) -> Result<()> {
        let (target, _) = self.target(key.var)?;
        let Some(sharding) = &target.sharding else { return Ok(()) };
        let Some(turn) = self.shards.try_turn(key) else { return Ok(()) };
        if !turn.is_complete(sharding.slot_count(&key.shard)) {
            return Ok(());
        }
        let Some((object, parts)) = turn.begin() else { return Ok(()) };
        self.conflicts.check_key(&object, object.key().len())?;
        self.placer.forget_object(&object);
        let chunks: Vec<Option<Bytes>> = parts.into_values().map(|part| Some(part.body)).collect();
        let body =
            sharding.assemble(&key.shard, &chunks).map_err(|error| error.at_path(target.path.clone()))?;
        request_log::put_locally("write", &object, None, body.len());
        let put =
            local.put_bytes(&object, body, &PutCondition::None).map_err(|error| error.at_object(&object));
        // The cached copy of the stored shard is out of date.
        turn.keep(None, self.known_budget());
        turn.stored();
        put.map(|_| ())
    }

    /// Puts all shards with chunks that wait. Those of variables that were removed stay.
    pub(in crate::write) async fn put_all_shards(&self, how: ShardPutting) -> Result<()> {
        let model = self.model();
        let waiting = self.shards.waiting().into_iter().map(|(key, _)| key);
        self.put_shards(waiting.filter(|key| model.variable(key.var).is_some()).collect(), how).await
    }

    /// Puts shards, and waits for it.
    pub(in crate::write) async fn put_shards(&self, keys: Vec<ShardKey>, how: ShardPutting) -> Result<()> {
        let Some(first) = keys.first() else { return Ok(()) };
        let (target, _) = self.target(first.var)?;
        let at_once = target.sharding.as_deref().map_or(1, |sharding| self.shards_at_once(&target, sharding));
        let puts = keys.into_iter().map(|key| self.put_shard(key, how));
        let mut puts = stream::iter(puts).buffer_unordered(at_once);
        let all = async {
            while puts.try_next().await?.is_some() {}
            Ok(())
        };
        // The format counts on the chunks, and they are not cached any more.
        self.uploads.to_the_end(all).await
    }

    async fn put_shard(&self, key: ShardKey, how: ShardPutting) -> Result<()> {
        let (target, model) = self.target(key.var)?;
        let Some(sharding) = &target.sharding else {
            return Err(Error::internal("a shard of a variable without shards").at_path(target.path.clone()));
        };
        let turn = self.shards.turn(&key).await;
        let Some((object, parts)) = turn.begin() else { return Ok(()) };
        let is_shared = self.conflicts.is_shared();
        let grows = is_shared && !self.conflicts.is_committed(key.var, &model.shape(key.var));
        let located = |error: Error| error.at_path(target.path.clone());
        let (kept, basis) = self.basis((&target, &model), sharding, &key, &parts).await.map_err(located)?;
        let basis = match basis {
            ShardBasis::Nothing if grows => self.basis_of_growth((&target, &model), sharding, &key).await?,
            basis => basis,
        };
        let task = ShardTask { turn: &turn, target: &target, sharding, object, parts, kept, basis, grows };
        self.conflicts.check_key(&task.object, task.object.key().len())?;
        self.placer.forget_object(&task.object);
        if task.basis == ShardBasis::Nothing && how == ShardPutting::Detached && self.output.local().is_none()
        {
            let (body, chunks) = task.assemble(&task.own_chunks()).map_err(located)?;
            let put = StorePut::Object { object: task.object.clone(), body };
            turn.share(&chunks);
            return self.uploads.detached.begin_with(&self.output, vec![put], key.var, DetachedTurn(turn));
        }
        self.replace(&task, is_shared).await.map_err(located)?;
        turn.stored();
        Ok(())
    }

    /// What the put of a whole shard depends on if the array becomes longer: a part of it may be outside of the committed
    /// extent, where only the writer with the lease puts.
    async fn basis_of_growth(
        &self,
        (target, model): (&WriteTarget, &Model),
        sharding: &Arc<dyn Sharding>,
        key: &ShardKey,
    ) -> Result<ShardBasis> {
        let (committed, shape) = (self.conflicts.committed_shape(target.var), model.shape(target.var));
        let clipped = |cell: &[u64], shape: &[u64]| target.encoding.grid.clipped_region(cell, shape);
        let is_across = committed.is_some_and(|committed| {
            sharding.cells_of(&key.shard).any(|cell| clipped(&cell, &committed) != clipped(&cell, &shape))
        });
        if is_across && self.conflicts.has_conditions().await? {
            return Ok(ShardBasis::Stored);
        }
        self.acquire_lease().await?;
        Ok(ShardBasis::Nothing)
    }

    /// Which stored chunks stay, and what the put depends on.
    async fn basis(
        &self,
        (target, model): (&WriteTarget, &Model),
        sharding: &Arc<dyn Sharding>,
        key: &ShardKey,
        parts: &BTreeMap<usize, ShardPart>,
    ) -> Result<(Vec<bool>, ShardBasis)> {
        let is_shared = self.conflicts.is_shared();
        let is_whole = parts.len() as u64 >= needed(target, model, &key.shard, is_shared);
        let needs_merge = parts.values().any(|part| part.origin.is_some());
        let committed = self.conflicts.committed_shape(target.var);
        let grid = &target.encoding.grid;
        let mut cells = CellList::new(grid.rank());
        let mut is_inside = false;
        for cell in sharding.cells_of(&key.shard) {
            let inside = |shape: &Vec<u64>| grid.clipped_region(&cell, shape).is_some();
            is_inside |= committed.as_ref().is_some_and(inside);
            if is_inside && is_whole && !needs_merge {
                return Ok((Vec::new(), ShardBasis::Nothing));
            }
            cells.push(&cell);
        }
        // Other writers may put chunks of new extents, unless this one has announced that it does.
        let is_growing = committed.as_ref() != Some(&model.shape(target.var));
        let keeps_unknown = is_shared && !is_growing;
        let located = self.placer.drive(|view, placer| placer.locate(view, target.var, &cells)).await?;
        let mut kept = vec![false; cells.len()];
        let mut has_others = false;
        for (cell, place) in cells.iter().zip(located) {
            let slot = sharding.slot(cell);
            let is_known = matches!(place.location, Location::Object(_));
            has_others |= is_known && !parts.contains_key(&slot);
            if let Some(kept) = kept.get_mut(slot) {
                *kept = is_known || keeps_unknown;
            }
        }
        let basis = match (is_inside && is_shared, is_shared) {
            (true, _) => ShardBasis::Stored,
            _ if has_others => ShardBasis::Stored,
            (_, true) => ShardBasis::Absent,
            (_, false) => ShardBasis::Nothing,
        };
        Ok((kept, basis))
    }

    /// Puts a shard over the state that it was made from; if others changed that meanwhile, over theirs.
    async fn replace(&self, task: &ShardTask<'_>, is_shared: bool) -> Result<()> {
        let is_free = task.basis == ShardBasis::Nothing || !is_shared;
        let has_conditions = !is_free && self.conflicts.has_conditions().await?;
        if is_shared && !has_conditions && task.basis == ShardBasis::Stored && !self.conflicts.is_aligned() {
            return Err(unguarded().at_object(&task.object));
        }
        let mut stored = match task.basis {
            ShardBasis::Stored => self.stored_shard(task.sharding, task.turn, &task.object).await?,
            ShardBasis::Nothing | ShardBasis::Absent => None,
        };
        if task.grows && task.basis != ShardBasis::Nothing {
            self.stay_first().await?;
        }
        let mut last = overtaken(&task.object);
        for attempt in 0..ATTEMPTS {
            let chunks = self.chunks_over(task, stored.as_deref()).await?;
            let (body, chunks) = task.assemble(&chunks)?;
            let when = match &stored {
                _ if is_free || !has_conditions => PutCondition::None,
                Some(stored) => PutCondition::Matches(stored.tag.clone()),
                None => PutCondition::Absent,
            };
            let byte_len = body.len();
            match self.output.put_when(&task.object, body, when).await {
                Err(error) if has_conditions && is_conflict(&error) => last = error,
                Err(error) => return Err(error),
                Ok(tag) => {
                    let stored = StoredShard { tag, chunks, byte_len };
                    task.turn.keep(Some(Arc::new(stored)), self.known_budget());
                    return Ok(());
                }
            }
            if attempt > 0 {
                self.output.pause(Duration::from_millis(10 << attempt.min(6))).await?;
            }
            task.turn.keep(None, self.known_budget());
            // Read first, then check the lease: the first writer puts only after it has acquired the lease, so that its later
            // puts are not in what was read.
            stored = if task.kept.contains(&true) {
                self.present_shard(task.sharding, task.turn, &task.object).await?
            } else {
                // What a killed writer left is replaced, whatever it is.
                self.shard_object(&task.object).await?.map(|blob| Arc::new(StoredShard::unread(blob.tag)))
            };
            if self.conflicts.is_first().await? == Some(false) {
                let deciding = self.conflicts.commit_object();
                return Err(overtaken(&deciding.unwrap_or_else(|| task.object.clone())));
            }
        }
        Err(last)
    }

    /// The chunks of the new shard: those that are put, and of the stored ones those that stay.
    async fn chunks_over(
        &self,
        task: &ShardTask<'_>,
        stored: Option<&StoredShard>,
    ) -> Result<Vec<Option<Bytes>>> {
        let mut chunks = task.own_chunks();
        let Some(stored) = stored else { return Ok(chunks) };
        if chunks.len() < stored.chunks.len() {
            chunks.resize(stored.chunks.len(), None);
        }
        for (slot, chunk) in chunks.iter_mut().enumerate() {
            let is_kept = task.kept.get(slot).copied().unwrap_or(false);
            match (task.parts.get(&slot), stored.chunk(slot)) {
                (None, Some(theirs)) if is_kept => *chunk = Some(theirs.clone()),
                (Some(ShardPart { cell, body, origin: Some(origin) }), Some(theirs)) if is_kept => {
                    let is_same = matches!(origin, StoredChunk::Bytes(bytes, ..) if bytes == theirs);
                    if !is_same {
                        let key = ChunkKey { var: task.target.var, cell: cell.clone() };
                        *chunk = Some(self.merged(&key, origin, body, theirs).await?);
                    }
                }
                _ => {}
            }
        }
        Ok(chunks)
    }
}

impl ShardTask<'_> {
    /// The chunks that are put, by number.
    fn own_chunks(&self) -> Vec<Option<Bytes>> {
        let end = self.parts.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let mut chunks = vec![None; end];
        for (slot, part) in &self.parts {
            if let Some(chunk) = chunks.get_mut(*slot) {
                *chunk = Some(part.body.clone());
            }
        }
        chunks
    }

    /// The object of a shard with these chunks, and the chunks as parts of it.
    fn assemble(&self, chunks: &[Option<Bytes>]) -> Result<(Bytes, Vec<Option<Bytes>>)> {
        let shard = &self.turn.key.shard;
        let body = self.sharding.assemble(shard, chunks)?;
        let ranges = self.sharding.ranges(shard, &body)?;
        let chunks = ranges.into_iter().map(|range| range.map(|range| body.slice(range))).collect();
        Ok((body, chunks))
    }
}

/// The turn of a shard that is put in the background: when it ends, the chunks are stored, or the writer has failed.
struct DetachedTurn(ShardTurn);

impl Drop for DetachedTurn {
    fn drop(&mut self) {
        self.0.stored();
    }
}

/// How many chunks of a shard have to be written so that nothing stored stays: those inside of the array, and along axes that
/// grow all, if others may put them (`with_growth`).
fn needed(target: &WriteTarget, model: &Model, shard: &[u64], with_growth: bool) -> u64 {
    let array = model.shape(target.var);
    let Some(sharding) = &target.sharding else { return 0 };
    let mut count = 1u64;
    for (axis, at) in shard.iter().enumerate() {
        let chunks = sharding.shards().span(axis, *at).unwrap_or_default();
        let grows = with_growth && target.growing.get(axis).copied().unwrap_or(false);
        let cells = target.encoding.grid.cells_along(axis, array.get(axis).copied().unwrap_or(0));
        let end = if grows { chunks.end } else { chunks.end.min(cells) };
        count = count.saturating_mul(end.saturating_sub(chunks.start));
    }
    count
}

/// The error if two writers would lose each other's chunks.
fn unguarded() -> Error {
    Error::unsupported(
        "writing part of a shard: the store ignores conditional puts, and what another program writes into the \
         same shard could be lost; write whole shards, or declare the writes aligned",
    )
}

/// How often a put is repeated over what others put meanwhile.
const ATTEMPTS: u32 = 24;
