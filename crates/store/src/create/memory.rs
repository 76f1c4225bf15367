//! New datasets in memory: written to a store of their own, whose objects then change hands.
use super::{Clobber, Finish, Staged, exists};
use crate::{MemoryStore, StoreOptions, Url};
use futures_util::future::BoxFuture;
use ncirrus_layout::{ObjectId, Result};

struct MemoryFinish {
    staged: MemoryStore,
    target: MemoryStore,
    root: ObjectId,
    clobber: Clobber,
}

pub(super) fn create(url: &Url, clobber: Clobber, options: &StoreOptions) -> Result<Staged> {
    let target = options.memory.create(url.host());
    let root = target.root().child(url.path().trim_matches('/'));
    let staged = MemoryStore::new(&format!("memory://.{}{}", url.host(), crate::temporary::SUFFIX));
    let staged_root = staged.root().child(root.key());
    let store = staged.shared();
    let finish = MemoryFinish { staged, target, root, clobber };
    if clobber == Clobber::Never && finish.target.holds(finish.root.key()) {
        return Err(exists(url));
    }
    Ok(Staged::new(store, staged_root, url, finish))
}

impl Finish for MemoryFinish {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let may_replace = self.clobber == Clobber::Replace;
            match self.target.take_over(&self.staged, self.root.key(), may_replace) {
                true => Ok(()),
                false => Err(exists(&self.root)),
            }
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
