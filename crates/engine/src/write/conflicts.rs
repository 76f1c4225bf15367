//! Other programs that change the same dataset, where each object is replaced as a whole: on object stores
//! (`docs/object-stores.md`), and in directories.
//!
//! If puts can be conditional, no writer's work is lost:
//! - Before anything is put that two writers could both put (documents, chunks of new extents), the commit object is
//!   put again with other blanks, if it is as this writer read it. Of two writers one succeeds; the other has changed
//!   nothing yet. The blanks remain if the commit does not rewrite that object.
//! - Documents are put only over the state that this writer read or put.
//! - Chunks that were completed with stored elements are put only over the chunk that these came from; what others
//!   changed meanwhile is merged, element by element. Chunks that a write covers wholly are put unconditionally: the
//!   last one counts.
pub(super) mod merge;

use super::driven_placer::DrivenPlacer;
use super::put::TargetStore;
use crate::dataset::Dataset;
use crate::drive::ReadDepth;
use crate::resources::InFlight;
use bytes::Bytes;
use merge::stamp_lease;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, ObjectId, PhaseForm, PutPhase, Result, StorePut, Tag};
use ncirrus_model::{Changes, Model, VarId};
use ncirrus_store::StoreExt;
use ncirrus_store::{Exclusion, PutCondition};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, OnceCell};

/// What is known of other programs' changes to the dataset, and the puts that depend on it.
pub(super) struct ConflictControl {
    output: TargetStore,
    placer: Arc<DrivenPlacer>,
    /// The key of an object that never exists.
    probe: ObjectId,
    /// Whether the caller guarantees that no other program writes to the same chunks.
    aligned: bool,
    known: Mutex<KnownState>,
    /// Held while the lease is acquired, but not to query it: a task that waits here may hold chunks that others wait
    /// for.
    acquiring: AsyncMutex<()>,
    /// The tag that this writer's lease gave the commit object.
    lease: Mutex<Option<Tag>>,
    /// Whether the store supports conditional puts, once that was tried.
    conditions: Arc<OnceCell<bool>>,
    /// What a local store has instead, once the dataset is visible to others.
    exclusion: OnceLock<Exclusion>,
}

#[derive(Default)]
struct KnownState {
    /// The commit object; none while the dataset is not visible to others.
    deciding: Option<ObjectId>,
    /// Tags of documents as this writer read or put them.
    seen: HashMap<ObjectId, Tag>,
    /// Shapes as committed.
    shapes: HashMap<VarId, Vec<u64>>,
    /// How many groups were there when their keys were checked ([`Model::group_slots`]).
    checked_groups: usize,
}

impl ConflictControl {
    /// For a dataset that does not exist yet.
    pub(super) fn of_new(root: &ObjectId, output: &TargetStore, placer: &Arc<DrivenPlacer>) -> Self {
        Self {
            output: output.clone(),
            placer: Arc::clone(placer),
            probe: root.child(PROBE),
            aligned: false,
            known: Mutex::default(),
            acquiring: AsyncMutex::default(),
            lease: Mutex::default(),
            conditions: Arc::default(),
            exclusion: OnceLock::new(),
        }
    }

    /// For a dataset whose documents were just read, with the tags in `seen`.
    ///
    /// # Errors
    /// `Conflict` if one of them changed since the dataset was opened.
    pub(super) fn of(
        dataset: &Dataset,
        (output, placer): (&TargetStore, &Arc<DrivenPlacer>),
        model: &Model,
        seen: impl Fn(&ObjectId) -> Option<Tag>,
    ) -> Result<Self> {
        let tag = |object: ObjectId| seen(&object).map(|tag| (object, tag));
        let seen: HashMap<ObjectId, Tag> = placer.guard().documents().into_iter().filter_map(tag).collect();
        let opened = dataset.context(ReadDepth::default()).snapshot;
        let is_other = |object: &ObjectId, tag: &Tag| opened.tag(object).is_some_and(|first| first != *tag);
        if let Some((object, _)) = seen.iter().find(|(object, tag)| is_other(object, tag)) {
            return Err(overtaken(object));
        }
        let known = KnownState {
            deciding: placer.guard().commit_object(),
            seen,
            shapes: shapes(model),
            checked_groups: model.group_slots(),
        };
        let aligned = dataset.options().aligned;
        Ok(Self { aligned, known: Mutex::new(known), ..Self::of_new(dataset.root(), output, placer) })
    }

