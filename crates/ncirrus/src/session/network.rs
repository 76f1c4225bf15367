//! The openers of remote addresses, as far as the library was built with them.
#[cfg(not(all(feature = "http", feature = "cloud")))]
mod missing;

use super::Session;
#[cfg(feature = "cloud")]
use crate::Result;
#[cfg(feature = "cloud")]
use ncirrus_cloud::{BucketIdentity, CloudOpener, CredentialRegistry, MfaCodes};
use ncirrus_config::ConfigSettings;
#[cfg(feature = "http")]
use ncirrus_http::HttpOpener;
#[cfg(any(feature = "http", feature = "cloud"))]
use ncirrus_http::{ConnectionPool, NetworkTraffic};
use ncirrus_store::SchemeRegistry;
#[cfg(feature = "cloud")]
use ncirrus_store::{BucketUrl, Url};
use std::sync::Arc;

/// The configuration of a session, its connections and its credentials.
#[derive(Clone)]
pub(super) struct SessionNetwork {
    pub(super) config: Arc<ConfigSettings>,
    #[cfg(any(feature = "http", feature = "cloud"))]
    pub(super) connections: ConnectionPool,
    #[cfg(feature = "cloud")]
    pub(super) cloud: CloudOpener,
}

impl SessionNetwork {
    /// Nothing is connected yet; at most `requests` requests will be in flight at once.
    #[cfg(any(feature = "http", feature = "cloud"))]
    pub(super) fn new(config: Arc<ConfigSettings>, requests: Option<usize>) -> Self {
        let connections = requests.map_or_else(ConnectionPool::default, ConnectionPool::new);
        Self {
            #[cfg(feature = "cloud")]
            cloud: CloudOpener {
                config: Arc::clone(&config),
                connections: connections.clone(),
                identities: CredentialRegistry::default(),
                codes: MfaCodes::default(),
            },
            config,
            connections,
        }
    }

    /// There is no network.
    #[cfg(not(any(feature = "http", feature = "cloud")))]
    pub(super) fn new(config: Arc<ConfigSettings>, _: Option<usize>) -> Self {
        Self { config }
    }

    /// Registers the openers. Addresses in buckets are not for the opener of web servers, which comes last.
    pub(super) fn put_into(&self, schemes: &mut SchemeRegistry) {
        #[cfg(feature = "cloud")]
        schemes.add(Arc::new(self.cloud.clone()));
        #[cfg(not(feature = "cloud"))]
        schemes.add(Arc::new(missing::WithoutObjectStores(Arc::clone(&self.config))));
        #[cfg(feature = "http")]
        schemes.add(Arc::new(HttpOpener {
            config: Arc::clone(&self.config),
            connections: self.connections.clone(),
        }));
        #[cfg(not(feature = "http"))]
        schemes.add(Arc::new(missing::WithoutHttp));
    }
}

impl Session {
    /// The traffic with servers so far.
    #[cfg(any(feature = "http", feature = "cloud"))]
    pub fn traffic(&self) -> NetworkTraffic {
        self.network.connections.traffic()
    }

    /// Which credentials would be used for an address, and why; none if it is not in an object store. Nothing is sent.
    ///
    /// # Errors
    /// As when opening the address: profiles that do not exist, settings that contradict each other.
    #[cfg(feature = "cloud")]
    pub fn bucket_identity(&self, url: &Url) -> Result<Option<(BucketUrl, BucketIdentity)>> {
        BucketIdentity::of(url, &self.network.cloud.context(&self.stores.options))
    }
}
