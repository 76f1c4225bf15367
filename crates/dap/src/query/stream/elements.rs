//! Elements out of bytes that are cut anywhere.
use crate::byte_order::copy_reversed;
use ncirrus_layout::{PutElements, Result};

/// How the bytes of an element in an answer become those of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementForm {
    /// They are the same: single bytes, or the machine's order.
    Same(usize),
    /// They are in the opposite order.
    Swapped(usize),
    /// 16 bits at the end of four bytes, most significant first.
    HalfWord,
}

impl ElementForm {
    /// Numbers of that many bytes, least or most significant first.
    pub(super) fn of(size: usize, is_little: bool) -> Self {
        if size == 1 || is_little == cfg!(target_endian = "little") {
            Self::Same(size)
        } else {
            Self::Swapped(size)
        }
    }

    /// Bytes of an element in the answer.
    pub(super) fn wire_len(self) -> usize {
        match self {
            Self::Same(size) | Self::Swapped(size) => size,
            Self::HalfWord => 4,
        }
    }
}

/// Puts the elements of an array, however their bytes are cut.
#[derive(Debug)]
pub(super) struct ElementStream {
    form: ElementForm,
    count: u64,
    /// Elements that were put.
    done: u64,
    /// The beginning of the next element.
    begun: Vec<u8>,
    buffer: Vec<u8>,
}

/// Bytes that are converted at a time.
const AT_ONCE: usize = 16 << 10;

impl ElementStream {
    pub(super) fn new(form: ElementForm, count: u64) -> Self {
        Self { form, count, done: 0, begun: Vec::new(), buffer: Vec::new() }
    }

    /// Takes bytes up to the last element, and returns how many that were.
    pub(super) fn take(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<usize> {
        let len = usize::try_from(self.missing()).unwrap_or(usize::MAX).min(bytes.len());
        let mut rest = bytes.get(..len).unwrap_or_default();
        let size = self.form.wire_len();
        if !self.begun.is_empty() {
            let (first, others) = rest.split_at(rest.len().min(size - self.begun.len()));
            self.begun.extend_from_slice(first);
            rest = others;
            if self.begun.len() < size {
                return Ok(len);
            }
            let element = std::mem::take(&mut self.begun);
            self.put(&element, put)?;
        }
        let (whole, begun) = rest.split_at(rest.len() - rest.len() % size);
        let at_once = if matches!(self.form, ElementForm::Same(_)) { usize::MAX } else { AT_ONCE };
        for part in whole.chunks(at_once) {
            self.put(part, put)?;
        }
        self.begun.extend_from_slice(begun);
        Ok(len)
    }

    /// Bytes that are still to come.
    pub(super) fn missing(&self) -> u64 {
        let size = self.form.wire_len() as u64;
        (self.count - self.done).saturating_mul(size).saturating_sub(self.begun.len() as u64)
    }

    /// Whole elements.
    fn put(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        let first = self.done;
        self.done += (bytes.len() / self.form.wire_len()) as u64;
        let buffer = &mut self.buffer;
        match self.form {
            ElementForm::Same(_) => put(first, bytes),
            ElementForm::HalfWord => {
                let words = bytes.as_chunks::<4>().0.iter();
                buffer.clear();
                buffer.extend(words.flat_map(|word| u16::from_be_bytes([word[2], word[3]]).to_ne_bytes()));
                put(first, buffer)
            }
            ElementForm::Swapped(size) => {
                if buffer.len() < bytes.len() {
                    buffer.resize(bytes.len(), 0);
                }
                let (swapped, _) = buffer.split_at_mut(bytes.len());
                copy_reversed(bytes, swapped, size);
                put(first, swapped)
            }
        }
    }
}
