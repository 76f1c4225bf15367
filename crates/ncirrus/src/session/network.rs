//! What opens addresses on other machines, as far as the library was built with it.
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
    /// Nothing is connected yet; at most so many requests will be in flight at once.
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

    /// Lets addresses be opened. What lies in a bucket is not for the opener of web servers, which comes last.
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
    /// What was sent to servers and received from them so far.
    #[cfg(any(feature = "http", feature = "cloud"))]
    pub fn traffic(&self) -> NetworkTraffic {
        self.network.connections.traffic()
    }

    /// Which credentials would be used with an address, and why; none when it lies in no object store. Nothing is sent.
    ///
    /// # Errors
    /// As opening the address: profiles that are not there, settings that contradict each other.
    #[cfg(feature = "cloud")]
    pub fn bucket_identity(&self, url: &Url) -> Result<Option<(BucketUrl, BucketIdentity)>> {
        BucketIdentity::of(url, &self.network.cloud.context(&self.stores.options))
    }
}
