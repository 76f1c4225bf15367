//! How points fall on a grid: which of them lie in which cell.
use super::{ChunkGrid, IndexPair};
use crate::{Error, Result};
use ncirrus_model::PointSelection;
use std::sync::Arc;

/// Points ordered by the cells that hold them; every cell comes up once, with all of its points, and every point once.
/// It costs 16 bytes for each point.
#[derive(Debug, Clone)]
pub struct PointIntersections<'p> {
    points: &'p PointSelection,
    grid: Arc<ChunkGrid>,
    /// The number of each point's cell, and of the point.
    order: Vec<(u64, u64)>,
    next: usize,
}

/// The points in one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPoints {
    /// Coordinates of the cell; `None` outside of what is stored.
    pub cell: Option<Vec<u64>>,
    /// Positions of the points in the result.
    pub positions: Vec<u64>,
    /// Per point and axis, the index counted from the start of the cell.
    offsets: Vec<u64>,
}

/// The number that stands for all cells outside of what is stored.
const OUTSIDE: u64 = u64::MAX;

impl<'p> PointIntersections<'p> {
    /// Orders points, which must fit their variable, by the cells of a grid of which only `extent` is stored.
    ///
    /// # Errors
    /// `Limit` when the grid has 2^64 cells or more.
    pub fn new(points: &'p PointSelection, grid: &ChunkGrid, extent: &[u64]) -> Result<Self> {
        let mut cells = Vec::with_capacity(extent.len());
        let mut step = 1u64;
        for (axis, len) in extent.iter().enumerate().rev() {
            cells.push(step);
            let next = step.checked_mul(grid.cells_along(axis, *len).max(1)).filter(|all| *all < OUTSIDE);
            step = next.ok_or_else(|| Error::limit(format!("more than 2^64 chunks in {extent:?}")))?;
        }
        cells.reverse();
        let number = |point: usize| {
            let mut number = 0u64;
            for (axis, (step, len)) in cells.iter().zip(extent).enumerate() {
                let index = points.index(axis, point);
                let cell = if index < *len { grid.cell_at(axis, index) } else { None };
                number += cell? * step;
            }
            Some(number)
        };
        let order = (0..points.count()).map(|point| (number(point).unwrap_or(OUTSIDE), point as u64));
        let mut order: Vec<(u64, u64)> = order.collect();
        order.sort_unstable();
        Ok(Self { points, grid: Arc::new(grid.clone()), order, next: 0 })
    }

    /// Number of cells with points in them.
    pub fn cell_count(&self) -> u64 {
        self.order
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|run| run.iter().all(|(cell, _)| *cell != OUTSIDE))
            .count() as u64
    }

    /// The next cell and its points; `None` at the end.
    pub fn next_cell(&mut self) -> Option<CellPoints> {
        let rest = self.order.get(self.next..)?;
        let (number, first) = *rest.first()?;
        let here = rest.get(..rest.partition_point(|(cell, _)| *cell <= number))?;
        self.next += here.len();
        let positions = here.iter().map(|(_, point)| *point).collect();
        let rank = self.points.rank();
        let place = |point: u64| usize::try_from(point).unwrap_or(usize::MAX);
        let cell: Option<Vec<u64>> = (number != OUTSIDE)
            .then(|| {
                (0..rank).map(|axis| self.grid.cell_at(axis, self.points.index(axis, place(first)))).collect()
            })
            .flatten();
        let mut offsets = Vec::new();
        if let Some(cell) = &cell {
            let starts: Vec<u64> = cell
                .iter()
                .enumerate()
                .map(|(axis, cell)| self.grid.span(axis, *cell).map_or(0, |span| span.start))
                .collect();
            offsets.reserve(here.len().saturating_mul(rank));
            for (_, point) in here {
                let indices = starts.iter().enumerate();
                offsets.extend(indices.map(|(axis, start)| self.points.index(axis, place(*point)) - start));
            }
        }
        Some(CellPoints { cell, positions, offsets })
    }
}

