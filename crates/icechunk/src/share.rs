//! Bounds for what is copied out of a buffer: offsets may lead to the same bytes any number of times.
use ncirrus_layout::{Error, Result};

/// The bytes of a buffer that were not yet copied. Parts that icechunk writes share no bytes, so all copies together are no
/// longer than the buffer.
pub(crate) struct UnsharedBytes {
    left: usize,
}

impl UnsharedBytes {
    pub(crate) fn of(len: usize) -> Self {
        Self { left: len }
    }

    /// Counts a part of that many bytes.
    ///
    /// # Errors
    /// `Malformed` if the parts so far are longer than the buffer.
    pub(crate) fn take(&mut self, len: usize) -> Result<()> {
        let left = self.left.checked_sub(len);
        self.left = left.ok_or_else(|| Error::malformed("parts of the file share their bytes"))?;
        Ok(())
    }
}
