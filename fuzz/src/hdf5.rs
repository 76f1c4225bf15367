//! HDF5 files: their structures through a view, and whole files through the engine.
use crate::budget::Budgeted;
use crate::limits;
use ncirrus_engine::Session;
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Catalog, Cells, Driver, Layout, OpenOptions, View};
use ncirrus_model::{NodeId, Selection, VarId};
use ncirrus_store::{LocalStore, MemoryStore, Precondition};
use ncirrus_testkit::{MemoryView, Objects};
use std::sync::{Arc, LazyLock};

/// Chunks of a variable, and elements of a read, that are looked at.
const LOOKED_AT: u64 = 4096;

/// From the superblock to the chunk index: everything but values, within a budget of reads.
pub fn hdf5_structures(data: &[u8]) {
    let objects = Objects::one("x.h5", data.to_vec());
    let view = Budgeted::new(MemoryView::new(objects).with_limits(limits()), data.len());
    let root = Objects::id("x.h5");
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
    let total = counts.iter().try_fold(1u64, |product, count| product.checked_mul(*count)).unwrap_or(u64::MAX);
    let mut cells = Cells::new(grid.rank());
    for number in (0..total.min(LOOKED_AT)).chain(total.saturating_sub(LOOKED_AT)..total) {
        cells.push(&cell(number, &counts));
    }
    _ = index.locate(view, &cells);
}

/// The cell of that number in row-major order.
fn cell(mut number: u64, counts: &[u64]) -> Vec<u64> {
    let mut cell = vec![0; counts.len()];
    for (at, count) in cell.iter_mut().zip(counts).rev() {
        *at = number % count.max(&1);
        number /= count.max(&1);
    }
    cell
}

static SESSION: LazyLock<Session> = LazyLock::new(|| {
    let session = Session::builder().threads(1).memory(16 << 20).chunk_cache(0).limits(limits());
    session.build().expect("a session")
});

/// Whole files: all attributes, and of every variable as many values as are quickly read.
pub fn hdf5_read(data: &[u8]) {
    let (session, store) = (&*SESSION, MemoryStore::new("memory://fuzz"));
    let root = store.root().child("x.h5");
    if LocalStore::put(&store, &root, data, &Precondition::None).is_err() {
        return;
    }
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let options = OpenOptions::default();
    let opening = session.open(store.shared(), root, &drivers, &options);
    let Ok(dataset) = session.block_on(opening) else { return };
    let model = dataset.model();
    let nodes: Vec<NodeId> = model.nodes();
    _ = session.block_on(dataset.attributes(&nodes));
    for var in model.variables() {
        let shape = model.shape(var);
        _ = session.block_on(dataset.read(var, &beginning(&shape)));
        let last: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1)).collect();
        if shape.iter().all(|len| *len > 0) {
            _ = session.block_on(dataset.read(var, &Selection::slab(&last, &vec![1; shape.len()])));
        }
    }
}

/// The first elements of an array, about as many as are looked at.
fn beginning(shape: &[u64]) -> Selection {
    let mut left = LOOKED_AT;
    let mut count: Vec<u64> = Vec::new();
    for len in shape.iter().rev() {
        count.push((*len).min(left));
        left = (left / (*len).max(1)).max(1);
    }
    count.reverse();
    Selection::slab(&vec![0; shape.len()], &count)
}
