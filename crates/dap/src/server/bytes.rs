//! Bytes with room in front of them.
use ncirrus_layout::{Error, Result};

/// Bytes at the end of a buffer. In the room in front of them, an answer puts what precedes them, so that they are not copied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepBytes {
    buffer: Vec<u8>,
    /// Where they begin; at most the length of the buffer.
    start: usize,
}

impl StepBytes {
    /// The bytes of a buffer from `start` on.
    pub fn new(buffer: Vec<u8>, start: usize) -> Self {
        let start = start.min(buffer.len());
        Self { buffer, start }
    }

    /// The buffer, with the room.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Makes the last bytes of the room the first of the bytes; their values are any.
    ///
    /// # Errors
    /// `Internal` if there is less room.
    pub(super) fn extend_front(&mut self, len: usize) -> Result<()> {
        let start = self.start.checked_sub(len);
        let missing = || Error::internal(format!("{len} bytes in front of a step, which has {}", self.start));
        self.start = start.ok_or_else(missing)?;
        Ok(())
    }

    /// Appends bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
}

impl From<Vec<u8>> for StepBytes {
    fn from(buffer: Vec<u8>) -> Self {
        Self::new(buffer, 0)
    }
}

impl AsRef<[u8]> for StepBytes {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }
}

impl AsMut<[u8]> for StepBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.start..).unwrap_or_default()
    }
}
