//! New datasets in memory: written to a store of their own, whose objects are then moved.
use super::{CommitAction, OverwritePolicy, StagedDataset, exists};
use crate::{MemoryStore, StoreContext, Url};
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result};

struct MemoryFinish {
    staged: MemoryStore,
    target: MemoryStore,
    root: ObjectId,
    clobber: OverwritePolicy,
}

pub(super) fn create(url: &Url, clobber: OverwritePolicy, context: &StoreContext) -> Result<StagedDataset> {
    let target = context.memory.create(url.host());
    let root = target.root().child(&url.memory_key());
    let staged = MemoryStore::new(&format!("memory://.{}{}", url.host(), crate::temporary::SUFFIX));
    let staged_root = staged.root().child(root.key());
    let store = staged.shared();
    let finish = MemoryFinish { staged, target, root, clobber };
    if clobber == OverwritePolicy::Never && finish.target.holds(finish.root.key()) {
        return Err(exists(url));
    }
    Ok(StagedDataset::new(store, staged_root, url, finish))
}

impl CommitAction for MemoryFinish {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let may_replace = self.clobber == OverwritePolicy::Replace;
            if self.target.take_over(&self.staged, self.root.key(), may_replace) {
                Ok(())
            } else {
                Err(exists(&self.root))
            }
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
