//! Commits: making what was written visible and durable, in order.
use super::DatasetWriter;
use super::contents::StoredChunk;
use super::definitions::translated;
use super::encoder::cells_of;
use super::lock_order::{ChunkAccess, CommitLock};
use super::target::WriteTarget;
use super::write_back_cache::ChunkKey;
use futures_util::future::{BoxFuture, join3};
use ncirrus_layout::LockExt;
use ncirrus_layout::{CellList, EdgeChunks, Error, PlacerWork, PutPhase, Result};
use ncirrus_model::{Model, VarId, Variable};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer whose chunks may be locked.
type ChunkWriting<'a> = (&'a DatasetWriter, ChunkAccess<'a>);

/// Commits what a writer put, and tracks how far that has come.
#[derive(Default)]
pub(super) struct Committer {
    pub(super) commit_lock: CommitLock,
    /// Shapes of variables whose chunks are all stored, for formats that store every chunk.
    complete: Mutex<HashMap<VarId, Vec<u64>>>,
}

impl Committer {
    /// For a dataset whose variables are stored with these shapes.
    pub(super) fn of(complete: HashMap<VarId, Vec<u64>>) -> Self {
        Self { complete: Mutex::new(complete), ..Self::default() }
    }

    /// Puts cached chunks, then carries out the format's phases; `request` runs beside the last chunks, and the last
    /// phase begins only if it succeeds. There are no other writes meanwhile.
    pub(super) async fn commit(
        &self,
        writer: &DatasetWriter,
        access: ChunkAccess<'_>,
        check: BoxFuture<'static, Result<()>>,
    ) -> Result<()> {
        self.complete_cut_cells(writer, access).await?;
        writer.flush_staged(access).await?;
        writer.put_all_shards(writer.shard_putting()).await?;
        for var in writer.model().variables() {
            if writer.placer.guard().needs_fill(var) {
                writer.drained().await?;
                self.fill_unwritten((writer, access), var).await?;
            }
        }
        let vars = writer.model().variables();
        let model = translated(writer.model(), &vars, &writer.placer.abilities, writer.session.registry())?;
        let model = writer.completed(model, &vars, |placer, _, var| placer.encoding(var))?;
        if let Some(lost) = model.dangling() {
            return Err(Error::internal(format!("the definitions to be written lack {lost}")));
        }
        let mut phases = writer.placer.drive(|view, placer| placer.plan_commit(view, &model)).await?;
        let unseen = if phases.len() > 1 && is_unseen(writer) { vec![phases.remove(0)] } else { Vec::new() };
        let check = writer.output.beside(check)?;
        let (finished, done, checked) = join3(writer.drained(), self.run_phases(writer, unseen), check).await;
        finished.and(done).and(checked)?;
        // What was put before must be durable before anything refers to it.
        writer.uploads.keep_failure(writer.output.barrier())?;
        let begun = writer.uploads.begin();
        let last = phases.pop();
        if last.is_some() {
            writer.acquire_lease().await?;
            writer.conflicts.check_first().await?;
        }
        self.run_phases(writer, phases).await?;
        self.run_phases(writer, last.into_iter().collect()).await?;
        begun.end();
        writer.placer.guard().committed();
        writer.placer.forget_all();
        writer.conflicts.shared_from_here(&writer.model());
        Ok(())
    }

    async fn run_phases(&self, writer: &DatasetWriter, phases: Vec<PutPhase>) -> Result<()> {
        for phase in phases {
            writer.placer.forget(&phase.puts);
            writer.uploads.to_the_end(writer.conflicts.run_phase(phase)).await?;
            writer.uploads.keep_failure(writer.output.barrier())?;
        }
        Ok(())
    }

    /// Caches chunks that were clipped at the end of the array and now have more elements inside it.
    async fn complete_cut_cells(&self, writer: &DatasetWriter, access: ChunkAccess<'_>) -> Result<()> {
        if writer.placer.abilities.sparse {
            return Ok(());
        }
        let model = writer.model();
        writer.encoder.retain_cut(|key| model.variable(key.var).is_some());
        // They stay noted until they are stored.
        for (key, array) in writer.encoder.cut() {
            if model.shape(key.var) != array {
                self.stage_as_is((writer, access), key).await?;
            }
        }
        Ok(())
    }