    /// The commit object; none while the dataset is not visible to others.
    pub(super) fn commit_object(&self) -> Option<ObjectId> {
        self.known.guard().deciding.clone()
    }

    fn seen(&self, object: &ObjectId) -> Option<Tag> {
        self.known.guard().seen.get(object).cloned()
    }

    fn saw(&self, object: ObjectId, tag: Tag) {
        self.known.guard().seen.insert(object, tag);
    }

    /// Removed documents are absent from here on.
    fn forget(&self, put: &StorePut) {
        let mut known = self.known.guard();
        match put {
            StorePut::Delete { object } => _ = known.seen.remove(object),
            StorePut::DeleteTree { prefix } | StorePut::RenameTree { from: prefix, .. } => {
                let below = format!("{}/", prefix.key());
                known.seen.retain(|object, _| !object.key().starts_with(&below));
            }
            _ => {}
        }
    }

    /// The shape of an array as committed.
    pub(super) fn committed_shape(&self, var: VarId) -> Option<Vec<u64>> {
        self.known.guard().shapes.get(&var).cloned()
    }

    /// Whether the caller guarantees that no other program writes to the same chunks.
    pub(super) fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// Whether the array has the committed shape.
    pub(super) fn is_committed(&self, var: VarId, shape: &[u64]) -> bool {
        self.known.guard().shapes.get(&var).is_some_and(|committed| committed == shape)
    }
}

impl ConflictControl {
    /// Whether others may change the dataset, too.
    pub(super) fn is_shared(&self) -> bool {
        let Some(deciding) = self.commit_object() else { return false };
        if self.output.store().facts().isolated {
            return false;
        }
        self.exclusion(&deciding) != Some(Exclusion::Alone)
    }

    /// How a local store keeps other programs apart; none for a store on a network.
    fn exclusion(&self, deciding: &ObjectId) -> Option<Exclusion> {
        let local = self.output.local()?;
        // What cannot be found out now fails when it is put.
        Some(*self.exclusion.get_or_init(|| local.exclusion(deciding).unwrap_or(Exclusion::Conditions)))
    }

    /// From a commit on, the dataset is visible to others.
    pub(super) fn shared_from_here(&self, model: &Model) {
        let deciding = self.placer.guard().commit_object();
        let mut known = self.known.guard();
        (known.deciding, known.shapes) = (deciding, shapes(model));
        if let Ok(_alone) = self.acquiring.try_lock() {
            *self.lease.guard() = None;
        }
    }

