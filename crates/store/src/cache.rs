//! What is kept on disk of objects that other machines hold.
//!
//! Files count only as long as the object has the tag that it had. [`BlockCache`] keeps whatever is fetched, data as well
//! as metadata; the engine keeps headers and indexes in a [`CacheFolder`] of its own.
mod blocks;
mod entry;
mod folder;

pub use blocks::BlockCache;
pub use entry::CacheEntry;
pub use folder::{CacheFolder, CacheSlot};
