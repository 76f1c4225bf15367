//! The only owner of threads, caches, budgets and credentials.
mod configured;
#[cfg(feature = "http")]
mod dmrpp;
mod effective;
mod network;
mod resources;
mod window_budget;

use crate::Result;
pub use configured::AddressProbe;
use configured::SessionConfig;
use ncirrus_aggregate::AggregateOverlay;
use ncirrus_classic::ClassicDriver;
#[cfg(feature = "plugins")]
use ncirrus_codec::PluginOptions;
use ncirrus_codec::{CodecFactory, CodecRegistry};
use ncirrus_engine::SessionTask;
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Driver, Error, Limits, Overlay};
use ncirrus_store::{ContainerRule, Scheme, StoreContext, StoreOptions, Url};
use ncirrus_zarr::ZarrDriver;
use network::SessionNetwork;
use resources::ResourceChoices;
use std::path::PathBuf;
use std::sync::Arc;
pub(crate) use window_budget::{WindowBudget, WindowShare};

/// Threads, caches, budgets, limits and credentials, shared by the datasets that are opened with the session. Cheap to
/// clone.
#[derive(Clone)]
pub struct Session {
    pub(crate) engine: ncirrus_engine::Session,
    pub(crate) stores: StoreContext,
    network: SessionNetwork,
    pub(crate) drivers: Arc<[Arc<dyn Driver>]>,
    folder: Option<PathBuf>,
    /// What is held of values that were read ahead; `None`: nothing is read ahead.
    pub(crate) windows: Option<Arc<WindowBudget>>,
    /// Whether single values are not read with others around them.
    pub(crate) has_no_blocks: bool,
}

/// Builds a [`Session`]; everything has a default.
pub struct SessionBuilder {
    engine: ncirrus_engine::SessionBuilder,
    /// Bytes that uploads may hold, out of those of the session.
    upload_memory: usize,
    stores: StoreOptions,
    resources: ResourceChoices,
    configured: SessionConfig,
    /// Codecs defined by the program.
    codecs: Vec<Arc<dyn CodecFactory>>,
    #[cfg(feature = "plugins")]
    plugins: PluginOptions,
}

impl Session {
    /// A session with default settings: all cores, a moderate memory budget.
    ///
    /// # Errors
    /// If no threads can be started.
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// This session, for datasets that are changed in place and committed without waiting until everything is on disk. Whoever reads
    /// them, and a process that ends, find what was written; a machine that fails may lose some of it, also in the midst
    /// of a commit. All else is shared.
    #[must_use]
    pub fn without_durability(&self) -> Self {
        let mut session = self.clone();
        session.stores.options.durable = false;
        session
    }

    /// A builder that starts with the settings of the environment and the user's files.
    pub fn builder() -> SessionBuilder {
        let builder = SessionBuilder {
            engine: ncirrus_engine::Session::builder(),
            upload_memory: usize::MAX,
            stores: StoreOptions::default(),
            resources: ResourceChoices::default(),
            configured: SessionConfig::default(),
            codecs: Vec::new(),
            #[cfg(feature = "plugins")]
            plugins: PluginOptions::default(),
        };
        builder.configured()
    }

    /// Waits for an operation of a store on the dataset at an address: for programs that call a
    /// [`Store`](crate::store::Store) themselves. Only a remote address needs (and starts) the session's network.
    pub fn wait_for_store<F: Future>(&self, url: &str, future: F) -> F::Output {
        if is_local(url) { self.engine.block_on(future) } else { self.engine.block_on_store(future) }
    }

    /// As [`wait_for_store`](Self::wait_for_store), unless the [watch](crate::watch) of this thread ends the wait.
    pub(crate) fn wait_at<T>(&self, url: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
        if is_local(url) { self.engine.wait(future) } else { self.engine.wait_for_store(future) }
    }

