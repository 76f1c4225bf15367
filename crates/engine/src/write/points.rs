//! Reading and writing single elements of a dataset that is being written.
use super::DatasetWriter;
use super::contents::{DirtyContents, StoredChunk};
use super::encoder::cells_of;
use super::lock_order::ChunkAccess;
use super::rows::{GatheredValues, WriteData};
use super::target::WriteTarget;
use super::uploads::PutQueue;
use super::write_back_cache::{ChunkKey, ChunkLock};
use crate::convert::{self, RowCopier};
use crate::resources::between_parts;
use ncirrus_layout::grid::{CellPoints, PointIntersections, row_major};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{AxisSelection, Model, PointSelection, Selection};

impl DatasetWriter {
    pub(super) async fn read_point_cells(
        &self,
        (target, model): (&WriteTarget, &Model),
        access: ChunkAccess<'_>,
        points: &PointSelection,
        gathered: &mut GatheredValues<'_>,
    ) -> Result<()> {
        let mut cells = PointIntersections::new(points, &target.encoding.grid, &model.shape(target.var))?;
        let mut next = cells.next_cell();
        while next.is_some() {
            let window = self.point_window(target, &mut cells, &mut next);
            let each = |cell: &CellPoints, shape: &[usize], contents: &DirtyContents| {
                gathered.gather_points(cell, shape, target, contents)
            };
            self.read_window(access, (target, model), window, cell_of, each).await?;
            between_parts().await;
        }
        Ok(())
    }

    /// The next cells that fit the memory together; at least one.
    fn point_window(
        &self,
        target: &WriteTarget,
        cells: &mut PointIntersections<'_>,
        next: &mut Option<CellPoints>,
    ) -> Vec<CellPoints> {
        let (mut window, mut cost) = (Vec::new(), 0usize);
        while let Some(cell) = next.take_if(|_| window.is_empty() || cost < self.window_budget()) {
            cost = cost.saturating_add(target.cell_cost(cell_of(&cell)));
            window.push(cell);
            *next = cells.next_cell();
        }
        window
    }

    /// Writes to single elements: each chunk that holds some is completed once, and staged.
    pub(super) async fn write_points<'a>(
        &'a self,
        (target, data): (&WriteTarget, &WriteData<'_>),
        points: &PointSelection,
        queue: &mut PutQueue<'a>,
    ) -> Result<()> {
        let mut cells =
            PointIntersections::new(points, &target.encoding.grid, &self.model().shape(target.var))?;
        let mut next = cells.next_cell();
        while next.is_some() {
            let window = self.point_window(target, &mut cells, &mut next);
            queue.room().await?;
            self.write_point_window(queue.access, (target, data), window).await?;
            self.shrink(queue).await?;
            between_parts().await;
        }
        Ok(())
    }

