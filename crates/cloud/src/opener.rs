//! Opens addresses of object stores.
use crate::identity::{BucketIdentity, CloudContext, CredentialRegistry, MfaCodes};
use crate::store::CloudStore;
use ncirrus_config::ConfigSettings;
use ncirrus_http::{ConnectionPool, NetworkContext};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use ncirrus_store::{
    BucketUrl, CloudProvider, HostAccess, Store, StoreOpener, StoreOptions, StoreUpkeep, Url, has_host,
};
use std::sync::Arc;

/// Opens addresses in buckets of object stores, including aliases of the configuration.
#[derive(Debug, Clone)]
pub struct CloudOpener {
    /// Aliases, credentials, timeouts.
    pub config: Arc<ConfigSettings>,
    /// Connections kept open.
    pub connections: ConnectionPool,
    /// Facts about buckets, and credentials that are still valid.
    pub identities: CredentialRegistry,
    /// Provides the codes for profiles with `mfa_serial`.
    pub codes: MfaCodes,
}

impl CloudOpener {
    /// The context of requests with these options.
    pub fn context(&self, options: &StoreOptions) -> CloudContext {
        let (config, connections) = (Arc::clone(&self.config), self.connections.clone());
        let network = NetworkContext { options: options.clone(), config, connections };
        CloudContext { network, identities: self.identities.clone(), codes: self.codes.clone() }
    }

    /// As [`context`](Self::context), with the entries of netCDF's files for one address only.
    fn context_at(&self, url: &Url, options: &StoreOptions) -> CloudContext {
        let context = self.context(options);
        let network = context.network.of_address(url).into_owned();
        CloudContext { network, ..context }
    }
}

impl StoreOpener for CloudOpener {
    fn open(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>> {
        let mut context = self.context_at(url, options);
        let Some(bucket) = context.network.config.bucket(url)? else { return Ok(None) };
        check_endpoint(url, options)?;
        let is_chosen = bucket.endpoint.is_none() || bucket.alias.is_some() || bucket.is_amazon;
        if !url.is_http() && is_chosen {
            // The user's own endpoint, and what gives credentials for it.
            context.network.options.hosts = HostAccess::Any;
        }
        // A query is for a web server: most often a signature.
        if url.is_http() && url.query().is_some() && !asks_for_version(url) {
            return Ok(None);
        }
        let version = url.version();
        if version.is_some() && bucket.provider != CloudProvider::S3 {
            let message = "versionId= in the address: only versions of Amazon's protocol are read";
            return Err(Error::unsupported(message).at_object(url));
        }
        let mut store = CloudStore::connect(&bucket, url.fragment(), &context)?;
        if let Some(version) = version {
            store = store.at_version(&bucket.key, &version);
        }
        let root = store.root().child(&bucket.key);
        Ok(Some((Arc::new(store), root)))
    }

    fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>> {
        self.config.bucket(url)
    }

    fn server(&self, url: &Url, options: &StoreOptions) -> Result<Option<String>> {
        let Some((bucket, identity)) = BucketIdentity::of(url, &self.context(options))? else {
            return Ok(None);
        };
        // Amazon's buckets are the same whatever region is used to address them.
        let is_own = identity.endpoint.value.contains(".amazonaws.com");
        Ok(Some(if is_own { bucket.provider.server().to_owned() } else { identity.endpoint.value }))
    }

    fn upkeep(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>> {
        let context = self.context_at(url, options);
        let Some(bucket) = context.network.config.bucket(url)? else { return Ok(None) };
        let store = CloudStore::connect(&bucket, url.fragment(), &context)?;
        let root = store.root().child(&bucket.key);
        Ok(Some((Arc::new(store), root)))
    }
}

/// Refuses servers that a dataset from elsewhere names: only the user chooses those.
fn check_endpoint(url: &Url, options: &StoreOptions) -> Result<()> {
    let is_own = |host: &str| has_host(&options.allowed_hosts, host);
    let has_endpoint = url.fragment().entries().any(|(key, _)| key.to_ascii_lowercase().contains("endpoint"));
    // The others are checked when their host is looked up.
    let is_address = url.is_http() && url.host().parse::<std::net::IpAddr>().is_ok()
        || url.host().eq_ignore_ascii_case("localhost");
    // Relative names lead to the server that the dataset itself came from.
    let is_of_dataset = !has_endpoint && options.hosts == HostAccess::NamedBy(Some(url.host().to_owned()));
    if options.hosts.is_any() || is_own(url.host()) || is_of_dataset || !(has_endpoint || is_address) {
        return Ok(());
    }
    let message = "a dataset that came over the network names the server of an object store: allow its host by references.hosts";
    Err(Error::new(ErrorKind::Denied, message).at_object(url))
}

/// Whether a query names the version of an object and nothing else.
fn asks_for_version(url: &Url) -> bool {
    url.version().is_some() && url.query().is_some_and(|query| !query.contains('&'))
}

#[cfg(test)]
mod tests;
