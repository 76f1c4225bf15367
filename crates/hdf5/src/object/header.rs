//! Object headers of both versions with all their continuations (hdf5-netcdf4.md B.1 to B.3).
use super::{Header, ObjectRef};
use crate::file::{Addr, File};
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The header of an object, read once.
pub(crate) fn header(view: &dyn View, object: &ObjectRef) -> Step<Arc<Header>> {
    header_at(view, &object.file, object.addr)
}

/// The header at an address, read once.
pub(crate) fn header_at(_view: &dyn View, _file: &File, _addr: Addr) -> Step<Arc<Header>> {
    Err(Error::malformed("object headers").into())
}
