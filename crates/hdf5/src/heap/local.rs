//! The heap of names of an old-style group (hdf5-netcdf4.md C.1).
use crate::file::{Addr, File};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The data segment of a local heap.
#[derive(Debug)]
pub(crate) struct LocalHeap {
    data: Bytes,
}

impl LocalHeap {
    /// Reads the heap, once.
    pub(crate) fn load(_view: &dyn View, _file: &File, _addr: Addr) -> Step<Arc<Self>> {
        Err(Error::unsupported("local heaps").into())
    }

    /// The text at an offset, up to its NUL.
    pub(crate) fn text(&self, _offset: u64) -> Result<&[u8], Error> {
        Err(Error::unsupported(format!("local heaps of {} bytes", self.data.len())))
    }
}
