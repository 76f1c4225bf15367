//! Changing files that exist (hdf5-netcdf4.md J).
use super::placer::Hdf5Writer;
use ncirrus_layout::{Error, ObjectId, Placer, Step, View};
use ncirrus_model::Model;

/// Starts changing the file `root`, whose present state is `model`.
///
/// # Errors
/// A need, or why the file cannot be changed.
pub(super) fn update(
    _view: &dyn View,
    root: &ObjectId,
    _model: &Model,
    _choices: &Hdf5Writer,
) -> Step<Box<dyn Placer>> {
    Err(Error::unsupported("changing of HDF5 files").at_object(root).into())
}
