//! Limits for untrusted data.
use crate::Error;

/// Limits for untrusted data: bytes, depth, counts. A size from a file is used only after one of the checks here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a metadata object or structure in bytes.
    pub metadata_bytes: u64,
    /// Maximum size of a chunk in bytes, encoded or decoded.
    pub chunk_bytes: u64,
    /// Maximum nesting of types, JSON, indexes, fragments, and of groups wherever they are read recursively: everywhere
    /// but in HDF5.
    pub depth: u32,
    /// Maximum nesting of groups in HDF5, which are walked without recursion. netCDF-C has no limit.
    pub group_depth: u32,
    /// Maximum number of members (dimensions, variables, attributes, groups, list entries) in one place.
    pub count: u64,
    /// Maximum number of dimensions of one variable (`NC_MAX_VAR_DIMS` is 1024).
    pub rank: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            metadata_bytes: 1 << 30,
            chunk_bytes: 1 << 32,
            depth: 64,
            group_depth: 1024,
            count: 1 << 24,
            rank: 1024,
        }
    }
}

impl Limits {
    /// The length of a metadata structure, if it is allowed.
    ///
    /// # Errors
    /// `Limit` with the name of the structure and its length.
    pub fn metadata_len(&self, len: u64, what: &str) -> Result<usize, Error> {
        within(len, self.metadata_bytes, what, "bytes")
    }

    /// The length of a chunk, if it is allowed.
    ///
    /// # Errors
    /// `Limit` with the name of the chunk and its length.
    pub fn chunk_len(&self, len: u64, what: &str) -> Result<usize, Error> {
        within(len, self.chunk_bytes, what, "bytes")
    }

    /// A number of members, if it is allowed.
    ///
    /// # Errors
    /// `Limit` with the name of the members and their number.
    pub fn count(&self, count: u64, what: &str) -> Result<usize, Error> {
        within(count, self.count, what, "entries")
    }

    /// Checks a depth of nesting.
    ///
    /// # Errors
    /// `Limit` with what is nested.
    pub fn depth(&self, depth: u32, what: &str) -> Result<(), Error> {
        within(u64::from(depth), u64::from(self.depth), what, "levels").map(|_| ())
    }
}

fn within(value: u64, limit: u64, what: &str, unit: &str) -> Result<usize, Error> {
    if value > limit {
        return Err(Error::limit(format!("{what} has {value} {unit}, more than the limit of {limit}")));
    }
    usize::try_from(value)
        .map_err(|_| Error::limit(format!("{what} has {value} {unit}, too many for this machine")))
}
