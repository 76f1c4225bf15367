//! Where bytes lie: URLs, local files, memory, zip, HTTP, object stores.
//!
//! A [`Store`] answers for objects by key. Local stores also offer [`LocalStore`]: the same without waiting elsewhere.
#![deny(unsafe_code)]

mod store;

pub use store::{Blocking, Facts, LocalStore, Precondition, Store};
