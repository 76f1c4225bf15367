//! Flags of opening and creating.
pub(crate) use ncirrus::netcdf::formats::{
    MODE_64BIT_DATA as DATA_64BIT, MODE_64BIT_OFFSET as OFFSET_64BIT, MODE_NETCDF4 as NETCDF4,
};
use std::ffi::c_int;

pub(crate) const WRITE: c_int = 0x0001;
pub(crate) const DISKLESS: c_int = 0x0008;
pub(crate) const MMAP: c_int = 0x0010;
/// What is put is there for others when the call returns.
pub(crate) const SHARE: c_int = 0x0800;
pub(crate) const PERSIST: c_int = 0x4000;
pub(crate) const INMEMORY: c_int = 0x8000;
