//! Buffers of a response, which are used again when their bytes are sent.
use bytes::{Buf, Bytes};
use ncirrus::layout::LockExt;
use ncirrus_dap::StepBytes;
use std::sync::{Arc, Mutex};

/// The buffers of one response that are not in use. Memory that is used again is neither cleared nor mapped.
#[derive(Clone, Default)]
pub(crate) struct PieceBuffers(Arc<Mutex<Vec<Vec<u8>>>>);

/// Shorter pieces are allocated one by one.
const SMALL: usize = 64 << 10;
/// Buffers that are kept.
const KEPT: usize = 6;
/// Bytes that may be appended without a copy: a checksum.
const TAIL: usize = 16;
/// Bytes of a page.
const PAGE: usize = 4 << 10;
/// Where in a page a long piece begins. On AMD's processors, the system copies a file's bytes two to five times slower to memory that
/// begins up to 32 bytes behind them (modulo pages). Values often begin with a page of the file or a little behind its start.
const PLACE: usize = 3008;

impl PieceBuffers {
    /// So many bytes of any values, behind so much room or more; `None` if they cannot be counted.
    pub(crate) fn take(&self, room: usize, len: usize) -> Option<StepBytes> {
        let needed = room.checked_add(len)?.checked_add(TAIL)?;
        if needed < SMALL {
            let mut buffer = Vec::with_capacity(needed);
            buffer.resize(room + len, 0);
            return Some(StepBytes::new(buffer, room));
        }
        let needed = needed.checked_add(PAGE)?;
        let kept = self.0.guard().pop().unwrap_or_default();
        // One that is much too long would stay in memory for few bytes.
        let is_fit = (needed..=needed.saturating_mul(4)).contains(&kept.capacity());
        let mut buffer = if is_fit { kept } else { vec![0; needed] };
        let start = room + PLACE.wrapping_sub(buffer.as_ptr().addr().wrapping_add(room)) % PAGE;
        buffer.resize(start + len, 0);
        Some(StepBytes::new(buffer, start))
    }

    /// The bytes, whose buffer is used again after the last of them is dropped.
    pub(crate) fn sent(&self, bytes: StepBytes) -> Bytes {
        if bytes.as_ref().len() >= SMALL {
            return Bytes::from_owner(LentBuffer { bytes, buffers: self.clone() });
        }
        let len = bytes.as_ref().len();
        let mut sent = Bytes::from(bytes.into_buffer());
        sent.advance(sent.len() - len);
        sent
    }
}

/// Bytes that are being sent.
struct LentBuffer {
    bytes: StepBytes,
    buffers: PieceBuffers,
}

impl AsRef<[u8]> for LentBuffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.bytes).into_buffer();
        let mut kept = self.buffers.0.guard();
        if kept.len() < KEPT {
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_when_its_bytes_are_sent() {
        let buffers = PieceBuffers::default();
        let mut seen = Vec::new();
        for len in [512 << 10, 300 << 10, 512 << 10] {
            let mut bytes = buffers.take(4, len).unwrap();
            assert_eq!(bytes.as_ref().len(), len);
            assert_eq!(bytes.as_ref().as_ptr().addr() % PAGE, PLACE);
            bytes.as_mut().fill(7);
            seen.push(bytes.as_ref().as_ptr().addr());
            let sent = buffers.sent(bytes);
            let part = sent.slice(1..3);
            drop(sent);
            assert!(buffers.0.guard().is_empty(), "a part of the piece is left");
            assert_eq!(part, [7, 7].as_slice());
        }
        assert!(seen.iter().all(|place| *place == seen[0]), "{seen:?}");
    }

    #[test]
    fn small_pieces_and_those_of_another_size_keep_no_large_buffer() {
        let buffers = PieceBuffers::default();
        drop(buffers.sent(buffers.take(0, 8 << 20).unwrap()));
        for len in [10, 100 << 10] {
            let bytes = buffers.take(3, len).unwrap();
            assert_eq!(bytes.as_ref(), vec![0; len]);
            assert!(bytes.into_buffer().capacity() < 2 * len + 2 * PAGE, "{len}");
        }
        assert_eq!(buffers.take(usize::MAX, 1), None);
        assert_eq!(buffers.take(1, usize::MAX), None);
    }
}
