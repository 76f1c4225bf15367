//! Stores that other machines hold.
use crate::config::ConfigKey;
use crate::open::Opened;
use crate::{StoreOptions, Url};
use ncirrus_layout::Result;
use std::borrow::Cow;
use std::sync::Arc;

/// Opens an address at a server; no request is sent yet.
pub(crate) fn open(url: &Url, options: &StoreOptions) -> Result<Opened> {
    if url.scheme() == crate::Scheme::Other {
        return options.schemes.open(url);
    }
    let options = &*of_address(url, options);
    match options.config.bucket(url)? {
        Some(bucket) if (url.query().is_none() || asks_for_version(url)) && cfg!(feature = "cloud") => {
            cloud(url, &bucket, options)
        }
        Some(bucket) if !url.is_http() => cloud(url, &bucket, options),
        _ => http(url, options),
    }
}

/// The options with what netCDF's files say of one address alone.
fn of_address<'a>(url: &Url, options: &'a StoreOptions) -> Cow<'a, StoreOptions> {
    let Some(config) = options.config.of_address(url) else { return Cow::Borrowed(options) };
    let mut own = options.clone();
    let is_own = |key: &ConfigKey| config.origin(*key) != options.config.origin(*key);
    let wait = |key: ConfigKey| Some(key).filter(is_own).and_then(|key| config.duration(key));
    own.timeout = wait(ConfigKey::Timeout).unwrap_or(own.timeout);
    own.patience.connect = wait(ConfigKey::ConnectTimeout).unwrap_or(own.patience.connect);
    own.config = Arc::new(config);
    Cow::Owned(own)
}

/// Whether a query names the version of an object and nothing else.
fn asks_for_version(url: &Url) -> bool {
    url.version().is_some() && url.query().is_some_and(|query| !query.contains('&'))
}

/// The bucket of an address, and the object or prefix in it; `None` when it is in none.
#[cfg(feature = "cloud")]
pub(crate) fn bucket(
    url: &Url,
    options: &StoreOptions,
) -> Result<Option<(crate::CloudStore, ncirrus_layout::ObjectId)>> {
    let options = &*of_address(url, options);
    let Some(bucket) = options.config.bucket(url)? else { return Ok(None) };
    let store = crate::cloud::CloudStore::connect(&bucket, url.fragment(), options)?;
    let root = store.root().child(&bucket.key);
    Ok(Some((store, root)))
}

#[cfg(feature = "cloud")]
fn cloud(url: &Url, bucket: &crate::BucketUrl, options: &StoreOptions) -> Result<Opened> {
    let mut store = crate::cloud::CloudStore::connect(bucket, url.fragment(), options)?;
    let is_amazon = bucket.provider == crate::CloudProvider::S3;
    if let Some(version) = url.version().filter(|_| is_amazon) {
        store = store.at_version(&bucket.key, &version);
    }
    let root = store.root().child(&bucket.key);
    Ok(Opened::new(Arc::new(store), root, url))
}

#[cfg(not(feature = "cloud"))]
fn cloud(url: &Url, _: &crate::BucketUrl, _: &StoreOptions) -> Result<Opened> {
    Err(ncirrus_layout::Error::unsupported("object stores: built without the feature \"cloud\"")
        .at_object(url))
}

#[cfg(feature = "http")]
fn http(url: &Url, options: &StoreOptions) -> Result<Opened> {
    let (store, root) = crate::http::HttpStore::connect(url, options)?;
    Ok(Opened::new(Arc::new(store), root, url))
}

#[cfg(not(feature = "http"))]
fn http(url: &Url, _: &StoreOptions) -> Result<Opened> {
    Err(ncirrus_layout::Error::unsupported("http: built without the feature \"http\"").at_object(url))
}
