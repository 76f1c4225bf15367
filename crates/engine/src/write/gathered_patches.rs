//! Small chunks of a file that is changed in place: they are held and written together, so that values that are next to each
//! other in the file are one write, whichever variables they are of. Chunks that come as rows at equal distances, which records of
//! one variable are, stay rows ([`super::gathered_rows`]).
//!
//! Only bytes of chunks are held, whose order does not matter. Whatever else is done with the store, reads as well, first
//! writes what is held: nothing is read or put that does not know of it. What is held when a writer is dropped is lost, as
//! all that was not committed.
use super::gathered_rows::HeldRows;
use super::local_puts::put_locally;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{
    Error, Listing, ObjectBytes, ObjectId, PatchRows, Result, StoreId, StorePut, Tag, Want,
};
use ncirrus_store::{
    Exclusion, LocalStore, PutBody, PutCondition, ReadAt, Store, StoreAbilities, StoreFacts,
};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// More bytes are written at once.
const SMALL: usize = 16 << 10;
/// Bytes that are held at most.
const MAX_HELD: usize = 128 << 10;
/// Patches that are held at most.
const MAX_PATCHES: usize = 8192;
/// Bytes behind the end of the file that are written as zeros rather than left out: a file system has no shorter holes.
const MAX_GAP: u64 = 4096;
/// Bytes that are written at once, with the zeros in gaps; the last patch may exceed it.
const MAX_JOINED: usize = 4 << 20;

/// Buffers that are kept.
const MAX_SPARE: usize = 3;

/// A local store that holds small patches of chunks.
#[derive(Debug)]
pub(super) struct GatheringStore {
    inner: Arc<dyn Store>,
    held: Mutex<HeldPatches>,
    /// Whether patches are held, or could not be written.
    is_pending: AtomicBool,
}

/// Patches of one object that do not overlap.
#[derive(Debug, Default)]
struct HeldPatches {
    object: Option<ObjectId>,
    by_offset: BTreeMap<u64, Vec<u8>>,
    /// What came as rows; no patch overlaps one of them.
    rows: Vec<HeldRows>,
    /// Bytes of the patches.
    len: usize,
    /// Why patches could not be written: they are lost.
    failure: Option<Error>,
    spares: SpareBuffers,
}

/// Memory of what was written, for what comes: a system that gets it back clears it each time.
#[derive(Debug, Default)]
struct SpareBuffers(Vec<Vec<u8>>);

