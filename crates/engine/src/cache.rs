//! What is kept from one read to the next.
mod chunks;
mod fronts;
mod snapshot;

pub(crate) use chunks::{CachedChunk, ChunkCache, ChunkKey};
pub(crate) use fronts::{FRONT, ObjectFronts};
pub(crate) use ncirrus_store::cache::{CacheEntry, CacheFolder as IndexCache};
pub(crate) use snapshot::{PinnedBytes, ReadRound, StoreSnapshot, changed, resolve};
