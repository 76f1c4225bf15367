//! Writing little-endian numbers.
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use bytes::Bytes;

/// A growing buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByteSink(Vec<u8>);

impl ByteSink {
    /// An empty buffer.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Length so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes so far.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// Appends bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends one byte.
    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes(&[value])
    }

    /// Appends two bytes.
    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends four bytes.
    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends eight bytes.
    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends the low `width` bytes of a number; higher bytes are dropped.
    pub(crate) fn uint(&mut self, value: u64, width: usize) -> &mut Self {
        let bytes = value.to_le_bytes();
        self.bytes(bytes.get(..width.min(8)).unwrap_or(&bytes))
    }

    /// Appends an address; `None` is undefined.
    pub(crate) fn addr(&mut self, addr: Option<FileAddress>, sizes: FieldSizes) -> &mut Self {
        self.uint(addr.map_or(u64::MAX, |addr| addr.0), usize::from(sizes.offsets))
    }

    /// Appends a length.
    pub(crate) fn length(&mut self, len: u64, sizes: FieldSizes) -> &mut Self {
        self.uint(len, usize::from(sizes.lengths))
    }

    /// Appends zeros.
    pub(crate) fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// Appends the checksum of everything so far.
    pub(crate) fn checksum(&mut self) -> &mut Self {
        let sum = lookup3(&self.0);
        self.u32(sum)
    }

    /// The bytes.
    pub(crate) fn finish(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.0))
    }
}
