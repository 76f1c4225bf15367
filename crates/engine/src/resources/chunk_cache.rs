//! A cache of decoded chunks, for repeated small reads.
use bytes::Bytes;
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_layout::ObjectId;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Decoded chunks, up to a number of bytes. A chunk is kept when it is requested for the second time: reading every
/// chunk once leaves nothing in the cache.
pub(crate) struct ChunkCache {
    state: Mutex<ChunkCacheState>,
    budget: usize,
    /// The largest chunk that is kept.
    largest: usize,
}

/// Identifies a chunk: the opening of its dataset, and its location.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ChunkKey {
    /// Number of the opening.
    pub(crate) opening: u64,
    /// The object.
    pub(crate) object: ObjectId,
    /// Its bytes; `None` for the whole object.
    pub(crate) range: Option<Range<u64>>,
}

/// What the cache has of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CachedChunk {
    /// Its decoded bytes.
    Here(Bytes),
    /// It was requested before: worth keeping.
    Again,
    /// It was not requested recently.
    New,
}

#[derive(Default)]
struct ChunkCacheState {
    /// Chunks, and those that were requested once, which have no bytes: least recently used first.
    entries: LinkedHashMap<ChunkKey, Option<Bytes>>,
    held: usize,
}

/// Maximum number of chunks that are remembered without their bytes.
const REMEMBERED: usize = 4096;

impl ChunkCache {
    /// An empty cache of `budget` bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self { state: Mutex::default(), budget, largest: budget / 4 }
    }

    /// An empty cache of one variable: a single chunk may fill it.
    pub(crate) fn of_variable(budget: usize) -> Self {
        Self { largest: budget, ..Self::new(budget) }
    }

    /// Whether all chunks of a read of so many bytes fit beside those that are kept: of more, none would survive until it
    /// is requested again.
    pub(crate) fn takes(&self, bytes: u64) -> bool {
        bytes <= (self.budget / 2).max(self.largest) as u64
    }

    /// Whether a chunk of so many decoded bytes is kept when it is requested again.
    pub(crate) fn keeps(&self, byte_len: usize) -> bool {
        byte_len <= self.largest
    }

    /// Looks up a chunk of `byte_len` decoded bytes, and remembers that it was requested.
    pub(crate) fn look_up(&self, key: &ChunkKey, byte_len: usize) -> CachedChunk {
        if byte_len > self.largest {
            return CachedChunk::New;
        }
        let mut state = self.lock();
        match state.entries.to_back(key) {
            Some(chunk) => chunk.clone().map_or(CachedChunk::Again, CachedChunk::Here),
            None => {
                state.entries.insert(key.clone(), None);
                state.shrink(self.budget);
                CachedChunk::New
            }
        }
    }

    /// Keeps the decoded bytes of a chunk.
    pub(crate) fn keep(&self, key: ChunkKey, chunk: Bytes) {
        let mut state = self.lock();
        state.held += chunk.len();
        let old = state.entries.insert(key, Some(chunk));
        state.held -= old.map_or(0, |old| byte_len(&old));
        state.shrink(self.budget);
    }

    /// Forgets the chunks of an opening (it ended, or its dataset is being written).
    pub(crate) fn forget(&self, opening: u64) {
        let mut state = self.lock();
        state.entries.retain(|key, _| key.opening != opening);
        state.held = state.entries.values().map(byte_len).sum();
    }

    fn lock(&self) -> MutexGuard<'_, ChunkCacheState> {
        self.state.guard()
    }
}

fn byte_len(chunk: &Option<Bytes>) -> usize {
    chunk.as_ref().map_or(0, Bytes::len)
}

impl ChunkCacheState {
    /// When a bound is exceeded, drops the least recently used entries until both bounds are met with room to spare.
    fn shrink(&mut self, budget: usize) {
        if self.held <= budget && self.entries.len() <= 2 * REMEMBERED {
            return;
        }
        let target = budget - budget / 4;
        while (self.held > target || self.entries.len() > REMEMBERED)
            && let Some((_, chunk)) = self.entries.pop_front()
        {
            self.held -= byte_len(&chunk);
        }
    }
}