    /// Whether the store supports puts that depend on the state of what they replace.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn has_conditions(&self) -> Result<bool> {
        if self.output.store().facts().isolated {
            return Ok(false);
        }
        if self.output.local().is_some() {
            let deciding = self.commit_object();
            return Ok(deciding.is_some_and(|it| self.exclusion(&it) == Some(Exclusion::Conditions)));
        }
        let probed = self.output.network()?.spawn(self.probe_conditions());
        probed.await.map_err(|error| Error::internal("a request was abandoned").because(error))?
    }

    /// Starts asking the store what the commit will need to know, while there is other work. The commit repeats any
    /// failure.
    pub(super) fn ask_for_conditions(&self) {
        let is_asked = self.output.local().is_some() || self.conditions.initialized();
        if !is_asked && let Ok(network) = self.output.network() {
            drop(network.spawn(self.probe_conditions()));
        }
    }

    /// Whether the store supports conditional puts: tried at most once.
    fn probe_conditions(&self) -> impl Future<Output = Result<bool>> + Send + use<> {
        let (known, probed) = (Arc::clone(&self.conditions), self.output.has_conditions(&self.probe));
        async move { known.get_or_try_init(|| probed).await.copied() }
    }

    /// What the user should know about the store.
    pub(super) fn warnings(&self) -> Vec<String> {
        let message = "the store ignores conditional puts: two programs that change a dataset at the same time would \
                       overwrite each other's changes";
        let has_none =
            self.conditions.get() == Some(&false) || self.exclusion.get() == Some(&Exclusion::Nothing);
        if has_none { vec![message.to_owned()] } else { Vec::new() }
    }

    /// Announces to other writers that this one changes what they read, unless one of them came first.
    ///
    /// # Errors
    /// `Conflict` if one of them did; errors of the store.
    pub(super) async fn acquire_lease(&self) -> Result<()> {
        if self.is_shared() { self.try_lease().await } else { Ok(()) }
    }

    /// As [`acquire_lease`](Self::acquire_lease), after the chunks were read that are put over their present state. A writer
    /// that took over the lease may have put what was read: its elements would be replaced, although it commits them. If it
    /// takes over the lease after this, it puts later, and the state that was read is not the present one.
    ///
    /// # Errors
    /// As `acquire_lease`; `Conflict` if another writer took over the lease.
    pub(super) async fn stay_first(&self) -> Result<()> {
        match (self.is_first().await?, self.commit_object()) {
            (Some(false), Some(deciding)) => Err(overtaken(&deciding)),
            (Some(true), _) => Ok(()),
            _ => self.acquire_lease().await,
        }
    }

    async fn try_lease(&self) -> Result<()> {
        let _alone = self.acquiring.lock().await;
        let Some(deciding) = self.commit_object() else { return Ok(()) };
        let is_held = self.lease.guard().is_some();
        if is_held || !self.has_conditions().await? {
            return Ok(());
        }
        let Some(seen) = self.seen(&deciding) else { return Ok(()) };
        let found = self.output.get(&deciding).await?.filter(|blob| blob.tag == seen);
        let Some(body) = found.map(|blob| blob.bytes) else { return Err(overtaken(&deciding)) };
        let Some(body) = stamp_lease(&body, any_number()) else { return Ok(()) };
        let put = self.output.put_when(&deciding, body, PutCondition::Matches(seen)).await;
        let tag = put.map_err(|error| if is_conflict(&error) { overtaken(&deciding) } else { error })?;
        self.placer.forget_object(&deciding);
        self.saw(deciding, tag.clone());
        *self.lease.guard() = Some(tag);
        Ok(())
    }

    /// Whether this writer acquired the lease; another one may have taken it over since.
    pub(super) fn has_lease(&self) -> bool {
        self.lease.guard().is_some()
    }

    /// Whether this writer acquired the lease and no other has since; `None` if it did not need one.
    pub(super) async fn is_first(&self) -> Result<Option<bool>> {
        let lease = self.lease.guard().clone();
        let (Some(tag), Some(deciding)) = (lease, self.commit_object()) else { return Ok(None) };
        // A phase of this writer may have put it since.
        let tag = self.seen(&deciding).unwrap_or(tag);
        Ok(Some(self.output.get(&deciding).await?.is_some_and(|blob| blob.tag == tag)))
    }

    /// Carries out a phase; documents are put only over the state known to this writer.
    pub(super) async fn run_phase(&self, phase: PutPhase) -> Result<()> {
        let is_alone = self.output.local().is_some() && !self.is_shared();
        if is_alone || phase.form == PhaseForm::Rewritten || !self.has_conditions().await? {
            return self.output.run_phase(phase).await;
        }
        let (documents, others): (Vec<StorePut>, Vec<StorePut>) =
            phase.puts.into_iter().partition(|put| matches!(put, StorePut::Object { .. }));
        self.check_keys(&documents)?;
        let limits = InFlight::at_most(self.output.store().facts().concurrency);
        limits.for_each(documents, |put| Ok(self.put_document(put)), |done| done).await?;
        others.iter().for_each(|put| self.forget(put));
        self.output.put_all(others).await
    }

    async fn put_document(&self, put: StorePut) -> Result<()> {
        let StorePut::Object { object, body } = put else { return Ok(()) };
        let when = self.seen(&object).map_or(PutCondition::Absent, PutCondition::Matches);
        let is_deciding = self.commit_object().as_ref() == Some(&object);
        let tag = match self.output.put_when(&object, body.clone(), when).await {
            Err(error) if is_conflict(&error) && is_deciding => return Err(overtaken(&object).because(error)),
            Err(error) if is_conflict(&error) => self.put_over_leftover(&object, body, error).await?,
            done => done?,
        };
        self.saw(object, tag);
        Ok(())
    }

    /// Replaces a document that is not as this writer read it, if this writer has the lease: then whoever put it was killed, or
    /// cannot commit any more, since the commit object is as this writer left it. So of several writers the last one that acquired
    /// the lease succeeds, whatever the others put before they noticed.
    async fn put_over_leftover(&self, object: &ObjectId, body: Bytes, conflict: Error) -> Result<Tag> {
        let mut last = overtaken(object).because(conflict);
        for attempt in 0..ATTEMPTS {
            let now = self.output.get(object).await?.map(|blob| blob.tag);
            if self.is_first().await? != Some(true) {
                return Err(last);
            }
            let when = now.map_or(PutCondition::Absent, PutCondition::Matches);
            match self.output.put_when(object, body.clone(), when).await {
                Err(error) if is_conflict(&error) => last = overtaken(object).because(error),
                done => return done,
            }
            self.output.pause(Duration::from_millis(10 << attempt.min(6))).await?;
        }
        Err(last)
    }

    /// Before documents are put in a local store, where a look costs nothing: whether the lease is still this writer's.
    ///
    /// # Errors
    /// `Conflict` if another program has it now.
    pub(super) async fn check_first(&self) -> Result<()> {
        let is_first = if self.output.local().is_some() { self.is_first().await? } else { None };
        match (is_first, self.commit_object()) {
            (Some(false), Some(deciding)) => Err(overtaken(&deciding)),
            _ => Ok(()),
        }
    }

    /// Refuses keys that the store does not accept.
    pub(super) fn check_keys(&self, puts: &[StorePut]) -> Result<()> {
        puts.iter().try_for_each(|put| match put {
            StorePut::Object { object, .. } => self.check_key(object, object.key().len()),
            _ => Ok(()),
        })
    }

    pub(super) fn check_key(&self, object: &ObjectId, len: usize) -> Result<()> {
        let max = self.output.store().longest_key();
        if len <= max {
            return Ok(());
        }
        let message = format!("a key of {len} bytes: the store takes at most {max}");
        Err(Error::invalid(message).at_object(object))
    }

    /// Refuses groups and variables whose longest key the store does not accept, before anything is put: those that were added or
    /// changed, and all where a group has another name.
    pub(super) fn check_longest_keys(
        &self,
        model: &Model,
        vars: &[VarId],
        changes: Option<&Changes>,
    ) -> Result<()> {
        if self.output.local().is_some() || self.output.store().longest_key() == usize::MAX {
            return Ok(());
        }
        let root = self.root();
        let is_renamed = changes.is_none_or(|changes| !changes.groups().is_empty());
        let checked = if is_renamed { 0 } else { self.known.guard().checked_groups };
        for group in model.groups_from(checked).filter(|group| *group != model.root()) {
            let path = model.group_path(group);
            let below = path.trim_matches('/');
            let len = root.key().len() + below.len() + 2 + ".zattrs".len();
            let named = |error: Error| error.reworded(|fact| format!("group {path}: {fact}"));
            self.check_key(&root.child(below), len).map_err(named)?;
        }
        let all = if is_renamed { model.variables() } else { vars.to_vec() };
        for var in all {
            let path = model.variable_path(var);
            // The shortest names that are put there: of a document, of a chunk.
            let chunk = (2 * model.shape(var).len()).saturating_sub(1);
            let len = root.key().len() + path.len() + 1 + chunk.max(".zattrs".len());
            let object = root.child(path.trim_start_matches('/'));
            self.check_key(&object, len).map_err(|error| error.at_path(path))?;
        }
        Ok(())
    }
}

