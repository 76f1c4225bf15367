//! Flags of opening and creating.
use std::ffi::c_int;

pub(crate) const WRITE: c_int = 0x0001;
pub(crate) const DISKLESS: c_int = 0x0008;
pub(crate) const MMAP: c_int = 0x0010;
pub(crate) const DATA_64BIT: c_int = 0x0020;
pub(crate) const OFFSET_64BIT: c_int = 0x0200;
/// What is put is there for others when the call returns.
pub(crate) const SHARE: c_int = 0x0800;
pub(crate) const NETCDF4: c_int = 0x1000;
pub(crate) const PERSIST: c_int = 0x4000;
pub(crate) const INMEMORY: c_int = 0x8000;
