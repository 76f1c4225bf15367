//! What a session may use of the machine, and stores of the program's own.
use super::SessionBuilder;
use super::network::SessionNetwork;
use crate::Result;
use ncirrus_config::ConfigSettings;
use ncirrus_store::cache::BlockCache;
use ncirrus_store::{HandleBudget, StoreContext, StoreFactory};
use std::path::PathBuf;
use std::sync::Arc;

/// Choices that go into the context of stores when the session is built.
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
}

impl ResourceChoices {
    /// Connections and credentials, with these choices.
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

    /// What stores are opened with, with these choices.
    pub(super) fn put_into(&self, stores: &mut StoreContext) -> Result<()> {
        if let Some(most) = self.handles {
            stores.handles = HandleBudget::new(most);
        }
        if let Some((folder, most)) = &self.blocks {
            stores.cache = Some(BlockCache::new(folder, *most));
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
    /// How many local files are kept open at most, whatever the number of datasets: a quarter of those that the process
    /// may open, by default.
    #[must_use]
    pub fn handles(mut self, most: usize) -> Self {
        self.resources.handles = Some(most);
        self
    }

    /// How many requests to servers are under way at once, to all of them together: 256 by default, at least 1. Of one
    /// bucket there are at most 64, of one web server 16.
    #[must_use]
    pub fn requests(mut self, most: usize) -> Self {
        self.resources.requests = Some(most);
        self
    }

    /// Where files go that a session needs for a while, such as arrays that are larger than the memory; the system's
    /// directory for temporary files by default.
    #[must_use]
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.resources.folder = Some(folder.into());
        self
    }

    /// Where files go that are to be uploaded, and what a copy cuts anew and memory has no room for: as many bytes as the
    /// variable has. `/var/tmp` by default, or what `TMPDIR` says; in the configuration `scratch`.
    #[must_use]
    pub fn scratch_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.stores.scratch = Some(folder.into());
        self
    }

    /// Keeps what is fetched of objects on other machines, data as well as metadata, in files of a folder, of about
    /// `bytes` together. What is there is read from there, once a byte of the object was asked for, which tells whether it
    /// changed. Several processes may share the folder. None by default.
    #[must_use]
    pub fn block_cache(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.resources.blocks = Some((folder.into(), bytes));
        self
    }

    /// Whether chunks of Zarr datasets never change under their keys: those that the block cache has are then read
    /// without asking, and only the metadata are asked about. When these changed, the whole dataset is fetched anew.
    #[must_use]
    pub fn immutable_chunks(mut self, immutable: bool) -> Self {
        self.resources.immutable = immutable;
        self
    }

    /// Who types the codes that profiles of Amazon's files want (`mfa_serial`); nobody unless given.
    #[cfg(feature = "cloud")]
    #[must_use]
    pub fn codes(mut self, codes: ncirrus_cloud::MfaCodes) -> Self {
        self.resources.codes = Some(codes);
        self
    }

    /// Lets addresses of a scheme lie in a store of the program's own, for opening, creating, copying and listing. The
    /// factory gets the address and gives the store, and the dataset in it.
    #[must_use]
    pub fn store(mut self, scheme: impl Into<String>, factory: impl StoreFactory + 'static) -> Self {
        self.resources.own.push((scheme.into(), Arc::new(factory)));
        self
    }
}
