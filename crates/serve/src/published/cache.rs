//! Open datasets.
use crate::HttpError;
use hashlink::LruCache;
use ncirrus::layout::LockExt;
use ncirrus::{Dataset, OpenOptions, Session};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A dataset that is served, open.
pub struct ServedDataset {
    name: String,
    dataset: Dataset,
    tag: Option<String>,
    checked: Mutex<Instant>,
    /// What modules made of it, by type.
    derived: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl ServedDataset {
    /// The path of its name, without a slash in front.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The last segment of its name.
    pub fn last_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// What is made of this state of the dataset once, by its type: definitions in another protocol, for example.
    ///
    /// # Errors
    /// Those of making it.
    pub fn derived<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce(&Dataset) -> ncirrus::Result<T>,
    ) -> ncirrus::Result<Arc<T>> {
        let known = self.derived.guard().get(&TypeId::of::<T>()).cloned();
        if let Some(known) = known.and_then(|known| known.downcast::<T>().ok()) {
            return Ok(known);
        }
        let made = Arc::new(make(&self.dataset)?);
        self.derived.guard().insert(TypeId::of::<T>(), Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        Ok(made)
    }

    /// As [`etag`](Self::etag), for values; `None` if chunks may be replaced without a change of the dataset's tag.
    pub fn etag_of_data(&self, of: &str) -> Option<String> {
        let is_one_object = self.tag.as_deref().is_some_and(|tag| !tag.starts_with("tree-"));
        if is_one_object { self.etag(of) } else { None }
    }

    /// The tag of HTTP for what is derived from the definitions in this state of the dataset, in the way that `of`
    /// describes; `None` if its store reports no tags.
    pub fn etag(&self, of: &str) -> Option<String> {
        let tag = self.tag.as_deref()?;
        let digest = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, &self.name, tag, of, ncirrus::VERSION).hash(&mut hasher);
            hasher.finish()
        };
        Some(format!("\"{:016x}{:016x}\"", digest(0), digest(1)))
    }
}

/// Datasets that are kept open, the last used ones.
pub(super) struct OpenCache {
    recheck: Duration,
    open: Mutex<LruCache<String, Arc<ServedDataset>>>,
    /// One opening of a dataset at a time.
    opening: Mutex<LruCache<String, Arc<Mutex<()>>>>,
}

impl OpenCache {
    pub(super) fn new(max: usize, recheck: Duration) -> Self {
        let (open, opening) = (LruCache::new(max.max(1)), LruCache::new(4 * max.max(16)));
        Self { recheck, open: Mutex::new(open), opening: Mutex::new(opening) }
    }

    pub(super) fn len(&self) -> usize {
        self.open.guard().len()
    }

    /// The open dataset if it is as it was, otherwise a new one.
    pub(super) fn open(
        &self,
        name: &str,
        address: &str,
        session: &Session,
    ) -> Result<Arc<ServedDataset>, HttpError> {
        if let Some(served) = self.fresh(name) {
            return Ok(served);
        }
        let alone = {
            let mut opening = self.opening.guard();
            Arc::clone(opening.entry(name.to_owned()).or_insert_with(Arc::default))
        };
        let _alone = alone.guard();
        // Another request may have opened it meanwhile.
        if let Some(served) = self.fresh(name) {
            return Ok(served);
        }
        let known = self.open.guard().get(name).cloned();
        if let Some(known) = known.as_ref().filter(|known| known.dataset.is_unchanged()) {
            *known.checked.guard() = Instant::now();
            return Ok(Arc::clone(known));
        }
        let dataset = Dataset::open_with(address, &OpenOptions::default(), session)?;
        let tag = dataset.tag();
        if let Some(known) = known.filter(|known| tag.is_some() && known.tag == tag) {
            *known.checked.guard() = Instant::now();
            return Ok(known);
        }
        let checked = Mutex::new(Instant::now());
        let derived = Mutex::default();
        let served = Arc::new(ServedDataset { name: name.to_owned(), dataset, tag, checked, derived });
        self.open.guard().insert(name.to_owned(), Arc::clone(&served));
        Ok(served)
    }

    fn fresh(&self, name: &str) -> Option<Arc<ServedDataset>> {
        let known = self.open.guard().get(name).cloned()?;
        let is_fresh = known.checked.guard().elapsed() < self.recheck;
        is_fresh.then_some(known)
    }

    pub(super) fn forget(&self, dataset: &ServedDataset) {
        self.open.guard().remove(dataset.name());
    }
}
