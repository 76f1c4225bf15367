//! The states of a dataset's objects at first touch, and the metadata bytes that were fetched.
mod fronts;

pub(crate) use fronts::{FRONT, ObjectFronts};

use bytes::{Bytes, BytesMut};
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Listing, ObjectBytes, ObjectId, Result, Tag, Want};
use ncirrus_store::Store;
use ncirrus_store::cache::{CacheEntry, CacheFolder};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// The store that holds a dataset, the states of its objects at first touch, and a bounded cache of metadata bytes.
pub(crate) struct StoreSnapshot {
    store: Arc<dyn Store>,
    state: Mutex<SnapshotState>,
    /// First bytes of objects in local stores.
    pub(crate) fronts: ObjectFronts,
    budget: usize,
    index: Option<Arc<CacheFolder>>,
}

#[derive(Default)]
struct SnapshotState {
    tags: HashMap<ObjectId, Tag>,
    /// Least recently used first, each with the step that used it: objects of one step stay or go together.
    cached: LinkedHashMap<ObjectId, (KnownObject, u64)>,
    parsed: HashMap<ObjectId, ReadRound>,
    /// Objects that were looked up in the index cache, and how many bytes it had.
    looked_up: HashMap<ObjectId, usize>,
    /// Entries of the index cache for roots that were not yet requested.
    recalled: HashMap<ObjectId, CacheEntry>,
    held: usize,
    clock: u64,
}

/// A round of reads of unknown extent of an object.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadRound {
    /// Number of earlier rounds.
    pub(crate) before: u32,
    /// Number of these that requested bytes in many places.
    pub(crate) scattered_before: u32,
}

/// Bytes that are pinned while a step runs.
#[derive(Default)]
pub(crate) struct PinnedBytes {
    objects: HashMap<ObjectId, KnownObject>,
    /// Listings that were fetched, by prefix and page.
    pub(crate) listings: HashMap<(ObjectId, Option<String>), Listing>,
}

/// What is known of an object.
#[derive(Clone)]
enum KnownObject {
    Absent,
    Present { size: u64, tag: Tag, blocks: ObjectBlocks },
}

/// Bytes of an object. No block is within another: starts and ends are both ascending.
#[derive(Clone, Default)]
struct ObjectBlocks(BTreeMap<u64, Bytes>);

impl StoreSnapshot {
    /// A snapshot of a dataset of which nothing was touched; up to `budget` bytes of metadata are kept.
    pub(crate) fn new(store: Arc<dyn Store>, budget: usize, index: Option<Arc<CacheFolder>>) -> Self {
        let index = index.filter(|_| store.local().is_none());
        Self { store, state: Mutex::default(), fronts: ObjectFronts::default(), budget, index }
    }

    /// The same state, seen through another store with the same objects. This one is empty afterwards.
    pub(crate) fn behind(&self, store: Arc<dyn Store>) -> Self {
        let state = Mutex::new(std::mem::take(&mut *self.lock()));
        Self { store, state, fronts: ObjectFronts::default(), budget: self.budget, index: self.index.clone() }
    }

    /// The driver that last opened the dataset at `root`, according to the index cache.
    pub(crate) fn driver_of(&self, root: &ObjectId) -> Option<String> {
        let entry = self.recall(root)?;
        let driver = entry.driver.clone();
        self.lock().recalled.insert(root.clone(), entry);
        driver
    }

    /// The entry of the index cache for an object that was not touched yet; looked up once.
    pub(crate) fn recall(&self, object: &ObjectId) -> Option<CacheEntry> {
        let index = self.index.as_ref()?;
        let mut state = self.lock();
        if let Some(entry) = state.recalled.remove(object) {
            return Some(entry);
        }
        if state.tags.contains_key(object) || state.looked_up.contains_key(object) {
            return None;
        }
        state.looked_up.insert(object.clone(), 0);
        drop(state);
        index.find(object)
    }

