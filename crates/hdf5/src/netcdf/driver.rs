//! Recognising and opening a file.
use crate::file::find;
use ncirrus_layout::{Catalog, Confidence, Driver, Error, ObjectId, OpenOptions, Step, View};
use std::sync::Arc;

/// Reads HDF5 files as netCDF-4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hdf5Driver;

impl Driver for Hdf5Driver {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        Ok(find(view, root)?.map_or(Confidence::No, |_| Confidence::Yes))
    }

    fn open(&self, _: &dyn View, root: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        Err(Error::unsupported("HDF5 files").at_object(root).into())
    }
}
