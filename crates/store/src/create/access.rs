//! Changing datasets that exist.
use super::{Direct, Staged};
use crate::open::{as_it_is, local_path, open_url, path_error};
use crate::url::{Scheme, Url};
use crate::{StoreOptions, platform};
use ncirrus_layout::{Error, Result};
use std::fs::{self, OpenOptions};

/// Gives access for changing the dataset at an address. Directories, files and trees on other machines are changed in
/// place; a zip file is written anew and replaces the old one on commit.
///
/// # Errors
/// As [`open`](crate::open), `Denied` for what cannot be written, `Unsupported` where objects can only be read.
pub async fn update(address: &str, options: &StoreOptions) -> Result<Staged> {
    let url = Url::parse(address)?;
    if url.scheme() == Scheme::File {
        check_writable(&as_it_is(&url))?;
    }
    let opened = open_url(&url, options).await?;
    if let Some((store, object)) = &opened.container {
        return update_zip(store.as_ref(), object, &opened.url, options).await;
    }
    if !opened.store.facts().writable {
        return Err(Error::unsupported("changing what is read over http").at_object(&url));
    }
    Ok(Staged::new(opened.store, opened.root, &opened.url, Direct))
}

/// A folder or file without leave to write is better told now than after the work.
fn check_writable(url: &Url) -> Result<()> {
    let path = local_path(url);
    let is_file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
    let result = match is_file {
        true => OpenOptions::new().write(true).open(&path).map(|_| ()),
        false => platform::check_writable(&path),
    };
    result.map_err(|error| path_error(error, &path))
}

#[cfg(feature = "zip")]
use super::rezip::update_zip;

#[cfg(not(feature = "zip"))]
async fn update_zip(
    _: &dyn crate::Store,
    _: &ncirrus_layout::ObjectId,
    url: &Url,
    _: &StoreOptions,
) -> Result<Staged> {
    Err(super::no_zip(url))
}