impl CellPoints {
    /// The offsets of the points in the cell, whose axes have those strides, in the unit of the strides, ascending, each with its
    /// position in the result; `None` when an offset does not fit. Outside of what is stored all offsets are 0.
    pub fn pairs(&self, strides: &[u64]) -> Option<Vec<IndexPair>> {
        let mut pairs = Vec::with_capacity(self.positions.len());
        let rank = strides.len();
        for (at, position) in self.positions.iter().enumerate() {
            let indices = self.offsets.get(at * rank..(at + 1) * rank).unwrap_or_default();
            let offset = indices
                .iter()
                .zip(strides)
                .try_fold(0u64, |sum, (index, stride)| sum.checked_add(index.checked_mul(*stride)?))?;
            pairs.push(IndexPair { position: *position, offset });
        }
        pairs.sort_unstable_by_key(|pair| (pair.offset, pair.position));
        Some(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_point_comes_once_with_its_cell() {
        let points = PointSelection::new(vec![vec![5, 0, 5, 9], vec![1, 0, 0, 2]]).unwrap();
        let grid = ChunkGrid::Regular(vec![4, 2]);
        let mut cells = PointIntersections::new(&points, &grid, &[8, 3]).unwrap();
        assert_eq!(cells.cell_count(), 2);
        let found: Vec<CellPoints> = std::iter::from_fn(|| cells.next_cell()).collect();
        let list: Vec<_> = found.iter().map(|cell| (cell.cell.clone(), cell.positions.clone())).collect();
        assert_eq!(list, [(Some(vec![0, 0]), vec![1]), (Some(vec![1, 0]), vec![0, 2]), (None, vec![3])]);
        let pair = |position, offset| IndexPair { position, offset };
        assert_eq!(found[1].pairs(&[20, 10]).unwrap(), [pair(2, 20), pair(0, 30)]);
        assert_eq!(found[1].pairs(&[u64::MAX, u64::MAX]), None);
    }

    #[test]
    fn a_scalar_is_its_one_cell() {
        let points = PointSelection::scalar(2);
        let mut cells = PointIntersections::new(&points, &ChunkGrid::Regular(Vec::new()), &[]).unwrap();
        let cell = cells.next_cell().unwrap();
        assert_eq!(
            (cell.cell.as_deref(), cell.positions.as_slice()),
            (Some([].as_slice()), [0, 1].as_slice())
        );
        assert_eq!(cell.pairs(&[]).unwrap().len(), 2);
        assert_eq!(cells.next_cell(), None);
    }

    proptest! {
        #[test]
        fn points_lie_where_the_grid_says(
            points in prop::collection::vec((0u64..20, 0u64..20), 0..60),
            chunks in (1u64..7, 1u64..7),
        ) {
            let axes = vec![points.iter().map(|p| p.0).collect(), points.iter().map(|p| p.1).collect()];
            let selection = PointSelection::new(axes).unwrap();
            let grid = ChunkGrid::Regular(vec![chunks.0, chunks.1]);
            let mut cells = PointIntersections::new(&selection, &grid, &[20, 20]).unwrap();
            let (count, mut seen, mut found) = (cells.cell_count(), 0, vec![None; points.len()]);
            while let Some(cell) = cells.next_cell() {
                seen += 1;
                let coords = cell.cell.clone().unwrap();
                for pair in cell.pairs(&[100, 1]).unwrap() {
                    let point = (coords[0] * chunks.0 + pair.offset / 100, coords[1] * chunks.1 + pair.offset % 100);
                    let at = usize::try_from(pair.position).unwrap();
                    prop_assert_eq!(found[at].replace(point), None);
                }
            }
            prop_assert_eq!(seen, count);
            prop_assert_eq!(found, points.into_iter().map(Some).collect::<Vec<_>>());
        }
    }
}
