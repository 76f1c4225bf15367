//! Chunks that share objects (`docs/design/026-shards.md`): encoded chunks wait for the others of their shard, and a shard is
//! put as a whole.
//!
//! - A shard all of whose chunks were written is put once, without a look at what is stored: in a local store by the thread
//!   that encoded the last of them, while others encode the next ones.
//! - Otherwise the stored shard is read, its other chunks are taken over as they are encoded, and the new shard replaces the
//!   state that was read.
//! - Each shard has a *turn*, which is held while its object is read or replaced. Its holder waits for requests only, never
//!   for a chunk or for another turn. Chunks that wait are found without it.
mod load;
mod replace;

pub(super) use replace::ShardPutting;

use super::contents::StoredChunk;
use bytes::Bytes;
use hashlink::LinkedHashMap;
use ncirrus_layout::{LockExt, ObjectBytes, ObjectId, Result, Sharding, Tag};
use ncirrus_model::VarId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// A shard of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ShardKey {
    /// The variable.
    pub(super) var: VarId,
    /// The index of the shard along each axis.
    pub(super) shard: Vec<u64>,
}

/// Where a chunk belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShardSlot {
    /// The shard.
    pub(super) key: ShardKey,
    /// The number of the chunk in it.
    pub(super) slot: usize,
    /// How many chunks the shard has.
    pub(super) per_shard: u64,
    /// The object of the shard.
    pub(super) object: ObjectId,
}

/// An encoded chunk that is not in the object of its shard yet.
#[derive(Debug, Clone)]
struct ShardPart {
    cell: Vec<u64>,
    body: Bytes,
    /// The stored chunk with which the elements were completed, if others may change it meanwhile.
    origin: Option<StoredChunk>,
}

/// A shard as it is stored.
#[derive(Debug)]
struct StoredShard {
    tag: Tag,
    /// The chunks by number.
    chunks: Vec<Option<Bytes>>,
    byte_len: usize,
}

impl StoredShard {
    fn new((sharding, shard): (&dyn Sharding, &[u64]), tag: Tag, bytes: &Bytes) -> Result<Self> {
        let ranges = sharding.ranges(shard, bytes)?;
        let chunks = ranges.into_iter().map(|range| range.map(|range| bytes.slice(range)));
        Ok(Self { tag, chunks: chunks.collect(), byte_len: bytes.len() })
    }

    /// A shard of which nothing is taken over.
    fn unread(tag: Tag) -> Self {
        Self { tag, chunks: Vec::new(), byte_len: 0 }
    }

    fn read(sharding: &dyn Sharding, shard: &[u64], blob: &ObjectBytes) -> Result<Self> {
        Self::new((sharding, shard), blob.tag.clone(), &blob.bytes)
    }

    fn chunk(&self, slot: usize) -> Option<&Bytes> {
        self.chunks.get(slot).and_then(Option::as_ref)
    }
}

/// All shards with chunks that wait, least recently changed first.
#[derive(Debug, Default)]
pub(super) struct ShardStage {
    state: Mutex<StageState>,
}

#[derive(Debug, Default)]
struct StageState {
    shards: LinkedHashMap<ShardKey, StagedShard>,
    /// Bytes of the chunks that wait or are being put.
    held: usize,
    /// Bytes of stored shards that are kept.
    known: usize,
}

#[derive(Debug, Default)]
struct StagedShard {
    turn: Arc<AsyncMutex<()>>,
    object: Option<ObjectId>,
    /// Chunks by number.
    waiting: BTreeMap<usize, ShardPart>,
    /// Those that are being put.
    under_way: BTreeMap<usize, ShardPart>,
    /// The stored shard as this writer read or put it last.
    known: Option<Arc<StoredShard>>,
}

/// The turn of a shard. When it ends, what was being put is stored.
#[derive(Debug)]
pub(super) struct ShardTurn {
    stage: Arc<ShardStage>,
    key: ShardKey,
    guard: Option<OwnedMutexGuard<()>>,
}