    /// Passes what is known of objects to the index cache.
    pub(crate) fn save(&self, root: &ObjectId, driver: &str) {
        let Some(index) = &self.index else { return };
        let state = self.lock();
        for (object, (known, _)) in &state.cached {
            let KnownObject::Present { size, tag, blocks } = known else { continue };
            // All of it was released.
            if blocks.0.is_empty() {
                continue;
            }
            if state.looked_up.get(object).is_some_and(|len| *len >= known.byte_len()) {
                index.touch(object);
                continue;
            }
            let driver = (object == root).then(|| driver.to_owned());
            let blocks = blocks.0.iter().map(|(start, bytes)| (*start, bytes.clone())).collect();
            index.keep(object, &CacheEntry { driver, tag: tag.clone(), size: *size, blocks });
        }
        index.shrink();
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Checks that an object is in the store.
    pub(crate) fn check_store(&self, object: &ObjectId) -> Result<()> {
        if object.store == *self.store.id() {
            return Ok(());
        }
        Err(Error::unsupported("an object of another store than the dataset's").at_object(object))
    }

    /// Notes the tag of an object at first touch, and checks later ones against it.
    pub(crate) fn check(&self, object: &ObjectId, tag: &Tag) -> Result<()> {
        let mut state = self.lock();
        match state.tags.get(object) {
            Some(first) if first == tag => Ok(()),
            Some(_) => Err(changed(object)),
            None => {
                state.tags.insert(object.clone(), tag.clone());
                Ok(())
            }
        }
    }

    /// The tag of an object at first touch.
    pub(crate) fn tag(&self, object: &ObjectId) -> Option<Tag> {
        self.lock().tags.get(object).cloned()
    }

    /// Whether an object was touched before, so that its tag is known.
    pub(crate) fn has_tag(&self, object: &ObjectId) -> bool {
        self.lock().tags.contains_key(object)
    }

    /// All objects that were touched so far, with their tags at first touch.
    pub(crate) fn tags(&self) -> Vec<(ObjectId, Tag)> {
        self.lock().tags.iter().map(|(object, tag)| (object.clone(), tag.clone())).collect()
    }

    /// The earlier rounds before a new round of reads of unknown extent of an object.
    pub(crate) fn next_round(&self, object: &ObjectId, is_scattered: bool) -> ReadRound {
        let mut state = self.lock();
        let next = state.parsed.entry(object.clone()).or_default();
        let round = *next;
        next.before += 1;
        next.scattered_before += u32::from(is_scattered);
        round
    }

    /// Keeps what a finished step fetched.
    pub(crate) fn keep(&self, held: PinnedBytes) {
        let mut state = self.lock();
        state.clock += 1;
        let used = state.clock;
        for (object, known) in held.objects {
            let fresh = || (KnownObject::Absent, used);
            // Entries that exist already become the most recently used ones, too.
            let cached = state.cached.entry(object).or_insert_with(fresh);
            cached.0.merge(known);
            cached.1 = used;
        }
        state.held = state.cached.values().map(|(known, _)| known.byte_len()).sum();
        if state.held > self.budget {
            state.shrink(self.budget / 2);
        }
    }

    fn lock(&self) -> MutexGuard<'_, SnapshotState> {
        self.state.guard()
    }
}

/// The error of a read whose object changed meanwhile.
pub(crate) fn changed(object: &ObjectId) -> Error {
    Error::new(ErrorKind::Changed, "the object changed while it was read").at_object(object)
}

impl SnapshotState {
    fn shrink(&mut self, target: usize) {
        while self.held > target
            && let Some((_, (_, used))) = self.cached.front()
        {
            let used = *used;
            let step = self.cached.values().take_while(|(_, other)| *other == used);
            let (bytes, largest) = step.fold((0, 0), |(sum, largest), (known, _)| {
                (sum + known.byte_len(), known.byte_len().max(largest))
            });
            if self.held - bytes + largest <= target {
                return;
            }
            while self.cached.front().is_some_and(|(_, (_, other))| *other == used) {
                self.cached.pop_front();
            }
            self.held -= bytes;
        }
    }
}

