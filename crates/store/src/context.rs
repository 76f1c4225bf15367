//! What the stores of a session share.
use crate::cache::BlockCache;
use crate::reference_formats::ReferenceFormats;
use crate::{HandleBudget, MemoryStore, SchemeRegistry, StoreOptions};
use ncirrus_layout::LockExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The context for opening addresses: the options, and what the stores of a session share. Clones share it, too.
///
/// Without openers in [`schemes`](Self::schemes) only files and stores in memory can be opened: the creator of the
/// context decides which networks there are, and holds their connections and credentials.
#[derive(Debug, Clone, Default)]
pub struct StoreContext {
    /// How stores are opened.
    pub options: StoreOptions,
    /// The stores that `memory://name` refers to.
    pub memory: MemoryStores,
    /// Caches what is fetched from remote objects, data as well as metadata.
    pub cache: Option<BlockCache>,
    /// Files that are kept open.
    pub handles: HandleBudget,
    /// Opens addresses that are neither files nor stores in memory.
    pub schemes: SchemeRegistry,
    /// Documents of other formats that are read as references.
    pub formats: ReferenceFormats,
}

impl From<StoreOptions> for StoreContext {
    fn from(options: StoreOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// The stores in memory that `memory://name` refers to; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStores(Arc<Mutex<BTreeMap<String, MemoryStore>>>);

impl MemoryStores {
    /// The store of that name, if it was created.
    pub fn find(&self, name: &str) -> Option<MemoryStore> {
        self.0.guard().get(name).cloned()
    }

    /// The store of that name, empty if it is new.
    pub fn create(&self, name: &str) -> MemoryStore {
        let mut stores = self.0.guard();
        let new = || MemoryStore::new(&format!("memory://{name}"));
        stores.entry(name.to_owned()).or_insert_with(new).clone()
    }

    /// Forgets the store of that name; existing handles keep it.
    pub fn remove(&self, name: &str) {
        self.0.guard().remove(name);
    }
}
