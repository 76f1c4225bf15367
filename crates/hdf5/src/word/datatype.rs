//! Datatype messages of versions 1 to 5 (hdf5-netcdf4.md D.2).
use super::Datatype;
use crate::file::{File, Sizes};
use crate::object::Message;
use ncirrus_layout::{Error, Limits, Result, Step, View};
use std::sync::Arc;

/// The datatype of a message, followed to where it is committed or shared.
pub(crate) fn datatype(_view: &dyn View, _file: &File, _message: &Message) -> Step<Arc<Datatype>> {
    Err(Error::unsupported("datatypes").into())
}

/// The datatype in these bytes, and how many of them it takes.
pub(crate) fn nested_datatype(_bytes: &[u8], _sizes: Sizes, _limits: &Limits) -> Result<(Datatype, usize)> {
    Err(Error::unsupported("datatypes"))
}