impl PinnedBytes {
    /// The bytes that are wanted, if they are pinned here or cached in the snapshot (then they are pinned from now on).
    /// `Some(None)`: the object is known to be absent.
    pub(crate) fn find(
        &mut self,
        snapshot: &StoreSnapshot,
        object: &ObjectId,
        want: &Want,
    ) -> Option<Option<ObjectBytes>> {
        if let Some(found) = self.objects.get(object).and_then(|known| known.find(want)) {
            return Some(found);
        }
        let state = snapshot.lock();
        let (cached, _) = state.cached.get(object)?;
        let found = match self.objects.get(object) {
            Some(held) => cached.find_with(held, want)?,
            None => cached.find(want)?,
        };
        let pinned = match &found {
            None => KnownObject::Absent,
            Some(blob) => KnownObject::of(blob),
        };
        drop(state);
        self.pin(object, pinned);
        Some(found)
    }

    /// The size of an object, if known.
    pub(crate) fn size(&self, snapshot: &StoreSnapshot, object: &ObjectId) -> Option<u64> {
        let known = self.objects.get(object).and_then(KnownObject::size);
        known.or_else(|| snapshot.lock().cached.get(object).and_then(|(cached, _)| cached.size()))
    }

    /// Pins an answer of the store.
    ///
    /// # Errors
    /// `Changed` if the object is not in the state in which it was first seen.
    pub(crate) fn take(
        &mut self,
        snapshot: &StoreSnapshot,
        object: &ObjectId,
        blob: Option<ObjectBytes>,
    ) -> Result<()> {
        match blob {
            None if snapshot.tag(object).is_some() => Err(changed(object)),
            None => {
                self.pin(object, KnownObject::Absent);
                Ok(())
            }
            Some(blob) => {
                snapshot.check(object, &blob.tag)?;
                self.pin(object, KnownObject::of(&blob));
                Ok(())
            }
        }
    }

    /// The ranges of an object that are present, ascending.
    pub(crate) fn blocks(&self, snapshot: &StoreSnapshot, object: &ObjectId) -> Vec<Range<u64>> {
        let state = snapshot.lock();
        let cached = state.cached.get(object).map(|(cached, _)| cached);
        let mut there: Vec<Range<u64>> =
            self.objects.get(object).into_iter().chain(cached).flat_map(KnownObject::ranges).collect();
        there.sort_unstable_by_key(|range| range.start);
        there
    }

    /// Pins the bytes that the index cache has of an object, if its tag is still the same; otherwise the cache drops
    /// them.
    pub(crate) fn restore(&mut self, snapshot: &StoreSnapshot, object: &ObjectId, entry: CacheEntry) {
        let is_same = match self.objects.get(object) {
            Some(KnownObject::Present { size, tag, .. }) => *tag == entry.tag && *size == entry.size,
            Some(KnownObject::Absent) => false,
            // The request failed.
            None => return,
        };
        if !is_same {
            snapshot.index.iter().for_each(|index| index.forget(object));
            return;
        }
        snapshot.lock().looked_up.insert(object.clone(), entry.byte_len());
        let mut blocks = ObjectBlocks::default();
        entry.blocks.into_iter().for_each(|(start, bytes)| blocks.insert(start, bytes));
        self.pin(object, KnownObject::Present { size: entry.size, tag: entry.tag, blocks });
    }

    /// Drops the pinned blocks of an object that end at `end` or before.
    pub(crate) fn release(&mut self, object: &ObjectId, end: u64) {
        if let Some(KnownObject::Present { blocks, .. }) = self.objects.get_mut(object) {
            blocks.0.retain(|start, block| *start + block.len() as u64 > end);
        }
    }

    fn pin(&mut self, object: &ObjectId, known: KnownObject) {
        match self.objects.get_mut(object) {
            Some(old) => old.merge(known),
            None => _ = self.objects.insert(object.clone(), known),
        }
    }
}

impl KnownObject {
    fn of(blob: &ObjectBytes) -> Self {
        let mut blocks = ObjectBlocks::default();
        blocks.insert(blob.offset, blob.bytes.clone());
        Self::Present { size: blob.size, tag: blob.tag.clone(), blocks }
    }

    fn size(&self) -> Option<u64> {
        match self {
            Self::Absent => None,
            Self::Present { size, .. } => Some(*size),
        }
    }

