//! Other datasets that variables of a dataset take values from: opened when first needed, a bounded number kept.
use super::Dataset;
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use ncirrus_layout::{ObjectId, Result};
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

/// Open datasets that belong to one that the caller opened: all are seen in the state of their first touch for as long
/// as that one lives.
#[derive(Default)]
pub(crate) struct ReferencedDatasets {
    /// Least recently used first.
    kept: Mutex<LinkedHashMap<ObjectId, Arc<OnceCell<Dataset>>>>,
}

/// Number of open datasets that are kept.
pub(crate) const KEPT: usize = 256;

impl ReferencedDatasets {
    /// The dataset at `root`. The first caller opens it; others wait for that. Opening never waits for other datasets,
    /// so that there is no deadlock.
    ///
    /// # Errors
    /// Errors of opening; the next caller tries again.
    pub(crate) async fn open<F>(&self, root: &ObjectId, open: impl FnOnce() -> F) -> Result<Dataset>
    where
        F: Future<Output = Result<Dataset>>,
    {
        let cell = self.cell(root);
        cell.get_or_try_init(open).await.cloned()
    }

    fn cell(&self, root: &ObjectId) -> Arc<OnceCell<Dataset>> {
        let mut kept = self.kept.guard();
        if let Some(dataset) = kept.to_back(root) {
            return Arc::clone(dataset);
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        let dataset = Arc::default();
        kept.insert(root.clone(), Arc::clone(&dataset));
        dataset
    }
}