impl ShardStage {
    /// Adds an encoded chunk, which the caller has locked; returns how many chunks of its shard wait then.
    pub(super) fn add(
        &self,
        place: ShardSlot,
        cell: Vec<u64>,
        body: Bytes,
        origin: Option<StoredChunk>,
    ) -> usize {
        let ShardSlot { key, slot, object, .. } = place;
        let mut guard = self.state.guard();
        let state = &mut *guard;
        let shard = state.shards.entry(key.clone()).or_insert_with(StagedShard::default);
        shard.object = Some(object);
        let len = body.len();
        let before = shard.waiting.remove(&slot);
        // A chunk that was completed from one that waits still has the other one's stored state to be compared with; if that
        // had none, all elements are this writer's.
        let origin = match &before {
            Some(before) => origin.and_then(|_| before.origin.clone()),
            None => origin,
        };
        shard.waiting.insert(slot, ShardPart { cell, body, origin });
        let waiting = shard.waiting.len();
        state.held = state.held.saturating_add(len).saturating_sub(before.map_or(0, |part| part.body.len()));
        state.shards.to_back(&key);
        waiting
    }

    /// The bytes of a chunk that waits or is being put.
    fn body(&self, key: &ShardKey, slot: usize) -> Option<Bytes> {
        let state = self.state.guard();
        let shard = state.shards.get(key)?;
        shard.waiting.get(&slot).or_else(|| shard.under_way.get(&slot)).map(|part| part.body.clone())
    }

    /// Waits for the turn of a shard.
    async fn turn(self: &Arc<Self>, key: &ShardKey) -> ShardTurn {
        let turn = Arc::clone(
            &self.state.guard().shards.entry(key.clone()).or_insert_with(StagedShard::default).turn,
        );
        let guard = Some(turn.lock_owned().await);
        ShardTurn { stage: Arc::clone(self), key: key.clone(), guard }
    }

    /// The turn of a shard, if no other task has it.
    fn try_turn(self: &Arc<Self>, key: &ShardKey) -> Option<ShardTurn> {
        let turn = Arc::clone(&self.state.guard().shards.get(key)?.turn);
        let guard = Some(turn.try_lock_owned().ok()?);
        Some(ShardTurn { stage: Arc::clone(self), key: key.clone(), guard })
    }

    /// Shards with chunks that wait, and how many, least recently changed first.
    pub(super) fn waiting(&self) -> Vec<(ShardKey, usize)> {
        let state = self.state.guard();
        let waiting = state.shards.iter().filter(|(_, shard)| !shard.waiting.is_empty());
        waiting.map(|(key, shard)| (key.clone(), shard.waiting.len())).collect()
    }

    /// The shards whose chunks waited longest, without which at most `target` bytes would wait.
    pub(super) fn oldest(&self, target: usize) -> Vec<ShardKey> {
        let state = self.state.guard();
        let mut excess = state.held.saturating_sub(target);
        let mut keys = Vec::new();
        for (key, shard) in state.shards.iter().filter(|(_, shard)| !shard.waiting.is_empty()) {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(len_of(&shard.waiting));
            keys.push(key.clone());
        }
        keys
    }

    /// Bytes of the chunks that wait or are being put.
    pub(super) fn held(&self) -> usize {
        self.state.guard().held
    }

    /// Forgets the shards of variables that were removed.
    pub(super) fn retain(&self, keep: impl Fn(VarId) -> bool) {
        let mut state = self.state.guard();
        state.shards.retain(|key, _| keep(key.var));
        state.held = state
            .shards
            .values()
            .map(|shard| len_of(&shard.waiting).saturating_add(len_of(&shard.under_way)))
            .fold(0, usize::saturating_add);
        state.known = state.shards.values().filter_map(|shard| Some(shard.known.as_ref()?.byte_len)).sum();
    }

