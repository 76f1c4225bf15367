//! Listings: the datasets below a prefix, and the objects of a store.
//!
//! ```
//! use ncirrus::{CreateOptions, Dataset, Session};
//! use ncirrus_tools::places;
//!
//! let session = Session::new()?;
//! Dataset::create_with("memory://shelf/2024/sst.zarr", &CreateOptions::default(), &session)?.close()?;
//! let found = places::list("memory://shelf", &places::ListOptions::new().recursive(true), &session)?;
//! let found = found.collect::<ncirrus::Result<Vec<_>>>()?;
//! assert_eq!((found[0].path.as_str(), found[0].kind.as_str()), ("2024/sst.zarr", "Zarr v2"));
//! let keys = places::keys("memory://shelf/2024/sst.zarr", &places::KeysOptions::default(), &session)?;
//! assert!(keys.map(|key| key.unwrap().key).any(|key| key == ".zgroup"));
//! # Ok::<(), ncirrus::Error>(())
//! ```
mod keys;
mod kind;
mod list;

pub use keys::{Key, Keys, KeysOptions, get, keys};
pub use kind::PlaceKind;
pub use list::{FoundDataset, ListOptions, Places, list};

use ncirrus::{Result, Session};
use ncirrus_layout::{Listing, ObjectId};
use ncirrus_store::{Opened, Store};
use std::vec;

/// Requests to a store in flight at once.
fn at_once(store: &dyn Store) -> usize {
    store.facts().concurrency.clamp(1, 64)
}

/// Opens the store of an address.
fn open(url: &str, session: &Session) -> Result<Opened> {
    session.wait_for_store(url, ncirrus_store::open(url, session.store_context()))
}

/// A prefix, with one page of its names.
struct PrefixLevel {
    prefix: ObjectId,
    /// Path from the start of the walk, with a trailing slash unless it is empty.
    path: String,
    entries: vec::IntoIter<ncirrus_layout::ListEntry>,
    next: Option<String>,
    mark: Option<PrefixMark>,
}

/// Identifies a prefix, whatever its path.
type PrefixMark = (u64, u64);

fn mark_of(store: &dyn Store, prefix: &ObjectId) -> Option<PrefixMark> {
    store.local()?.mark_of(prefix)
}

impl PrefixLevel {
    fn new(store: &dyn Store, prefix: ObjectId, path: String, first: Listing) -> Self {
        let mark = mark_of(store, &prefix);
        Self { prefix, path, entries: first.entries.into_iter(), next: first.next, mark }
    }

    /// Fetches the next page; `false` if there is none.
    async fn turn(&mut self, store: &dyn Store) -> Result<bool> {
        let Some(page) = self.next.take() else { return Ok(false) };
        let listing = store.list(&self.prefix, Some(&page)).await?;
        self.entries = listing.entries.into_iter();
        self.next = listing.next;
        Ok(true)
    }
}