    /// Caches a chunk with its stored elements, and fill for those that are new.
    async fn stage_as_is(&self, (writer, access): ChunkWriting<'_>, key: ChunkKey) -> Result<()> {
        let (target, model) = writer.target(key.var)?;
        let mut held = writer.stage.lock(access, key).await;
        if held.slot.contents.is_some() {
            return Ok(());
        }
        let found = writer.find(&target, CellList::one(&held.key.cell)).await?;
        let contents = writer.session.shared.workers.with(|worker| {
            let stored = found.first().unwrap_or(&StoredChunk::Absent);
            let buffers = (&mut worker.encoded, &mut worker.scratch);
            writer.encoder.load((&target, &model), &held.key.cell, stored, buffers)
        });
        let contents = contents?;
        held.slot.keep(target.care, found.first().unwrap_or(&StoredChunk::Absent), &contents);
        held.slot.contents = Some(contents);
        Ok(())
    }

    /// Stores fill in every chunk that was never written, for formats that store all chunks. A variable without fill
    /// gets only its last chunk, so that the file is long enough.
    async fn fill_unwritten(&self, (writer, access): ChunkWriting<'_>, var: VarId) -> Result<()> {
        let (target, model) = writer.target(var)?;
        let array = model.shape(var);
        let complete = self.complete.guard().get(&var).cloned();
        if complete.as_ref() == Some(&array) || array.contains(&0) {
            return Ok(());
        }
        self.complete_edge((writer, access), &target, &array, complete.as_deref()).await?;
        if writer.placer.guard().has_all(var, &array) {
            self.complete.guard().insert(var, array);
            return Ok(());
        }
        let has_fill = model.variable(var).is_some_and(Variable::is_filled);
        let mut walk = ArrayWalk::new(&target, &array, if has_fill { complete.as_deref() } else { None });
        if !has_fill {
            walk.skip_to_last();
        }
        loop {
            let cells = walk.window();
            if cells.is_empty() {
                break;
            }
            self.fill_window(writer, (&target, &model), cells).await?;
        }
        self.complete.guard().insert(var, array);
        Ok(())
    }

    /// An earlier commit may have clipped the last chunks along an axis that has grown since.
    async fn complete_edge(
        &self,
        (writer, access): ChunkWriting<'_>,
        target: &WriteTarget,
        array: &[u64],
        complete: Option<&[u64]>,
    ) -> Result<()> {
        let (Some(old), EdgeChunks::Clipped) = (complete, target.encoding.edge) else { return Ok(()) };
        let (Some(&old_len), Some(&len)) = (old.first(), array.first()) else { return Ok(()) };
        let grid = &target.encoding.grid;
        let Some(last) = old_len.checked_sub(1).and_then(|last| grid.cell_at(0, last)) else { return Ok(()) };
        if len <= old_len || grid.span(0, last).is_none_or(|span| span.end == old_len) {
            return Ok(());
        }
        let mut edge = ArrayWalk::new(target, array, None);
        edge.only(last);
        loop {
            let cells = edge.window();
            if cells.is_empty() {
                return writer.flush_all(access).await;
            }
            for cell in cells.iter() {
                self.stage_as_is((writer, access), ChunkKey { var: target.var, cell: cell.to_vec() }).await?;
            }
            writer.flush_all(access).await?;
        }
    }

