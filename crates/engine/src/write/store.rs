//! From values to the store: whole chunks directly, partly written ones through the write-back cache.
use super::DatasetWriter;
use super::cells::{ChunkPart, ChunkSelection};
use super::contents::{DirtyContents, StoredChunk};
use super::encoder::{cells_of, count_of};
use super::lock_order::ChunkAccess;
use super::points;
use super::rows::{NativeBytes, WriteData, WriteWindow};
use super::target::WriteTarget;
use super::uploads::PutQueue;
use super::write_back_cache::{ChunkKey, ChunkLock, Leaving};
use crate::picked::Picked;
use crate::resources::{WorkerBuffers, between_parts};
use bytes::Bytes;
use ncirrus_layout::{Error, PlacerWork, Result};
use ncirrus_model::{Atomic, Model, PointSelection, Selection, Values, VarId};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;

/// A touched chunk, locked, and its stored state if it must be completed first.
struct ChunkWriteTask {
    part: ChunkPart,
    held: ChunkLock,
    stored: Option<StoredChunk>,
}

impl DatasetWriter {
    /// Writes values, in row-major order of the selection, to the selected elements of a variable. Unlimited dimensions
    /// grow as needed. Values must have the variable's own type; [`crate::convert::cast`] converts them.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit the variable, the number or type of the values differs, or a value
    /// cannot be represented in the stored type: nothing is changed then. Otherwise errors of putting.
    pub async fn write(&self, var: VarId, selection: &Selection, values: &Values) -> Result<()> {
        let prepare = |model: &Model, target: &WriteTarget| WriteData::new(model, target, values);
        self.write_data(var, Picked::Selection(selection), values.len(), prepare).await
    }

