//! What a session may use of the machine, and stores of the program's own.
use super::SessionBuilder;
use crate::Result;
use ncirrus_store::{Handles, StoreFactory, StoreOptions};
use std::path::PathBuf;
use std::sync::Arc;

/// Choices that go into the options of stores when the session is built.
#[derive(Default)]
pub(super) struct Resources {
    handles: Option<usize>,
    own: Vec<(String, Arc<dyn StoreFactory>)>,
    pub(super) folder: Option<PathBuf>,
}

impl Resources {
    /// The options with these choices.
    pub(super) fn put_into(&self, stores: &mut StoreOptions) -> Result<()> {
        if let Some(most) = self.handles {
            stores.handles = Handles::new(most);
        }
        for (scheme, factory) in &self.own {
            stores.schemes.register(scheme, Arc::clone(factory))?;
        }
        Ok(())
    }
}

impl SessionBuilder {
    /// How many local files are kept open at most, whatever the number of datasets: a quarter of those that the process
    /// may open, by default.
    #[must_use]
    pub fn handles(mut self, most: usize) -> Self {
        self.resources.handles = Some(most);
        self
    }

    /// Where files go that a session needs for a while, such as arrays that are larger than the memory; the system's
    /// directory for temporary files by default.
    #[must_use]
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.resources.folder = Some(folder.into());
        self
    }

    /// Lets addresses of a scheme lie in a store of the program's own, for opening, creating, copying and listing. The
    /// factory gets the address and gives the store, and the dataset in it.
    #[must_use]
    pub fn store(mut self, scheme: impl Into<String>, factory: impl StoreFactory + 'static) -> Self {
        self.resources.own.push((scheme.into(), Arc::new(factory)));
        self
    }
}
