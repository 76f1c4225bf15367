//! Storing chunks that were encoded elsewhere.
use super::DatasetWriter;
use super::encoder::EncodedBody;
use super::target::WriteTarget;
use super::uploads::PutQueue;
use super::write_back_cache::{ChunkKey, ChunkLock};
use crate::resources::between_parts;
use bytes::Bytes;
use ncirrus_layout::{CellList, EdgeChunks, Error, PlacerWork, Result};
use ncirrus_model::{Model, Selection, VarId, Variable};
use std::sync::Arc;

/// An encoded chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedChunk {
    /// Its coordinates, one per axis.
    pub cell: Vec<u64>,
    /// Its bytes, after all codecs.
    pub body: Bytes,
    /// Bit i set: codec i of the chain was not applied (HDF5 filter mask).
    pub mask: u32,
}

/// Chunks that are stored at once.
const WINDOW: usize = 1024;

impl DatasetWriter {
    /// Stores encoded chunks of a variable as they are: the caller guarantees that the variable's codecs decode them.
    /// They replace what was written of these chunks before. The variable does not grow: each chunk has elements inside
    /// it.
    ///
    /// # Errors
    /// `Invalid` if a chunk is outside or occurs twice, if a chunk without codecs differs in length from its elements,
    /// or if codecs were skipped and the format cannot record that; `Unsupported` if the variable's chunks cannot be
    /// stored in this way: elements without a fixed size, or clipped edge chunks. Nothing is changed then. Otherwise
    /// errors of putting.
    pub async fn write_encoded(&self, var: VarId, mut chunks: Vec<EncodedChunk>) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        let access = self.define(&commit).await?;
        let (target, model) = self.target(var)?;
        chunks.sort_by(|one, other| one.cell.cmp(&other.cell));
        self.check_encoded(&target, &model, &chunks)?;
        drop(model);
        self.definitions().mark_written(var);
        let mut queue = PutQueue::new(self, access);
        let written = self.write_encoded_windows(&target, chunks, &mut queue).await;
        let finished = queue.drained().await;
        written.and(finished)
    }

    async fn write_encoded_windows<'a>(
        &'a self,
        target: &WriteTarget,
        chunks: Vec<EncodedChunk>,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            queue.room().await?;
            self.write_encoded_window(target, chunks.by_ref().take(WINDOW).collect(), queue).await?;
            between_parts().await;
        }
        Ok(())
    }

    async fn write_encoded_window<'a>(
        &'a self,
        target: &WriteTarget,
        chunks: Vec<EncodedChunk>,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let mut cells = CellList::new(target.encoding.grid.rank());
        let mut jobs: Vec<(EncodedChunk, ChunkLock)> = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            cells.push(&chunk.cell);
            let held =
                self.stage.lock(queue.access, ChunkKey { var: target.var, cell: chunk.cell.clone() }).await;
            jobs.push((chunk, held));
        }
        let work = [PlacerWork { var: target.var, cells }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        let done = self.session.shared.for_each(jobs, usize::MAX, |(chunk, mut held), _| {
            let body = EncodedBody::Made(chunk.body);
            let placed = self.encoder.place_body(target, &prepared, &chunk.cell, body, chunk.mask)?;
            held.slot.clear();
            queue.finish(placed, held)
        });
        let put = queue.flush().await;
        done.and(put)
    }

    fn check_encoded(&self, target: &WriteTarget, model: &Model, chunks: &[EncodedChunk]) -> Result<()> {
        if target.element.is_none() || target.encoding.edge != EdgeChunks::Full {
            let message = "chunks of this variable cannot be stored already encoded";
            return Err(Error::unsupported(message).at_path(target.path.clone()));
        }
        let array = model.shape(target.var);
        let mut before = None;
        for chunk in chunks {
            let fault = if target.encoding.grid.clipped_region(&chunk.cell, &array).is_none() {
                Some("there is no such chunk")
            } else if before.replace(&chunk.cell) == Some(&chunk.cell) {
                Some("the chunk is given twice")
            } else if !self.encoder.takes_mask(target, chunk.mask) {
                Some("the format cannot say that codecs were skipped")
            } else if target.is_raw() && chunk.body.len() != target.cell_cost(&chunk.cell) {
                Some("the chunk has another length than its elements")
            } else {
                None
            };
            if let Some(fault) = fault {
                return Err(target.located(Error::invalid(fault), &chunk.cell));
            }
        }
        Ok(())
    }

    /// Raises the lengths of unlimited dimensions so that an array of that shape fits.
    ///
    /// # Errors
    /// `Invalid` if fixed dimensions differ.
    pub async fn grow_to(&self, var: VarId, shape: &[u64]) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        self.define(&commit).await?;
        let (target, _) = self.target(var)?;
        target.check_reach(shape, &self.session.shared.limits)?;
        self.definitions().grow(var, &Selection::all(shape)).map(|_| ())
    }

    /// Adds chunks of these lengths along an axis of a variable whose chunks have different lengths, for elements that will be
    /// written: without this, one chunk has all that an array grows by at a time.
    ///
    /// # Errors
    /// `Invalid` if the variable's chunks are all alike, or a length is 0.
    pub async fn add_chunks(&self, var: VarId, axis: usize, lengths: &[u64]) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        self.define(&commit).await?;
        let (target, _) = self.target(var)?;
        // Other threads may have added chunks since: the present grid is the one that is extended.
        let mut definitions = self.definitions();
        let mut placer = self.placer.guard();
        let grid = placer.encoding(var)?.grid.with_chunks(axis, lengths);
        placer.extend_grid(var, grid.map_err(|error| error.at_path(target.path.clone()))?)?;
        definitions.targets.remove(&var);
        Ok(())
    }

    /// Whether chunks of a variable that are not written read as its fill value.
    pub(super) fn reads_unwritten_as_fill(&self, var: VarId) -> bool {
        let definitions = self.definitions();
        let variable = definitions.model.variable(var);
        !definitions.existing.contains(&var)
            && !definitions.written.contains(&var)
            && variable.is_some_and(Variable::is_filled)
    }

    /// A variable as it is written, once the format has accepted it.
    ///
    /// # Errors
    /// Definitions that the format refuses.
    pub(super) async fn target_of(&self, var: VarId) -> Result<Arc<WriteTarget>> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        self.define(&commit).await?;
        Ok(self.target(var)?.0)
    }
}
