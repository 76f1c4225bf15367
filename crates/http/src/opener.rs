//! Opens addresses of web servers.
use crate::ConnectionPool;
use crate::HttpStore;
use crate::NetworkContext;
use ncirrus_config::ConfigSettings;
use ncirrus_layout::{ObjectId, Result};
use ncirrus_store::{BucketUrl, Store, StoreOpener, StoreOptions, StoreUpkeep, Url};
use std::sync::Arc;

/// Opens `http` and `https` addresses: objects are read by range requests.
#[derive(Debug, Clone)]
pub struct HttpOpener {
    /// Logins, cookies, certificates, proxies.
    pub config: Arc<ConfigSettings>,
    /// Connections kept open.
    pub connections: ConnectionPool,
}

impl StoreOpener for HttpOpener {
    fn open(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>> {
        if !url.is_http() {
            return Ok(None);
        }
        let (config, connections) = (Arc::clone(&self.config), self.connections.clone());
        let context = NetworkContext { options: options.clone(), config, connections };
        let (store, root) = HttpStore::connect(url, &context.of_address(url))?;
        Ok(Some((Arc::new(store), root)))
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
