//! Reading what is being written: staged over placed over committed.
use super::DatasetWriter;
use super::cells::{ChunkPart, ChunkSelection};
use super::encoder::{StoredChunk, cells_of, count_of};
use super::rows::GatheredValues;
use super::target::WriteTarget;
use super::write_back_cache::{ChunkKey, ChunkLock, DirtyContents};
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Result, StoredType};
use ncirrus_model::{Model, Selection, Values, VarId};
use std::sync::{Mutex, PoisonError};

/// A cell that is read: locked, with what is staged or stored of it.
struct ChunkReadTask {
    at: usize,
    part: ChunkPart,
    held: ChunkLock,
    stored: Option<StoredChunk>,
}

impl DatasetWriter {
    /// Reads the selected elements of a variable as they were written so far, by whichever thread.
    ///
    /// # Errors
    /// `Invalid` when the selection does not fit the variable, else what reading fails with.
    pub async fn read(&self, var: VarId, selection: &Selection) -> Result<Values> {
        let _shared = self.committer.commit_lock.read().await;
        self.check_usable()?;
        self.define().await?;
        let (target, model) = match self.target(var) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                return self.read_committed(var, selection, error).await;
            }
            found => found?,
        };
        let located = |error: Error| error.at_path(target.path.clone());
        selection.check(&model.shape(var)).map_err(|error| located(error.into()))?;
        let is_reference = matches!(target.encoding.stored, StoredType::Reference { .. });
        if is_reference && self.placer.guard().resolver(var).is_none() {
            let message =
                "variable-length values of this format cannot be read back before they are committed";
            return Err(located(Error::unsupported(message)));
        }
        let count = count_of(selection.element_count()).map_err(located)?;
        let array = model.shape(var);
        let touched = ChunkSelection::new(selection, &target.encoding.grid, &array, &target.growing);
        let touched = touched.map_err(located)?;
        let mut gathered = GatheredValues::new(&model, &target, count)?;
        let mut parts = touched.parts().peekable();
        while parts.peek().is_some() {
            let window = self.window(&mut parts, |part| target.cell_cost(&part.cell));
            self.read_window((&target, &model), &touched, window, &mut gathered).await?;
        }
        gathered.finish(&model, &target, count)
    }

    /// Values of a variable that can be read but not written, such as one that is put together from others: as the
    /// last commit left them.
    async fn read_committed(&self, var: VarId, selection: &Selection, error: Error) -> Result<Values> {
        let Some(base) = &self.base else { return Err(error) };
        let (now, path) = (base.reopened().await?, self.model().variable_path(var));
        let committed = now.model().variable_at(&path).ok_or(error)?;
        now.read(committed, selection).await
    }

    async fn read_window(
        &self,
        (target, model): (&WriteTarget, &Model),
        touched: &ChunkSelection,
        parts: Vec<ChunkPart>,
        gathered: &mut GatheredValues,
    ) -> Result<()> {
        let cost = parts.first().map_or(1, |part| target.cell_cost(&part.cell));
        let mut jobs = Vec::with_capacity(parts.len());
        for (at, part) in parts.into_iter().enumerate() {
            let key = ChunkKey { var: target.var, cell: part.cell.clone() };
            jobs.push(ChunkReadTask { at, part, held: self.stage.lock(key).await, stored: None });
        }
        let mut unstaged: Vec<&mut ChunkReadTask> =
            jobs.iter_mut().filter(|job| job.held.slot.contents.is_none()).collect();
        let cells = unstaged.iter().map(|job| job.part.cell.as_slice());
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
                    Some(self.encoder.load((target, model), &job.part.cell, stored, buffers)?)
                }
            };
            loaded.guard().push((job, contents));
            Ok(())
        })?;
        let mut loaded = loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
        loaded.sort_by_key(|(job, _)| job.at);
        for (job, contents) in loaded {
            let shape = target.cell_shape(&job.part.cell)?;
            let contents = contents.as_ref().or(job.held.slot.contents.as_ref());
            let contents = contents.ok_or_else(|| Error::internal("a cell without contents"))?;
            gathered.gather(touched, &job.part, &shape, target, contents)?;
        }
        Ok(())
    }
}
