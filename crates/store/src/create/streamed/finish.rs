//! The completion or abortion of an upload.
use super::local::StreamedStore;
use super::sizes::PartSizes;
use super::{AT_ONCE, DepartingPart, PartPlace, StreamedUpload, UploadState};
use crate::create::{CommitAction, OverwritePolicy, StagedDataset};
use crate::store::{BlockingStore, PutCondition, Store, StoreExt};
use crate::{StoreOptions, UploadMode, Url};
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, ObjectId, Result};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// Completes an object that is sent in parts. Dropping it aborts the upload.
pub(super) struct StreamFinish {
    pub(super) stream: Arc<StreamedUpload>,
    store: Arc<dyn Store>,
    clobber: OverwritePolicy,
    is_over: bool,
}

/// How long a drop waits for the upload to be aborted.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// An object that is sent while it is written; `None` if that is not possible: the store does not accept parts, or
/// there are no threads for the network.
pub(in crate::create) fn start(
    store: &Arc<dyn Store>,
    object: &ObjectId,
    url: &Url,
    clobber: OverwritePolicy,
    options: &StoreOptions,
) -> Option<StagedDataset> {
    let runtime = Handle::try_current().ok()?;
    if runtime.runtime_flavor() != RuntimeFlavor::MultiThread {
        return None;
    }
    let upload = store.multipart(object)?;
    let sizes = upload.part_size().map_or_else(PartSizes::default, PartSizes::of);
    let permits = Arc::new(Semaphore::new(upload.at_once().unwrap_or(AT_ONCE)));
    let folder = || options.scratch_folder();
    let stream = StreamedUpload {
        object: object.clone(),
        upload,
        runtime,
        sizes,
        budget: options.upload_memory as u64,
        scratch: (options.uploads != UploadMode::InMemory).then(folder),
        permits,
        state: Mutex::default(),
        sent: Condvar::new(),
        tasks: Mutex::default(),
    };
    let finish = StreamFinish::new(stream, store, clobber);
    let streamed = BlockingStore(StreamedStore(Arc::clone(&finish.stream)));
    Some(StagedDataset::new(Arc::new(streamed), object.clone(), url, finish))
}

impl StreamFinish {
    pub(super) fn new(stream: StreamedUpload, store: &Arc<dyn Store>, clobber: OverwritePolicy) -> Self {
        Self { stream: Arc::new(stream), store: Arc::clone(store), clobber, is_over: false }
    }

    async fn complete(&self) -> Result<()> {
        let when = match self.clobber {
            OverwritePolicy::Never => PutCondition::Absent,
            OverwritePolicy::Replace => PutCondition::None,
        };
        let stream = &self.stream;
        stream.settle().await?;
        let (len, has_sent) = {
            let state = stream.lock();
            (state.len, state.parts.keys().any(|index| state.is_sent(*index)))
        };
        if !has_sent && len <= stream.sizes.size(0) {
            let mut leaving = stream.leave(0)?;
            leaving.ended(Ok(()));
            let body = leaving.take();
            return self.store.put(&stream.object, body, when).await.map(|_| ());
        }
        for index in 1..stream.sizes.count(len) {
            stream.send_rest(index).await?;
        }
        stream.settle().await?;
        stream.send(stream.leave(0)?)?;
        stream.settle().await?;
        stream.upload.complete(when).await.map(|_| ())
    }
}

impl StreamedUpload {
    /// Waits until everything in flight has arrived.
    async fn settle(&self) -> Result<()> {
        let mut tasks = self.take_tasks();
        while tasks.join_next().await.is_some() {}
        self.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Sends a part that has gaps, when there is memory for it.
    async fn send_rest(self: &Arc<Self>, index: u64) -> Result<()> {
        let is_held = {
            let state = self.lock();
            match state.parts.get(&index).map(|part| &part.place) {
                Some(PartPlace::Sent) => return Ok(()),
                place => matches!(place, Some(PartPlace::Held(_))),
            }
        };
        if !is_held && !self.has_room(&self.lock(), self.sizes.size(index)) {
            self.settle().await?;
        }
        self.send(self.leave(index)?)
    }

    fn leave(self: &Arc<Self>, index: u64) -> Result<DepartingPart> {
        let mut state = self.lock();
        state.leave(self, index)
    }

    /// Nothing is written from now on.
    fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        drop(state);
        self.sent.notify_all();
    }

    /// Aborts the upload, when nothing is in flight any more.
    async fn take_back(self: Arc<Self>) -> Result<()> {
        self.end();
        self.take_tasks().shutdown().await;
        *self.lock() = UploadState { is_over: true, ..UploadState::default() };
        self.upload.abort().await
    }
}

impl CommitAction for StreamFinish {
    fn commit(mut self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.stream.end();
            let done = self.complete().await;
            if done.is_err() {
                // The error to report is that the object could not be created.
                _ = Arc::clone(&self.stream).take_back().await;
            }
            self.is_over = true;
            done.map_err(|error| error.at_object(&self.stream.object))
        })
    }

    fn abort(mut self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let done = Arc::clone(&self.stream).take_back().await;
            self.is_over = true;
            done
        })
    }

    fn check_sync(&self) -> Result<()> {
        let message = "a file that is uploaded while it is written only becomes visible when it is closed";
        Err(Error::unsupported(message).at_object(&self.stream.object))
    }
}

impl Drop for StreamFinish {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (sender, done) = mpsc::channel();
        let stream = Arc::clone(&self.stream);
        self.stream.runtime.spawn(async move {
            let taken_back = stream.take_back().await;
            // There may be no receiver any more.
            _ = sender.send(taken_back.is_ok());
        });
        // A thread of a runtime must not wait for it.
        if Handle::try_current().is_err() {
            _ = done.recv_timeout(MAX_WAIT);
        }
    }
}
