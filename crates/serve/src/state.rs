//! What all handlers share.
use crate::access::{AccessLog, Clients, Metrics};
use crate::published::{Entry, Published, ServedDataset};
use crate::{HttpError, ServerLimits};
use ncirrus::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a response waits for memory.
const RESERVE_TIME: Duration = Duration::from_secs(20);
/// How often blocking work looks whether its request is over.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// The datasets that are served, and the threads that open and read them. Cheap to clone.
#[derive(Clone)]
pub struct ServerState(Arc<StateInner>);

struct StateInner {
    published: Published,
    session: Session,
    limits: ServerLimits,
    base_path: String,
    is_behind_proxy: bool,
    workers: Arc<Semaphore>,
    /// Work that waits for a worker.
    waiting: AtomicUsize,
    /// Memory for bodies that are held, in KiB.
    memory: Arc<Semaphore>,
    memory_kib: u32,
    clients: Arc<Clients>,
    metrics: Metrics,
    log: AccessLog,
}

/// How a server is reached.
pub(crate) struct Front {
    pub(crate) base_path: String,
    pub(crate) is_behind_proxy: bool,
    pub(crate) log: AccessLog,
}

impl ServerState {
    pub(crate) fn new(published: Published, session: Session, limits: ServerLimits, front: Front) -> Self {
        let workers = Arc::new(Semaphore::new(limits.workers.max(1)));
        let clients = Clients::new(limits.responses.max(1), limits.responses_per_client.max(1));
        let Front { base_path, is_behind_proxy, log } = front;
        let metrics = Metrics::default();
        let memory_kib =
            u32::try_from(session.memory() / 1024).unwrap_or(u32::MAX >> 4).clamp(1, u32::MAX >> 4);
        let memory = Arc::new(Semaphore::new(memory_kib as usize));
        let inner = StateInner {
            published,
            session,
            limits,
            base_path,
            is_behind_proxy,
            workers,
            waiting: AtomicUsize::new(0),
            memory,
            memory_kib,
            clients,
            metrics,
            log,
        };
        Self(Arc::new(inner))
    }

    pub(crate) fn clients(&self) -> &Arc<Clients> {
        &self.0.clients
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn log(&self) -> &AccessLog {
        &self.0.log
    }

    /// Whether a proxy in front of the server says who its clients are.
    pub fn is_behind_proxy(&self) -> bool {
        self.0.is_behind_proxy
    }

    /// The session in which datasets are opened.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// The limits.
    pub fn limits(&self) -> &ServerLimits {
        &self.0.limits
    }

    /// The path before all routes: empty, or `/` and segments without a slash at the end.
    pub fn base_path(&self) -> &str {
        &self.0.base_path
    }

    /// What is served. Its functions block: call them in [`work`](Self::work).
    pub fn published(&self) -> &Published {
        &self.0.published
    }

    /// Runs what blocks on a worker thread; waits for one if all work. When this future is dropped, since the client went away
    /// or the time is over, reads of the work end with an error, and their requests are cancelled.
    ///
    /// # Errors
    /// Those of the work; 500 if it panics.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let waiting = WaitingWork::new(&self.0.waiting);
        let permit = Arc::clone(&self.0.workers).acquire_owned().await;
        drop(waiting);
        let permit = permit.map_err(|_| HttpError::busy("the server is shutting down"))?;
        let request = OpenRequest::default();
        let is_over = Arc::clone(&request.0);
        let watched = move || {
            let _permit = permit;
            if is_over.load(Ordering::Relaxed) {
                return Err(HttpError::busy("the request is over"));
            }
            ncirrus::watch(WATCH_INTERVAL, move || is_over.load(Ordering::Relaxed), work)
        };
        let done = tokio::task::spawn_blocking(watched).await;
        drop(request);
        done.map_err(|_| HttpError::internal("the server failed; its log may say why"))?
    }

    /// Whether work waits for a worker thread.
    pub(crate) fn is_worker_wanted(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed) > 0
    }

    /// A share of the memory for a body of so many bytes that is held until it is sent; waits for others to be sent.
    ///
    /// # Errors
    /// 503 if none becomes free.
    pub(crate) async fn reserve(&self, bytes: u64) -> Result<OwnedSemaphorePermit, HttpError> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).clamp(1, self.0.memory_kib);
        let acquired = Arc::clone(&self.0.memory).acquire_many_owned(kib);
        match tokio::time::timeout(RESERVE_TIME, acquired).await {
            Ok(Ok(share)) => Ok(share),
            _ => Err(HttpError::busy("the server's memory is in use: try again later")),
        }
    }

    /// The dataset that the first segments of a path name, open, and the rest of the path without a slash in front.
    ///
    /// # Errors
    /// 404 if there is none; otherwise as opening it.
    pub async fn open(&self, path: &str) -> Result<(Arc<ServedDataset>, String), HttpError> {
        let (state, path) = (self.clone(), path.to_owned());
        self.work(move || state.published().open(&path)).await
    }

    /// What is in a folder of what is served; the empty path is the uppermost folder.
    ///
    /// # Errors
    /// 404 if there is no such folder.
    pub async fn entries(&self, folder: &str) -> Result<Arc<Vec<Entry>>, HttpError> {
        let (state, folder) = (self.clone(), folder.to_owned());
        self.work(move || state.published().entries(&folder)).await
    }
}

/// Work that waits for a worker, until this is dropped.
struct WaitingWork<'a>(&'a AtomicUsize);

impl<'a> WaitingWork<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for WaitingWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Marks a request as over when it is dropped.
#[derive(Default)]
struct OpenRequest(Arc<AtomicBool>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
