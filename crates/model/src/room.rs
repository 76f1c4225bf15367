//! Room in a file for what will be defined later.

/// Where the parts of a netCDF-3 file begin: the four sizes of `nc__enddef`, and how long the file may be. Formats that
/// are arranged in another way ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRoom {
    /// Bytes that stay free after the header.
    pub header_free: u64,
    /// The variables without records begin at a multiple of this many bytes; 0 is taken as 1.
    pub variable_align: u64,
    /// Bytes that stay free after the variables without records.
    pub variable_free: u64,
    /// The records begin at a multiple of this many bytes; 0 is taken as 1.
    pub record_align: u64,
    /// Maximum length of the file in bytes.
    pub max_len: Option<u64>,
}

impl Default for FileRoom {
    /// No room, and a file of any length.
    fn default() -> Self {
        Self { header_free: 0, variable_align: 1, variable_free: 0, record_align: 1, max_len: None }
    }
}
