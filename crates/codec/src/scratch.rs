//! Memory and contexts that are kept from one chunk to the next.
use std::fmt;

/// Reusable buffers and contexts for decoding and encoding; keep one per thread.
#[derive(Default)]
pub struct CodecScratch {
    pub(crate) buffers: [ScratchBuffer; 2],
    pub(crate) contexts: LibraryContexts,
}

impl fmt::Debug for CodecScratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("byte_len", &self.byte_len()).finish_non_exhaustive()
    }
}

impl CodecScratch {
    /// Bytes that the buffers retain.
    pub fn byte_len(&self) -> usize {
        let kept = [&self.contexts.spare, &self.contexts.work];
        self.buffers.iter().chain(kept).chain(&self.contexts.blocks).map(|buffer| buffer.bytes.len()).sum()
    }
}

/// Contexts of the libraries, created when first needed.
#[derive(Default)]
pub(crate) struct LibraryContexts {
    pub(crate) inflate: Option<libdeflater::Decompressor>,
    pub(crate) deflate: Option<(i32, libdeflater::Compressor)>,
    pub(crate) zstd_decoder: Option<zstd_safe::DCtx<'static>>,
    pub(crate) zstd_encoder: Option<zstd_safe::CCtx<'static>>,
    /// For codecs that need a buffer of their own.
    pub(crate) spare: ScratchBuffer,
    /// For intermediate results of one codec.
    pub(crate) work: ScratchBuffer,
    /// For blocks between the filters within a codec.
    pub(crate) blocks: [ScratchBuffer; 2],
}

/// Bytes that keep their memory; bytes after `len`, or in a part just prepared, are left over from earlier use.
#[derive(Debug, Default)]
pub(crate) struct ScratchBuffer {
    bytes: Vec<u8>,
    len: usize,
}

impl ScratchBuffer {
    /// Makes the buffer `len` bytes long, with unspecified contents.
    pub(crate) fn prepare(&mut self, len: usize) -> &mut [u8] {
        if self.bytes.len() < len {
            // A fresh zeroed allocation is cheaper than growing: the old bytes need not be kept.
            self.bytes = Vec::new();
            self.bytes = vec![0; len];
        }
        self.len = len;
        self.bytes.get_mut(..len).unwrap_or_default()
    }

    /// Extends the buffer, keeping its bytes.
    pub(crate) fn extend_to(&mut self, len: usize) -> &mut [u8] {
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
        self.len = len;
        self.bytes.get_mut(..len).unwrap_or_default()
    }

    /// Forgets the bytes from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The memory as an empty vector, to be returned with [`set`](Self::set).
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes
    }

    /// Replaces the buffer with these bytes.
    pub(crate) fn set(&mut self, bytes: Vec<u8>) {
        self.len = bytes.len();
        self.bytes = bytes;
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }
}
