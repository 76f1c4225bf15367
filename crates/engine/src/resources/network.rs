//! Requests to stores that answer over a network: on the session's own runtime, bounded per store.
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Listing, ObjectBytes, ObjectId, Result, StoreId, Want};
use ncirrus_store::{AnswerPart, AnswerReceiver, Store};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::runtime::{EnterGuard, Handle, Runtime};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

/// Requests to stores that answer over a network. The first one starts the runtime.
#[derive(Default)]
pub(crate) struct NetworkRuntime {
    runtime: OnceLock<Option<Runtime>>,
    hosts: Mutex<HashMap<StoreId, Arc<Semaphore>>>,
}

/// A request in flight; dropping it cancels it.
pub(crate) struct PendingRequest<T = Option<ObjectBytes>>(JoinHandle<Result<T>>);

/// Threads that wait for networks; the computing happens on others.
const NETWORK_THREADS: usize = 2;

impl NetworkRuntime {
    /// Starts a request; it waits for a permit if too many to that store are in flight.
    pub(crate) fn fetch(
        &self,
        store: &Arc<dyn Store>,
        object: ObjectId,
        want: Want,
    ) -> Result<PendingRequest> {
        let host = self.host(store);
        let store = Arc::clone(store);
        Ok(PendingRequest(self.handle()?.spawn(async move { get(store.as_ref(), host, object, want).await })))
    }

    /// Starts a request whose answer is passed on while it arrives; it waits for a permit like others.
    pub(crate) fn answer(&self, store: &Arc<dyn Store>, object: ObjectId) -> Result<PendingAnswer> {
        let (host, store) = (self.host(store), Arc::clone(store));
        let (sender, parts) = mpsc::channel(WAITING_PARTS);
        let mut receiver = AnswerSender { sender, received: 0 };
        let request = self.run(async move {
            let start = Instant::now();
            let _permit = host.acquire().await;
            let found = pass_on(store.as_ref(), &object, &mut receiver).await;
            trace_fetch(&object, &Want::All, (&found, receiver.received), start);
            found
        })?;
        Ok(PendingAnswer { parts, request: Some(request) })
    }

    /// Starts requesting the names below a prefix.
    pub(crate) fn list(
        &self,
        store: &Arc<dyn Store>,
        prefix: ObjectId,
        page: Option<String>,
    ) -> Result<PendingRequest<Listing>> {
        let host = self.host(store);
        let store = Arc::clone(store);
        Ok(PendingRequest(self.handle()?.spawn(async move {
            let _permit = host.acquire().await;
            store.list(&prefix, page.as_deref()).await
        })))
    }

    /// Starts a future that may need the network.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<PendingRequest<T>> {
        Ok(PendingRequest(self.handle()?.spawn(work)))
    }

    /// The runtime's handle, for stores that need one.
    pub(crate) fn handle(&self) -> Result<Handle> {
        let start = || {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(NETWORK_THREADS).thread_name("ncirrus-net").enable_all().build().ok()
        };
        let start = || {
            // A runtime that starts is entered.
            if is_thread_ending() {
                std::thread::Builder::new().spawn(start).ok()?.join().ok()?
            } else {
                start()
            }
        };
        let runtime = self.runtime.get_or_init(start).as_ref();
        let failed = || Error::new(ErrorKind::Io { retryable: true }, "cannot start the network threads");
        Ok(runtime.ok_or_else(failed)?.handle().clone())
    }

    /// The request permits of a store: each request in flight holds one.
    pub(crate) fn host(&self, store: &Arc<dyn Store>) -> Arc<Semaphore> {
        let mut hosts = self.hosts.guard();
        let host = hosts.entry(store.id().clone());
        let max = store.facts().concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Arc::clone(host.or_insert_with(|| Arc::new(Semaphore::new(max))))
    }
}

/// Whether what this thread keeps for itself is gone, and runtimes cannot be entered any more: programs still call from functions that
/// they registered with `atexit` or for the end of a thread.
pub fn is_thread_ending() -> bool {
    Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed())
}

