//! The heap of links and attributes of new-style groups (hdf5-netcdf4.md C.3).
use crate::file::{Addr, File};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// A fractal heap of which the header is known.
#[derive(Debug)]
pub(crate) struct FractalHeap {
    addr: Addr,
}

impl FractalHeap {
    /// Reads the header, once.
    pub(crate) fn load(_view: &dyn View, _file: &File, _addr: Addr) -> Step<Arc<Self>> {
        Err(Error::unsupported("fractal heaps").into())
    }

    /// The objects of these heap ids, an error for each that is damaged; blocks that lack are asked for together.
    pub(crate) fn objects(
        &self,
        _view: &dyn View,
        _file: &File,
        _ids: &[Bytes],
    ) -> Step<Vec<Result<Bytes, Error>>> {
        Err(Error::unsupported(format!("fractal heaps at {}", self.addr.0)).into())
    }
}
