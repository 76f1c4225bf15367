//! Carrying out changes of the store.
use super::gathered_patches::GatheringStore;
use super::local_puts::{MOVE_BYTES, moved, put_locally, sort_entries};
use super::patches::whole_part;
use crate::request_log;
use crate::resources::{InFlight, SharedResources};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{
    Error, ErrorKind, Listing, ObjectBytes, ObjectId, PatchRows, PhaseForm, PutPhase, Result, StorePut, Tag,
    Want,
};
use ncirrus_store::{LocalStore, PutCondition, Store};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// The store that is written to.
#[derive(Clone)]
pub(super) struct TargetStore {
    session: Arc<SharedResources>,
    store: Arc<dyn Store>,
    /// The same store, if it holds small patches of chunks.
    gathering: Option<Arc<GatheringStore>>,
}

impl TargetStore {
    /// Puts go to `store`; small patches of chunks are gathered, if the format `patches` a local file.
    pub(super) fn new(session: Arc<SharedResources>, store: Arc<dyn Store>, patches: bool) -> Self {
        let gathering = if patches { GatheringStore::of(&store) } else { None };
        let store = gathering.clone().map_or(store, |gathering| gathering as Arc<dyn Store>);
        Self { session, store, gathering }
    }

    /// The store, if puts can be carried out on any thread at once.
    pub(super) fn local(&self) -> Option<&dyn LocalStore> {
        self.store.local()
    }

    /// Carries out a put of a chunk on a local store, at once or together with others.
    ///
    /// # Errors
    /// Errors of the store, also of chunks that were put before.
    pub(super) fn put_chunk(&self, local: &dyn LocalStore, put: StorePut) -> Result<()> {
        match &self.gathering {
            Some(store) => store.put(put),
            None => put_locally(local, put),
        }
    }

    /// Whether small chunks are gathered.
    pub(super) fn gathers(&self) -> bool {
        self.gathering.is_some()
    }

    /// Carries out a put of small chunks that come as rows, at once or together with others.
    ///
    /// # Errors
    /// Errors of the store, also of chunks that were put before; `Internal` if the store does not [gather](Self::gathers).
    pub(super) fn put_rows(&self, rows: PatchRows) -> Result<()> {
        let store = self
            .gathering
            .as_ref()
            .ok_or_else(|| Error::internal("rows for a store that does not gather"))?;
        store.put_rows(rows)
    }

