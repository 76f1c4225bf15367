//! The conditional policy: a chunk replaces only the state that it was made from, and what others changed meanwhile is
//! merged.
use super::PutQueue;
use crate::write::DatasetWriter;
use crate::write::conflicts::merge::merge;
use crate::write::conflicts::{is_conflict, overtaken};
use crate::write::contents::StoredChunk;
use crate::write::encoder::PlacedChunk;
use crate::write::put::bytes_of;
use crate::write::write_back_cache::{ChunkKey, ChunkLock};
use bytes::Bytes;
use ncirrus_layout::{CellList, Error, ObjectId, PlacerWork, Result, StorePut, Tag};
use ncirrus_model::Model;
use ncirrus_store::PutCondition;
use std::time::Duration;

/// What must be true of a chunk when it is replaced.
enum PutGuard {
    /// Nothing: it is written wholly.
    Free,
    /// It does not exist: it is outside the committed extent.
    New,
    /// It is as it was when it was completed.
    As(StoredChunk),
    /// It is as it was before this writer checked that it has the lease: it is written wholly, but only a part of it is inside
    /// the committed extent.
    Over(Option<Tag>),
}

impl DatasetWriter {
    /// Adds encoded chunks to the puts in flight: each replaces only the state that it was made from.
    pub(super) async fn put_shared<'a>(
        &'a self,
        cells: Vec<(Vec<StorePut>, ChunkLock)>,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let model = self.model();
        let is_growing = |key: &ChunkKey| !self.conflicts.is_committed(key.var, &model.shape(key.var));
        let grows = cells.iter().any(|(_, held)| is_growing(&held.key));
        let mut checked = Vec::with_capacity(cells.len());
        for (puts, mut held) in cells {
            let guard = match self.guard(&mut held)? {
                PutGuard::Free if grows && self.is_across(&held.key, &model)? => self.present(&puts).await?,
                guard => guard,
            };
            checked.push((puts, held, guard));
        }
        let is_read = checked.iter().any(|(.., guard)| matches!(guard, PutGuard::As(_) | PutGuard::Over(_)));
        match (grows, is_read) {
            (true, true) => self.stay_first().await?,
            (true, false) => self.acquire_lease().await?,
            (false, _) => {}
        }
        // A chunk that is written wholly needs no condition.
        let needs = checked.iter().find(|(.., guard)| !matches!(guard, PutGuard::Free));
        let conditions = match needs {
            Some(_) => self.conflicts.has_conditions().await?,
            None => false,
        };
        if let Some((_, held, _)) = checked.iter().find(|(.., guard)| matches!(guard, PutGuard::As(_)))
            && !conditions
            && !self.conflicts.is_aligned()
        {
            let (target, _) = self.target(held.key.var)?;
            return Err(target.located(unguarded(), &held.key.cell));
        }
        for (puts, held, guard) in checked {
            let guard = if conditions { guard } else { PutGuard::Free };
            let bytes = puts.iter().map(bytes_of).sum();
            queue.push(bytes, Box::pin(async move { self.put_cell(puts, &held.key, guard).await }));
        }
        Ok(())
    }

    /// The condition of a put that needs no look at other writers' changes: a chunk that is written wholly replaces whatever is
    /// in its place inside the committed extent, since of two writers the last one counts there. Chunks of new extents are
    /// put where nothing is, once this writer has the lease.
    pub(super) fn condition_at_once(&self, held: &ChunkLock) -> Result<Option<PutCondition>> {
        if held.slot.origin.is_some() {
            return Ok(None);
        }
        let is_new = !self.is_inside(held)?;
        if !is_new && self.is_across(&held.key, &self.model())? {
            return Ok(None);
        }
        let is_known = !is_new || self.conflicts.has_lease();
        Ok(is_known.then_some(if is_new { PutCondition::Absent } else { PutCondition::None }))
    }

    /// Whether a chunk has elements inside of the committed extent.
    fn is_inside(&self, held: &ChunkLock) -> Result<bool> {
        let ChunkKey { var, cell } = &held.key;
        let Some(shape) = self.conflicts.committed_shape(*var) else { return Ok(false) };
        let (target, _) = self.target(*var)?;
        Ok(cell.is_empty() || target.encoding.grid.clipped_region(cell, &shape).is_some())
    }

    /// Whether a chunk has elements inside of the committed extent, and others by which this writer makes the array longer.
    fn is_across(&self, key: &ChunkKey, model: &Model) -> Result<bool> {
        let Some(committed) = self.conflicts.committed_shape(key.var) else { return Ok(false) };
        let (target, _) = self.target(key.var)?;
        let clipped = |shape: &[u64]| target.encoding.grid.clipped_region(&key.cell, shape);
        Ok(clipped(&committed).is_some_and(|inside| Some(inside) != clipped(&model.shape(key.var))))
    }

    /// The condition that a chunk is as it is now.
    async fn present(&self, puts: &[StorePut]) -> Result<PutGuard> {
        match puts.last() {
            Some(StorePut::Object { object, .. }) if self.conflicts.has_conditions().await? => {
                Ok(PutGuard::Over(self.output.get(object).await?.map(|blob| blob.tag)))
            }
            _ => Ok(PutGuard::Free),
        }
    }

    fn guard(&self, held: &mut ChunkLock) -> Result<PutGuard> {
        let is_inside = self.is_inside(held)?;
        Ok(match held.slot.origin.take() {
            _ if !is_inside => PutGuard::New,
            Some(stored) => PutGuard::As(stored),
            None => PutGuard::Free,
        })
    }

    async fn put_cell(&self, mut puts: Vec<StorePut>, key: &ChunkKey, guard: PutGuard) -> Result<()> {
        self.conflicts.check_keys(&puts)?;
        let (object, body) = match (puts.pop(), puts.is_empty()) {
            (Some(StorePut::Object { object, body }), true) => (object, body),
            (put, _) => return self.output.put_all(puts.into_iter().chain(put).collect()).await,
        };
        let when = match &guard {
            PutGuard::Free
            | PutGuard::As(StoredChunk::There(_) | StoredChunk::Values(_) | StoredChunk::Bytes(.., None)) => {
                PutCondition::None
            }
            PutGuard::New | PutGuard::As(StoredChunk::Absent) | PutGuard::Over(None) => PutCondition::Absent,
            PutGuard::As(StoredChunk::Bytes(.., Some(tag))) | PutGuard::Over(Some(tag)) => {
                PutCondition::Matches(tag.clone())
            }
        };
        match self.output.put_when(&object, body.clone(), when).await {
            Err(error) if is_conflict(&error) => self.put_over(&object, body, key, &guard).await,
            done => done.map(|_| ()),
        }
    }

    /// Puts a chunk that another program changed meanwhile: its changes are merged.
    async fn put_over(&self, object: &ObjectId, ours: Bytes, key: &ChunkKey, guard: &PutGuard) -> Result<()> {
        let mut last = overtaken(object);
        for attempt in 0..ATTEMPTS {
            // Read first, then check the lease: the first writer puts only after it has acquired the lease, so that its
            // later puts are not in what was read.
            let theirs = self.output.get(object).await?;
            if self.conflicts.is_first().await? == Some(false) {
                return Err(overtaken(&self.conflicts.commit_object().unwrap_or_else(|| object.clone())));
            }
            let (body, when) = match (theirs, guard) {
                (None, _) => (ours.clone(), PutCondition::Absent),
                (Some(theirs), PutGuard::As(base)) => {
                    let merged = self.merged(key, base, &ours, &theirs.bytes).await?;
                    (merged, PutCondition::Matches(theirs.tag))
                }
                // An object that was left by a killed writer is replaced.
                (Some(theirs), _) => (ours.clone(), PutCondition::Matches(theirs.tag)),
            };
            match self.output.put_when(object, body, when).await {
                Err(error) if is_conflict(&error) => last = error,
                done => return done.map(|_| ()),
            }
            self.output.pause(Duration::from_millis(10 << attempt.min(6))).await?;
        }
        Err(last)
    }

    /// The elements that this writer changed, and all others as they are now.
    pub(in crate::write) async fn merged(
        &self,
        key: &ChunkKey,
        base: &StoredChunk,
        ours: &Bytes,
        theirs: &Bytes,
    ) -> Result<Bytes> {
        let (target, model) = self.target(key.var)?;
        let mut cells = CellList::new(key.cell.len());
        cells.push(&key.cell);
        let work = [PlacerWork { var: key.var, cells }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        // Encoded chunks cannot be compared by elements: all three states are decoded first.
        let puts = self.session.shared.workers.with(|worker| {
            let mut elements = |stored: &StoredChunk| {
                let buffers = (&mut worker.encoded, &mut worker.scratch);
                self.encoder.load((&target, &model), &key.cell, stored, buffers)
            };
            let base = elements(base)?;
            let ours = elements(&StoredChunk::Bytes(ours.clone(), 0, None))?;
            let theirs = elements(&StoredChunk::Bytes(theirs.clone(), 0, None))?;
            let merged = merge(&base, &ours, theirs, target.element)?;
            let placed =
                self.encoder.store_contents((&target, &model), key, (&merged, None), &prepared, worker);
            placed.map(PlacedChunk::into_puts)
        })?;
        let body = puts.into_iter().find_map(|put| match put {
            StorePut::Object { body, .. } => Some(body),
            _ => None,
        });
        body.ok_or_else(|| Error::internal("a chunk that is no object"))
    }
}

/// The error if two writers would lose each other's elements.
fn unguarded() -> Error {
    Error::unsupported(
        "writing part of a chunk: the store ignores conditional puts, and what another program writes into the \
         same chunk could be lost; write whole chunks, or declare the writes aligned",
    )
}

/// How often a put is repeated over what others put meanwhile.
const ATTEMPTS: u32 = 24;