    /// As [`wait_at`](Self::wait_at), for what completes a dataset: also on a thread that ends, which cannot enter the session's network
    /// any more.
    pub(crate) fn complete_at<T: Send + 'static>(
        &self,
        url: &str,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let can_enter = is_local(url) || !ncirrus_engine::is_thread_ending();
        if can_enter { self.wait_at(url, future) } else { self.engine.wait(self.engine.spawn(future)?) }
    }

    /// Starts a future on the session's own threads, which also drive its network; for programs without a runtime of
    /// their own. Returns a future of the result, for any executor; dropping it ends the one that was started.
    ///
    /// # Errors
    /// `Io` if the threads cannot be started.
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<SessionTask<T>> {
        self.engine.spawn(future)
    }

    /// Waits for one or several tasks that were started with [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// Errors of the tasks; `Interrupted` if the [watch](crate::watch) of this thread ends the wait, which drops them.
    pub fn wait_for<T>(&self, tasks: impl Future<Output = Result<T>>) -> Result<T> {
        self.engine.wait(tasks)
    }

    /// Bytes that reading and writing may hold besides the caller's own buffers. Larger arrays are put into files.
    pub fn memory(&self) -> usize {
        self.engine.memory()
    }

    /// Number of threads that decode and encode.
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// The folder for temporary files.
    pub fn cache_folder(&self) -> PathBuf {
        self.folder.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// The codecs that chunks are decoded and encoded with: built-in ones, and those of plugins.
    pub fn registry(&self) -> &CodecRegistry {
        self.engine.registry()
    }

    /// What was fetched and decoded so far.
    pub fn statistics(&self) -> ncirrus_engine::SessionStatistics {
        self.engine.statistics()
    }
}

/// Whether an address does not need the network.
pub(crate) fn is_local(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), Scheme::File | Scheme::Memory))
}

