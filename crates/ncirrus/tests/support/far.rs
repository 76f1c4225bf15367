//! A remote store: it counts, and answers requests or carries out changes only when no more are arriving.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]

use bytes::Bytes;
use ncirrus_layout::{Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use ncirrus_store::{LocalStore, MemoryStore, ObjectPage, PutCondition, Store, StoreFacts};
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

/// A remote store that counts requests.
#[derive(Debug)]
pub(crate) struct Far {
    pub(crate) inner: MemoryStore,
    /// Gaps of up to this many bytes between ranges are fetched.
    pub(crate) merge_gap: u64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<(String, Want)>,
    bytes: u64,
    /// Requests and listings so far.
    arrived: usize,
    /// How many times all waiting requests were answered.
    rounds: usize,
    /// Requests that were answered before this round.
    answered: usize,
    /// Maximum number of requests that waited together.
    max: usize,
}

/// Time without a new request after which all are answered.
const QUIET: Duration = Duration::from_millis(100);

impl Far {
    pub(crate) fn new(inner: MemoryStore) -> Self {
        Self { inner, merge_gap: 0, seen: Mutex::default() }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<(String, Want)> {
        self.seen.lock().unwrap().requests.clone()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.seen.lock().unwrap().bytes
    }

    /// How many sequential rounds of requests there were.
    pub(crate) fn rounds(&self) -> usize {
        self.seen.lock().unwrap().rounds
    }

    /// Maximum number of requests that were in flight together.
    pub(crate) fn max_in_flight(&self) -> usize {
        self.seen.lock().unwrap().max
    }

    /// Waits until the round is over: no more requests arrive.
    async fn turn(&self, object: &ObjectId, want: Want) {
        let (mine, mut arrived) = {
            let mut seen = self.seen.lock().unwrap();
            seen.requests.push((object.key().to_owned(), want));
            seen.arrived += 1;
            (seen.rounds, seen.arrived)
        };
        loop {
            tokio::time::sleep(QUIET).await;
            let mut seen = self.seen.lock().unwrap();
            if seen.rounds != mine {
                return;
            }
            if seen.arrived == arrived {
                seen.rounds += 1;
                seen.max = seen.max.max(arrived - seen.answered);
                seen.answered = arrived;
                return;
            }
            arrived = seen.arrived;
        }
    }
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl Store for Far {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(50),
            concurrency: 4096,
            merge_gap: self.merge_gap,
            range_cap: 16 << 20,
            isolated: false,
            lists: true,
            writable: true,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> Answer<'a, Option<ObjectBytes>> {
        Box::pin(async move {
            self.turn(object, want.clone()).await;
            let blob = self.inner.read(object, want)?;
            self.seen.lock().unwrap().bytes += blob.as_ref().map_or(0, |blob| blob.bytes.len() as u64);
            Ok(blob)
        })
    }

    fn put<'a>(&'a self, object: &'a ObjectId, body: Bytes, when: PutCondition) -> Answer<'a, Tag> {
        Box::pin(async move {
            self.turn(object, Want::All).await;
            LocalStore::put(&self.inner, object, &body, &when)
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.turn(object, Want::All).await;
            LocalStore::delete(&self.inner, object)
        })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.turn(prefix, Want::All).await;
            LocalStore::delete_tree(&self.inner, prefix)
        })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> Answer<'a, Listing> {
        Box::pin(async move {
            self.turn(prefix, Want::All).await;
            LocalStore::list(&self.inner, prefix, page)
        })
    }

    fn abilities(&self) -> Option<&dyn ncirrus_store::StoreAbilities> {
        Some(self)
    }
}

impl ncirrus_store::StoreAbilities for Far {
    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<ncirrus_store::implement::BoxFuture<'a, Result<Vec<Option<ncirrus_store::ObjectRange>>>>>
    {
        None
    }

    fn upload<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a std::path::Path,
        _: PutCondition,
    ) -> Option<ncirrus_store::implement::BoxFuture<'a, Result<Tag>>> {
        None
    }

    fn multipart(&self, _: &ObjectId) -> Option<std::sync::Arc<dyn ncirrus_store::MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        None
    }

    fn longest_key(&self) -> usize {
        usize::MAX
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn holds<'a>(&'a self, _: &'a ObjectId) -> Option<ncirrus_store::implement::BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<Answer<'a, ()>> {
        Some(Box::pin(async move {
            self.turn(to, Want::All).await;
            let blob = self.inner.read(from, &Want::All)?.unwrap();
            LocalStore::put(&self.inner, to, &blob.bytes, &PutCondition::None).map(|_| ())
        }))
    }

    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<Answer<'a, ()>> {
        Some(Box::pin(async move {
            if let Some(first) = objects.first() {
                self.turn(first, Want::All).await;
            }
            objects.iter().try_for_each(|object| LocalStore::delete(&self.inner, object))
        }))
    }

    fn objects<'a>(&'a self, prefix: &'a ObjectId, _: Option<&'a str>) -> Option<Answer<'a, ObjectPage>> {
        Some(Box::pin(async move {
            self.turn(prefix, Want::All).await;
            let folder = format!("{}/", prefix.key());
            let below = self.inner.keys().into_iter().filter(|key| key.starts_with(&folder));
            let object = |key: String| {
                let object = ObjectId::new(prefix.store.clone(), key);
                let size = LocalStore::stat(&self.inner, &object)?.map_or(0, |(size, _)| size);
                Ok((object, size))
            };
            Ok(ObjectPage { objects: below.map(object).collect::<Result<_>>()?, ..ObjectPage::default() })
        }))
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn ncirrus_store::AnswerReceiver,
    ) -> Option<ncirrus_store::implement::BoxFuture<'a, Result<bool>>> {
        None
    }
}
