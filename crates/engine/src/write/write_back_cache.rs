//! Chunks that are partly written and wait to be encoded: a write-back cache, with a lock for each chunk.
use super::codec_needs::CodecNeeds;
use super::contents::{DirtyContents, StoredChunk};
use super::lock_order::ChunkAccess;
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_model::VarId;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// A chunk of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ChunkKey {
    /// The variable.
    pub(super) var: VarId,
    /// Coordinates of the chunk.
    pub(super) cell: Vec<u64>,
}

/// The cached state of one chunk; empty while it is only locked.
#[derive(Debug, Default)]
pub(super) struct DirtyChunk {
    /// The elements, not stored yet.
    pub(super) contents: Option<DirtyContents>,
    /// The stored chunk with which the elements were completed, if others may change it meanwhile.
    pub(super) origin: Option<StoredChunk>,
    /// The elements as they came out of lossy codecs, before any change.
    pub(super) kept: Option<Vec<u8>>,
    /// How many elements were put since the chunk is cached, elements that were put again as well.
    written: u64,
    /// Whether these are as many as the chunk has: most programs put no more then.
    is_full: bool,
}

impl DirtyChunk {
    /// Remembers the elements that were loaded, if encoding them again might change them.
    pub(super) fn keep(&mut self, needs: CodecNeeds, stored: &StoredChunk, loaded: &DirtyContents) {
        self.kept = match loaded {
            DirtyContents::Bytes(bytes) if stored.mask().is_some_and(|mask| needs.has_changed(mask)) => {
                Some(bytes.clone())
            }
            _ => None,
        };
    }

    /// Counts elements that were put, of as many as the chunk has.
    pub(super) fn note_written(&mut self, count: u64, of: u64) {
        self.written = self.written.saturating_add(count);
        self.is_full = self.written >= of;
    }

    /// Empties the entry.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// All cached chunks.
#[derive(Debug, Default)]
pub(super) struct WriteBackCache {
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    /// Least recently used first.
    cells: LinkedHashMap<ChunkKey, DirtyEntry>,
    /// Bytes of all chunks.
    held: ChunkBytes,
    /// Bytes of the chunks that are full.
    full: ChunkBytes,
}

/// Bytes of some chunks.
#[derive(Debug, Default)]
struct ChunkBytes {
    all: usize,
    /// Those of chunks that a call is about to put.
    leaving: usize,
}

#[derive(Debug)]
struct DirtyEntry {
    slot: Arc<AsyncMutex<DirtyChunk>>,
    cost: usize,
    is_full: bool,
    /// Whether whoever holds it puts it, to make room.
    is_leaving: bool,
}

/// Chunks that make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Any.
    Oldest,
    /// Those of which every element was put.
    OldestFull,
}

impl ChunkBytes {
    /// Bytes that stay unless more room is made.
    fn staying(&self) -> usize {
        self.all.saturating_sub(self.leaving)
    }

    fn add(&mut self, entry: &DirtyEntry) {
        self.all += entry.cost;
        self.leaving += if entry.is_leaving { entry.cost } else { 0 };
    }

    fn remove(&mut self, entry: &DirtyEntry) {
        self.all = self.all.saturating_sub(entry.cost);
        self.leaving = self.leaving.saturating_sub(if entry.is_leaving { entry.cost } else { 0 });
    }
}

/// A locked chunk. When it is released, its share of the budget is recounted and an empty entry is removed.
#[derive(Debug)]
pub(super) struct ChunkLock {
    stage: Arc<WriteBackCache>,
    /// The chunk.
    pub(super) key: ChunkKey,
    /// Its cached state.
    pub(super) slot: OwnedMutexGuard<DirtyChunk>,
}

impl WriteBackCache {
    /// Locks a chunk, whether or not it is cached. Chunks are locked in ascending order, or with [`take`](Self::take), which waits for
    /// none, so that there is no deadlock.
    pub(super) async fn lock(self: &Arc<Self>, _access: ChunkAccess<'_>, key: ChunkKey) -> ChunkLock {
        loop {
            let slot =
                Arc::clone(&self.state().cells.entry(key.clone()).or_insert_with(DirtyEntry::new).slot);
            let guard = Arc::clone(&slot).lock_owned().await;
            // The previous holder of the lock may have removed the entry.
            if self.is_current(&key, &slot) {
                return ChunkLock { stage: Arc::clone(self), key, slot: guard };
            }
        }
    }

