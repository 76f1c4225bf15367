//! What the stores of a session share.
use crate::cache::BlockCache;
use crate::{HandleBudget, MemoryStore, SchemeRegistry, StoreOptions};
use ncirrus_layout::LockExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What addresses are opened with: the options, and what the stores of a session share. Clones share it, too.
///
/// Without openers in [`schemes`](Self::schemes) only files and stores in memory are reached: whoever makes the context
/// decides which networks there are, and holds their connections and credentials.
#[derive(Debug, Clone, Default)]
pub struct StoreContext {
    /// How stores are opened.
    pub options: StoreOptions,
    /// What `memory://name` means.
    pub memory: MemoryStores,
    /// Keeps what is fetched of objects on other machines, data as well as metadata.
    pub cache: Option<BlockCache>,
    /// Files that are kept open.
    pub handles: HandleBudget,
    /// What opens addresses that are neither files nor stores in memory.
    pub schemes: SchemeRegistry,
}

impl From<StoreOptions> for StoreContext {
    fn from(options: StoreOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

/// The stores in memory that `memory://name` means; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStores(Arc<Mutex<BTreeMap<String, MemoryStore>>>);

impl MemoryStores {
    /// The store of that name, if it was created.
    pub fn find(&self, name: &str) -> Option<MemoryStore> {
        self.0.guard().get(name).cloned()
    }

    /// The store of that name, empty when it is new.
    pub fn create(&self, name: &str) -> MemoryStore {
        let mut stores = self.0.guard();
        let new = || MemoryStore::new(&format!("memory://{name}"));
        stores.entry(name.to_owned()).or_insert_with(new).clone()
    }

    /// Forgets the store of that name; who has it keeps it.
    pub fn remove(&self, name: &str) {
        self.0.guard().remove(name);
    }
}
