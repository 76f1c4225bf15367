//! The place of a new tree on another machine: announced at once, and cleared of what was there with the first request,
//! while more chunks are computed. Nothing of the new tree is put or read before.
use crate::store::{Facts, LocalStore, Objects, Precondition, Store};
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, Shared};
use ncirrus_layout::{Blob, Listing, ObjectId, Result, StoreId, Tag, Want};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What makes a place ready.
#[derive(Clone)]
pub(super) struct Site {
    announced: Shared<BoxFuture<'static, Result<Option<Tag>>>>,
    cleared: Shared<BoxFuture<'static, Result<()>>>,
    is_touched: Arc<AtomicBool>,
}

impl Site {
    /// `announce` begins now and tells the state of what it put; `clear` begins with the first request, when that is done.
    pub(super) async fn new(
        announce: impl Future<Output = Result<Option<Tag>>> + Send + 'static,
        clear: impl Future<Output = Result<()>> + Send + 'static,
    ) -> Result<Self> {
        let announced = begun(announce).await?.shared();
        let is_touched = Arc::new(AtomicBool::new(false));
        let (before, touched) = (announced.clone(), Arc::clone(&is_touched));
        let cleared = async move {
            before.await?;
            touched.store(true, Ordering::Release);
            clear.await
        };
        Ok(Self { announced, cleared: cleared.boxed().shared(), is_touched })
    }

    /// The state of what announces the tree; `None` where that cannot be.
    pub(super) async fn announced(&self) -> Result<Option<Tag>> {
        self.announced.clone().await
    }

    /// Whether anything there was changed.
    pub(super) fn is_touched(&self) -> bool {
        self.is_touched.load(Ordering::Acquire)
    }

    async fn cleared(&self) -> Result<()> {
        self.cleared.clone().await
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Site(touched: {})", self.is_touched())
    }
}

/// A request that goes on while nobody waits for it; one that has ended where there is no runtime.
async fn begun<T: Send + 'static>(
    request: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<BoxFuture<'static, Result<T>>> {
    #[cfg(feature = "net")]
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let task = runtime.spawn(request);
        let abandoned = |error| ncirrus_layout::Error::internal("a request was abandoned").because(error);
        return Ok(async move { task.await.map_err(abandoned)? }.boxed());
    }
    let done = request.await?;
    Ok(async move { Ok(done) }.boxed())
}

/// A store whose requests wait until the place is ready.
#[derive(Debug)]
pub(super) struct Clearing {
    pub(super) inner: Arc<dyn Store>,
    pub(super) site: Site,
}

impl Store for Clearing {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<Blob>>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.get(object, want).await
        })
    }

    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        self.inner.within(object)
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: Precondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.put(object, body, when).await
        })
    }

    fn upload<'a>(
        &'a self,
        object: &'a ObjectId,
        file: &'a Path,
        when: Precondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.upload(object, file, when).await
        })
    }

    fn longest_key(&self) -> usize {
        self.inner.longest_key()
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.delete(object).await
        })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.delete_tree(prefix).await
        })
    }

    fn delete_tree_but<'a>(&'a self, prefix: &'a ObjectId, kept: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.delete_tree_but(prefix, kept).await
        })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move {
            self.site.cleared().await?;
            self.inner.list(prefix, page).await
        })
    }

    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<Objects>>> {
        let objects = self.inner.objects(prefix, page)?;
        Some(Box::pin(async move {
            self.site.cleared().await?;
            objects.await
        }))
    }
}
