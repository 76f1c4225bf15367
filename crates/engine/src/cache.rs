//! What is kept from one read to the next.
mod chunks;
mod fronts;
mod snapshot;

pub(crate) use chunks::{CachedChunk, ChunkCache, ChunkKey};
pub(crate) use fronts::{FRONT, Fronts};
pub(crate) use ncirrus_store::cache::{Entry, Folder as IndexCache};
pub(crate) use snapshot::{Held, Round, Snapshot, changed, resolve};
