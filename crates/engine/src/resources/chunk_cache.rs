//! Decoded chunks that are read in small parts again and again.
use bytes::Bytes;
use ncirrus_layout::LockExt;
use ncirrus_layout::ObjectId;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Decoded chunks, at most so many bytes. A chunk is kept when it is asked for a second time: whoever reads every
/// chunk once leaves nothing behind.
pub(crate) struct ChunkCache {
    state: Mutex<ChunkCacheState>,
    budget: usize,
}

/// Which chunk: of which opening of a dataset, and where it lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ChunkKey {
    /// Number of the opening.
    pub(crate) opening: u64,
    /// The object.
    pub(crate) object: ObjectId,
    /// Its bytes; `None` for the whole object.
    pub(crate) range: Option<Range<u64>>,
}

/// What the cache knows of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CachedChunk {
    /// Its decoded bytes.
    Here(Bytes),
    /// It was asked for before: worth keeping.
    Again,
    /// It was not asked for lately.
    New,
}

#[derive(Default)]
struct ChunkCacheState {
    entries: HashMap<ChunkKey, ChunkEntry>,
    held: usize,
    clock: u64,
}

struct ChunkEntry {
    chunk: Option<Bytes>,
    used: u64,
}

/// How many chunks are remembered without their bytes.
const REMEMBERED: usize = 4096;

impl ChunkCache {
    /// An empty cache for `budget` bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self { state: Mutex::default(), budget }
    }

    /// Bytes that may be kept.
    pub(crate) fn budget(&self) -> usize {
        self.budget
    }

    /// Looks a chunk of `byte_len` decoded bytes up, and remembers that it was asked for.
    pub(crate) fn look_up(&self, key: &ChunkKey, byte_len: usize) -> CachedChunk {
        if byte_len > self.budget / 4 {
            return CachedChunk::New;
        }
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        match state.entries.get_mut(key) {
            Some(entry) => {
                entry.used = used;
                entry.chunk.clone().map_or(CachedChunk::Again, CachedChunk::Here)
            }
            None => {
                state.entries.insert(key.clone(), ChunkEntry { chunk: None, used });
                state.shrink(self.budget);
                CachedChunk::New
            }
        }
    }

    /// Keeps the decoded bytes of a chunk.
    pub(crate) fn keep(&self, key: ChunkKey, chunk: Bytes) {
        let mut state = self.lock();
        state.clock += 1;
        state.held += chunk.len();
        let entry = ChunkEntry { chunk: Some(chunk), used: state.clock };
        let old = state.entries.insert(key, entry);
        state.held -= old.map_or(0, |old| old.byte_len());
        state.shrink(self.budget);
    }

    /// Forgets the chunks of an opening (it ended, or is being written).
    pub(crate) fn forget(&self, opening: u64) {
        let mut state = self.lock();
        state.entries.retain(|key, _| key.opening != opening);
        state.held = state.entries.values().map(ChunkEntry::byte_len).sum();
    }

    fn lock(&self) -> MutexGuard<'_, ChunkCacheState> {
        self.state.guard()
    }
}

impl ChunkEntry {
    fn byte_len(&self) -> usize {
        self.chunk.as_ref().map_or(0, Bytes::len)
    }
}

impl ChunkCacheState {
    /// Once a bound is exceeded, drops what was used longest ago until both bounds are kept with room to spare.
    fn shrink(&mut self, budget: usize) {
        if self.held <= budget && self.entries.len() <= 2 * REMEMBERED {
            return;
        }
        let mut ages: Vec<(u64, usize)> =
            self.entries.values().map(|entry| (entry.used, entry.byte_len())).collect();
        ages.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept = 0;
        let target = budget - budget / 4;
        let keep = ages.iter().enumerate().take_while(|(at, (_, bytes))| {
            kept += bytes;
            *at < REMEMBERED && kept <= target
        });
        let keep = keep.count();
        let oldest = keep.checked_sub(1).and_then(|last| ages.get(last)).map_or(u64::MAX, |(used, _)| *used);
        self.entries.retain(|_, entry| entry.used >= oldest);
        self.held = self.entries.values().map(ChunkEntry::byte_len).sum();
    }
}
