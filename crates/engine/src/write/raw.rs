//! Writing whole chunks whose elements the caller supplies as they are stored.
use super::DatasetWriter;
use super::target::WriteTarget;
use super::uploads::PutQueue;
use super::write_back_cache::{ChunkKey, ChunkLock};
use ncirrus_layout::{CellList, Error, PlacerWork, Result};
use ncirrus_model::VarId;

/// Puts those elements of one of several chunks that are inside the array into the elements of the whole chunk.
pub(super) type ElementFiller<'a> = &'a (dyn Fn(usize, &mut [u8]) -> Result<()> + Sync);

/// A locked chunk and its index in the list.
struct RawChunkTask {
    at: usize,
    held: ChunkLock,
}

impl DatasetWriter {
    /// Encodes and stores whole chunks of a variable. They replace what was written of these chunks before. The
    /// variable does not grow: each chunk has elements inside it.
    ///
    /// # Errors
    /// Errors of `elements`, `Unsupported` for elements without a fixed size, otherwise errors of encoding or putting.
    pub(super) async fn write_cells(
        &self,
        var: VarId,
        cells: CellList,
        elements: ElementFiller<'_>,
    ) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        let access = self.define(&commit).await?;
        let (target, _) = self.target(var)?;
        self.definitions().written.insert(var);
        let mut queue = PutQueue::new(self, access);
        let written = self.write_locked_cells(&target, cells, elements, &mut queue).await;
        let finished = queue.drained().await;
        written.and(finished)
    }

    async fn write_locked_cells<'a>(
        &'a self,
        target: &WriteTarget,
        cells: CellList,
        elements: ElementFiller<'_>,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        queue.room().await?;
        let mut jobs = Vec::with_capacity(cells.len());
        for (at, cell) in cells.iter().enumerate() {
            let key = ChunkKey { var: target.var, cell: cell.to_vec() };
            jobs.push(RawChunkTask { at, held: self.stage.lock(queue.access, key).await });
        }
        let cost = target.cell_cost(cells.get(0));
        // The shape is read after the chunks are locked: others may have extended the array before.
        let array = self.model().shape(target.var);
        let work = [PlacerWork { var: target.var, cells }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        let done = self.session.shared.for_each(jobs, self.worker_count(cost), |job, worker| {
            let RawChunkTask { at, mut held } = job;
            let cell = held.key.cell.clone();
            let shape = target.cell_shape(&cell)?;
            let element = target.element.ok_or_else(|| Error::unsupported("elements of no fixed size"))?;
            let scatter = |bytes: &mut [u8]| elements(at, bytes);
            let body =
                self.encoder.body_of_elements((target, &array), &cell, (&shape, element), worker, scatter);
            let (body, mask) = body.map_err(|error| target.located(error, &cell))?;
            let placed = self.encoder.place_body(target, &prepared, &cell, body, mask)?;
            self.encoder.note_cut(&held.key, target, &array)?;
            held.slot.clear();
            queue.finish(placed, held)
        });
        let put = queue.flush().await;
        done.and(put)
    }
}
