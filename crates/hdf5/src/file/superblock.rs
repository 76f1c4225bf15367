//! The superblock and its extension (hdf5-netcdf4.md A).
use super::File;
use ncirrus_layout::{Error, ObjectId, Step, View};
use std::sync::Arc;

/// Where the signature lies in the object, if it is an HDF5 file.
pub(crate) fn find(_view: &dyn View, _object: &ObjectId) -> Step<Option<u64>> {
    Ok(None)
}

/// Opens a file, once.
pub(crate) fn load(_view: &dyn View, _object: &ObjectId) -> Step<Arc<File>> {
    Err(Error::unsupported("superblocks").into())
}
