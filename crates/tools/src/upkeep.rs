//! Removing datasets, and what killed writers left behind.
use ncirrus::{Result, Session};
use ncirrus_store::{DatasetRemoval, Leftover};

/// Determines what removing a dataset would remove; nothing is removed yet.
///
/// # Errors
/// `NotFound` if there is nothing, `Conflict` for a whole bucket, `Unsupported` if nothing can be removed.
pub fn removal(url: &str, session: &Session) -> Result<DatasetRemoval> {
    session.wait_for_store(url, ncirrus_store::removal(url, session.store_context()))
}

/// Removes what [`removal`] found at that URL.
///
/// # Errors
/// `Denied`, `Io`.
pub fn remove(url: &str, removal: DatasetRemoval, session: &Session) -> Result<()> {
    session.wait_for_store(url, removal.run())
}

/// Finds what killed writers left below a URL, and reports what could not be searched for.
///
/// # Errors
/// `Unsupported` if nothing can be removed, otherwise errors of listing.
pub fn leftovers(url: &str, session: &Session) -> Result<(Vec<Leftover>, Vec<String>)> {
    session.wait_for_store(url, ncirrus_store::leftovers(url, session.store_context()))
}

/// Removes what [`leftovers`] found below that URL.
///
/// # Errors
/// `Denied`, `Io`.
pub fn remove_leftover(url: &str, leftover: &Leftover, session: &Session) -> Result<()> {
    session.wait_for_store(url, leftover.remove(url, session.store_context()))
}
