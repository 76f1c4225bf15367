//! The format's side of a writer: it decides where bytes go, and serves one caller at a time.
use crate::drive::DriveContext;
use crate::resources::between_parts;
use crate::session::Session;
use ncirrus_layout::{
    Abilities, Error, ErrorKind, LockExt, Memo, ObjectId, Placer, Result, Step, StorePut, View,
};
use ncirrus_store::Store;
use std::sync::{Arc, Mutex, MutexGuard};

/// A placer and what its steps are driven with.
pub(super) struct DrivenPlacer {
    session: Session,
    store: Arc<dyn Store>,
    memo: Arc<Memo>,
    placer: Mutex<Box<dyn Placer>>,
    /// What the format supports.
    pub(super) abilities: Abilities,
}

/// How often something is read again.
const ATTEMPTS: u32 = 50;

/// How often the writer's own puts, by other threads, came in between while something was read: reading begins again then.
#[derive(Debug, Default)]
pub(super) struct Interruptions(u32);

impl Interruptions {
    /// Whether what failed is worth another attempt, once others had their turn.
    pub(super) async fn may_begin_again(&mut self, error: &Error) -> bool {
        self.0 += 1;
        if error.kind() != ErrorKind::Changed || self.0 > ATTEMPTS {
            return false;
        }
        std::thread::yield_now();
        between_parts().await;
        true
    }
}

impl DrivenPlacer {
    /// A placer of a dataset in the given store.
    pub(super) fn new(session: &Session, store: Arc<dyn Store>, placer: Box<dyn Placer>) -> Self {
        let memo = Arc::new(Memo::new(session.shared.metadata_cache));
        let abilities = placer.abilities();
        Self { session: session.clone(), store, memo, placer: Mutex::new(placer), abilities }
    }

    /// The placer itself, for a few lines: its lock must not be held across a wait.
    pub(super) fn guard(&self) -> MutexGuard<'_, Box<dyn Placer>> {
        self.placer.guard()
    }

    /// Runs a step of the placer to its end; the step may read what was put before.
    ///
    /// # Errors
    /// Errors of the step.
    pub(super) async fn drive<T>(
        &self,
        mut step: impl FnMut(&dyn View, &mut dyn Placer) -> Step<T> + Send,
    ) -> Result<T> {
        let mut interruptions = Interruptions::default();
        loop {
            // Each step sees the present state of the store: bytes of earlier steps may have been replaced since.
            let store = Arc::clone(&self.store);
            let context = DriveContext { memo: Arc::clone(&self.memo), ..self.session.context(store) };
            let result = context.drive(|view| step(view, self.placer.guard().as_mut())).await;
            match result {
                Err(error) if interruptions.may_begin_again(&error).await => {}
                result => return result,
            }
        }
    }

    /// Forgets what steps remember of objects that are about to change.
    pub(super) fn forget(&self, puts: &[StorePut]) {
        for put in puts {
            match put {
                StorePut::Object { object, .. }
                | StorePut::Patch { object, .. }
                | StorePut::Resize { object, .. }
                | StorePut::Move { object, .. }
                | StorePut::Delete { object } => self.memo.forget(object),
                StorePut::DeleteTree { .. } | StorePut::CopyTree { .. } | StorePut::RenameTree { .. } => {
                    self.memo.clear();
                }
            }
        }
    }

    /// The same for one object.
    pub(super) fn forget_object(&self, object: &ObjectId) {
        self.memo.forget(object);
    }

    /// The same for all objects.
    pub(super) fn forget_all(&self) {
        self.memo.clear();
    }
}
