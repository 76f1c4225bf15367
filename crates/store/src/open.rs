//! From an address to a store.
mod kind;

pub use kind::{looks_like_zip, open_zip};

use crate::StoreContext;
use crate::locate::open_object;
use crate::opened::Opened;
use crate::url::Url;
use ncirrus_layout::Result;

/// Opens an address for reading. Whether a local path is a directory, a zip or a file is detected.
///
/// # Errors
/// `Invalid` for an invalid address, `NotFound` if there is nothing, `Denied`, `Io`, `Unsupported` if nothing opens
/// such addresses.
pub async fn open(address: &str, context: &StoreContext) -> Result<Opened> {
    open_url(&Url::parse(address)?, context).await
}

/// As [`open`], for a parsed address.
///
/// # Errors
/// As [`open`].
pub async fn open_url(url: &Url, context: &StoreContext) -> Result<Opened> {
    let mut opened = open_object(url, context)?;
    if url.is_computed() {
        return Ok(opened);
    }
    if let Some(cache) = &context.cache {
        opened.store = cache.before(opened.store, &opened.root);
    }
    let opened = kind::look_into_zip(opened, &context.options).await?;
    crate::reference::look_into(opened, context).await
}
