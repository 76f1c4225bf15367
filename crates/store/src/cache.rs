//! Disk caches of remote objects.
//!
//! Files are valid only while the object has the same tag. [`BlockCache`] stores everything fetched, data as well as
//! metadata; the engine keeps headers and indexes in a [`CacheFolder`] of its own.
mod blocks;
mod entry;
mod folder;

pub use blocks::BlockCache;
pub use entry::CacheEntry;
pub use folder::{CacheFolder, CacheSlot};
