//! Stores that see a file as a reader far away does: its front only, or with a count of requests.
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::lock::Mutex;
use ncirrus_layout::{Error, Listing, LockExt, ObjectBytes, ObjectId, Result, StoreId, Want};
use ncirrus_store::want::resolve;
use ncirrus_store::{AnswerReceiver, LocalStore, ObjectRange, ReadOnlyStore, Store, StoreFacts};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

/// The ends of the fronts that the first, second and third request fetch.
const FRONTS: [u64; 3] = [1 << 20, 16 << 20, 64 << 20];

/// The front of an object, fetched with at most three requests however it is read.
#[derive(Debug)]
pub(super) struct FrontStore {
    inner: Arc<dyn Store>,
    object: ObjectId,
    fetched: Mutex<Option<FetchedFront>>,
    /// One more than the first offset that was wanted behind the front; 0 if there is none.
    beyond: AtomicU64,
    len: AtomicU64,
}

#[derive(Debug)]
struct FetchedFront {
    front: ObjectBytes,
    requests: usize,
}

impl FrontStore {
    pub(super) fn new(inner: Arc<dyn Store>, object: ObjectId) -> Self {
        Self { inner, object, fetched: Mutex::new(None), beyond: AtomicU64::new(0), len: AtomicU64::new(0) }
    }

    /// The first offset that was wanted, and is behind the front.
    pub(super) fn beyond(&self) -> Option<u64> {
        self.beyond.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Bytes of the front that were fetched.
    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    async fn read(&self, want: &Want) -> Result<Option<ObjectBytes>> {
        let mut fetched = self.fetched.lock().await;
        if fetched.is_none() {
            let Some(front) = self.fetch(0..FRONTS[0]).await? else { return Ok(None) };
            self.len.store(front.bytes.len() as u64, Ordering::Relaxed);
            *fetched = Some(FetchedFront { front, requests: 1 });
        }
        let Some(held) = fetched.as_mut() else { return Ok(None) };
        loop {
            let (range, len) = (resolve(want, held.front.size), held.front.bytes.len() as u64);
            if range.end <= len {
                return Ok(Some(part(&held.front, &range)));
            }
            let next = FRONTS.get(held.requests).copied().filter(|next| range.start < *next);
            let Some(next) = next else {
                self.beyond.fetch_max(range.start.max(len).saturating_add(1), Ordering::Relaxed);
                let message =
                    format!("bytes {} to {} are behind the front of the file", range.start, range.end);
                return Err(Error::limit(message).at_object(&self.object));
            };
            held.requests += 1;
            self.extend(&mut held.front, next).await?;
        }
    }

    async fn extend(&self, front: &mut ObjectBytes, end: u64) -> Result<()> {
        let len = front.bytes.len() as u64;
        let more = self.fetch(len..end.min(front.size)).await?;
        let more = more.filter(|more| more.tag == front.tag && more.size == front.size);
        let changed =
            || Error::new(ncirrus::ErrorKind::Changed, "was changed meanwhile").at_object(&self.object);
        let more = more.ok_or_else(changed)?;
        front.bytes = [&front.bytes[..], &more.bytes[..]].concat().into();
        self.len.store(front.bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Option<ObjectBytes>> {
        get(self.inner.as_ref(), &self.object, &Want::Range(range)).await
    }
}

/// Bytes of an object, however its store is read.
async fn get(store: &dyn Store, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
    match store.local() {
        Some(local) => local.read(object, want),
        None => store.get(object, want).await,
    }
}

fn part(front: &ObjectBytes, range: &Range<u64>) -> ObjectBytes {
    let at = |offset: u64| usize::try_from(offset).map_or(front.bytes.len(), |at| at.min(front.bytes.len()));
    let bytes = front.bytes.slice(at(range.start)..at(range.end));
    ObjectBytes { bytes, offset: range.start, ..front.clone() }
}

/// A store that is read as one far away, with a count of its requests.
#[derive(Debug)]
pub(crate) struct CountingStore {
    inner: Arc<dyn Store>,
    counts: StdMutex<(u64, u64)>,
}

impl CountingStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, counts: StdMutex::default() }
    }

    /// Requests so far, and the bytes that they returned.
    pub(crate) fn counts(&self) -> (u64, u64) {
        *self.counts.guard()
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let found = get(self.inner.as_ref(), object, want).await?;
        let mut counts = self.counts.guard();
        counts.0 += 1;
        counts.1 += found.as_ref().map_or(0, |found| found.bytes.len() as u64);
        Ok(found)
    }
}

/// The facts of a web server.
fn facts(merge_gap: u64) -> StoreFacts {
    StoreFacts {
        latency: Duration::from_millis(50),
        concurrency: 32,
        merge_gap,
        range_cap: 16 << 20,
        lists: false,
        writable: false,
        isolated: false,
    }
}

macro_rules! read_only {
    ($store:ty, $gap:expr, |$self:ident, $object:ident, $want:ident| $read:expr) => {
        impl ReadOnlyStore for $store {
            fn id(&self) -> &StoreId {
                self.inner.id()
            }

            fn facts(&self) -> StoreFacts {
                facts($gap)
            }

            fn local(&self) -> Option<&dyn LocalStore> {
                None
            }

            fn get<'a>(
                &'a $self,
                $object: &'a ObjectId,
                $want: &'a Want,
            ) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
                $read
            }

            fn list<'a>(&'a self, _: &'a ObjectId, _: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
                futures_util::future::ready(Err(self.rejection())).boxed()
            }

            fn rejection(&self) -> Error {
                Error::unsupported("the file is only read")
            }

            fn warnings(&self) -> Vec<String> {
                Vec::new()
            }

            fn within(&self, _: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
                None
            }

            fn within_many<'a>(
                &'a self,
                _: &'a [ObjectId],
            ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
                None
            }

            fn answer<'a>(
                &'a self,
                _: &'a ObjectId,
                _: &'a mut dyn AnswerReceiver,
            ) -> Option<BoxFuture<'a, Result<bool>>> {
                None
            }
        }
    };
}

// Other objects do not belong to a file: they are not requested.
read_only!(FrontStore, 0, |self, object, want| if *object == self.object {
    self.read(want).boxed()
} else {
    futures_util::future::ready(Ok(None)).boxed()
});
read_only!(CountingStore, 512 << 10, |self, object, want| self.read(object, want).boxed());