    /// Forgets what is known of stored shards.
    pub(super) fn forget_stored(&self) {
        let mut state = self.state.guard();
        state.shards.iter_mut().for_each(|(_, shard)| shard.known = None);
        state.known = 0;
        state.shards.retain(|_, shard| !shard.is_idle());
    }

    fn state(&self) -> MutexGuard<'_, StageState> {
        self.state.guard()
    }
}

impl ShardTurn {
    fn with<T>(&self, then: impl FnOnce(&mut StagedShard) -> T) -> Option<T> {
        self.stage.state().shards.get_mut(&self.key).map(then)
    }

    /// Whether that many chunks wait, and none of them was completed from a stored one.
    fn is_complete(&self, count: u64) -> bool {
        let is_complete = |shard: &mut StagedShard| {
            shard.waiting.len() as u64 == count && shard.waiting.values().all(|part| part.origin.is_none())
        };
        self.with(is_complete).unwrap_or(false)
    }

    /// Begins to put the chunks that wait: the object of the shard, and the chunks by number.
    fn begin(&self) -> Option<(ObjectId, BTreeMap<usize, ShardPart>)> {
        self.with(|shard| {
            let object = shard.object.clone()?;
            shard.under_way.append(&mut shard.waiting);
            (!shard.under_way.is_empty()).then(|| (object, shard.under_way.clone()))
        })?
    }

    /// The chunks that are being put are parts of these bytes from here on, so that they are in memory once.
    fn share(&self, chunks: &[Option<Bytes>]) {
        let mut guard = self.stage.state();
        let state = &mut *guard;
        let Some(shard) = state.shards.get_mut(&self.key) else { return };
        let before = len_of(&shard.under_way);
        for (slot, part) in &mut shard.under_way {
            if let Some(Some(chunk)) = chunks.get(*slot) {
                part.body = chunk.clone();
            }
        }
        state.held = state.held.saturating_sub(before).saturating_add(len_of(&shard.under_way));
    }

    /// What is known of the stored shard.
    fn known(&self) -> Option<Arc<StoredShard>> {
        self.with(|shard| shard.known.clone())?
    }

    /// Keeps a stored shard for the next change, if it takes at most `budget` bytes; others are forgotten if all together do.
    fn keep(&self, stored: Option<Arc<StoredShard>>, budget: usize) {
        let mut guard = self.stage.state();
        let state = &mut *guard;
        let stored = stored.filter(|stored| stored.byte_len <= budget);
        let more = stored.as_ref().map_or(0, |stored| stored.byte_len);
        if state.known.saturating_add(more) > budget {
            state.shards.iter_mut().for_each(|(_, shard)| shard.known = None);
            state.known = 0;
        }
        if let Some(shard) = state.shards.get_mut(&self.key) {
            let before = shard.known.take().map_or(0, |known| known.byte_len);
            state.known = state.known.saturating_sub(before).saturating_add(more);
            shard.known = stored;
        }
    }

    /// The chunks that were being put are stored.
    fn stored(&self) {
        let mut guard = self.stage.state();
        let state = &mut *guard;
        let Some(shard) = state.shards.get_mut(&self.key) else { return };
        state.held = state.held.saturating_sub(len_of(&shard.under_way));
        shard.under_way.clear();
    }
}

impl Drop for ShardTurn {
    fn drop(&mut self) {
        self.guard = None;
        let mut state = self.stage.state();
        if state.shards.get(&self.key).is_some_and(StagedShard::is_idle) {
            state.shards.remove(&self.key);
        }
    }
}

impl StagedShard {
    /// Whether nothing is kept, and no task has the turn or waits for it.
    fn is_idle(&self) -> bool {
        self.waiting.is_empty()
            && self.under_way.is_empty()
            && self.known.is_none()
            && Arc::strong_count(&self.turn) == 1
    }
}

fn len_of(parts: &BTreeMap<usize, ShardPart>) -> usize {
    parts.values().map(|part| part.body.len()).fold(0, usize::saturating_add)
}