    async fn fill_window(
        &self,
        writer: &DatasetWriter,
        (target, model): (&Arc<WriteTarget>, &Arc<Model>),
        cells: CellList,
    ) -> Result<()> {
        let found = writer.find(target, cells.clone()).await?;
        // Chunks that exist by now must not be replaced by blank ones.
        let absent = cells.iter().zip(&found).filter(|(_, found)| matches!(found, StoredChunk::Absent));
        let absent = cells_of(cells.rank(), absent.map(|(cell, _)| cell));
        let work = [PlacerWork { var: target.var, cells: absent.clone() }];
        let prepared = writer.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        let puts = Mutex::new(Vec::new());
        let jobs: Vec<&[u64]> = absent.iter().collect();
        let cost = jobs.first().map_or(1, |cell| target.cell_cost(cell));
        let filled = writer.session.shared.for_each(jobs, writer.worker_count(cost), |cell, worker| {
            let blank = target.blank(&target.cell_shape(cell)?)?;
            let key = ChunkKey { var: target.var, cell: cell.to_vec() };
            let placed = writer
                .encoder
                .store_contents((target, model), &key, (&blank, None), &prepared, worker)?
                .into_puts();
            match writer.output.local() {
                Some(local) => {
                    writer.placer.forget(&placed);
                    let done = placed.into_iter().try_for_each(|put| writer.output.put_chunk(local, put));
                    writer.uploads.keep_failure(done)
                }
                None => {
                    puts.guard().extend(placed);
                    Ok(())
                }
            }
        });
        // The format counts on the chunks that were placed before a failure.
        let put = writer.put(puts.into_inner().unwrap_or_else(PoisonError::into_inner)).await;
        filled.and(put)
    }
}

/// Whether the first phase of several has nothing that readers find before the second one: chunks need not be durable before
/// it, but with it. That is so for new datasets whose objects are put whole.
fn is_unseen(writer: &DatasetWriter) -> bool {
    let is_new = || !writer.placer.abilities.patches && writer.placer.guard().documents().is_empty();
    !writer.conflicts.is_shared() && (writer.output.local().is_none() || is_new())
}

/// All chunks of an array, a window at a time.
struct ArrayWalk {
    /// First and last-but-one coordinate per axis.
    bounds: Vec<(u64, u64)>,
    at: Option<Vec<u64>>,
    window: usize,
}

impl ArrayWalk {
    /// Chunks of an array of that shape, without those inside `complete` if only one axis has grown.
    fn new(target: &WriteTarget, array: &[u64], complete: Option<&[u64]>) -> Self {
        let grid = &target.encoding.grid;
        let cells = |axis: usize, len: u64| grid.cells_along(axis, len);
        let mut bounds: Vec<(u64, u64)> =
            array.iter().enumerate().map(|(axis, len)| (0, cells(axis, *len))).collect();
        if let Some(old) = complete {
            let mut grown = (0..array.len()).filter(|axis| old.get(*axis) != array.get(*axis));
            if let (Some(axis), None) = (grown.next(), grown.next())
                && let (Some(bound), Some(old)) = (bounds.get_mut(axis), old.get(axis))
            {
                bound.0 = cells(axis, *old);
            }
        }
        let at = bounds
            .iter()
            .all(|(first, end)| first < end)
            .then(|| bounds.iter().map(|(first, _)| *first).collect());
        Self { bounds, at, window: WINDOW_CELLS }
    }

    /// Restricts the walk to the chunks at one coordinate of the first axis.
    fn only(&mut self, cell: u64) {
        if let (Some(bound), Some(at)) =
            (self.bounds.first_mut(), self.at.as_mut().and_then(|at| at.first_mut()))
        {
            *bound = (cell, cell + 1);
            *at = cell;
        }
    }

    /// Restricts the walk to the last chunk.
    fn skip_to_last(&mut self) {
        if self.at.is_some() {
            self.at = Some(self.bounds.iter().map(|(_, end)| end - 1).collect());
        }
    }

    fn window(&mut self) -> CellList {
        let mut cells = CellList::new(self.bounds.len());
        while let Some(at) = self.at.take().filter(|_| cells.len() < self.window) {
            cells.push(&at);
            self.at = self.after(at);
            if cells.len() == self.window {
                break;
            }
        }
        cells
    }

    fn after(&self, mut at: Vec<u64>) -> Option<Vec<u64>> {
        for (slot, (first, end)) in at.iter_mut().zip(&self.bounds).rev() {
            *slot += 1;
            if *slot < *end {
                return Some(at);
            }
            *slot = *first;
        }
        None
    }
}

/// Maximum number of chunks that are filled at once.
const WINDOW_CELLS: usize = 256;
