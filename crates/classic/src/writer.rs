//! How a file is written: which variant, how much room its header keeps.
use crate::FormatVersion;

/// Writes netCDF-3 files. What a model says of chunks, filters and byte order is ignored: the format has none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassicWriter {
    /// The variant of new files; a file that is changed keeps its own.
    pub version: FormatVersion,
    /// Bytes that stay free after the header, so that later definitions fit without moving data.
    pub header_pad: u64,
    /// Largest piece in which a variable is written, in bytes.
    pub cell_bytes: u64,
}

impl ClassicWriter {
    /// A writer of that variant that keeps room for 512 bytes of further definitions and writes in pieces of up to 4 MiB.
    pub fn new(version: FormatVersion) -> Self {
        Self { version, header_pad: 512, cell_bytes: 4 << 20 }
    }
}
