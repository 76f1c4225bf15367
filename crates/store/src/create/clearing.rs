//! The location of a new remote tree: announced at once, and cleared of what a killed writer left with the first
//! request, while more chunks are computed. Nothing of the new tree is put or read before that, nor after another
//! program has taken the location over. A tree that replaces another is written beside it.
use super::beside::ReplacementTree;
use super::lease::TreeLease;
use crate::store::{
    LocalStore, ObjectPage, ObjectRange, PutCondition, Store, StoreAbilities, StoreExt, StoreFacts,
};
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, Shared};
use ncirrus_layout::{ListEntry, Listing, LockExt, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The tasks that prepare a location.
#[derive(Clone)]
pub(super) struct TreeSite {
    leased: Shared<BoxFuture<'static, Result<Arc<TreeLease>>>>,
    cleared: Shared<BoxFuture<'static, Result<()>>>,
    is_touched: Arc<AtomicBool>,
    beside: Option<Arc<ReplacementTree>>,
    /// First segments of the keys, below the root of the tree, of what was put.
    segments: Arc<Mutex<BTreeSet<String>>>,
}

impl TreeSite {
    /// `take` begins now; `clear` begins with the first request, when that is done.
    pub(super) async fn new(
        take: impl Future<Output = Result<Arc<TreeLease>>> + Send + 'static,
        clear: impl Future<Output = Result<()>> + Send + 'static,
        beside: Option<ReplacementTree>,
    ) -> Result<Self> {
        let leased = begun(take).await?.shared();
        let is_touched = Arc::new(AtomicBool::new(false));
        let (before, touched) = (leased.clone(), Arc::clone(&is_touched));
        let cleared = async move {
            before.await?;
            touched.store(true, Ordering::Release);
            clear.await
        };
        let cleared = cleared.boxed().shared();
        Ok(Self { leased, cleared, is_touched, beside: beside.map(Arc::new), segments: Arc::default() })
    }

    /// The lease of the location.
    pub(super) async fn lease(&self) -> Result<Arc<TreeLease>> {
        self.leased.clone().await
    }

    /// Whether anything there was changed.
    pub(super) fn is_touched(&self) -> bool {
        self.is_touched.load(Ordering::Acquire)
    }

    /// Whether something was put in the part of the tree that has this object.
    pub(super) fn has_put_beside(&self, root: &ObjectId, object: &ObjectId) -> bool {
        first_segment(root, object).is_some_and(|first| self.segments.guard().contains(first))
    }

    fn note_put(&self, root: &ObjectId, object: &ObjectId) {
        if let Some(first) = first_segment(root, object) {
            let mut segments = self.segments.guard();
            if !segments.contains(first) {
                segments.insert(first.to_owned());
            }
        }
    }

    /// Where the new tree is created, if it replaces one.
    pub(super) fn beside(&self) -> Option<&ReplacementTree> {
        self.beside.as_deref()
    }

    async fn ready(&self) -> Result<()> {
        self.cleared.clone().await?;
        self.lease().await?.check_held()
    }

    /// Where an object is stored for now.
    fn place_of(&self, object: &ObjectId) -> ObjectId {
        self.beside().map_or_else(|| object.clone(), |beside| beside.place_of(object))
    }
}

impl fmt::Debug for TreeSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Site(touched: {})", self.is_touched())
    }
}

/// The first segment of a key below a root.
fn first_segment<'a>(root: &ObjectId, object: &'a ObjectId) -> Option<&'a str> {
    let below = object.key().strip_prefix(root.key())?.trim_start_matches('/');
    below.split('/').next().filter(|first| !first.is_empty())
}

/// A task that runs while nothing waits for it; without a runtime, an already completed one.
async fn begun<T: Send + 'static>(
    request: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<BoxFuture<'static, Result<T>>> {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let task = runtime.spawn(request);
        let abandoned = |error| ncirrus_layout::Error::internal("a request was abandoned").because(error);
        return Ok(async move { task.await.map_err(abandoned)? }.boxed());
    }
    let done = request.await?;
    Ok(async move { Ok(done) }.boxed())
}

/// A store whose requests wait until the location is ready.
#[derive(Debug)]
pub(super) struct ClearingStore {
    pub(super) inner: Arc<dyn Store>,
    pub(super) root: ObjectId,
    pub(super) site: TreeSite,
}

impl ClearingStore {
    /// Names directly below a prefix; those of the root are stored in two folders.
    async fn names(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        self.site.ready().await?;
        let mut listing = self.inner.list(&self.site.place_of(prefix), page).await?;
        if let Some(beside) = self.site.beside().filter(|beside| beside.is_root(prefix) && page.is_none()) {
            let documents = self.inner.list(&beside.documents(), None).await?.entries;
            listing.entries.extend(documents.into_iter().filter_map(|entry| {
                Some(ListEntry { name: ReplacementTree::document(&entry.name)?.to_owned(), ..entry })
            }));
            listing.entries.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(listing)
    }
}

impl Store for ClearingStore {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn facts(&self) -> StoreFacts {
        self.inner.facts()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move {
            self.site.ready().await?;
            self.inner.get(&self.site.place_of(object), want).await
        })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            self.site.ready().await?;
            self.site.note_put(&self.root, object);
            self.inner.put(&self.site.place_of(object), body, when).await
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.site.ready().await?;
            self.inner.delete(&self.site.place_of(object)).await
        })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.site.ready().await?;
            match self.site.beside().filter(|beside| beside.is_root(prefix)) {
                Some(beside) => self.inner.delete_tree(beside.folder()).await,
                None => self.inner.delete_tree(&self.site.place_of(prefix)).await,
            }
        })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(self.names(prefix, page))
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        Some(self)
    }
}

impl StoreAbilities for ClearingStore {
    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        self.inner.within(object)
    }

    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        self.inner.abilities()?.within_many(objects)
    }

    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: PutCondition,
    ) -> Option<BoxFuture<'a, Result<Tag>>> {
        Some(Box::pin(async move {
            self.site.ready().await?;
            self.site.note_put(&self.root, object);
            self.inner.upload(&self.site.place_of(object), file, when).await
        }))
    }

    /// The objects of a tree are put whole: none is begun before the location is ready.
    fn multipart(&self, _: &ObjectId) -> Option<Arc<dyn crate::MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        self.inner.server()
    }

    fn longest_key(&self) -> usize {
        self.inner.longest_key().saturating_sub(self.site.beside().map_or(0, ReplacementTree::longer))
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    fn holds<'a>(&'a self, object: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        Some(Box::pin(async move {
            self.site.ready().await?;
            self.inner.holds(&self.site.place_of(object)).await
        }))
    }

    fn copy<'a>(&'a self, from: &'a ObjectId, to: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            self.site.ready().await?;
            self.inner.copy(&self.site.place_of(from), &self.site.place_of(to)).await
        }))
    }

    fn delete_many<'a>(&'a self, objects: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        Some(Box::pin(async move {
            self.site.ready().await?;
            let places: Vec<ObjectId> = objects.iter().map(|object| self.site.place_of(object)).collect();
            self.inner.delete_many(&places).await
        }))
    }

    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<ObjectPage>>> {
        if self.site.beside().is_some() {
            return None;
        }
        let objects = self.inner.objects(prefix, page)?;
        Some(Box::pin(async move {
            self.site.ready().await?;
            objects.await
        }))
    }

    /// What is cleared is written, and no server computes that.
    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}