impl ConflictControl {
    /// Groups that are in accepted definitions need not be checked again.
    pub(super) fn note_checked_groups(&self, model: &Model) {
        self.known.guard().checked_groups = model.group_slots();
    }

    /// The root of the dataset.
    pub(super) fn root(&self) -> ObjectId {
        let key = self.probe.key();
        let root = key.strip_suffix(PROBE).unwrap_or(key).trim_end_matches('/');
        ObjectId::new(self.probe.store.clone(), root)
    }
}

fn shapes(model: &Model) -> HashMap<VarId, Vec<u64>> {
    model.variables().into_iter().map(|var| (var, model.shape(var))).collect()
}

/// Whether a put was refused because its object is in another state.
pub(super) fn is_conflict(error: &Error) -> bool {
    error.kind() == ErrorKind::Conflict
}

/// The error if another program came first.
pub(super) fn overtaken(object: &ObjectId) -> Error {
    let message = "has been changed by another program since it was opened for update: open it again";
    Error::new(ErrorKind::Conflict, message).at_object(object)
}

/// A number that differs from other writers' numbers.
fn any_number() -> u32 {
    let random = RandomState::new().build_hasher().finish();
    u32::try_from(random >> 32).unwrap_or_default()
}

/// How often a document is put over what others put meanwhile.
const ATTEMPTS: u32 = 8;
/// Name of an object that never exists.
const PROBE: &str = ".ncirrus-probe";
