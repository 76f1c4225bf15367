//! Opens the objects that a reference file or a repository names: those of one folder share a store.
use crate::locate::open_object;
use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{StoreContext, key};
use ncirrus_layout::{Error, ErrorKind, LockExt, ObjectId, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A store, and an object or folder in it.
pub(crate) type TargetPlace = (Arc<dyn Store>, ObjectId);

/// Maximum number of folders whose stores are kept.
const MAX_FOLDERS: usize = 4096;

/// Opens the objects that a dataset names.
pub(crate) struct TargetOpener {
    /// The location of the dataset.
    pub(crate) base: Url,
    pub(crate) context: StoreContext,
    folders: Mutex<HashMap<String, TargetPlace>>,
}

/// Whether an address was chosen by the author of a dataset or by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChosenBy {
    /// The dataset: local files and private networks are not reached from elsewhere.
    Dataset,
    /// The user: everything may be reached.
    User,
}

impl TargetOpener {
    pub(crate) fn new(base: Url, context: &StoreContext) -> Self {
        Self { base, context: context.clone(), folders: Mutex::default() }
    }

    /// Whether an address is on this machine.
    pub(crate) fn is_near(url: &Url) -> bool {
        matches!(url.scheme(), Scheme::File | Scheme::Memory)
    }

    /// The store of an object, and the object; without the cache if its state has to be seen.
    ///
    /// # Errors
    /// `Denied` if it may not be reached from the location of the dataset, otherwise errors of opening its store.
    pub(crate) fn open(&self, name: &str, url: &Url, by: ChosenBy, is_cached: bool) -> Result<TargetPlace> {
        let sharable = is_cached && !name.contains(['?', '#']);
        let (folder, _) = name.rsplit_once('/').unwrap_or(("", name));
        let file = url.read_key(url.path().rsplit('/').next().unwrap_or_default());
        let mut folders = self.folders.guard();
        if let Some((store, root)) = folders.get(folder).filter(|_| sharable) {
            return Ok((Arc::clone(store), root.child(&file)));
        }
        let mut context = self.context.clone();
        if by == ChosenBy::Dataset {
            context.options.hosts = context.options.hosts.of_dataset_at(&self.base);
        }
        let mut opened = open_object(url, &context)?;
        if let Some(cache) = self.context.cache.as_ref().filter(|_| is_cached) {
            opened.store = cache.before_many(opened.store);
        }
        if let (true, Some(above)) = (sharable, key::parent(opened.root.key())) {
            let root = ObjectId::new(opened.store.id().clone(), above);
            if root.child(&file) == opened.root {
                if folders.len() >= MAX_FOLDERS {
                    folders.clear();
                }
                folders.insert(folder.to_owned(), (Arc::clone(&opened.store), root));
            }
        }
        Ok((opened.store, opened.root))
    }
}

/// The error of a range that is beyond the end of an object.
pub(crate) fn cut_short(name: &str, size: u64, range: &std::ops::Range<u64>) -> Error {
    let len = range.end.saturating_sub(range.start);
    Error::malformed(format!("{name} ends at {size}, before the {len} bytes from {} on", range.start))
}

/// The error of a local file that a dataset from elsewhere names.
pub(crate) fn local_file(what: &str, name: &str) -> Error {
    Error::new(ErrorKind::Denied, format!("{what} points to the local file {name:?}, which is not allowed"))
}
