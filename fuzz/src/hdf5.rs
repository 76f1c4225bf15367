//! HDF5 files: their structures through a view.
use crate::budget::Budgeted;
use crate::{LOOKED_AT, limits};
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Catalog, CellList, Driver, Layout, OpenOptions, View};
use ncirrus_model::VarId;
use ncirrus_testkit::{MemoryView, ObjectView};

/// From the superblock to the chunk index: everything except values, within a budget of reads.
pub fn hdf5_structures(data: &[u8]) {
    let objects = ObjectView::one("x.h5", data.to_vec());
    let view = Budgeted::new(MemoryView::new(objects).with_limits(limits()), data.len());
    let root = ObjectView::id("x.h5");
    let driver = Hdf5Driver;
    _ = driver.probe(&view, &root);
    let Ok(catalog) = driver.open(&view, &root, &OpenOptions::default()) else { return };
    let Ok(model) = catalog.tree(&view) else { return };
    _ = catalog.attributes(&view, &model.nodes());
    for var in model.variables() {
        locate(catalog.as_ref(), &view, var, &model.shape(var));
    }
    _ = (catalog.kind(), catalog.facts(), catalog.warnings());
}

/// The first and the last chunks of a variable.
fn locate(catalog: &dyn Catalog, view: &dyn View, var: VarId, shape: &[u64]) {
    let Ok(source) = catalog.source(view, var) else { return };
    let Layout::Grid { grid, index, .. } = &source.layout else { return };
    let counts: Vec<u64> = shape.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len)).collect();
    let total =
        counts.iter().try_fold(1u64, |product, count| product.checked_mul(*count)).unwrap_or(u64::MAX);
    let mut cells = CellList::new(grid.rank());
    for number in (0..total.min(LOOKED_AT)).chain(total.saturating_sub(LOOKED_AT)..total) {
        cells.push(&cell(number, &counts));
    }
    _ = index.locate(view, &cells);
}

/// The coordinates of the chunk with that number in row-major order.
fn cell(mut number: u64, counts: &[u64]) -> Vec<u64> {
    let mut cell = vec![0; counts.len()];
    for (at, count) in cell.iter_mut().zip(counts).rev() {
        *at = number % count.max(&1);
        number /= count.max(&1);
    }
    cell
}
