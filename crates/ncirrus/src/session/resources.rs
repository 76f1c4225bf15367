//! The resources of the machine that a session may use, and custom stores.
use super::SessionBuilder;
use super::network::SessionNetwork;
use crate::Result;
use ncirrus_config::ConfigSettings;
use ncirrus_store::cache::BlockCache;
use ncirrus_store::{HandleBudget, StoreContext, StoreFactory};
use std::path::PathBuf;
use std::sync::Arc;

/// Options that are put into the context of stores when the session is built.
#[derive(Default)]
pub(super) struct ResourceChoices {
    handles: Option<usize>,
    requests: Option<usize>,
    blocks: Option<(PathBuf, u64)>,
    immutable: bool,
    #[cfg(feature = "cloud")]
    codes: Option<ncirrus_cloud::MfaCodes>,
    own: Vec<(String, Arc<dyn StoreFactory>)>,
    pub(super) folder: Option<PathBuf>,
    /// Whether nothing is read before it is asked for.
    pub(super) reads_no_more: bool,
    /// Whether single values are not read with others around them.
    pub(super) has_no_blocks: bool,
}

impl ResourceChoices {
    /// Connections and credentials, with these options.
    pub(super) fn network(&self, config: Arc<ConfigSettings>) -> SessionNetwork {
        #[cfg_attr(
            not(feature = "cloud"),
            expect(unused_mut, reason = "codes are typed for object stores only")
        )]
        let mut network = SessionNetwork::new(config, self.requests);
        #[cfg(feature = "cloud")]
        if let Some(codes) = &self.codes {
            network.cloud.codes = codes.clone();
        }
        network
    }

    /// Adds these options to the context of stores.
    pub(super) fn put_into(&self, stores: &mut StoreContext) -> Result<()> {
        if let Some(max) = self.handles {
            stores.handles = HandleBudget::new(max);
        }
        if let Some((folder, max)) = &self.blocks {
            stores.cache = Some(BlockCache::new(folder, *max));
        }
        if self.immutable {
            stores.cache = stores.cache.take().map(|cache| cache.immutable(true));
        }
        for (scheme, factory) in &self.own {
            stores.schemes.register(scheme, Arc::clone(factory))?;
        }
        Ok(())
    }
}

impl SessionBuilder {
    /// Maximum number of local files that are kept open, whatever the number of datasets: by default a quarter of those
    /// that the process may open.
    #[must_use]
    pub fn handles(mut self, max: usize) -> Self {
        self.resources.handles = Some(max);
        self
    }

    /// Maximum number of requests in flight to all servers together: 256 by default, at least 1. Of these, at most 64
    /// go to one bucket, and 16 to one web server.
    #[must_use]
    pub fn requests(mut self, max: usize) -> Self {
        self.resources.requests = Some(max);
        self
    }

    /// Whether slabs of a variable that follow those that were read, as in a loop over time steps, are read before they are asked for (the
    /// default): docs/network.md. Without it every read sends the requests that its [plan](crate::Dataset::plan) shows, and no others.
    #[must_use]
    pub fn read_ahead(mut self, reads_ahead: bool) -> Self {
        self.resources.reads_no_more = !reads_ahead;
        self
    }

    /// Whether single values of a local dataset are read together with others around them, from the second read on (the default): for
    /// programs that keep such blocks themselves.
    #[must_use]
    pub fn value_blocks(mut self, has_blocks: bool) -> Self {
        self.resources.has_no_blocks = !has_blocks;
        self
    }

    /// The folder for temporary files of a session, such as arrays that are larger than memory; by default the system's
    /// directory for temporary files.
    #[must_use]
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.resources.folder = Some(folder.into());
        self
    }

    /// The folder for files that are to be uploaded, and for scratch files of copies that are rechunked and do not fit
    /// in memory, each of the size of the variable. By default `TMPDIR`, otherwise `/var/tmp`; in the configuration
    /// `scratch`.
    #[must_use]
    pub fn scratch_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.stores.scratch = Some(folder.into());
        self
    }

    /// Caches what is fetched of remote objects, data as well as metadata, in files of a folder, of about `bytes`
    /// together. Cached bytes are used after a request for one byte of the object has shown that it did not change.
    /// Several processes may share the folder. None by default.
    #[must_use]
    pub fn block_cache(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.resources.blocks = Some((folder.into(), bytes));
        self
    }

    /// Whether chunks of Zarr datasets never change under their keys: those in the block cache are then used without a
    /// request, and only the metadata are checked. If these changed, the whole dataset is fetched anew.
    #[must_use]
    pub fn immutable_chunks(mut self, immutable: bool) -> Self {
        self.resources.immutable = immutable;
        self
    }

    /// A callback for entering the MFA codes that profiles in Amazon's files require (`mfa_serial`); none by default.
    #[cfg(feature = "cloud")]
    #[must_use]
    pub fn codes(mut self, codes: ncirrus_cloud::MfaCodes) -> Self {
        self.resources.codes = Some(codes);
        self
    }

    /// Registers a custom store for addresses of a scheme, for opening, creating, copying and listing. The factory
    /// receives the address and returns the store, and the dataset in it.
    #[must_use]
    pub fn store(mut self, scheme: impl Into<String>, factory: impl StoreFactory + 'static) -> Self {
        self.resources.own.push((scheme.into(), Arc::new(factory)));
        self
    }
}
