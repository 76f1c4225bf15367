//! Dataspace messages (hdf5-netcdf4.md D.1).
use super::Dataspace;
use crate::file::Sizes;
use ncirrus_layout::{Error, Result};

/// The dataspace in these bytes.
pub(crate) fn dataspace(_bytes: &[u8], _sizes: Sizes) -> Result<Dataspace> {
    Err(Error::unsupported("dataspaces"))
}
