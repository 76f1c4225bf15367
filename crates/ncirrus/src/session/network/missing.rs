//! Errors for addresses that the library was built without.
use crate::{Error, ObjectId, Result};
#[cfg(not(feature = "cloud"))]
use ncirrus_config::ConfigSettings;
use ncirrus_store::{BucketUrl, Store, StoreOpener, StoreOptions, StoreUpkeep, Url};
use std::sync::Arc;

/// Recognizes addresses in buckets, and refuses to open them.
#[cfg(not(feature = "cloud"))]
pub(super) struct WithoutObjectStores(pub(super) Arc<ConfigSettings>);

#[cfg(not(feature = "cloud"))]
fn no_object_stores<T>(url: &Url) -> Result<T> {
    Err(Error::unsupported("object stores: built without the feature \"cloud\"").at_object(url))
}

#[cfg(not(feature = "cloud"))]
impl StoreOpener for WithoutObjectStores {
    fn open(&self, url: &Url, _: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>> {
        match self.0.bucket(url)? {
            Some(_) if !url.is_http() => no_object_stores(url),
            _ => Ok(None),
        }
    }

    fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>> {
        self.0.bucket(url)
    }

    fn server(&self, url: &Url, _: &StoreOptions) -> Result<Option<String>> {
        Ok(self.0.bucket(url)?.map(|bucket| bucket.address()))
    }

    fn upkeep(&self, url: &Url, _: &StoreOptions) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>> {
        no_object_stores(url)
    }
}

/// Refuses to open addresses of web servers.
#[cfg(not(feature = "http"))]
pub(super) struct WithoutHttp;

#[cfg(not(feature = "http"))]
impl StoreOpener for WithoutHttp {
    fn open(&self, url: &Url, _: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>> {
        if url.is_http() {
            Err(Error::unsupported("http: built without the feature \"http\"").at_object(url))
        } else {
            Ok(None)
        }
    }

    fn bucket(&self, _: &Url) -> Result<Option<BucketUrl>> {
        Ok(None)
    }

    fn server(&self, _: &Url, _: &StoreOptions) -> Result<Option<String>> {
        Ok(None)
    }

    fn upkeep(&self, _: &Url, _: &StoreOptions) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>> {
        Ok(None)
    }
}
