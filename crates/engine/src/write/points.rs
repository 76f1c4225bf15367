//! Reading single elements of a dataset that is being written.
use super::DatasetWriter;
use super::rows::GatheredValues;
use super::target::WriteTarget;
use super::write_back_cache::DirtyContents;
use crate::convert::{self, RowCopier};
use crate::picked::Picked;
use crate::resources::between_parts;
use ncirrus_layout::grid::{CellPoints, PointIntersections, row_major};
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::{Model, PointSelection, Values, VarId};

impl DatasetWriter {
    /// The values of single elements as written so far, in the order of the points; each chunk that holds some is
    /// loaded once.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_points(&self, var: VarId, points: &PointSelection) -> Result<Values> {
        let _shared = self.committer.commit_lock.read().await;
        self.check_usable()?;
        self.define().await?;
        let (target, model) = match self.target(var) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let (now, committed) = self.committed(var, error).await?;
                return now.read_points(committed, points).await;
            }
            found => found?,
        };
        let count = self.check_read((&target, &model), Picked::Points(points))?;
        let mut gathered = GatheredValues::new(&model, &target, count)?;
        self.read_point_cells((&target, &model), points, &mut gathered).await?;
        gathered.finish(&model, &target, count)
    }

    /// As [`read_points`](Self::read_points), into the caller's memory, as [`read_into`](Self::read_into) does.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub async fn read_points_into(&self, var: VarId, points: &PointSelection, out: &mut [u8]) -> Result<()> {
        let model = self.model();
        let variable = model.variable(var).ok_or_else(|| Error::not_found("no such variable"))?;
        let located = |error: Error| error.at_path(model.variable_path(var));
        if convert::packed_len(&model, variable.ty).map_err(located)?.checked_mul(points.count())
            != Some(out.len())
        {
            let message = format!("{} bytes of memory for {} elements", out.len(), points.count());
            return Err(located(Error::invalid(message)));
        }
        let values = self.read_points(var, points).await?;
        convert::pack(&model, variable.ty, &values, out).map_err(located)
    }

    async fn read_point_cells(
        &self,
        (target, model): (&WriteTarget, &Model),
        points: &PointSelection,
        gathered: &mut GatheredValues<'_>,
    ) -> Result<()> {
        let mut cells = PointIntersections::new(points, &target.encoding.grid, &model.shape(target.var))?;
        let mut next = cells.next_cell();
        while next.is_some() {
            let (mut window, mut cost) = (Vec::new(), 0usize);
            while let Some(cell) = next.take_if(|_| window.is_empty() || cost < self.window_budget()) {
                cost = cost.saturating_add(target.cell_cost(cell_of(&cell)));
                window.push(cell);
                next = cells.next_cell();
            }
            let each = |cell: &CellPoints, shape: &[usize], contents: &DirtyContents| {
                gathered.gather_points(cell, shape, target, contents)
            };
            self.read_window((target, model), window, cell_of, each).await?;
            between_parts().await;
        }
        Ok(())
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
        let shape: Vec<u64> = shape.iter().map(|len| *len as u64).collect();
        let pairs = points.pairs(&row_major(&shape, 1)?);
        let pairs = pairs.ok_or_else(|| Error::limit("the points exceed this machine's addresses"))?;
        let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
        let inside: Vec<usize> = pairs.iter().map(|pair| at(pair.offset)).collect();
        let places: Vec<usize> = pairs.iter().map(|pair| at(pair.position)).collect();
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