    fn is_current(&self, key: &ChunkKey, slot: &Arc<AsyncMutex<DirtyChunk>>) -> bool {
        self.state().cells.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.slot, slot))
    }

    /// Locks the least recently used chunks whose removal would leave at most `target` bytes cached, besides those that others put
    /// already: calls at the same time make room for each other. Chunks that others hold at the moment are put by them.
    pub(super) fn take(self: &Arc<Self>, leaving: Leaving, target: usize) -> Vec<ChunkLock> {
        let mut guard = self.state();
        let state = &mut *guard;
        let mut excess = state.staying(leaving).saturating_sub(target);
        let mut taken = Vec::new();
        for (key, entry) in state.cells.iter_mut().filter(|(_, entry)| entry.may_leave(leaving)) {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(entry.cost);
            if let Ok(slot) = Arc::clone(&entry.slot).try_lock_owned() {
                entry.is_leaving = true;
                state.held.leaving += entry.cost;
                state.full.leaving += entry.full().map_or(0, |entry| entry.cost);
                taken.push(ChunkLock { stage: Arc::clone(self), key: key.clone(), slot });
            }
        }
        taken
    }

    /// Bytes of the least recently used chunk of which every element was put.
    pub(super) fn full_chunk_len(&self) -> usize {
        self.state().cells.values().find(|entry| entry.is_full).map_or(0, |entry| entry.cost)
    }

    /// All cached chunks in ascending order.
    pub(super) fn keys(&self) -> Vec<ChunkKey> {
        self.keys_of(|_| true)
    }

    /// As [`keys`](Self::keys), without those that are locked.
    pub(super) fn free_keys(&self) -> Vec<ChunkKey> {
        self.keys_of(|entry| entry.slot.try_lock().is_ok())
    }

    fn keys_of(&self, which: impl Fn(&DirtyEntry) -> bool) -> Vec<ChunkKey> {
        let state = self.state();
        let cells = state.cells.iter().filter(|(_, entry)| which(entry));
        let mut keys: Vec<ChunkKey> = cells.map(|(key, _)| key.clone()).collect();
        keys.sort_unstable();
        keys
    }

    /// Whether no chunk of some records, each of which is one chunk, is cached or locked; `cell` is the first.
    pub(super) fn has_none_of(&self, var: VarId, cell: &[u64], records: u64) -> bool {
        let state = self.state();
        let Some(&first) = cell.first() else { return false };
        let end = first.saturating_add(records);
        if (state.cells.len() as u64) < records {
            let is_other = |key: &ChunkKey| {
                key.var != var || key.cell.first().is_none_or(|at| !(first..end).contains(at))
            };
            return state.cells.keys().all(is_other);
        }
        let mut key = ChunkKey { var, cell: cell.to_vec() };
        (first..end).all(|at| {
            key.cell.iter_mut().take(1).for_each(|record| *record = at);
            !state.cells.contains_key(&key)
        })
    }

    /// Number of bytes cached.
    pub(super) fn held(&self) -> usize {
        self.state().held.all
    }

    /// Number of bytes cached, besides those that are about to be put.
    pub(super) fn staying(&self, leaving: Leaving) -> usize {
        self.state().staying(leaving)
    }

    /// Forgets the chunks of variables that were removed.
    pub(super) fn retain(&self, keep: impl Fn(VarId) -> bool) {
        let mut guard = self.state();
        let state = &mut *guard;
        (state.held, state.full) = (ChunkBytes::default(), ChunkBytes::default());
        state.cells.retain(|key, _| keep(key.var));
        state.cells.values().for_each(|entry| {
            state.held.add(entry);
            entry.full().into_iter().for_each(|entry| state.full.add(entry));
        });
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.guard()
    }
}

impl CacheState {
    fn staying(&self, leaving: Leaving) -> usize {
        match leaving {
            Leaving::Oldest => self.held.staying(),
            Leaving::OldestFull => self.full.staying(),
        }
    }
}

impl DirtyEntry {
    fn new() -> Self {
        Self { slot: Arc::default(), cost: 0, is_full: false, is_leaving: false }
    }

    /// Whether it may make room, and does not yet.
    fn may_leave(&self, leaving: Leaving) -> bool {
        let is_meant = match leaving {
            Leaving::Oldest => self.cost > 0,
            Leaving::OldestFull => self.is_full,
        };
        is_meant && !self.is_leaving
    }

    fn full(&self) -> Option<&Self> {
        self.is_full.then_some(self)
    }
}

impl Drop for ChunkLock {
    fn drop(&mut self) {
        let origin = self.slot.origin.as_ref().map_or(0, StoredChunk::byte_len);
        let origin = origin.saturating_add(self.slot.kept.as_ref().map_or(0, Vec::len));
        let cost =
            self.slot.contents.as_ref().map(|contents| contents.byte_len().max(1).saturating_add(origin));
        if cost.is_none() {
            self.slot.clear();
        }
        let is_full = self.slot.is_full;
        let mut guard = self.stage.state();
        let CacheState { cells, held, full } = &mut *guard;
        let Some(entry) = cells.to_back(&self.key) else { return };
        held.remove(entry);
        entry.full().into_iter().for_each(|entry| full.remove(entry));
        let Some(cost) = cost else {
            cells.remove(&self.key);
            return;
        };
        (entry.cost, entry.is_full, entry.is_leaving) = (cost, is_full, false);
        held.add(entry);
        entry.full().into_iter().for_each(|entry| full.add(entry));
    }
}