/// Enters the runtime, as long as the thread can.
pub(crate) fn entered(network: &Handle) -> Option<EnterGuard<'_>> {
    (!is_thread_ending()).then(|| network.enter())
}

/// Parts of an answer that wait to be decoded.
const WAITING_PARTS: usize = 1;

/// An answer that is passed on while it arrives; dropping it cancels its request.
pub(crate) struct PendingAnswer {
    parts: mpsc::Receiver<AnswerPart>,
    /// Whether there is an answer; `None` once that is known.
    request: Option<PendingRequest<bool>>,
}

impl PendingAnswer {
    /// One that has arrived.
    pub(crate) fn arrived(bytes: Bytes) -> Self {
        let (sender, parts) = mpsc::channel(WAITING_PARTS);
        // There is room for one part.
        _ = sender.try_send(AnswerPart::Bytes(bytes));
        Self { parts, request: None }
    }

    /// The next part; `None` after the last.
    ///
    /// # Errors
    /// That of the request; `NotFound` if there is no answer.
    pub(crate) async fn next(&mut self) -> Result<Option<AnswerPart>> {
        if let Some(part) = self.parts.recv().await {
            return Ok(Some(part));
        }
        let Some(request) = self.request.take() else { return Ok(None) };
        if request.await? { Ok(None) } else { Err(Error::not_found("no such object")) }
    }
}

/// Where a request passes on its answer.
struct AnswerSender {
    sender: mpsc::Sender<AnswerPart>,
    received: u64,
}

impl AnswerReceiver for AnswerSender {
    fn receive(&mut self, part: AnswerPart) -> BoxFuture<'_, Result<()>> {
        if let AnswerPart::Bytes(bytes) = &part {
            self.received += bytes.len() as u64;
        }
        let sent = self.sender.send(part);
        async move { sent.await.map_err(|_| Error::internal("no task waits for the answer")) }.boxed()
    }
}

async fn pass_on(store: &dyn Store, object: &ObjectId, receiver: &mut AnswerSender) -> Result<bool> {
    if let Some(answer) = store.abilities().and_then(|abilities| abilities.answer(object, receiver)) {
        return answer.await;
    }
    let Some(found) = store.get(object, &Want::All).await? else { return Ok(false) };
    receiver.receive(AnswerPart::Bytes(found.bytes)).await?;
    Ok(true)
}

/// Reads once it has a permit.
async fn get(
    store: &dyn Store,
    host: Arc<Semaphore>,
    object: ObjectId,
    want: Want,
) -> Result<Option<ObjectBytes>> {
    let start = Instant::now();
    let _permit = host.acquire().await;
    let found = store.get(&object, &want).await;
    let received = found.iter().flatten().map(|blob| blob.bytes.len() as u64).sum();
    let is_there = found.as_ref().map(Option::is_some).map_err(Error::clone);
    trace_fetch(&object, &want, (&is_there, received), start);
    found
}

/// Traces a read of any store.
fn trace_fetch(object: &ObjectId, want: &Want, (found, received): (&Result<bool>, u64), start: Instant) {
    let outcome = match found {
        Ok(true) => "",
        Ok(false) => "not there",
        Err(error) => error.message(),
    };
    tracing::trace!(
        target: "ncirrus::fetch",
        store = object.store.as_str(),
        object = object.key(),
        range = match want {
            Want::All | Want::AtMost(_) => String::new(),
            Want::Range(range) | Want::Parse(range) => format!("{}-{}", range.start, range.end.saturating_sub(1)),
            Want::Suffix(len) => format!("-{len}"),
        },
        received,
        total_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        outcome,
    );
}

impl Drop for NetworkRuntime {
    fn drop(&mut self) {
        // A session may be dropped inside another runtime, where waiting for ours is not allowed.
        if let Some(runtime) = self.runtime.take().flatten() {
            runtime.shutdown_background();
        }
    }
}

impl<T> Future for PendingRequest<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|joined| {
            joined.unwrap_or_else(|error| Err(Error::internal("a request was abandoned").because(error)))
        })
    }
}

impl<T> Drop for PendingRequest<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
