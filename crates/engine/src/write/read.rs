//! Reading what is being written: cached chunks take precedence over placed ones, and these over committed ones.
use super::DatasetWriter;
use super::cells::{ChunkPart, ChunkSelection};
use super::contents::{DirtyContents, StoredChunk};
use super::driven_placer::Interruptions;
use super::encoder::cells_of;
use super::lock_order::{ChunkAccess, CommitGuard};
use super::rows::GatheredValues;
use super::target::WriteTarget;
use super::write_back_cache::{ChunkKey, ChunkLock};
use crate::convert;
use crate::dataset::Dataset;
use crate::picked::Picked;
use crate::resources::between_parts;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Result, StoredType};
use ncirrus_model::{Model, PointSelection, Selection, Values, VarId};
use std::sync::{Arc, Mutex, PoisonError};

/// A chunk that is read: locked, with what is cached or stored of it.
struct ChunkReadTask<P> {
    at: usize,
    part: P,
    held: ChunkLock,
    stored: Option<StoredChunk>,
}

/// A variable as it is read while its dataset is written.
enum Readable<'a> {
    /// With what was written of it.
    Written(Arc<WriteTarget>, Arc<Model>, ChunkAccess<'a>),
    /// As the last commit left it.
    Committed(Dataset, VarId),
}

impl DatasetWriter {
    /// Reads the selected elements of a variable as written so far, by any thread.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit the variable, otherwise errors of reading.
    pub async fn read(&self, var: VarId, selection: &Selection) -> Result<Values> {
        self.read_picked(var, Picked::Selection(selection)).await
    }

    /// As [`read`](Self::read), into the caller's memory: elements of the model's type in the machine's byte order, the
    /// fields of compounds contiguous, without padding.
    ///
    /// # Errors
    /// As [`read`](Self::read); `Invalid` if the memory has another size, or the type has no fixed size.
    pub async fn read_into(&self, var: VarId, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.read_picked_into(var, Picked::Selection(selection), out).await
    }

