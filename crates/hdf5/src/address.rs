//! Addresses in a file, and how wide they are.

/// An address in a file, relative to its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileAddress(pub(crate) u64);

/// How wide addresses and lengths of a file are, in bytes: 2, 4 or 8 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldSizes {
    pub(crate) offsets: u8,
    pub(crate) lengths: u8,
}
