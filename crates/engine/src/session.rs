//! Sessions: the options of a program, and the resources made from them.
mod protocol;

use crate::dataset::OpenDatasets;
use crate::resources::{
    MissingChunks, PendingRequest, ResourceOptions, SessionStatistics, SharedResources, ShortChunks,
    block_on, entered, wait,
};
use ncirrus_codec::CodecRegistry;
use ncirrus_layout::{Limits, Overlay, Result};
use ncirrus_store::StoreContext;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

/// Threads, caches, budgets and codecs, shared by all datasets that are opened with the session. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    pub(crate) shared: Arc<SharedResources>,
    /// Open datasets that others take values from, as long as a handle of the caller exists.
    open_datasets: Weak<OpenDatasets>,
    /// Owns them; the datasets in it do not, which would be a reference cycle.
    owned: Option<Arc<OpenDatasets>>,
}

/// A future that runs on the threads of a session; awaiting it yields the future's result, dropping it ends the future.
pub struct SessionTask<T>(PendingRequest<T>);

impl<T> Future for SessionTask<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> fmt::Debug for SessionTask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionTask")
    }
}

/// Builds a [`Session`]; everything has a default.
#[derive(Debug, Clone)]
pub struct SessionBuilder {
    resources: ResourceOptions,
    open_datasets: usize,
}

impl Session {
    /// The defaults: number of threads that decode and encode, and bytes that reading and writing may hold.
    pub fn usual() -> (usize, usize) {
        let usual = ResourceOptions::default();
        (usual.threads, usual.memory)
    }

    /// Number of threads that decode and encode.
    pub fn threads(&self) -> usize {
        self.shared.pool.current_num_threads()
    }

    /// Options for a new session.
    pub fn builder() -> SessionBuilder {
        SessionBuilder { resources: ResourceOptions::default(), open_datasets: OPEN_DATASETS }
    }

    /// Runs a future to its end on this thread, which sleeps while there is nothing to do. May be called from any
    /// thread, also from within an asynchronous runtime: everything it depends on runs on the session's own threads.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    /// As [`block_on`](Self::block_on), for futures of stores, which may need the session's network.
    pub fn block_on_store<F: Future>(&self, future: F) -> F::Output {
        let network = self.shared.network.handle();
        let _entered = network.as_ref().ok().and_then(entered);
        block_on(future)
    }

    /// As [`block_on`](Self::block_on), unless the [watch](crate::watch) of this thread ends the wait.
    ///
    /// # Errors
    /// Errors of the future; `Interrupted` if the wait was ended: the future is dropped then.
    pub fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        wait(future)
    }

    /// As [`wait`](Self::wait), for futures of stores, which may need the session's network.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_for_store<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let network = self.shared.network.handle();
        let _entered = network.as_ref().ok().and_then(entered);
        wait(future)
    }

    /// Starts a future on the session's own threads, which also drive its network. Dropping the returned task ends it.
    ///
    /// # Errors
    /// `Io` if the threads cannot be started.
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<SessionTask<T>> {
        Ok(SessionTask(self.shared.network.run(future)?))
    }

    /// What was fetched and decoded so far.
    pub fn statistics(&self) -> SessionStatistics {
        self.shared.counters.read()
    }

    /// The limits on resources that data from outside can use.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The same session, for a dataset that others take values from.
    pub(crate) fn of_others(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            open_datasets: Weak::clone(&self.open_datasets),
            owned: None,
        }
    }

    /// Whether it is held by a dataset that others take values from.
    pub(crate) fn is_of_others(&self) -> bool {
        self.owned.is_none()
    }

    /// Open datasets that others take values from, as long as a handle of the caller exists.
    pub(crate) fn open_datasets(&self) -> Option<Arc<OpenDatasets>> {
        self.open_datasets.upgrade()
    }

    /// Bytes that reading and writing may hold besides the caller's own buffers.
    pub fn memory(&self) -> usize {
        self.shared.memory.bytes()
    }

    /// The codecs that chunks are decoded and encoded with.
    pub fn registry(&self) -> &CodecRegistry {
        &self.shared.registry
    }
}

