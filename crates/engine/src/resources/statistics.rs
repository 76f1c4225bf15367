//! Counts of what was fetched and decoded.
use std::sync::atomic::{AtomicU64, Ordering};

/// What a session has fetched and decoded so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionStatistics {
    /// Requests to stores (for local ones: reads).
    pub requests: u64,
    /// Bytes that came back.
    pub bytes_fetched: u64,
    /// Chunks that were decoded, wholly or in part.
    pub chunks_decoded: u64,
    /// Bytes that they decoded to.
    pub bytes_decoded: u64,
    /// Chunks that were found in the cache of decoded chunks.
    pub chunks_cached: u64,
    /// Chunks that were never written.
    pub chunks_missing: u64,
    /// Chunks that decoded to more bytes than their elements need; the surplus was ignored, as with
    /// [`ShortChunks::Fill`](crate::ShortChunks::Fill) (docs/spec/nczarr.md 4.3).
    pub chunks_with_surplus: u64,
    /// Chunks that were stored.
    pub chunks_stored: u64,
}

impl SessionStatistics {
    /// All counts, by name.
    pub fn counts(&self) -> [(&'static str, u64); 8] {
        [
            ("requests", self.requests),
            ("bytes_fetched", self.bytes_fetched),
            ("chunks_decoded", self.chunks_decoded),
            ("bytes_decoded", self.bytes_decoded),
            ("chunks_cached", self.chunks_cached),
            ("chunks_missing", self.chunks_missing),
            ("chunks_with_surplus", self.chunks_with_surplus),
            ("chunks_stored", self.chunks_stored),
        ]
    }
}

/// The same counts, while they change.
#[derive(Debug, Default)]
pub(crate) struct SessionCounters {
    requests: AtomicU64,
    bytes_fetched: AtomicU64,
    chunks_decoded: AtomicU64,
    bytes_decoded: AtomicU64,
    chunks_cached: AtomicU64,
    chunks_missing: AtomicU64,
    chunks_with_surplus: AtomicU64,
    chunks_stored: AtomicU64,
}

impl SessionCounters {
    /// Counts a request that brought `bytes` bytes.
    pub(crate) fn fetched(&self, bytes: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes_fetched.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a chunk that was decoded to `bytes` bytes.
    pub(crate) fn decoded(&self, bytes: usize) {
        self.chunks_decoded.fetch_add(1, Ordering::Relaxed);
        self.bytes_decoded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts a chunk that was found in the cache.
    pub(crate) fn cached(&self) {
        self.chunks_cached.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a chunk that was never written.
    pub(crate) fn missing(&self) {
        self.chunks_missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a chunk that decoded to too many bytes.
    pub(crate) fn surplus(&self) {
        self.chunks_with_surplus.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a chunk that is stored.
    pub(crate) fn stored(&self) {
        self.chunks_stored.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts chunks that are stored.
    pub(crate) fn stored_many(&self, count: u64) {
        self.chunks_stored.fetch_add(count, Ordering::Relaxed);
    }

    /// The counts so far.
    pub(crate) fn read(&self) -> SessionStatistics {
        SessionStatistics {
            requests: self.requests.load(Ordering::Relaxed),
            bytes_fetched: self.bytes_fetched.load(Ordering::Relaxed),
            chunks_decoded: self.chunks_decoded.load(Ordering::Relaxed),
            bytes_decoded: self.bytes_decoded.load(Ordering::Relaxed),
            chunks_cached: self.chunks_cached.load(Ordering::Relaxed),
            chunks_missing: self.chunks_missing.load(Ordering::Relaxed),
            chunks_with_surplus: self.chunks_with_surplus.load(Ordering::Relaxed),
            chunks_stored: self.chunks_stored.load(Ordering::Relaxed),
        }
    }
}
