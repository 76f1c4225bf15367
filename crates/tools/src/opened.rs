//! What the engine knows of an opened dataset.
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Model, Result};
use ncirrus_layout::{Aggregation, Tile};
use ncirrus_model::{Region, VarId};
use std::sync::Arc;

/// Whether it is an HDF5 file that is read.
pub(crate) fn is_hdf5(dataset: &Dataset) -> bool {
    dataset.reader().is_ok_and(|dataset| dataset.driver().name() == "hdf5")
}

/// The definitions without what an overlay shows.
pub(crate) fn stored_definitions(dataset: &Dataset) -> Arc<Model> {
    dataset.reader().map_or_else(|_| dataset.snapshot(), |dataset| dataset.plain().model())
}

/// What an aggregated variable is put together from.
///
/// # Errors
/// When the dataset is open for writing, or the description cannot be read.
pub(crate) fn tiles(dataset: &Dataset, var: VarId) -> Result<Vec<Tile>> {
    let reader = dataset.reader()?;
    let whole = Region::all(&reader.model().shape(var));
    dataset.engine().block_on(reader.tiles(var, &whole))
}

/// What an aggregated variable is made of, as its description says.
///
/// # Errors
/// When the dataset is open for writing, or the description cannot be read.
pub(crate) fn aggregation(dataset: &Dataset, var: VarId) -> Result<Option<Aggregation>> {
    dataset.engine().block_on(dataset.reader()?.aggregation(var))
}

/// Bytes of a variable's values as stored; `None` where that cannot be told cheaply.
pub(crate) fn stored_bytes(dataset: &Dataset, var: VarId) -> Option<u64> {
    dataset.engine().block_on(dataset.reader().ok()?.stored_bytes(var)).ok().flatten()
}