    /// Writes what was gathered, before the store is read by another way.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn settle(&self) -> Result<()> {
        self.gathering.as_ref().map_or(Ok(()), |store| store.settle())
    }

    /// Carries out puts that may happen in any order.
    ///
    /// # Errors
    /// The first failure; further puts are not begun then.
    pub(super) async fn put_all(&self, puts: Vec<StorePut>) -> Result<()> {
        if let Some(local) = self.local() {
            if puts.iter().all(is_of_object) {
                return self.session.for_each(puts, usize::MAX, |put, _| put_locally(local, put));
            }
            return puts.into_iter().try_for_each(|put| put_locally(local, put));
        }
        let (simple, trees): (Vec<_>, Vec<_>) = puts.into_iter().partition(is_of_object);
        self.put_remotely(simple).await?;
        for tree in trees {
            self.change_tree(tree).await?;
        }
        Ok(())
    }

    async fn put_remotely(&self, puts: Vec<StorePut>) -> Result<()> {
        let limits = InFlight::at_most(self.store.facts().concurrency);
        let abandoned = |error| Error::internal("a request was abandoned").because(error);
        limits.for_each(puts, |put| self.spawn(put), |done| done.map_err(abandoned)?).await
    }

    fn spawn(&self, put: StorePut) -> Result<JoinHandle<Result<()>>> {
        let (store, permits) = (Arc::clone(&self.store), self.permits());
        Ok(self.network()?.spawn(async move {
            let _permit = permits.acquire().await;
            change_object(store.as_ref(), put).await
        }))
    }

    /// The store itself.
    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The request permits of the store.
    pub(super) fn permits(&self) -> Arc<Semaphore> {
        self.session.network.host(&self.store)
    }

    /// Where puts of objects are carried out in the background.
    ///
    /// # Errors
    /// If the network cannot be started.
    pub(super) fn network(&self) -> Result<Handle> {
        self.session.network.handle()
    }

    /// Changes of whole trees on stores that only support objects.
    async fn change_tree(&self, put: StorePut) -> Result<()> {
        match put {
            StorePut::DeleteTree { prefix } => self.delete_below(&prefix).await,
            StorePut::CopyTree { from, to } => self.copy_below(&from, &to).await,
            StorePut::RenameTree { from, to } => {
                self.copy_below(&from, &to).await?;
                self.delete_below(&from).await
            }
            other => Err(Error::unsupported(format!("{} on a remote store", name_of(&other)))),
        }
    }

    /// Replaces an object if it has a given tag, and returns the new one.
    ///
    /// # Errors
    /// `Conflict` if it has another; errors of the store.
    pub(super) async fn put_when(&self, object: &ObjectId, body: Bytes, when: PutCondition) -> Result<Tag> {
        if let Some(local) = self.local() {
            request_log::put_locally("write", object, None, body.len());
            return local.put_bytes(object, body, &when).map_err(|error| error.at_object(object));
        }
        let (store, permits, at) = (Arc::clone(&self.store), self.permits(), object.clone());
        let put = self.network()?.spawn(async move {
            let _permit = permits.acquire().await;
            store.put(&at, body, when).await
        });
        let put = put.await.map_err(|error| Error::internal("a request was abandoned").because(error))?;
        put.map_err(|error| error.at_object(object))
    }

    /// An object in its present state.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn get(&self, object: &ObjectId) -> Result<Option<ObjectBytes>> {
        if let Some(local) = self.local() {
            return local.read(object, &Want::All);
        }
        self.session.network.fetch(&self.store, object.clone(), Want::All)?.await
    }

    /// A part of an object in its present state.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn get_part(&self, object: &ObjectId, part: Range<u64>) -> Result<Option<ObjectBytes>> {
        self.session.network.fetch(&self.store, object.clone(), Want::Range(part))?.await
    }

    /// Finds out whether a put can depend on the state of what it replaces: a put that must be refused shows it.
    pub(super) fn has_conditions(
        &self,
        probe: &ObjectId,
    ) -> impl Future<Output = Result<bool>> + Send + use<> {
        let (store, probe) = (Arc::clone(&self.store), probe.clone());
        async move {
            // Valid for Amazon, Google and Azure at once: a tag and a version that no object has.
            let never = PutCondition::Matches(Tag::new("\"0\"\n1"));
            match store.put(&probe, Bytes::new(), never).await {
                Err(error) if error.kind() == ErrorKind::Conflict => Ok(true),
                Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
                Err(error) => Err(error.at_object(&probe)),
                Ok(_) => {
                    change_object(store.as_ref(), StorePut::Delete { object: probe }).await.map(|()| false)
                }
            }
        }
    }

    /// A request on behalf of the caller; if the store is remote, it begins at once.
    ///
    /// # Errors
    /// If the network cannot be started.
    pub(super) fn beside(
        &self,
        request: BoxFuture<'static, Result<()>>,
    ) -> Result<BoxFuture<'static, Result<()>>> {
        if self.local().is_some() {
            return Ok(request);
        }
        let requested = self.network()?.spawn(request);
        let abandoned = |error| Error::internal("a request was abandoned").because(error);
        Ok(Box::pin(async move { requested.await.map_err(abandoned)? }))
    }

    /// Waits for a time.
    ///
    /// # Errors
    /// If the network cannot be started.
    pub(super) async fn pause(&self, time: Duration) -> Result<()> {
        let pause = self.session.network.handle()?.spawn(async move { tokio::time::sleep(time).await });
        pause.await.map_err(|error| Error::internal("a pause was abandoned").because(error))
    }

    async fn delete_below(&self, prefix: &ObjectId) -> Result<()> {
        let (store, prefix) = (Arc::clone(&self.store), prefix.clone());
        let removed = self.session.network.handle()?.spawn(async move { store.delete_tree(&prefix).await });
        removed.await.map_err(|error| Error::internal("a request was abandoned").because(error))?
    }

    async fn copy_below(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        for object in self.below(from).await? {
            let Some(copy) = moved(&object, from, to) else { continue };
            let request = self.session.network.fetch(&self.store, object, Want::All)?;
            if let Some(blob) = request.await? {
                self.put_remotely(vec![StorePut::Object { object: copy, body: blob.bytes }]).await?;
            }
        }
        Ok(())
    }

    /// All objects below a prefix.
    async fn below(&self, prefix: &ObjectId) -> Result<Vec<ObjectId>> {
        let (mut objects, mut prefixes) = (Vec::new(), vec![prefix.clone()]);
        while let Some(prefix) = prefixes.pop() {
            let mut page = None;
            loop {
                let listing: Listing =
                    self.session.network.list(&self.store, prefix.clone(), page.clone())?.await?;
                sort_entries(&prefix, &listing, &mut objects, &mut prefixes);
                page = listing.next;
                if page.is_none() {
                    break;
                }
            }
        }
        Ok(objects)
    }

    /// Carries out a phase.
    ///
    /// # Errors
    /// The first failure.
    pub(super) async fn run_phase(&self, phase: PutPhase) -> Result<()> {
        match (phase.form, self.local()) {
            (PhaseForm::Rewritten, Some(local)) => rewrite(local, phase.puts, || self.barrier()),
            (PhaseForm::Rewritten, None) => Err(Error::unsupported("rewriting a file on a remote store")),
            (PhaseForm::Together, Some(local)) => put_together(local, phase.puts),
            (PhaseForm::Together, None) | (PhaseForm::Separate, _) => self.put_all(phase.puts).await,
        }
    }

    /// Makes durable what was put before, unless the session disables that.
    ///
    /// # Errors
    /// If the store cannot.
    pub(super) fn barrier(&self) -> Result<()> {
        match self.local() {
            Some(local) if self.session.durable => local.barrier(),
            _ => self.settle(),
        }
    }
}

