//! From an address to a store.
mod kind;

pub use kind::{looks_like_zip, open_zip};

use crate::StoreContext;
use crate::directory::HeldFor;
use crate::locate::{open_object, open_object_for};
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
    opened_further(open_object(url, context)?, url, context).await
}

/// As [`open_url`], for changing what is there: a local file is held open, so that nothing else is changed if it is moved.
///
/// # Errors
/// As [`open`].
pub(crate) async fn open_for_changing(url: &Url, context: &StoreContext) -> Result<Opened> {
    opened_further(open_object_for(url, context, Some(HeldFor::Changing))?, url, context).await
}

/// What is in the object: a zip file, or a file of references.
async fn opened_further(mut opened: Opened, url: &Url, context: &StoreContext) -> Result<Opened> {
    if url.is_computed() {
        return Ok(opened);
    }
    if let Some(cache) = &context.cache {
        opened.store = cache.before(opened.store, &opened.root);
    }
    let opened = kind::look_into_zip(opened, &context.options).await?;
    crate::reference::look_into(opened, context).await
}
