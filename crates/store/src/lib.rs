//! Where bytes lie: URLs, local files, memory, zip, HTTP, object stores.
//!
//! A [`Store`] answers for objects by key. Local stores also offer [`LocalStore`]: the same without waiting elsewhere.
#![forbid(unsafe_code)]

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod directory;
mod fault;
mod key;
mod memory;
mod page;
mod platform;
mod store;
mod temporary;
mod url;
mod want;

#[cfg(test)]
mod tests;

pub use directory::DirectoryStore;
pub use memory::MemoryStore;
pub use store::{Blocking, Facts, LocalStore, Precondition, Store};
pub use url::{Bucket, Fragment, Modes, Provider, Scheme, Url, dataset_name};
