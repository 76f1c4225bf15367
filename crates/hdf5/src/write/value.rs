//! Values as stored elements; those of variable length go to a heap (hdf5-netcdf4.md F.2, H.6).
use super::heap::HeapBuilder;
use super::space::Space;
use crate::word::Datatype;
use ncirrus_layout::{Error, Result};
use ncirrus_model::Values;
use std::ops::Range;

/// The stored elements of `values[range]`.
pub(crate) fn encode_values(
    _datatype: &Datatype,
    _values: &Values,
    _range: Range<usize>,
    _heap: &mut HeapBuilder,
    _space: &mut Space,
) -> Result<Vec<u8>> {
    Err(Error::unsupported("writing of values"))
}
