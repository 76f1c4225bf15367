//! Datatypes for the types of the data model, and their messages (hdf5-netcdf4.md D.2, H.5, I.1).
use crate::word::Datatype;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Endianness, Model, TypeRef};

/// The datatype that stores values of a type: char as text of one byte, string as text of any length, compounds with
/// their fields at the offsets that a C compiler gives them.
pub(crate) fn datatype_of(_model: &Model, _ty: TypeRef, _order: Endianness) -> Result<Datatype> {
    Err(Error::unsupported("writing of datatypes"))
}

/// The bytes of a datatype message.
pub(crate) fn encode_datatype(_datatype: &Datatype) -> Vec<u8> {
    Vec::new()
}