    async fn write_point_window(
        &self,
        access: ChunkAccess<'_>,
        (target, data): (&WriteTarget, &WriteData<'_>),
        window: Vec<CellPoints>,
    ) -> Result<()> {
        let cost = window.first().map_or(1, |points| target.cell_cost(cell_of(points)));
        let mut jobs = Vec::with_capacity(window.len());
        for points in window {
            let key = ChunkKey { var: target.var, cell: cell_of(&points).to_vec() };
            jobs.push(PointWriteTask { points, held: self.stage.lock(access, key).await, stored: None });
        }
        // The shape is looked at when the cells are locked: what others stored of them may have grown before.
        let model = &self.model();
        let mut incomplete: Vec<&mut PointWriteTask> =
            jobs.iter_mut().filter(|job| job.held.slot.contents.is_none()).collect();
        let cells = incomplete.iter().map(|job| cell_of(&job.points));
        let found = self.find(target, cells_of(target.encoding.grid.rank(), cells)).await?;
        for (job, found) in incomplete.iter_mut().zip(found) {
            job.stored = Some(found);
        }
        self.session.shared.for_each(jobs, self.worker_count(cost), |mut job, worker| {
            let shape = target.cell_shape(cell_of(&job.points))?;
            let completed = (&mut job.held, job.stored.as_ref());
            let mut contents = self.contents((target, model), completed, &shape, worker)?;
            let done = data.scatter_points(&job.points, &shape, target, &mut contents);
            job.held.slot.contents = Some(contents);
            done.map_err(|error| target.located(error, &job.held.key.cell))
        })
    }
}

/// A touched cell, locked, and where it is when it must be completed first.
struct PointWriteTask {
    points: CellPoints,
    held: ChunkLock,
    stored: Option<StoredChunk>,
}

/// The box around points, which says how far a variable grows; nothing when there are none.
pub(super) fn reach(points: &PointSelection) -> Option<Selection> {
    let last = |axis: &Vec<u64>| {
        Some(AxisSelection::Slice { start: axis.iter().copied().max()?, count: 1, stride: 1 })
    };
    (points.count() > 0).then(|| points.axes().iter().map(last).collect::<Option<_>>().map(Selection::new))?
}

/// Where the points are in a cell of that shape, ascending, and which of the values are theirs.
fn pairs_of(points: &CellPoints, shape: &[usize]) -> Result<(Vec<usize>, Vec<usize>)> {
    let shape: Vec<u64> = shape.iter().map(|len| *len as u64).collect();
    let pairs = points.pairs(&row_major(&shape, 1)?);
    let pairs = pairs.ok_or_else(|| Error::limit("the points exceed this machine's addresses"))?;
    let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
    Ok(pairs.iter().map(|pair| (at(pair.offset), at(pair.position))).unzip())
}

impl WriteData<'_> {
    /// Puts the values of points into a cell of that shape. Of several for one element the last counts.
    fn scatter_points(
        &self,
        points: &CellPoints,
        shape: &[usize],
        target: &WriteTarget,
        contents: &mut DirtyContents,
    ) -> Result<()> {
        let (inside, places) = pairs_of(points, shape)?;
        match (self, contents, target.element) {
            (Self::Values(from), DirtyContents::Values(to), None) => {
                let here = convert::take(from, &places)?;
                let order: Vec<usize> = (0..here.len()).collect();
                convert::assign(to, &inside, &here, &order)
            }
            (Self::Native(from, copier), DirtyContents::Bytes(cell), Some(element)) => {
                let native = copier.native_len();
                for (to, from_at) in inside.iter().zip(&places) {
                    copier.store(
                        &from[from_at * native..(from_at + 1) * native],
                        &mut cell[to * element..(to + 1) * element],
                    );
                }
                Ok(())
            }
            (Self::Stored(from), DirtyContents::Bytes(cell), Some(element)) => {
                for (to, from_at) in inside.iter().zip(&places) {
                    cell[to * element..(to + 1) * element]
                        .copy_from_slice(&from[from_at * element..(from_at + 1) * element]);
                }
                Ok(())
            }
            _ => Err(Error::internal("a staged cell of another kind")),
        }
    }
}

/// The coordinates of a chunk; every point inside the array is in one.
fn cell_of(points: &CellPoints) -> &[u64] {
    points.cell.as_deref().unwrap_or_default()
}

impl GatheredValues<'_> {
    /// Copies points from a chunk of that shape.
    fn gather_points(
        &mut self,
        points: &CellPoints,
        shape: &[usize],
        target: &WriteTarget,
        contents: &DirtyContents,
    ) -> Result<()> {
        let (inside, places) = pairs_of(points, shape)?;
        let element = target.element.unwrap_or(0);
        let copy = |copier: &RowCopier, cell: &[u8], out: &mut [u8]| {
            let native = copier.native_len();
            for (from, to) in inside.iter().zip(&places) {
                copier.copy(
                    &cell[from * element..(from + 1) * element],
                    &mut out[to * native..(to + 1) * native],
                );
            }
        };
        match (self, contents) {
            (Self::Native(values, copier), DirtyContents::Bytes(cell)) => {
                let out = values.as_bytes_mut().ok_or_else(|| Error::internal("numbers without memory"))?;
                copy(copier, cell, out);
            }
            (Self::Lent(out, copier), DirtyContents::Bytes(cell)) => copy(copier, cell, out),
            (Self::Stored(out), DirtyContents::Bytes(cell)) => {
                copy(&RowCopier::bytes(element), cell, out);
            }
            (Self::Values(out), DirtyContents::Values(cell)) => {
                convert::assign(out, &places, cell, &inside)?;
            }
            _ => return Err(Error::internal("a staged cell of another kind")),
        }
        Ok(())
    }
}
