//! New object headers of version 2 (hdf5-netcdf4.md B.2, I.1).
use bytes::Bytes;

/// A message that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) kind: u16,
    pub(crate) flags: u8,
    /// Creation index, for attributes.
    pub(crate) order: u16,
    pub(crate) body: Bytes,
}

/// Bytes of a header with these messages: known before any address is.
pub(crate) fn header_len(_messages: &[Draft], _tracked: bool, _spare: u64) -> u64 {
    0
}

/// A header with these messages, `tracked` when the order of attributes is kept, with `spare` bytes of room for later
/// messages.
pub(crate) fn encode_header(_messages: &[Draft], _tracked: bool, _spare: u64) -> Bytes {
    Bytes::new()
}
