//! A bounded cache of finished parts.
use crate::LockExt;
use crate::{ObjectId, Tag};
use hashlink::LinkedHashMap;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

/// A bounded cache of finished parts (parsed headers, index nodes, JSON documents), so that a step that is run again
/// does not start from nothing. Entries are keyed by object, its tag, offset and kind; the oldest half is evicted
/// when the budget is exceeded, which is always safe: a part can be computed again.
pub struct Memo {
    state: Mutex<MemoState>,
    budget: usize,
}

#[derive(Default)]
struct MemoState {
    /// Least recently used first.
    entries: LinkedHashMap<MemoKey, MemoEntry>,
    held: usize,
}

#[derive(Clone, PartialEq, Eq)]
struct MemoKey {
    object: ObjectId,
    tag: Option<Tag>,
    offset: u64,
    kind: &'static str,
}

/// For keys that are looked up very often, only as much is hashed as distinguishes most parts from each other.
impl Hash for MemoKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.offset.hash(state);
        self.object.key().hash(state);
    }
}

struct MemoEntry {
    value: Arc<dyn Any + Send + Sync>,
    cost: usize,
}

impl Memo {
    /// An empty cache for parts of at most `budget` bytes in total.
    pub fn new(budget: usize) -> Self {
        Self { state: Mutex::default(), budget }
    }

    /// The cached part of that kind at that place.
    pub fn find<T: Send + Sync + 'static>(
        &self,
        object: &ObjectId,
        tag: Option<&Tag>,
        offset: u64,
        kind: &'static str,
    ) -> Option<Arc<T>> {
        let key = MemoKey { object: object.clone(), tag: tag.cloned(), offset, kind };
        let mut state = self.lock();
        let entry = state.entries.to_back(&key)?;
        Arc::clone(&entry.value).downcast().ok()
    }

    /// Caches a part; `cost` is its approximate size in bytes.
    pub fn keep<T: Send + Sync + 'static>(
        &self,
        object: &ObjectId,
        tag: Option<&Tag>,
        offset: u64,
        kind: &'static str,
        value: T,
        cost: usize,
    ) -> Arc<T> {
        let key = MemoKey { object: object.clone(), tag: tag.cloned(), offset, kind };
        let value = Arc::new(value);
        let mut state = self.lock();
        let entry = MemoEntry { value: Arc::clone(&value) as Arc<dyn Any + Send + Sync>, cost };
        state.held += cost;
        if state.entries.is_empty() {
            state.entries.reserve(USUAL);
        }
        if let Some(old) = state.entries.insert(key, entry) {
            state.held -= old.cost;
        }
        if state.held > self.budget {
            state.shrink(self.budget / 2);
        }
        value
    }

    /// Discards everything about an object (it was rewritten).
    pub fn forget(&self, object: &ObjectId) {
        let mut state = self.lock();
        let mut freed = 0;
        state.entries.retain(|key, entry| {
            let keep = key.object != *object;
            freed += if keep { 0 } else { entry.cost };
            keep
        });
        state.held -= freed;
    }

    /// Discards everything.
    pub fn clear(&self) {
        *self.lock() = MemoState::default();
    }

    fn lock(&self) -> MutexGuard<'_, MemoState> {
        self.state.guard()
    }
}

/// Parts of a small file.
const USUAL: usize = 28;

impl MemoState {
    /// Evicts the least recently used entries until at most `target` bytes are held.
    fn shrink(&mut self, target: usize) {
        while self.held > target
            && let Some((_, entry)) = self.entries.pop_front()
        {
            self.held -= entry.cost;
        }
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Memo").field("entries", &state.entries.len()).field("held", &state.held).finish()
    }
}