    fn find(&self, want: &Want) -> Option<Option<ObjectBytes>> {
        let Self::Present { size, tag, blocks } = self else { return Some(None) };
        let range = resolve(want, *size);
        let bytes = blocks.find(&range)?;
        Some(Some(ObjectBytes { bytes, offset: range.start, size: *size, tag: tag.clone() }))
    }

    /// As [`find`](Self::find), with some of the bytes from what `other` knows.
    fn find_with(&self, other: &Self, want: &Want) -> Option<Option<ObjectBytes>> {
        let (Self::Present { size, tag, blocks }, Self::Present { tag: other_tag, blocks: more, .. }) =
            (self, other)
        else {
            return self.find(want);
        };
        if tag != other_tag {
            return self.find(want);
        }
        let range = resolve(want, *size);
        let bytes = joined(&[blocks, more], &range)?;
        Some(Some(ObjectBytes { bytes, offset: range.start, size: *size, tag: tag.clone() }))
    }

    /// Adds newer knowledge; the newer tag wins.
    fn merge(&mut self, newer: Self) {
        match (&mut *self, newer) {
            (Self::Present { tag, blocks, .. }, Self::Present { tag: new_tag, blocks: more, .. })
                if *tag == new_tag =>
            {
                more.0.into_iter().for_each(|(start, bytes)| blocks.insert(start, bytes));
            }
            (old, newer) => *old = newer,
        }
    }

    fn ranges(&self) -> Vec<Range<u64>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Present { blocks, .. } => {
                let range = |(start, block): (&u64, &Bytes)| *start..*start + block.len() as u64;
                blocks.0.iter().map(range).collect()
            }
        }
    }

    fn byte_len(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Present { blocks, .. } => blocks.0.values().map(Bytes::len).sum(),
        }
    }
}

impl ObjectBlocks {
    fn insert(&mut self, start: u64, bytes: Bytes) {
        let end = start + bytes.len() as u64;
        let covering = self.0.range(..=start).next_back();
        if covering.is_some_and(|(first, block)| first + block.len() as u64 >= end) && !bytes.is_empty() {
            return;
        }
        let within: Vec<u64> = self
            .0
            .range(start..)
            .take_while(|(first, block)| *first + block.len() as u64 <= end)
            .map(|(first, _)| *first)
            .collect();
        within.iter().for_each(|first| _ = self.0.remove(first));
        self.0.insert(start, bytes);
    }

    /// The bytes of a range, if all are present.
    fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        joined(&[self], range)
    }

    /// The block that contains the byte at an offset, and where it begins.
    fn at(&self, offset: u64) -> Option<(u64, &Bytes)> {
        let (first, block) = self.0.range(..=offset).next_back()?;
        (first + block.len() as u64 > offset).then_some((*first, block))
    }
}

/// The bytes of a range, if each is in some set of blocks.
fn joined(sets: &[&ObjectBlocks], range: &Range<u64>) -> Option<Bytes> {
    if range.is_empty() {
        return Some(Bytes::new());
    }
    let mut joined = BytesMut::new();
    let mut at = range.start;
    loop {
        // The block that reaches furthest.
        let found = sets.iter().filter_map(|blocks| blocks.at(at));
        let (first, block) = found.max_by_key(|(first, block)| first + block.len() as u64)?;
        let end = (first + block.len() as u64).min(range.end);
        let part = slice(block, at - first, end - first)?;
        if at == range.start && end == range.end {
            return Some(part);
        }
        joined.extend_from_slice(&part);
        at = end;
        if at == range.end {
            return Some(joined.freeze());
        }
    }
}

fn slice(block: &Bytes, start: u64, end: u64) -> Option<Bytes> {
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    (start <= end && end <= block.len()).then(|| block.slice(start..end))
}

/// The wanted range of an object of that size.
pub(crate) fn resolve(want: &Want, size: u64) -> Range<u64> {
    match want {
        Want::All | Want::AtMost(_) => 0..size,
        Want::Range(range) | Want::Parse(range) => {
            let start = range.start.min(size);
            start..range.end.clamp(start, size)
        }
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

#[cfg(test)]
mod tests;
