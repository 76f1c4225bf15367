//! How a file is written: the variant, and the space reserved for its header.
use crate::FormatVersion;

/// Writes netCDF-3 files. Chunks, filters and byte order of a model are ignored: the format has none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassicWriter {
    /// The variant of new files; an existing file keeps its own.
    pub version: FormatVersion,
    /// Bytes that stay free after the header, so that later definitions fit without moving data.
    pub header_pad: u64,
    /// Maximum size of a piece in which a variable is written, in bytes.
    pub cell_bytes: u64,
}

impl ClassicWriter {
    /// A writer of that variant that reserves 512 bytes for further definitions and writes in pieces of up to 4 MiB.
    pub fn new(version: FormatVersion) -> Self {
        Self { version, header_pad: 512, cell_bytes: 4 << 20 }
    }
}
