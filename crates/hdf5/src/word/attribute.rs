//! Attributes, compact and dense (hdf5-netcdf4.md C.5).
use super::{Dataspace, Datatype};
use crate::object::ObjectRef;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// An attribute whose values are not decoded yet.
#[derive(Debug, Clone)]
pub(crate) struct RawAttribute {
    /// The name; bytes that are no UTF-8 are escaped as `\xNN`.
    pub(crate) name: String,
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) space: Dataspace,
    /// The elements; as many as the dataspace has.
    pub(crate) data: Bytes,
}

/// The attributes of an object, in creation order where it is tracked, else by name; read once. A damaged one is an
/// error with its name, as far as that is known.
pub(crate) fn attributes(
    _view: &dyn View,
    _object: &ObjectRef,
) -> Step<Arc<Vec<Result<RawAttribute, (String, Error)>>>> {
    Err(Error::unsupported("attributes").into())
}