    /// As [`read`](Self::read), of single elements, in the order of the points; each chunk that holds some is looked at
    /// once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_points(&self, var: VarId, points: &PointSelection) -> Result<Values> {
        self.read_picked(var, Picked::Points(points)).await
    }

    /// As [`read_points`](Self::read_points), into memory of the caller, as [`read_into`](Self::read_into) has it.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub async fn read_points_into(&self, var: VarId, points: &PointSelection, out: &mut [u8]) -> Result<()> {
        self.read_picked_into(var, Picked::Points(points), out).await
    }

    async fn read_picked(&self, var: VarId, picked: Picked<'_>) -> Result<Values> {
        let commit = self.committer.commit_lock.share().await;
        let mut interruptions = Interruptions::default();
        let (target, model, access) = loop {
            let result = match self.readable(&commit, var).await? {
                Readable::Written(target, model, access) => break (target, model, access),
                Readable::Committed(now, var) => match picked {
                    Picked::Selection(selection) => now.read(var, selection).await,
                    Picked::Points(points) => now.read_points(var, points).await,
                },
            };
            match result {
                Err(error) if interruptions.may_begin_again(&error).await => {}
                result => return result,
            }
        };
        let count = self.check_read((&target, &model), picked)?;
        let mut gathered = GatheredValues::new(&model, &target, count)?;
        self.read_cells((&target, &model), access, picked, &mut gathered).await?;
        gathered.finish(&model, &target, count)
    }

    async fn read_picked_into(&self, var: VarId, picked: Picked<'_>, out: &mut [u8]) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        let mut interruptions = Interruptions::default();
        let (target, model, access) = loop {
            let result = match self.readable(&commit, var).await? {
                Readable::Written(target, model, access) => break (target, model, access),
                Readable::Committed(now, var) => match picked {
                    Picked::Selection(selection) => now.read_into(var, selection, out).await,
                    Picked::Points(points) => now.read_points_into(var, points, out).await,
                },
            };
            match result {
                Err(error) if interruptions.may_begin_again(&error).await => {}
                result => return result,
            }
        };
        let located = |error: Error| error.at_path(target.path.clone());
        let count = self.check_read((&target, &model), picked)?;
        let wanted = convert::packed_len(&model, target.ty).map_err(located)?.checked_mul(count);
        if wanted != Some(out.len()) {
            let message = format!("{} bytes of memory for {count} elements", out.len());
            return Err(located(Error::invalid(message)));
        }
        if let (Some(copier), Some(_)) = (&target.packed, target.element) {
            let mut gathered = GatheredValues::Lent(out, copier.clone());
            return self.read_cells((&target, &model), access, picked, &mut gathered).await;
        }
        let mut gathered = GatheredValues::new(&model, &target, count)?;
        self.read_cells((&target, &model), access, picked, &mut gathered).await?;
        convert::pack(&model, target.ty, &gathered.finish(&model, &target, count)?, out)
    }

    /// A variable as it is to be read, while no commit is under way.
    async fn readable<'a>(&self, commit: &'a CommitGuard<'_>, var: VarId) -> Result<Readable<'a>> {
        self.check_usable()?;
        let access = self.define(commit).await?;
        match self.target(var) {
            Ok((target, model)) => Ok(Readable::Written(target, model, access)),
            Err(error) if error.kind() == ErrorKind::Unsupported => self.committed(var, error).await,
            Err(error) => Err(error),
        }
    }

    /// Checks what is to be read, and counts its elements.
    fn check_read(&self, (target, model): (&WriteTarget, &Model), picked: Picked<'_>) -> Result<usize> {
        let located = |error: Error| error.at_path(target.path.clone());
        picked.check(&model.shape(target.var)).map_err(|error| located(error.into()))?;
        let is_reference = matches!(target.encoding.stored, StoredType::Reference { .. });
        if is_reference && self.placer.guard().resolver(target.var).is_none() {
            let message = "variable-length values of this format cannot be read back before a sync";
            return Err(located(Error::unsupported(message)));
        }
        picked.count().map_err(located)
    }

    async fn read_cells(
        &self,
        (target, model): (&WriteTarget, &Model),
        access: ChunkAccess<'_>,
        picked: Picked<'_>,
        gathered: &mut GatheredValues<'_>,
    ) -> Result<()> {
        let selection = match picked {
            Picked::Selection(selection) => selection,
            Picked::Points(points) => {
                return self.read_point_cells((target, model), access, points, gathered).await;
            }
        };
        let array = model.shape(target.var);
        let touched = ChunkSelection::new(selection, &target.encoding.grid, &array, &target.growing);
        let touched = touched.map_err(|error| error.at_path(target.path.clone()))?;
        let mut parts = touched.parts().peekable();
        while parts.peek().is_some() {
            let window = self.window(&mut parts, |part| target.cell_cost(&part.cell));
            let each = |part: &ChunkPart, shape: &[usize], contents: &DirtyContents| {
                gathered.gather(&touched, part, shape, target, contents)
            };
            self.read_window(access, (target, model), window, |part| &part.cell, each).await?;
            between_parts().await;
        }
        Ok(())
    }

    /// A variable that can be read but not written, such as one that is put together from others: as the last commit left
    /// it.
    async fn committed(&self, var: VarId, error: Error) -> Result<Readable<'static>> {
        let Some(base) = &self.base else { return Err(error) };
        self.output.settle()?;
        let (now, path) = (base.reopened().await?, self.model().variable_path(var));
        let committed = now.model().variable_at(&path).ok_or(error)?;
        Ok(Readable::Committed(now, committed))
    }

    /// Reads chunks, and passes the contents of each to `each`, in order.
    pub(super) async fn read_window<P: Send + Sync>(
        &self,
        access: ChunkAccess<'_>,
        (target, model): (&WriteTarget, &Model),
        parts: Vec<P>,
        cell_of: impl Fn(&P) -> &[u64] + Sync,
        mut each: impl FnMut(&P, &[usize], &DirtyContents) -> Result<()>,
    ) -> Result<()> {
        let cost = parts.first().map_or(1, |part| target.cell_cost(cell_of(part)));
        let mut jobs = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            let key = ChunkKey { var: target.var, cell: cell_of(&part).to_vec() };
            jobs.push(ChunkReadTask { at, part, held: self.stage.lock(access, key).await, stored: None });
        }
        // All locations in one step, so that the requests of a window run together; staged chunks need none.
        let mut unstaged: Vec<&mut ChunkReadTask<P>> =
            jobs.iter_mut().filter(|job| job.held.slot.contents.is_none()).collect();
        let cells = unstaged.iter().map(|job| cell_of(&job.part));
        let found = self.find(target, cells_of(target.encoding.grid.rank(), cells)).await?;
        for (job, found) in unstaged.iter_mut().zip(found) {
            job.stored = Some(found);
        }
        let loaded = Mutex::new(Vec::with_capacity(jobs.len()));
        self.session.shared.for_each(jobs, self.lanes(cost), |job, worker| {
            let contents: Option<DirtyContents> = match &job.stored {
                None => None,
                Some(stored) => {
                    let buffers = (&mut worker.encoded, &mut worker.scratch);
                    Some(self.encoder.load((target, model), cell_of(&job.part), stored, buffers)?)
                }
            };
            loaded.guard().push((job, contents));
            Ok(())
        })?;
        let mut loaded = loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Workers finish in any order, the caller gets the parts in its own.
        loaded.sort_by_key(|(job, _)| job.at);
        for (job, contents) in loaded {
            let shape = target.cell_shape(cell_of(&job.part))?;
            let contents = contents.as_ref().or(job.held.slot.contents.as_ref());
            let contents = contents.ok_or_else(|| Error::internal("a cell without contents"))?;
            each(&job.part, &shape, contents)?;
        }
        Ok(())
    }
}