/// Maximum number of threads of a session: a very large number of them mostly search each other's queues for work.
#[must_use]
pub fn max_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    cores.saturating_mul(4).max(128)
}

impl SessionBuilder {
    /// Number of threads that decode and encode; all cores by default, at most [`max_threads`].
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.resources.threads = threads.clamp(1, max_threads());
        self
    }

    /// Bytes that reading and writing may hold besides the caller's own buffers.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.resources.memory = bytes;
        self
    }

    /// Bytes of decoded chunks that are kept for repeated small reads; 0 keeps none.
    #[must_use]
    pub fn chunk_cache(mut self, bytes: usize) -> Self {
        self.resources.chunk_cache = bytes;
        self
    }

    /// Bytes of metadata that each dataset keeps, besides what its format has parsed.
    #[must_use]
    pub fn metadata_cache(mut self, bytes: usize) -> Self {
        self.resources.metadata_cache = bytes;
        self
    }

    /// Limits on resources that data from outside can use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.resources.limits = limits;
        self
    }

    /// Whether `sync` and `close` wait until the bytes are on stable storage (the default).
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.resources.durable = durable;
        self
    }

    /// What reading a chunk that was never written does.
    #[must_use]
    pub fn missing(mut self, missing: MissingChunks) -> Self {
        self.resources.missing = missing;
        self
    }

    /// What reading a chunk that is too short does.
    #[must_use]
    pub fn short_chunks(mut self, short_chunks: ShortChunks) -> Self {
        self.resources.short_chunks = short_chunks;
        self
    }

    /// The codecs that chunks are decoded and encoded with: the built-in ones, by default.
    #[must_use]
    pub fn registry(mut self, registry: CodecRegistry) -> Self {
        self.resources.registry = registry;
        self
    }

    /// Caches what is fetched of remote objects besides chunks (headers, chunk indexes, metadata) in files of a folder,
    /// of at most `bytes` together: opening a dataset again costs one request, which checks whether it changed. Several
    /// processes may share the folder. None by default.
    #[must_use]
    pub fn index_cache(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        self.resources.index = Some((folder.into(), bytes));
        self
    }

    /// Overlays, which present more of datasets than their formats do, such as aggregated variables; each is consulted
    /// when a dataset is opened for reading. None by default.
    #[must_use]
    pub fn overlays(mut self, overlays: Vec<Arc<dyn Overlay>>) -> Self {
        self.resources.overlays = overlays;
        self
    }

    /// How the stores of fragments are opened: credentials, time limits.
    #[must_use]
    pub fn stores(mut self, stores: StoreContext) -> Self {
        self.resources.stores = stores;
        self
    }

    /// Number of datasets of fragments that are kept open for the next read: 128 by default, at least 1.
    #[must_use]
    pub fn open_datasets(self, max: usize) -> Self {
        Self { open_datasets: max.max(1), ..self }
    }

    /// What reading a fragment whose dataset is absent does; by default what the convention of the aggregation says.
    /// Elements that are filled in are always reported ([`Dataset::warnings`](crate::Dataset::warnings)); `Report`
    /// lists all of them in the read's report.
    #[must_use]
    pub fn fragments_absent(mut self, absent: MissingChunks) -> Self {
        self.resources.fragments_absent = Some(absent);
        self
    }

    /// Whether a remote aggregation may name local files. Not by default: its author would choose which files are read
    /// on this machine.
    #[must_use]
    pub fn local_fragments(mut self, allowed: bool) -> Self {
        self.resources.local_fragments = allowed;
        self
    }

    /// The session.
    ///
    /// # Errors
    /// `Io` if no threads can be started.
    pub fn build(self) -> Result<Session> {
        let open_datasets = Arc::new(OpenDatasets::new(self.open_datasets));
        let (shared, kept) =
            (Arc::new(SharedResources::new(self.resources)?), Arc::downgrade(&open_datasets));
        Ok(Session { shared, open_datasets: kept, owned: Some(open_datasets) })
    }
}

/// Default number of datasets of fragments that are kept open.
const OPEN_DATASETS: usize = 128;

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("threads", &self.shared.pool.current_num_threads())
            .field("memory", &self.shared.memory.bytes())
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}