impl SpareBuffers {
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    fn keep(&mut self, mut buffer: Vec<u8>) {
        if (SMALL..=2 * MAX_HELD).contains(&buffer.capacity()) && self.0.len() < MAX_SPARE {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

impl HeldPatches {
    /// Whether a patch of a range meets one that is held.
    fn meets(&self, offset: u64, end: u64) -> bool {
        let before = self.by_offset.range(..end).next_back();
        before.is_some_and(|(start, bytes)| start.saturating_add(bytes.len() as u64) > offset)
            || self.meets_rows(offset, end)
    }

    fn meets_rows(&self, offset: u64, end: u64) -> bool {
        self.rows.iter().any(|rows| rows.meets(offset, end))
    }

    /// Takes a patch. `false`: it overlaps others otherwise than inside one of them.
    fn take(&mut self, offset: u64, body: &[u8]) -> bool {
        let end = offset.saturating_add(body.len() as u64);
        if self.meets_rows(offset, end) {
            return false;
        }
        let next = self.by_offset.range((Bound::Excluded(offset), Bound::Unbounded)).next();
        if next.is_some_and(|(start, _)| *start < end) {
            return false;
        }
        if let Some((start, bytes)) = self.by_offset.range_mut(..=offset).next_back() {
            let at = usize::try_from(offset - start).unwrap_or(usize::MAX);
            if at < bytes.len() {
                let inside = at.checked_add(body.len()).and_then(|end| bytes.get_mut(at..end));
                return inside.map(|inside| inside.copy_from_slice(body)).is_some();
            }
        }
        self.add(offset, body);
        true
    }

    /// Takes a patch that overlaps no other.
    fn add(&mut self, offset: u64, body: &[u8]) {
        self.len += body.len();
        let before = self.by_offset.range_mut(..=offset).next_back();
        match before.filter(|(start, bytes)| start.saturating_add(bytes.len() as u64) == offset) {
            Some((_, bytes)) => bytes.extend_from_slice(body),
            None => {
                let mut bytes = self.spares.take();
                bytes.extend_from_slice(body);
                self.by_offset.insert(offset, bytes);
            }
        }
    }

    /// Whether rows may meet something that is held.
    fn meets_any_of(&self, rows: &HeldRows) -> bool {
        let (start, end) = (rows.offset(), rows.end());
        let before = self.by_offset.range(..start).next_back().into_iter();
        let mut near = before.chain(self.by_offset.range(start..end));
        near.any(|(at, bytes)| rows.meets(*at, at.saturating_add(bytes.len() as u64)))
            || self.rows.iter().any(|held| held.meets_rows(rows))
    }

    /// Takes rows that meet nothing; those of variables that are next to each other become one.
    fn take_rows(&mut self, mut rows: HeldRows) {
        while let Some(at) = self.rows.iter().position(|held| held.adjoins(&rows)) {
            let (held, buffer) = (self.rows.swap_remove(at), self.spares.take());
            let (joined, apart) = held.joined(rows, buffer, |freed| self.spares.keep(freed));
            apart.into_iter().for_each(|(offset, row)| self.add(offset, &row));
            rows = joined;
        }
        match rows.into_run() {
            Ok((offset, bytes)) => {
                self.add(offset, &bytes);
                self.spares.keep(bytes);
            }
            Err(rows) => self.rows.push(rows),
        }
    }

    /// Makes patches of rows.
    fn part_rows(&mut self) {
        for rows in std::mem::take(&mut self.rows) {
            rows.each().for_each(|(offset, row)| self.add(offset, row));
        }
    }

    /// Whether everything could be written.
    fn check(&self) -> Result<()> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Writes all that is held, neighbours together.
    fn write(&mut self, local: &dyn LocalStore) -> Result<()> {
        self.write_until(local, |_| false)?;
        self.object = None;
        Ok(())
    }

    /// Writes what is held, from the first byte of the file on, until what is left `may_stay`.
    fn write_until(&mut self, local: &dyn LocalStore, may_stay: impl Fn(&Self) -> bool) -> Result<()> {
        self.check()?;
        self.part_rows();
        let mut written = BTreeMap::new();
        while !may_stay(self)
            && let Some((offset, bytes)) = self.by_offset.pop_first()
        {
            self.len -= bytes.len();
            written.insert(offset, bytes);
        }
        let Some(object) = self.object.as_ref().filter(|_| !written.is_empty()) else { return Ok(()) };
        let spares = &mut self.spares;
        let written = write_joined(local, object, written, |bytes| spares.keep(bytes));
        written.inspect_err(|error| self.failure = Some(error.clone()))
    }

    /// Whether it is more than `share` of what is held at most.
    fn exceeds(&self, share: usize) -> bool {
        let (len, count) = self.rows.iter().fold((self.len, self.by_offset.len()), |(len, count), rows| {
            (len + rows.byte_len(), count + rows.count())
        });
        len >= MAX_HELD / share || count >= MAX_PATCHES / share
    }
}

/// Writes patches in the order of their offsets: those that adjoin as one, also across short gaps where the file has no bytes yet. Their
/// memory is passed to `freed`.
fn write_joined(
    local: &dyn LocalStore,
    object: &ObjectId,
    patches: BTreeMap<u64, Vec<u8>>,
    mut freed: impl FnMut(Vec<u8>),
) -> Result<()> {
    let (mut file_end, mut run) = (None, None::<(u64, Vec<u8>)>);
    for (offset, bytes) in patches {
        let Some((start, joined)) = &mut run else {
            run = Some((offset, bytes));
            continue;
        };
        let end = *start + joined.len() as u64;
        let gap = offset - end;
        let adjoins = gap == 0
            || gap <= MAX_GAP && joined.len() < MAX_JOINED && {
                let file_end = match file_end {
                    Some(file_end) => file_end,
                    None => *file_end.insert(local.stat(object)?.map_or(0, |(len, _)| len)),
                };
                end >= file_end
            };
        if adjoins {
            joined.resize(joined.len() + usize::try_from(gap).unwrap_or_default(), 0);
            joined.extend_from_slice(&bytes);
            freed(bytes);
        } else {
            local.write_at(object, *start, joined)?;
            freed(std::mem::replace(joined, bytes));
            *start = offset;
        }
    }
    let Some((start, joined)) = run else { return Ok(()) };
    local.write_at(object, start, &joined)?;
    freed(joined);
    Ok(())
}

impl GatheringStore {
    /// A store that gathers what goes to a local one; `None` if the store is on a network, or sends what is complete: zeros in
    /// gaps would be sent there, and what is held would keep parts from being sent.
    pub(super) fn of(inner: &Arc<dyn Store>) -> Option<Arc<Self>> {
        inner.local().filter(|local| local.rewrites())?;
        let (held, is_pending) = (Mutex::default(), AtomicBool::default());
        Some(Arc::new(Self { inner: Arc::clone(inner), held, is_pending }))
    }

    fn local(&self) -> Result<&dyn LocalStore> {
        self.inner.local().ok_or_else(|| Error::internal("a local store became remote"))
    }

    /// Carries out a put of a chunk, now or with those that come.
    ///
    /// # Errors
    /// Errors of the store, also of patches that were held before.
    pub(super) fn put(&self, put: StorePut) -> Result<()> {
        let StorePut::Patch { object, offset, body } = &put else { return put_locally(self, put) };
        let local = self.local()?;
        if body.len() > SMALL {
            // Other threads may write at the same time. The chunk is locked: no other thread writes what is in its place.
            self.settle_if(|held| held.meets(*offset, offset.saturating_add(body.len() as u64)))?;
            return local.write_at(object, *offset, body);
        }
        let mut held = self.held.guard();
        held.check()?;
        self.is_pending.store(true, Ordering::Release);
        if held.object.as_ref() != Some(object) {
            held.write(local)?;
            held.object = Some(object.clone());
        }
        if !held.take(*offset, body) {
            held.write(local)?;
            held.object = Some(object.clone());
            held.take(*offset, body);
        }
        if held.exceeds(1) {
            // The end stays: of records that are put variable by variable, the others follow.
            held.write_until(local, |held| !held.exceeds(2))?;
        }
        Ok(())
    }

    /// Carries out a put of chunks that come as rows, now or with those that come.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub(super) fn put_rows(&self, rows: PatchRows) -> Result<()> {
        let local = self.local()?;
        let mut held = self.held.guard();
        held.check()?;
        self.is_pending.store(true, Ordering::Release);
        let (object, rows) = (rows.object.clone(), HeldRows::of(rows));
        if held.object.as_ref() != Some(&object) || held.meets_any_of(&rows) {
            held.write(local)?;
        }
        held.object = Some(object);
        held.take_rows(rows);
        if held.exceeds(1) {
            held.write_until(local, |held| !held.exceeds(2))?;
        }
        Ok(())
    }

    /// Writes what is held.
    ///
    /// # Errors
    /// Those of writing, from then on at each call: what was held is lost.
    pub(super) fn settle(&self) -> Result<()> {
        self.settle_if(|_| true)
    }

    fn settle_if(&self, is_needed: impl FnOnce(&HeldPatches) -> bool) -> Result<()> {
        if !self.is_pending.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut held = self.held.guard();
        if held.failure.is_some() || is_needed(&held) {
            held.write(self.local()?)?;
            self.is_pending.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// The store, when nothing is held.
    fn settled(&self) -> Result<&dyn LocalStore> {
        self.settle()?;
        self.local()
    }

    /// Changes the store while nothing is held, and no thread writes zeros where nothing was.
    fn change<T>(&self, change: impl FnOnce(&dyn LocalStore) -> Result<T>) -> Result<T> {
        let local = self.local()?;
        let mut held = self.held.guard();
        held.write(local)?;
        self.is_pending.store(false, Ordering::Release);
        change(local)
    }
}

impl Store for GatheringStore {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move { self.read(object, want) })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move { self.put_bytes(object, body, &when) })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete(self, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete_tree(self, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { LocalStore::list(self, prefix, page) })
    }

    /// None: they would pass by what is held, and local stores emulate them.
    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}

impl LocalStore for GatheringStore {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        self.settled()?.read(object, want)
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.settled()?.read_into(object, offset, buffer)
    }

    fn opened<'a>(&'a self, object: &'a ObjectId) -> Result<Box<dyn ReadAt + 'a>> {
        self.settled()?.opened(object)
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        self.settled()?.read_whole(object, limit, buffer)
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        self.settled()?.stat(object)
    }

    fn stat_by_name(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        self.settled()?.stat_by_name(object)
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        self.change(|local| local.put(object, body, when))
    }

    fn put_bytes(&self, object: &ObjectId, body: Bytes, when: &PutCondition) -> Result<Tag> {
        self.change(|local| local.put_bytes(object, body, when))
    }

    fn put_untagged(&self, object: &ObjectId, body: PutBody<'_>, when: &PutCondition) -> Result<()> {
        self.change(|local| local.put_untagged(object, body, when))
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        self.change(|local| local.write_at(object, offset, body))
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        self.change(|local| local.resize(object, len))
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        self.change(|local| local.delete(object))
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        self.change(|local| local.delete_tree(prefix))
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.change(|local| local.rename(from, to))
    }

    fn name_for_copy(&self, object: &ObjectId) -> ObjectId {
        self.inner.local().map_or_else(|| object.clone(), |local| local.name_for_copy(object))
    }

    fn replace(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        self.change(|local| local.replace(from, to))
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        self.settled()?.list(prefix, page)
    }

    fn mark_of(&self, prefix: &ObjectId) -> Option<(u64, u64)> {
        self.inner.local()?.mark_of(prefix)
    }

    fn exclusion(&self, object: &ObjectId) -> Result<Exclusion> {
        self.local()?.exclusion(object)
    }

    fn barrier(&self) -> Result<()> {
        self.settled()?.barrier()
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }
}
