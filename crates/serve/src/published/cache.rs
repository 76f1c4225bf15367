//! Open datasets.
use crate::HttpError;
use hashlink::LruCache;
use ncirrus::internals::DatasetInternals;
use ncirrus::layout::LockExt;
use ncirrus::{Dataset, OpenOptions, Session, Storage, VarId};
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
    /// Whether the tag also describes the values.
    is_in_one_object: bool,
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

    /// As [`etag`](Self::etag), for values; `None` if values may be replaced without a change of the dataset's tag: those in
    /// chunks of their own, in fragments, and in other files.
    pub fn etag_of_data(&self, of: &str) -> Option<String> {
        if self.is_in_one_object { self.etag(of) } else { None }
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
        let same = known.filter(|known| tag.is_some() && known.tag == tag);
        if let Some(known) = same.as_ref().filter(|_| !tag.as_deref().is_some_and(is_of_tree)) {
            *known.checked.guard() = Instant::now();
            return Ok(Arc::clone(known));
        }
        // The chunks of a tree may have been replaced: only a new opening reads their present states.
        let same = same.filter(|known| are_numbered_alike(&known.dataset, &dataset));
        let derived = same.as_ref().map(|known| known.derived.guard().clone()).unwrap_or_default();
        let is_in_one_object = is_in_one_object(&dataset, tag.as_deref());
        let (checked, derived) = (Mutex::new(Instant::now()), Mutex::new(derived));
        let served =
            ServedDataset { name: name.to_owned(), dataset, tag, is_in_one_object, checked, derived };
        let served = Arc::new(served);
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

/// Whether a tag is that of a dataset in several objects.
fn is_of_tree(tag: &str) -> bool {
    tag.starts_with("tree-")
}

/// Whether variables have the same numbers in two openings of the same definitions: what is derived from one names variables by
/// their numbers.
fn are_numbered_alike(one: &Dataset, other: &Dataset) -> bool {
    let numbered = |dataset: &Dataset| -> Vec<(VarId, String)> {
        let model = dataset.snapshot();
        model.variables().into_iter().map(|id| (id, model.variable_path(id))).collect()
    };
    numbered(one) == numbered(other)
}

/// Whether the object whose state the tag describes holds all values. Not so for a tree, an aggregation, a virtual dataset, and
/// an HDF5 file with what netCDF does not have, such as links into other files and elements in them.
fn is_in_one_object(dataset: &Dataset, tag: Option<&str>) -> bool {
    let Ok(reader) = dataset.reader() else { return false };
    let model = reader.model();
    let is_virtual = |id| model.variable(id).is_some_and(|variable| variable.storage == Storage::Virtual);
    tag.is_some_and(|tag| !is_of_tree(tag))
        && std::ptr::eq(reader, reader.plain())
        && reader.catalog().outside().is_empty()
        && reader.catalog().facts().unshown.is_none()
        && !model.variables().into_iter().any(is_virtual)
}
