//! Global heap collections as they are written (hdf5-netcdf4.md F.1).
use super::Patch;
use super::space::Space;
use crate::file::{Addr, Sizes};
use ncirrus_layout::{Error, Result};

/// Collects objects of variable length into collections of at least 4096 bytes.
#[derive(Debug)]
pub(crate) struct HeapBuilder {
    sizes: Sizes,
}

impl HeapBuilder {
    /// Nothing yet, for a file of those widths.
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self { sizes }
    }

    /// Adds an object: the collection that holds it, and its number there.
    pub(crate) fn add(&mut self, _object: &[u8], _space: &mut Space) -> Result<(Addr, u32)> {
        Err(Error::unsupported(format!("heaps with lengths of {} bytes", self.sizes.lengths)))
    }

    /// The collections that were filled since the last call; the last one keeps its room for objects added later
    /// (it is then given again, whole).
    pub(crate) fn take(&mut self) -> Vec<Patch> {
        Vec::new()
    }
}
