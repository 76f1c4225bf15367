//! What is kept from one read to the next.
mod chunks;
mod index;
mod snapshot;

pub(crate) use chunks::{CachedChunk, ChunkCache, ChunkKey};
pub(crate) use index::{Entry, IndexCache};
pub(crate) use snapshot::{Held, Snapshot, changed, resolve};