/// Whether a put concerns one object as a whole.
pub(super) fn is_of_object(put: &StorePut) -> bool {
    matches!(put, StorePut::Object { .. } | StorePut::Delete { .. })
}

/// Bytes that a put transfers.
pub(super) fn bytes_of(put: &StorePut) -> usize {
    match put {
        StorePut::Object { body, .. } | StorePut::Patch { body, .. } => body.len(),
        _ => 0,
    }
}

/// Carries out one put of an object as a whole.
///
/// # Errors
/// Errors of the store.
pub(super) async fn change_object(store: &dyn Store, put: StorePut) -> Result<()> {
    match put {
        StorePut::Object { object, body } => {
            let done = store.put(&object, body, PutCondition::None).await;
            done.map(|_| ()).map_err(|error| error.at_object(&object))
        }
        StorePut::Delete { object } => store.delete(&object).await.map_err(|error| error.at_object(&object)),
        other => Err(Error::unsupported(format!("{} on a remote store", name_of(&other)))),
    }
}

/// Carries out puts of one object on a copy of it, which then replaces it.
fn rewrite(local: &dyn LocalStore, puts: Vec<StorePut>, barrier: impl Fn() -> Result<()>) -> Result<()> {
    let Some(object) = puts.iter().find_map(|put| target_of(put).cloned()) else { return Ok(()) };
    let copy = local.name_for_copy(&object);
    let copied = local.delete(&copy).and_then(|()| copy_object(local, &object, &copy));
    if copied.as_ref().is_err_and(|error| error.kind() == ErrorKind::Denied) {
        // The file may be changed, but its folder may not: there is no place for a copy.
        return puts.into_iter().try_for_each(|put| put_locally(local, put)).and_then(|()| barrier());
    }
    let done = copied.and_then(|()| {
        for put in puts {
            put_locally(local, retarget(put, &object, &copy)?)?;
        }
        barrier()?;
        local.replace(&copy, &object)
    });
    if done.is_err() {
        // The copy is useless now; the error to report is why it could not be completed.
        let _ = local.delete(&copy);
    }
    done
}

fn copy_object(local: &dyn LocalStore, from: &ObjectId, to: &ObjectId) -> Result<()> {
    let (mut buffer, mut offset) = (vec![0; MOVE_BYTES], 0);
    loop {
        let Some(have) = local.read_into(from, offset, &mut buffer)? else { return Ok(()) };
        local.write_at(to, offset, &buffer[..have])?;
        offset += have as u64;
        if have < buffer.len() {
            return Ok(());
        }
    }
}

fn target_of(put: &StorePut) -> Option<&ObjectId> {
    match put {
        StorePut::Object { object, .. }
        | StorePut::Patch { object, .. }
        | StorePut::Resize { object, .. }
        | StorePut::Move { object, .. } => Some(object),
        StorePut::Delete { .. }
        | StorePut::DeleteTree { .. }
        | StorePut::CopyTree { .. }
        | StorePut::RenameTree { .. } => None,
    }
}

fn retarget(put: StorePut, from: &ObjectId, to: &ObjectId) -> Result<StorePut> {
    if target_of(&put) != Some(from) {
        return Err(Error::internal("a file is rewritten together with other changes"));
    }
    let object = to.clone();
    Ok(match put {
        StorePut::Object { body, .. } => StorePut::Object { object, body },
        StorePut::Patch { offset, body, .. } => StorePut::Patch { object, offset, body },
        StorePut::Resize { len, .. } => StorePut::Resize { object, len },
        StorePut::Move { from, to, len, .. } => StorePut::Move { object, from, to, len },
        other => other,
    })
}

fn name_of(put: &StorePut) -> &'static str {
    match put {
        StorePut::Object { .. } => "replacing an object",
        StorePut::Patch { .. } => "writing at an offset",
        StorePut::Resize { .. } => "cutting an object",
        StorePut::Move { .. } => "moving bytes",
        StorePut::Delete { .. } => "removing an object",
        StorePut::DeleteTree { .. } => "removing a tree",
        StorePut::CopyTree { .. } => "copying a tree",
        StorePut::RenameTree { .. } => "renaming a tree",
    }
}

/// Carries out changes that readers are to see together, in their order. Patches of a short part of one object become
/// one write of the whole part, since a program that is killed between two writes leaves one change without the other.
///
/// # Errors
/// Errors of the store.
fn put_together(local: &dyn LocalStore, puts: Vec<StorePut>) -> Result<()> {
    match whole_part(local, &puts) {
        Some((object, offset, body)) => {
            request_log::put_locally("write", &object, Some(offset), body.len());
            local.write_at(&object, offset, &body)
        }
        None => puts.into_iter().try_for_each(|put| put_locally(local, put)),
    }
}
