//! The heap of variable-length data (hdf5-netcdf4.md F.1).
use crate::file::{Addr, File};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};

/// An object of a collection.
pub(crate) fn object(_view: &dyn View, _file: &File, _collection: Addr, _index: u32) -> Step<Bytes> {
    Err(Error::unsupported("global heaps").into())
}

/// Several objects: each collection is read once, all that lack together.
pub(crate) fn objects(_view: &dyn View, _file: &File, _of: &[(Addr, u32)]) -> Step<Vec<Bytes>> {
    Err(Error::unsupported("global heaps").into())
}
