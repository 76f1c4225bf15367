//! What all reads and writes of a session share: threads, the network, memory, caches, counters. Nothing here knows of
//! datasets.
mod block_on;
mod chunk_cache;
mod memory;
mod network;
mod policy;
mod statistics;
mod workers;

pub use policy::{MissingChunks, ShortChunks};
pub use statistics::SessionStatistics;

pub(crate) use block_on::{block_on, may_block};
pub(crate) use chunk_cache::{CachedChunk, ChunkCache, ChunkKey};
pub(crate) use memory::{MemoryBudget, MemoryPermit};
pub(crate) use network::{NetworkRuntime, PendingRequest};
pub(crate) use statistics::SessionCounters;
pub(crate) use workers::{WorkerBuffers, WorkerPool};

use ncirrus_codec::CodecRegistry;
use ncirrus_layout::{Limits, Overlay};
use ncirrus_store::StoreOptions;
use ncirrus_store::cache::CacheFolder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the datasets of a session share.
pub(crate) struct SharedResources {
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) registry: CodecRegistry,
    pub(crate) limits: Limits,
    pub(crate) memory: MemoryBudget,
    pub(crate) metadata_cache: usize,
    pub(crate) durable: bool,
    pub(crate) missing: MissingChunks,
    pub(crate) short_chunks: ShortChunks,
    pub(crate) counters: SessionCounters,
    pub(crate) chunks: ChunkCache,
    pub(crate) index: Option<Arc<CacheFolder>>,
    pub(crate) network: NetworkRuntime,
    pub(crate) workers: WorkerPool,
    pub(crate) overlays: Vec<Arc<dyn Overlay>>,
    pub(crate) stores: StoreOptions,
    pub(crate) fragments_absent: Option<MissingChunks>,
    pub(crate) local_fragments: bool,
    pub(crate) opened: AtomicU64,
}

/// Bytes that a metadata document may have, however little memory there is.
const LEAST_DOCUMENT: u64 = 64 << 20;

impl SharedResources {
    /// Bytes that a metadata document may have: what is made of it takes several times as many.
    pub(crate) fn document_bytes(&self) -> u64 {
        let share = (self.memory.bytes() as u64 / 4).max(LEAST_DOCUMENT);
        self.limits.metadata_bytes.min(share)
    }

    /// A number that no dataset opened before has: cached chunks of two openings are never mixed up.
    pub(crate) fn next_opening(&self) -> u64 {
        self.opened.fetch_add(1, Ordering::Relaxed)
    }
}