    /// As [`write`](Self::write), to single elements, in the order of the points. Each chunk that holds some is read and
    /// changed once; of several values for one element the last counts.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_point_values(
        &self,
        var: VarId,
        points: &PointSelection,
        values: &Values,
    ) -> Result<()> {
        let prepare = |model: &Model, target: &WriteTarget| WriteData::new(model, target, values);
        self.write_data(var, Picked::Points(points), values.len(), prepare).await
    }

    /// As [`write`](Self::write), from the caller's memory: `native` holds numbers of type `ty`, which must be the
    /// variable's, in the machine's byte order. They are copied only into the chunks.
    ///
    /// # Errors
    /// As [`write`](Self::write); `Invalid` if the type is not the variable's or the length is not a multiple of its
    /// size.
    pub async fn write_from(
        &self,
        var: VarId,
        selection: &Selection,
        ty: Atomic,
        native: &[u8],
    ) -> Result<()> {
        let count = match ty.byte_len() {
            Some(len) if native.len().is_multiple_of(len) => native.len() / len,
            _ => {
                return Err(Error::invalid(format!(
                    "{} bytes are no values of type {}",
                    native.len(),
                    ty.name()
                )));
            }
        };
        let prepare = |model: &Model, target: &WriteTarget| WriteData::native(model, target, ty, native);
        self.write_data(var, Picked::Selection(selection), count, prepare).await
    }

    /// As [`write`](Self::write), from the caller's memory: elements of the variable's type in the machine's byte
    /// order, the fields of compounds contiguous, without padding. They are copied only into the chunks, unless the
    /// size of a number changes.
    ///
    /// # Errors
    /// As [`write`](Self::write); `Invalid` for types without a fixed size, and if the last element is incomplete.
    pub async fn write_packed(&self, var: VarId, selection: &Selection, native: &[u8]) -> Result<()> {
        self.write_packed_at(var, Picked::Selection(selection), NativeBytes::Lent(native)).await
    }

    /// As [`write_packed`](Self::write_packed), of memory that is not changed any more: what is stored as it is there is not
    /// copied.
    ///
    /// # Errors
    /// As [`write_packed`](Self::write_packed).
    pub async fn write_packed_bytes(&self, var: VarId, selection: &Selection, native: &Bytes) -> Result<()> {
        self.write_packed_at(var, Picked::Selection(selection), NativeBytes::Shared(native)).await
    }

    /// As [`write_point_values`](Self::write_point_values), from the caller's memory, as
    /// [`write_packed`](Self::write_packed) has it.
    ///
    /// # Errors
    /// As [`write_packed`](Self::write_packed).
    pub async fn write_point_bytes(&self, var: VarId, points: &PointSelection, native: &[u8]) -> Result<()> {
        self.write_packed_at(var, Picked::Points(points), NativeBytes::Lent(native)).await
    }

    async fn write_packed_at(&self, var: VarId, picked: Picked<'_>, native: NativeBytes<'_>) -> Result<()> {
        let model = self.model();
        let variable = model.variable(var).ok_or_else(|| Error::not_found("no such variable"))?;
        let located = |error: Error| error.at_path(model.variable_path(var));
        let element = crate::convert::packed_len(&model, variable.ty).map_err(located)?;
        if element == 0 || !native.len().is_multiple_of(element) {
            let message = format!("{} bytes are no elements of {element} bytes", native.len());
            return Err(located(Error::invalid(message)));
        }
        let prepare = |model: &Model, target: &WriteTarget| WriteData::packed(model, target, native);
        self.write_data(var, picked, native.len() / element, prepare).await
    }

    /// Writes `count` values, which `prepare` prepares.
    async fn write_data<'a>(
        &self,
        var: VarId,
        picked: Picked<'_>,
        count: usize,
        prepare: impl FnOnce(&Model, &WriteTarget) -> Result<WriteData<'a>>,
    ) -> Result<()> {
        let commit = if self.may_be_rows(var, &picked) {
            self.committer.commit_lock.alone_if_free().await
        } else {
            self.committer.commit_lock.share().await
        };
        let may_be_rows = commit.is_alone();
        self.check_usable()?;
        let access = self.define(&commit).await?;
        let (target, model) = self.target(var)?;
        let located = |error: Error| error.at_path(target.path.clone());
        let wanted = match picked {
            Picked::Selection(selection) => count_of(selection.element_count()).map_err(located)?,
            Picked::Points(points) => points.count(),
        };
        if wanted != count {
            let message = format!("{count} values for a selection of {wanted} elements");
            return Err(located(Error::invalid(message)));
        }
        let data = prepare(&model, &target)?;
        drop(model);
        let reach = match picked {
            Picked::Selection(selection) => Some(Cow::Borrowed(selection)),
            Picked::Points(points) => points::reach(points).map(Cow::Owned),
        };
        if let Some(reach) = reach {
            if let Some(extent) = reach.extent() {
                target.check_reach(&extent, &self.session.shared.limits)?;
            }
            self.grow(var, &reach).map_err(located)?;
        }
        if count == 0 {
            return Ok(());
        }
        // Growing changed the shape: the target is looked up again.
        let (target, model) = self.target(var)?;
        if let (true, Picked::Selection(selection)) = (may_be_rows, &picked) {
            self.prepare_growth(var, &model).await?;
            if self.put_rows(&target, selection, (&data, count))? {
                return Ok(());
            }
            // Others may read and write while chunks are put.
            let commit = commit.shared();
            let access = self.define(&commit).await?;
            return self.write_picked(access, self.target(var)?, picked, &data).await;
        }
        self.write_picked(access, (target, model), picked, &data).await
    }

    async fn write_picked(
        &self,
        access: ChunkAccess<'_>,
        (target, model): (Arc<WriteTarget>, Arc<Model>),
        picked: Picked<'_>,
        data: &WriteData<'_>,
    ) -> Result<()> {
        self.prepare_growth(target.var, &model).await?;
        let mut queue = PutQueue::new(self, access);
        let written = match picked {
            Picked::Selection(selection) => {
                let array = model.shape(target.var);
                let touched = ChunkSelection::new(selection, &target.encoding.grid, &array, &target.growing);
                let touched = touched.map_err(|error| error.at_path(target.path.clone()))?;
                let touched = match &target.sharding {
                    Some(sharding) => touched.by_shards(sharding.shards()),
                    None => touched,
                };
                self.write_windows(&target, data, &touched, &mut queue).await
            }
            Picked::Points(points) => self.write_points((&target, data), points, &mut queue).await,
        };
        let finished = queue.drained().await;
        written.and(finished)
    }

    /// Before the first chunks of a new extent, so that the threads that encode them may put them in a local store.
    async fn prepare_growth(&self, var: VarId, model: &Model) -> Result<()> {
        let is_known = self.output.local().is_none() || !self.conflicts.is_shared();
        if is_known || self.conflicts.is_committed(var, &model.shape(var)) {
            return Ok(());
        }
        self.acquire_lease().await
    }

    async fn write_windows<'a>(
        &'a self,
        target: &WriteTarget,
        data: &WriteData<'_>,
        touched: &ChunkSelection,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let mut parts = touched.parts().peekable();
        while parts.peek().is_some() {
            let mut window = self.window(&mut parts, |part| self.cost_of(target, part));
            // Parts come shard by shard; chunks are locked in ascending order.
            if target.sharding.is_some() {
                window.sort_by(|one, other| one.cell.cmp(&other.cell));
            }
            queue.room().await?;
            self.write_window((target, data, touched), window, queue).await?;
            self.shrink(queue).await?;
            between_parts().await;
        }
        Ok(())
    }

    fn grow(&self, var: VarId, selection: &Selection) -> Result<()> {
        let mut definitions = self.definitions();
        definitions.grow(var, selection)?;
        definitions.mark_written(var);
        Ok(())
    }

    /// Bytes that a chunk holds while its window is written. A chunk that goes to the store directly holds none: the
    /// memory that encoding takes belongs to the thread, and there are few of those. Fewer windows mean less waiting
    /// between threads.
    fn cost_of(&self, target: &WriteTarget, part: &ChunkPart) -> usize {
        match self.output.local() {
            Some(_) if part.whole && target.element.is_some() && target.sharding.is_none() => 0,
            _ => target.cell_cost(&part.cell),
        }
    }

    /// The next chunks that fit in memory together; at least one.
    pub(super) fn window(
        &self,
        parts: &mut Peekable<impl Iterator<Item = ChunkPart>>,
        cost_of: impl Fn(&ChunkPart) -> usize,
    ) -> Vec<ChunkPart> {
        let (mut window, mut cost) = (Vec::new(), 0usize);
        while let Some(part) = parts.next_if(|part| {
            cost = cost.saturating_add(cost_of(part));
            window.is_empty() || (cost <= self.window_budget() && window.len() < WINDOW_CELLS)
        }) {
            window.push(part);
        }
        window
    }

    async fn write_window<'a>(
        &'a self,
        (target, data, touched): (&WriteTarget, &WriteData<'_>, &ChunkSelection),
        parts: Vec<ChunkPart>,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let cost = parts.first().map_or(1, |part| target.cell_cost(&part.cell));
        let mut jobs = Vec::with_capacity(parts.len());
        for part in parts {
            let key = ChunkKey { var: target.var, cell: part.cell.clone() };
            jobs.push(ChunkWriteTask { part, held: self.stage.lock(queue.access, key).await, stored: None });
        }
        // The shape is read after the chunks are locked: others may have extended the array and stored parts of them
        // before.
        let model = &self.model();
        self.find_incomplete(target, &mut jobs).await?;
        let whole = jobs.iter().filter(|job| job.part.whole).map(|job| job.part.cell.as_slice());
        let cells = cells_of(target.encoding.grid.rank(), whole);
        let work = [PlacerWork { var: target.var, cells }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        let array = model.shape(target.var);
        let window = WriteWindow { target, model, array, data, touched, prepared };
        let shared = &self.session.shared;
        let done = shared.for_each(jobs, self.worker_count(cost), |job, worker| {
            self.write_cell(&window, job, worker, queue)
        });
        let put = queue.flush().await;
        done.and(put)
    }

    /// Locates chunks of the array in its present shape.
    pub(super) async fn find(
        &self,
        target: &WriteTarget,
        cells: ncirrus_layout::CellList,
    ) -> Result<Vec<StoredChunk>> {
        match &target.sharding {
            Some(sharding) => self.find_in_shards(target, sharding, cells).await,
            None => self.encoder.find(target, cells, &self.model().shape(target.var)).await,
        }
    }

    /// Locates the chunks that must be completed with their stored elements.
    async fn find_incomplete(&self, target: &WriteTarget, jobs: &mut [ChunkWriteTask]) -> Result<()> {
        let lacks = |job: &&mut ChunkWriteTask| !job.part.whole && job.held.slot.contents.is_none();
        let mut incomplete: Vec<&mut ChunkWriteTask> = jobs.iter_mut().filter(lacks).collect();
        let cells = incomplete.iter().map(|job| job.part.cell.as_slice());
        let found = self.find(target, cells_of(target.encoding.grid.rank(), cells)).await?;
        for (job, found) in incomplete.iter_mut().zip(found) {
            job.stored = Some(found);
        }
        Ok(())
    }

    fn write_cell(
        &self,
        window: &WriteWindow<'_>,
        mut job: ChunkWriteTask,
        worker: &mut WorkerBuffers,
        queue: &PutQueue<'_>,
    ) -> Result<()> {
        let WriteWindow { target, model, data, touched, .. } = window;
        let cell = job.part.cell.clone();
        let located = |error: Error| target.located(error, &cell);
        let shape = target.cell_shape(&cell)?;
        if let (true, Some(element)) = (job.part.whole, target.element) {
            let (body, mask) =
                self.encoder.whole_body(window, &job.part, (&shape, element), worker).map_err(located)?;
            let placed = self.encoder.place_body(target, &window.prepared, &cell, body, mask)?;
            self.encoder.note_cut(&job.held.key, target, &window.array)?;
            job.held.slot.clear();
            return queue.finish(placed, job.held);
        }
        let completed = (&mut job.held, job.stored.as_ref());
        let mut contents = self.contents((target, model), completed, &shape, worker)?;
        let done = data.scatter(touched, &job.part, &shape, target, &mut contents);
        job.held.slot.contents = Some(contents);
        job.held.slot.note_written(job.part.element_count(), target.elements_to_put(&cell, &window.array));
        done.map_err(located)
    }

    /// The elements of a locked chunk of that shape, to be changed and cached again: those in the cache, else those that are
    /// stored, else fill.
    pub(super) fn contents(
        &self,
        (target, model): (&WriteTarget, &Model),
        (held, stored): (&mut ChunkLock, Option<&StoredChunk>),
        shape: &[usize],
        worker: &mut WorkerBuffers,
    ) -> Result<DirtyContents> {
        match (held.slot.contents.take(), stored) {
            (Some(contents), _) => Ok(contents),
            (None, Some(stored)) => {
                let buffers = (&mut worker.encoded, &mut worker.scratch);
                let (cell, is_shared) = (&held.key.cell, self.conflicts.is_shared());
                let fetched = if is_shared { self.encoder.fetched(stored)? } else { None };
                let stored = fetched.as_ref().unwrap_or(stored);
                let loaded = self.encoder.load((target, model), cell, stored, buffers)?;
                held.slot.origin = is_shared.then(|| stored.clone());
                held.slot.keep(target.care, stored, &loaded);
                Ok(loaded)
            }
            (None, None) => target.blank(shape),
        }
    }

    /// Encodes and puts cached chunks.
    async fn flush<'a>(&'a self, cells: Vec<ChunkLock>, queue: &mut PutQueue<'a>) -> Result<()> {
        let (mut work, mut targets) = (BTreeMap::new(), BTreeMap::new());
        for held in &cells {
            let var = held.key.var;
            let rank = held.key.cell.len();
            work.entry(var).or_insert_with(|| ncirrus_layout::CellList::new(rank)).push(&held.key.cell);
            if let std::collections::btree_map::Entry::Vacant(vacant) = targets.entry(var) {
                vacant.insert(self.target(var)?);
            }
        }
        let work: Vec<PlacerWork> = work.into_iter().map(|(var, cells)| PlacerWork { var, cells }).collect();
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        let cost = targets
            .values()
            .flat_map(|(target, _)| work.iter().map(|work| target.cell_cost(work.cells.get(0))));
        let worker_count = self.worker_count(cost.max().unwrap_or(1));
        let done = self.session.shared.for_each(cells, worker_count, |mut held, worker| {
            let Some((target, model)) = targets.get(&held.key.var) else { return Ok(()) };
            let Some(contents) = held.slot.contents.take() else { return Ok(()) };
            let elements = (&contents, held.slot.kept.as_deref());
            match self.encoder.store_contents((target, model), &held.key, elements, &prepared, worker) {
                Ok(placed) => {
                    held.slot.kept = None;
                    queue.finish(placed, held)
                }
                Err(error) => {
                    // The chunk remains dirty, so that a later attempt can still store it.
                    held.slot.contents = Some(contents);
                    Err(error)
                }
            }
        });
        let put = queue.flush().await;
        done.and(put)
    }

    /// Puts the least recently used chunks, if more is cached than fits, and full ones already if they are many: nothing more is put
    /// into most of them.
    pub(super) async fn shrink<'a>(&'a self, queue: &mut PutQueue<'a>) -> Result<()> {
        let budget = self.stage_budget();
        let full_budget = MAX_FULL.min(budget / 4);
        let cells = if self.stage.staying(Leaving::Oldest) > budget {
            self.stage.take(Leaving::Oldest, budget / 4 * 3)
        } else if self.stage.staying(Leaving::OldestFull) > full_budget {
            // What is being put is in memory, too: not more than all threads need.
            let threads = self.session.shared.pool.current_num_threads();
            let for_threads = self.stage.full_chunk_len().saturating_mul(threads * CHUNKS_OF_A_THREAD);
            let batch = for_threads.clamp(full_budget / 8, full_budget / 2);
            self.stage.take(Leaving::OldestFull, full_budget - batch)
        } else {
            return Ok(());
        };
        self.flush(cells, queue).await
    }

    /// Puts all cached chunks, and waits for everything in flight. Chunks of variables that were removed stay, until the format
    /// has accepted that.
    pub(super) async fn flush_all(&self, access: ChunkAccess<'_>) -> Result<()> {
        let model = self.model();
        let keys = self.stage.keys().into_iter().filter(|key| model.variable(key.var).is_some());
        self.flush_cells(access, keys.collect()).await?;
        self.put_all_shards(self.shard_putting()).await?;
        self.drained().await
    }

    /// Puts all cached chunks, while no other call writes. In a dataset that is not visible to others yet, these puts may
    /// then be in flight, as are those that lock the other chunks.
    pub(super) async fn flush_staged(&self, access: ChunkAccess<'_>) -> Result<()> {
        self.flush_cells(access, self.stage.free_keys()).await
    }

    async fn flush_cells(&self, access: ChunkAccess<'_>, keys: Vec<ChunkKey>) -> Result<()> {
        let mut queue = PutQueue::new(self, access);
        let flushed = self.flush_windows(keys, &mut queue).await;
        let finished = queue.drained().await;
        flushed.and(finished)
    }

    async fn flush_windows<'a>(&'a self, keys: Vec<ChunkKey>, queue: &mut PutQueue<'a>) -> Result<()> {
        let mut keys = keys.into_iter().peekable();
        while keys.peek().is_some() {
            let (mut cells, mut cost) = (Vec::new(), 0usize);
            while let Some(key) = keys.next_if(|_| cells.is_empty() || cost < self.window_budget()) {
                let (target, _) = self.target(key.var)?;
                cost = cost.saturating_add(target.cell_cost(&key.cell));
                cells.push(self.stage.lock(queue.access, key).await);
            }
            queue.room().await?;
            self.flush(cells, queue).await?;
        }
        Ok(())
    }
}

/// Bytes of cached chunks of which every element was put, besides those that are being put: enough for all threads to encode.
const MAX_FULL: usize = 32 << 20;
/// So many chunks of which every element was put are enough for a thread to encode at a time.
const CHUNKS_OF_A_THREAD: usize = 4;
/// Maximum number of chunks that are processed at once, however small they are.
const WINDOW_CELLS: usize = 1024;
