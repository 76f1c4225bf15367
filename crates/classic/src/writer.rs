//! How a file is written: which variant, how much room its header keeps.
use crate::Version;
use ncirrus_layout::{Error, ObjectId, Placer, Result, Step, View, Writing};
use ncirrus_model::Model;

/// Writes netCDF-3 files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassicWriter {
    /// The variant of new files; a file that is changed keeps its own.
    pub version: Version,
    /// Bytes that stay free after the header of a new file, so that later definitions fit without moving data.
    pub header_pad: u64,
}

impl ClassicWriter {
    /// A writer of that variant that keeps room for 512 bytes of further definitions.
    pub fn new(version: Version) -> Self {
        Self { version, header_pad: 512 }
    }
}

impl Writing for ClassicWriter {
    fn create(&self, _: &ObjectId) -> Result<Box<dyn Placer>> {
        Err(Error::unsupported("writing netCDF-3"))
    }

    fn update(&self, _: &dyn View, _: &ObjectId, _: &Model) -> Step<Box<dyn Placer>> {
        Err(Error::unsupported("writing netCDF-3").into())
    }

    fn is_single_object(&self) -> bool {
        true
    }
}
