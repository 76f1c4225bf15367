//! What all reads and writes of a session share: threads, the network, memory, caches, counters. Nothing here depends
//! on datasets.
mod block_on;
mod box_cache;
mod chunk_cache;
mod host_protocols;
mod in_flight;
mod memory;
mod network;
mod policy;
mod statistics;
mod workers;

pub use block_on::watch;
pub use network::is_thread_ending;
pub use policy::{MissingChunks, ShortChunks};
pub use statistics::SessionStatistics;

pub(crate) use block_on::{between_parts, block_on, may_block, wait};
pub(crate) use box_cache::{BoxCache, Noting, holds_box};
pub(crate) use chunk_cache::{CachedChunk, ChunkCache, ChunkKey};
pub(crate) use host_protocols::HostProtocols;
pub(crate) use in_flight::{FirstRequest, InFlight};
pub(crate) use memory::{MemoryBudget, MemoryPermit};
pub(crate) use network::{NetworkRuntime, PendingAnswer, PendingRequest, entered};
pub(crate) use statistics::SessionCounters;
pub(crate) use workers::{WorkerBuffers, WorkerPool};

use ncirrus_codec::CodecRegistry;
use ncirrus_layout::{Error, ErrorKind, Limits, Overlay, Result};
use ncirrus_store::StoreContext;
use ncirrus_store::cache::CacheFolder;
use std::num::NonZero;
use std::path::PathBuf;
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
    pub(crate) boxes: BoxCache,
    pub(crate) index: Option<Arc<CacheFolder>>,
    pub(crate) network: NetworkRuntime,
    pub(crate) protocols: HostProtocols,
    pub(crate) workers: WorkerPool,
    pub(crate) overlays: Vec<Arc<dyn Overlay>>,
    pub(crate) stores: StoreContext,
    pub(crate) fragments_absent: Option<MissingChunks>,
    pub(crate) local_fragments: bool,
    opened: AtomicU64,
}

/// The options from which they are made; everything has a default.
#[derive(Debug, Clone)]
pub(crate) struct ResourceOptions {
    pub(crate) threads: usize,
    pub(crate) memory: usize,
    pub(crate) chunk_cache: usize,
    pub(crate) metadata_cache: usize,
    pub(crate) limits: Limits,
    pub(crate) durable: bool,
    pub(crate) missing: MissingChunks,
    pub(crate) short_chunks: ShortChunks,
    pub(crate) registry: CodecRegistry,
    pub(crate) index: Option<(PathBuf, u64)>,
    pub(crate) overlays: Vec<Arc<dyn Overlay>>,
    pub(crate) stores: StoreContext,
    pub(crate) fragments_absent: Option<MissingChunks>,
    pub(crate) local_fragments: bool,
}

/// Bytes that reading and writing may hold, by default.
const MEMORY: usize = 512 << 20;

impl Default for ResourceOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            memory: MEMORY,
            chunk_cache: 64 << 20,
            metadata_cache: 64 << 20,
            limits: Limits::default(),
            durable: true,
            missing: MissingChunks::default(),
            short_chunks: ShortChunks::default(),
            registry: CodecRegistry::builtin(),
            index: None,
            overlays: Vec::new(),
            stores: StoreContext::default(),
            fragments_absent: None,
            local_fragments: false,
        }
    }
}

/// Bytes that a metadata document may have, however little memory there is.
const MIN_DOCUMENT: u64 = 64 << 20;

impl SharedResources {
    /// Idle threads, empty caches, all memory free.
    ///
    /// # Errors
    /// `Io` if no threads can be started.
    pub(crate) fn new(options: ResourceOptions) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .thread_name(|index| format!("ncirrus-{index}"))
            .build()
            .map_err(|error| {
                Error::new(ErrorKind::Io { retryable: true }, "cannot start threads").because(error)
            })?;
        Ok(Self {
            pool,
            registry: options.registry,
            limits: options.limits,
            memory: MemoryBudget::new(options.memory),
            metadata_cache: options.metadata_cache,
            durable: options.durable,
            missing: options.missing,
            short_chunks: options.short_chunks,
            counters: SessionCounters::default(),
            chunks: ChunkCache::new(options.chunk_cache),
            boxes: BoxCache::new(options.chunk_cache),
            index: options.index.map(|(folder, max)| Arc::new(CacheFolder::of_indexes(folder, max))),
            network: NetworkRuntime::default(),
            protocols: HostProtocols::default(),
            workers: WorkerPool::default(),
            overlays: options.overlays,
            stores: options.stores,
            fragments_absent: options.fragments_absent,
            local_fragments: options.local_fragments,
            opened: AtomicU64::new(1),
        })
    }

    /// Bytes that a metadata document may have: parsed, it takes several times as many.
    pub(crate) fn document_bytes(&self) -> u64 {
        let share = (self.memory.bytes() as u64 / 4).max(MIN_DOCUMENT);
        self.limits.metadata_bytes.min(share)
    }

    /// A number that no dataset opened before has: cached chunks of two openings are never confused.
    pub(crate) fn next_opening(&self) -> u64 {
        self.opened.fetch_add(1, Ordering::Relaxed)
    }
}
