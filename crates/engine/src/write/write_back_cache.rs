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
    held: usize,
    /// Bytes of the chunks that are full.
    full: usize,
}

#[derive(Debug)]
struct DirtyEntry {
    slot: Arc<AsyncMutex<DirtyChunk>>,
    cost: usize,
    is_full: bool,
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
    /// Locks a chunk, whether or not it is cached. Chunks are locked in ascending order, or with
    /// [`try_lock`](Self::try_lock), so that there is no deadlock.
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

    /// Locks a cached chunk, unless another task holds it.
    pub(super) fn try_lock(self: &Arc<Self>, key: ChunkKey) -> Option<ChunkLock> {
        let slot = Arc::clone(&self.state().cells.get(&key)?.slot);
        let guard = Arc::clone(&slot).try_lock_owned().ok()?;
        self.is_current(&key, &slot).then(|| ChunkLock { stage: Arc::clone(self), key, slot: guard })
    }

    fn is_current(&self, key: &ChunkKey, slot: &Arc<AsyncMutex<DirtyChunk>>) -> bool {
        self.state().cells.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.slot, slot))
    }

    /// The least recently used chunks whose removal would leave at most `target` bytes cached.
    pub(super) fn oldest(&self, target: usize) -> Vec<ChunkKey> {
        let state = self.state();
        oldest_of(&state, state.held.saturating_sub(target), |entry| entry.cost > 0)
    }

    /// As [`oldest`](Self::oldest), of chunks of which every element was put.
    pub(super) fn oldest_full(&self, target: usize) -> Vec<ChunkKey> {
        let state = self.state();
        oldest_of(&state, state.full.saturating_sub(target), |entry| entry.is_full)
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
        self.state().held
    }

    /// Number of bytes of chunks of which every element was put.
    pub(super) fn full(&self) -> usize {
        self.state().full
    }

    /// Forgets the chunks of variables that were removed.
    pub(super) fn retain(&self, keep: impl Fn(VarId) -> bool) {
        let mut state = self.state();
        state.cells.retain(|key, _| keep(key.var));
        state.held = state.cells.values().map(|entry| entry.cost).sum();
        state.full = state.cells.values().map(DirtyEntry::full_cost).sum();
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.guard()
    }
}

impl DirtyEntry {
    fn new() -> Self {
        Self { slot: Arc::default(), cost: 0, is_full: false }
    }

    fn full_cost(&self) -> usize {
        if self.is_full { self.cost } else { 0 }
    }
}

/// Chunks that hold so many bytes, least recently used first.
fn oldest_of(state: &CacheState, mut excess: usize, which: impl Fn(&DirtyEntry) -> bool) -> Vec<ChunkKey> {
    let mut keys = Vec::new();
    for (key, entry) in state.cells.iter().filter(|(_, entry)| which(entry)) {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(entry.cost);
        keys.push(key.clone());
    }
    keys
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
        let state = &mut *guard;
        let Some(entry) = state.cells.to_back(&self.key) else { return };
        state.held = state.held.saturating_sub(entry.cost) + cost.unwrap_or(0);
        state.full = state.full.saturating_sub(entry.full_cost());
        match cost {
            Some(cost) => {
                (entry.cost, entry.is_full) = (cost, is_full);
                state.full += entry.full_cost();
            }
            None => _ = state.cells.remove(&self.key),
        }
    }
}
