//! The engine's information about an opened dataset.
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Model, Result};
use ncirrus_layout::{Aggregation, Tile};
use ncirrus_model::{Region, VarId};
use std::sync::Arc;

/// The definitions without what an overlay adds.
pub(crate) fn stored_definitions(dataset: &Dataset) -> Arc<Model> {
    dataset.reader().map_or_else(|_| dataset.snapshot(), |dataset| dataset.plain().model())
}

/// The fragments of an aggregated variable.
///
/// # Errors
/// If the dataset is open for writing, or the description cannot be read.
pub(crate) fn tiles(dataset: &Dataset, var: VarId) -> Result<Vec<Tile>> {
    let reader = dataset.reader()?;
    let whole = Region::all(&reader.model().shape(var));
    dataset.engine().wait(reader.tiles(var, &whole))
}

/// The parts of an aggregated variable, as in its description.
///
/// # Errors
/// If the dataset is open for writing, or the description cannot be read.
pub(crate) fn aggregation(dataset: &Dataset, var: VarId) -> Result<Option<Aggregation>> {
    dataset.engine().wait(dataset.reader()?.aggregation(var))
}

/// Stored size of a variable's values in bytes; `None` if it is expensive to determine.
pub fn stored_bytes(dataset: &Dataset, var: VarId) -> Option<u64> {
    dataset.engine().wait(dataset.reader().ok()?.stored_bytes(var)).ok().flatten()
}