impl SessionBuilder {
    /// Number of threads that decode and encode; all cores by default, at most four per core, or 128 if that is more.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.engine = self.engine.threads(threads);
        self
    }

    /// Bytes that reading and writing may hold besides the caller's own buffers; uploads get a quarter of them, or the
    /// number in the stores' options if that is smaller. [`Variable::read`](crate::Variable::read) puts larger arrays
    /// into files.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.engine = self.engine.memory(bytes);
        self.upload_memory = bytes / 4;
        self
    }

    /// Bytes of decoded chunks that are kept for repeated small reads.
    #[must_use]
    pub fn chunk_cache(mut self, bytes: usize) -> Self {
        self.engine = self.engine.chunk_cache(bytes);
        self
    }

    /// Limits on resources that data from outside can use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.engine = self.engine.limits(limits);
        self
    }

    /// What reading a chunk that was never written does.
    #[must_use]
    pub fn missing(mut self, missing: ncirrus_engine::MissingChunks) -> Self {
        self.engine = self.engine.missing(missing);
        self
    }

    /// Whether `sync` and `close` wait until the bytes are on stable storage (the default).
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.engine = self.engine.durable(durable);
        self.stores.durable = durable;
        self
    }

    /// Caches what is fetched of remote datasets besides chunks (headers, chunk indexes, metadata) in files of a
    /// folder, of at most `bytes` together: opening a dataset again costs one request, which checks whether it changed.
    /// Several processes may share the folder. None by default.
    #[must_use]
    pub fn index_cache(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.engine = self.engine.index_cache(folder, bytes);
        self
    }

    /// Number of datasets of fragments of aggregated variables that are kept open for the next read: 128 by default.
    #[must_use]
    pub fn open_datasets(mut self, max: usize) -> Self {
        self.engine = self.engine.open_datasets(max);
        self
    }

    /// What reading a fragment whose dataset is absent does; by default what the convention of the aggregation says.
    /// [`Dataset::warnings`](crate::Dataset::warnings) lists fragments that were filled in.
    #[must_use]
    pub fn fragments_absent(mut self, absent: ncirrus_engine::MissingChunks) -> Self {
        self.engine = self.engine.fragments_absent(absent);
        self
    }

    /// Whether a remote aggregation or reference file may name local files; not by default.
    #[must_use]
    pub fn local_fragments(mut self, allowed: bool) -> Self {
        self.engine = self.engine.local_fragments(allowed);
        self.stores.local_references = allowed;
        self
    }

    /// Hosts of private networks that remote aggregations and reference files may name, beside those that the configuration lists
    /// (`references.hosts`).
    #[must_use]
    pub fn allowed_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.stores.allowed_hosts.extend(hosts.into_iter().map(|host| host.to_ascii_lowercase()));
        self
    }

    /// What is done with virtual chunk containers of Icechunk repositories, by their names or prefixes, after those that
    /// the configuration lists (`virtual.containers`); the last rule counts.
    #[must_use]
    pub fn containers(mut self, rules: impl IntoIterator<Item = (String, ContainerRule)>) -> Self {
        self.stores.containers.extend(rules);
        self
    }

    /// Whether a local file is read as it was opened, by the same descriptor, whatever becomes of its name and its content; by default a
    /// file that was changed since is an error.
    #[must_use]
    pub fn holds_files(mut self, holds: bool) -> Self {
        self.stores.holds_files = holds;
        self
    }

    /// How stores are opened: credentials, time limits, zip layout.
    #[must_use]
    pub fn stores(mut self, stores: StoreOptions) -> Self {
        self.stores = stores;
        self
    }

    /// How stores will be opened, for partial changes with [`stores`](Self::stores).
    pub fn store_options(&self) -> &StoreOptions {
        &self.stores
    }

    /// Which filter plugins are used, and how.
    #[cfg(feature = "plugins")]
    #[must_use]
    pub fn plugins(mut self, plugins: PluginOptions) -> Self {
        self.plugins = plugins;
        self
    }

    /// Adds a codec defined by the program ([`codec`](crate::codec)): chunks with that codec can be read, and variables
    /// written with it.
    #[must_use]
    pub fn codec(mut self, factory: impl CodecFactory + 'static) -> Self {
        self.codecs.push(Arc::new(factory));
        self
    }

    /// The session.
    ///
    /// # Errors
    /// If no threads can be started; if a configuration file that was named does not exist or cannot be parsed;
    /// `Invalid` for a scheme that cannot have a custom store, and for a codec with the name or number of another.
    pub fn build(self) -> Result<Session> {
        let drivers: Vec<Arc<dyn Driver>> = vec![
            Arc::new(ClassicDriver),
            Arc::new(Hdf5Driver),
            Arc::new(ZarrDriver),
            Arc::new(self.configured.icechunk()),
            #[cfg(feature = "http")]
            Arc::new(ncirrus_dap::DapDriver::default()),
        ];
        #[cfg(feature = "plugins")]
        let mut registry = CodecRegistry::with_plugins(self.plugins);
        #[cfg(not(feature = "plugins"))]
        let mut registry = CodecRegistry::builtin();
        for codec in self.codecs {
            registry.register(codec).map_err(|error| Error::invalid(error.to_string()))?;
        }
        let engine = self.engine.registry(registry);
        let upload_memory = self.stores.upload_memory.min(self.upload_memory);
        let mut stores = StoreContext::from(StoreOptions { upload_memory, ..self.stores });
        let network = self.resources.network(self.configured.settings()?);
        network.put_into(&mut stores.schemes);
        #[cfg(feature = "http")]
        stores.formats.add(".dmrpp", dmrpp::translate);
        self.resources.put_into(&mut stores)?;
        let windows = (!self.resources.reads_no_more).then(Arc::default);
        let has_no_blocks = self.resources.has_no_blocks;
        let folder = self.resources.folder;
        let overlays: Vec<Arc<dyn Overlay>> = vec![Arc::new(AggregateOverlay)];
        let engine = engine.overlays(overlays).stores(stores.clone());
        let (engine, drivers) = (engine.build()?, drivers.into());
        Ok(Session { engine, stores, network, drivers, folder, windows, has_no_blocks })
    }
}
