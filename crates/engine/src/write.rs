//! Writing: staging, encoding, putting and committing, for every format.
//!
//! A [`DatasetWriter`] holds the model as it is being edited and the chunks that are partly written. Chunks that a
//! write covers wholly are encoded at once, on all threads; others are completed in a bounded write-back cache. What is
//! put before a commit is not yet part of the dataset: [`DatasetWriter::sync`] carries out the format's phases in
//! order, each durable before the next.
//!
//! The invariants:
//! - Every chunk has a lock of its own, taken in ascending order by writes, reads and whatever flushes the cache: what
//!   is cached, in flight and stored of a chunk is never seen half-way.
//! - Along an axis that grows, a chunk counts as wholly covered only if its whole span is written: others may append to
//!   the rest of it at the same time.
//! - Cached chunks hold all their elements as they are stored, including those outside the array, so that only codecs
//!   remain to be applied. For formats that clip edge chunks, they are clipped to the shape that the array has when
//!   they are put; chunks clipped along a growing axis are completed at the next commit.
//! - Values are checked and converted before a chunk is changed. A change that the format relies on and that could not
//!   be put ends the writer.
mod boxes;
mod cells;
mod codec_needs;
mod commit;
mod conflicts;
mod contents;
mod copy;
mod definitions;
mod draft;
mod driven_placer;
mod editing;
mod encoded;
mod encoder;
mod gathered_patches;
mod gathered_rows;
mod growth;
mod joint;
mod local_puts;
mod lock_order;
mod patches;
mod points;
mod put;
mod raw;
mod read;
mod record_rows;
mod rows;
mod shards;
mod store;
mod target;
mod uploads;
mod variable_encoder;
mod write_back_cache;

#[cfg(test)]
mod tests;

pub use copy::{
    CopiedCounts, CopyPlan, PassedChunkCheck, SkippedPart, ValueTreatment, copy_around_damage, copy_observed,
    copy_selection, copy_variable, plan_copy,
};
pub use definitions::element_in;
pub use draft::Draft;
pub use encoded::EncodedChunk;
pub use joint::KeyForm;
use ncirrus_layout::LockExt;
pub use variable_encoder::VariableEncoder;

use crate::dataset::Dataset;
use crate::session::Session;
use commit::Committer;
use conflicts::ConflictControl;
use definitions::{PendingDefinitions, WriterDefinitions, translated};
use driven_placer::DrivenPlacer;
use editing::EditTurns;
use encoder::ChunkEncoder;
use futures_util::future::BoxFuture;
use lock_order::{ChunkAccess, CommitGuard};
use ncirrus_layout::{
    Abilities, ChunkGrid, Error, ErrorKind, ObjectId, PhaseForm, Placer, PutPhase, Result, Sharding,
    StorePut, Writing,
};
use ncirrus_model::{Model, NodeId, VarId};
use ncirrus_store::Store;
use put::TargetStore;
use shards::{ShardPutting, ShardStage};
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use target::WriteTarget;
use uploads::Uploads;
use write_back_cache::WriteBackCache;

/// A dataset that is being written. Many threads may write and read different parts at once; reads see what was written
/// before, from every thread. What is not committed by [`sync`](Self::sync) or [`close`](Self::close) is lost when the
/// writer is dropped.
pub struct DatasetWriter {
    /// Dropped first: it waits for the network, which ends with the session.
    uploads: Uploads,
    session: Session,
    output: TargetStore,
    placer: Arc<DrivenPlacer>,
    encoder: ChunkEncoder,
    definitions: Mutex<WriterDefinitions>,
    turns: EditTurns,
    committer: Committer,
    stage: Arc<WriteBackCache>,
    /// Encoded chunks that wait for the others of their shard.
    shards: Arc<ShardStage>,
    /// Detects other programs that change the same dataset.
    conflicts: ConflictControl,
    /// The dataset that is changed, in its original state.
    base: Option<Dataset>,
}

/// What the parts of a writer share.
struct WriterParts {
    output: TargetStore,
    placer: Arc<DrivenPlacer>,
}

impl WriterParts {
    fn new(session: &Session, store: Arc<dyn Store>, placer: Box<dyn Placer>) -> Result<Self> {
        if !store.facts().writable {
            let message = format!("{} cannot be written to", store.id().as_str());
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let patches = placer.abilities().patches;
        let output = TargetStore::new(Arc::clone(&session.shared), store, patches);
        let placer = Arc::new(DrivenPlacer::new(session, Arc::clone(output.store()), placer));
        Ok(Self { output, placer })
    }
}

impl Session {
    /// Starts a new dataset at `root`. Nothing is put before the first data or the first commit.
    ///
    /// # Errors
    /// If the format's options contradict each other, or the store cannot be written to.
    pub async fn create(
        &self,
        store: Arc<dyn Store>,
        root: ObjectId,
        writing: Arc<dyn Writing>,
    ) -> Result<DatasetWriter> {
        let placer = writing.create(&root)?;
        let parts = WriterParts::new(self, store, placer)?;
        let conflicts = ConflictControl::of_new(&root, &parts.output, &parts.placer);
        Ok(DatasetWriter::new(self, parts, Arc::new(Model::new()), HashSet::new(), conflicts))
    }

    /// Starts changing an open dataset. Everything that is not changed is preserved.
    ///
    /// # Errors
    /// `Unsupported` if the format or the dataset is read-only, otherwise why it cannot be changed.
    pub async fn update(&self, dataset: &Dataset) -> Result<DatasetWriter> {
        let writing = dataset
            .catalog()
            .writing()
            .ok_or_else(|| dataset.catalog().rejection().at_object(dataset.root()))?;
        let model = Arc::new(with_attributes(dataset).await);
        let context = self.context(Arc::clone(dataset.store()));
        let placer = context.drive(|view| writing.update(view, dataset.root(), &model)).await?;
        let written: HashSet<VarId> = model.variables().into_iter().collect();
        let parts = WriterParts::new(self, Arc::clone(dataset.store()), placer)?;
        let seen = |object: &ObjectId| context.snapshot.tag(object);
        let conflicts = ConflictControl::of(dataset, (&parts.output, &parts.placer), &model, seen)?;
        let mut writer = DatasetWriter::new(self, parts, Arc::clone(&model), written, conflicts);
        writer.base = Some(dataset.clone());
        let shapes = model.variables().into_iter().map(|var| (var, model.shape(var)));
        writer.committer = Committer::of(shapes.collect());
        writer.note_stored(dataset, &model).await;
        Ok(writer)
    }
}

/// Whether there are chunks, and shards, for all elements of a variable.
fn is_reached(target: &WriteTarget, model: &Model, var: VarId) -> bool {
    let is_regular = |grid: &ChunkGrid| matches!(grid, ChunkGrid::Regular(_));
    let grid = &target.encoding.grid;
    let has_chunks = || matches!(grid.reaching(&model.shape(var)), Ok(None));
    let has_shards = |sharding: &Arc<dyn Sharding>| {
        is_regular(sharding.shards())
            || matches!(sharding.reaching(&grid.counts(&model.shape(var))), Ok(None))
    };
    (is_regular(grid) || has_chunks()) && target.sharding.as_ref().is_none_or(has_shards)
}

/// Checks that variables have no shards where the format has none.
fn check_shards(model: &Model, vars: &[VarId], abilities: &Abilities) -> Result<()> {
    let has = |var: &&VarId| model.variable(**var).is_some_and(|variable| variable.shards.is_some());
    match vars.iter().find(has).filter(|_| !abilities.shards) {
        Some(var) => {
            let message = "shards are not part of this format; Zarr v3 has them";
            Err(Error::unsupported(message).at_path(model.variable_path(*var)))
        }
        None => Ok(()),
    }
}

/// The model with all attributes loaded; those that cannot be read are marked as damaged.
async fn with_attributes(dataset: &Dataset) -> Model {
    let mut model = Model::clone(&dataset.model());
    let groups = model.walk().into_iter().map(NodeId::Group);
    let nodes: Vec<NodeId> = groups.chain(model.variables().into_iter().map(NodeId::Variable)).collect();
    let attributes = dataset.attributes(&nodes).await;
    for (node, attributes) in nodes.into_iter().zip(attributes) {
        model.take_attributes(node, attributes.into());
    }
    model
}

impl DatasetWriter {
    fn new(
        session: &Session,
        parts: WriterParts,
        model: Arc<Model>,
        written: HashSet<VarId>,
        conflicts: ConflictControl,
    ) -> Self {
        let WriterParts { output, placer } = parts;
        let shared = Arc::clone(&session.shared);
        let abilities = placer.abilities.clone();
        Self {
            uploads: Uploads::default(),
            session: session.clone(),
            encoder: ChunkEncoder::new(shared, output.clone(), Arc::clone(&placer)),
            output,
            placer,
            definitions: Mutex::new(WriterDefinitions::new(model, written, abilities)),
            turns: EditTurns::default(),
            committer: Committer::default(),
            stage: Arc::default(),
            shards: Arc::default(),
            conflicts,
            base: None,
        }
    }

    /// What the user should know about the store.
    pub fn warnings(&self) -> Vec<String> {
        self.conflicts.warnings()
    }

    /// Announces to other writers that this one changes what they read; a failure ends the writer.
    async fn acquire_lease(&self) -> Result<()> {
        self.uploads.keep_failure(self.conflicts.acquire_lease().await)
    }

    /// Checks that this writer still holds the lease, after it read the chunks that it will replace; acquires it otherwise.
    async fn stay_first(&self) -> Result<()> {
        self.uploads.keep_failure(self.conflicts.stay_first().await)
    }

    /// The model in its present state, including edits and the lengths that writing has grown.
    pub fn model(&self) -> Arc<Model> {
        Arc::clone(&self.definitions().model)
    }

    /// How far a variable reaches itself: to the end of what is stored of it, and of what was written since. Other variables
    /// may have made its unlimited dimensions longer.
    pub fn reach(&self, var: VarId) -> Vec<u64> {
        self.definitions().reach(var)
    }

    /// Notes how far the variables of a dataset reach along unlimited dimensions, where the format has it; else as far as
    /// these.
    async fn note_stored(&self, dataset: &Dataset, model: &Model) {
        for var in model.variables() {
            if model.growing(var).contains(&true) {
                let stored = dataset.source(var).await.map(|source| source.extent.clone());
                let shape = model.shape(var);
                let stored = stored.ok().filter(|stored| stored.len() == shape.len());
                self.definitions().add_reach(var, &stored.unwrap_or(shape));
            }
        }
    }

    /// The dataset that is changed, as it was when it was opened; none for a new one.
    pub fn base(&self) -> Option<&Dataset> {
        self.base.as_ref()
    }

    /// What the format supports.
    pub fn abilities(&self) -> &Abilities {
        &self.placer.abilities
    }

    /// The session that the writer was made with.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Passes edits to the format, if there are any that it has not seen. Chunks may be locked then.
    async fn define<'a>(&self, commit: &'a CommitGuard<'_>) -> Result<ChunkAccess<'a>> {
        let defining = self.turns.defining.lock(commit).await;
        let pending = self.definitions().pending();
        if let Some(pending) = pending {
            self.pass_on(&pending, defining.chunk_access()).await?;
        }
        Ok(ChunkAccess::after_defining(commit, defining))
    }

    async fn pass_on(&self, pending: &PendingDefinitions, access: ChunkAccess<'_>) -> Result<()> {
        // Chunks may have other shapes from here on: cached ones are put with those that they had.
        self.flush_all(access).await?;
        let puts = match self.try_define(pending).await {
            Ok(puts) => puts,
            Err(error) => {
                self.definitions().roll_back(&error);
                return Err(error);
            }
        };
        // The format has them: from here to the puts nothing may fail, and nothing may be waited for.
        self.definitions().accept(pending);
        self.conflicts.note_checked_groups(&pending.model);
        self.stage.retain(|var| pending.model.variable(var).is_some());
        self.shards.retain(|var| pending.model.variable(var).is_some());
        self.shards.forget_stored();
        self.conflicts.ask_for_conditions();
        self.put(puts).await
    }

    /// Passes definitions to the format, as the last of what may refuse them: it cannot take them back.
    async fn try_define(&self, pending: &PendingDefinitions) -> Result<Vec<StorePut>> {
        let (changes, vars) = (pending.changes.as_ref(), pending.variables());
        check_shards(&pending.model, &vars, &self.placer.abilities)?;
        self.conflicts.check_longest_keys(&pending.model, &vars, changes)?;
        let model = self.to_pass(pending);
        let model = translated(model, &vars, &self.placer.abilities, self.session.registry())?;
        let model = self.completed(model, &vars, |placer, model, var| placer.encoding_in(model, var))?;
        let puts = self.placer.drive(|view, placer| placer.define(view, &model, changes)).await?;
        if !Arc::ptr_eq(&model, &pending.model) {
            self.definitions().passed = Some(model);
        }
        Ok(puts)
    }

    /// The model to be passed to the format. One in which filters are described in another way is made once and follows then.
    fn to_pass(&self, pending: &PendingDefinitions) -> Arc<Model> {
        match (self.definitions().passed.take(), &pending.changes) {
            (Some(mut passed), Some(changes)) => {
                Arc::make_mut(&mut passed).follow(&pending.model, changes);
                passed
            }
            _ => Arc::clone(&pending.model),
        }
    }

    /// A variable bound to codecs and conversions.
    fn target(&self, var: VarId) -> Result<(Arc<WriteTarget>, Arc<Model>)> {
        let mut definitions = self.definitions();
        let model = Arc::clone(&definitions.model);
        if let Some(target) = definitions.targets.get(&var)
            && is_reached(target, &model, var)
        {
            return Ok((Arc::clone(target), model));
        }
        if model.variable(var).is_none() {
            return Err(Error::not_found("no such variable"));
        }
        let mut encoding = self.placer.guard().encoding(var)?;
        if let Some(grid) = encoding.grid.reaching(&model.shape(var))? {
            self.placer.guard().extend_grid(var, grid)?;
            encoding = self.placer.guard().encoding(var)?;
        }
        let shared = &self.session.shared;
        let mut sharding = self.placer.guard().sharding(var);
        let counts = encoding.grid.counts(&model.shape(var));
        let grown = sharding.as_ref().map(|sharding| sharding.reaching(&counts)).transpose()?.flatten();
        if let Some(grown) = grown {
            self.placer.guard().extend_shards(var, Arc::clone(&grown))?;
            sharding = Some(grown);
        }
        let mut target = WriteTarget::new(&model, var, encoding, &shared.registry, &shared.limits)?;
        target.sharding = sharding;
        let target = Arc::new(target);
        definitions.targets.insert(var, Arc::clone(&target));
        Ok((target, model))
    }

    /// Commits everything: cached chunks are put, then the format's phases are carried out in order. When it returns,
    /// all that was written before is durable and visible to others.
    ///
    /// # Errors
    /// The first failure; no later phase is begun then, so that the last committed state remains valid, except for
    /// single objects that the format replaces one by one. After a failed put, the writer can only be dropped.
    pub async fn sync(&self) -> Result<()> {
        self.sync_checked(Box::pin(async { Ok(()) })).await
    }

    /// As [`sync`](Self::sync), with a request that runs beside the last chunks and decides whether the last phase may
    /// begin.
    ///
    /// # Errors
    /// As [`sync`](Self::sync), and errors of the request.
    pub async fn sync_checked(&self, request: BoxFuture<'static, Result<()>>) -> Result<()> {
        let commit = self.committer.commit_lock.alone().await;
        self.check_usable()?;
        let access = self.define(&commit).await?;
        self.definitions().check_refused()?;
        self.committer.commit(self, access, request).await
    }

    /// Commits everything and ends the writer.
    ///
    /// # Errors
    /// As [`sync`](Self::sync).
    pub async fn close(self) -> Result<()> {
        self.sync().await
    }

    /// Ends the writer without a commit: what was not synced is lost.
    pub fn abort(self) {
        drop(self);
    }

    /// Ends the writer while there are other references to it: every later call fails, and nothing is in flight any
    /// more when this returns. What was not synced is lost.
    pub async fn abandon(&self) {
        self.uploads.abandon().await;
    }

    /// Carries out changes; a failure is recorded, because the format already relies on them.
    async fn put(&self, puts: Vec<StorePut>) -> Result<()> {
        if puts.is_empty() {
            return Ok(());
        }
        let changes = async {
            self.acquire_lease().await?;
            self.placer.forget(&puts);
            self.conflicts.run_phase(PutPhase { puts, form: PhaseForm::Separate }).await
        };
        self.uploads.to_the_end(changes).await
    }

    fn check_usable(&self) -> Result<()> {
        if let Some((var, error)) = self.uploads.detached.failure() {
            return self.uploads.keep_failure(Err(error.at_path(self.model().variable_path(var))));
        }
        self.uploads.check()
    }

    fn definitions(&self) -> MutexGuard<'_, WriterDefinitions> {
        self.definitions.guard()
    }

    /// Whether shards are put in the background.
    fn shard_putting(&self) -> ShardPutting {
        let is_visible = self.output.local().is_some() || self.conflicts.is_shared();
        if is_visible { ShardPutting::Awaited } else { ShardPutting::Detached }
    }

    /// Bytes that cached chunks may take.
    fn stage_budget(&self) -> usize {
        self.session.shared.memory.bytes() / 2
    }

    /// Bytes of chunks that are processed at once.
    fn window_budget(&self) -> usize {
        self.session.shared.memory.bytes() / 4
    }

    /// How many threads may hold a chunk of that size at once: each needs it decoded, encoded and in between.
    fn worker_count(&self, cell_bytes: usize) -> usize {
        (self.window_budget() / cell_bytes.saturating_mul(3).max(1)).max(1)
    }
}

impl fmt::Debug for DatasetWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("store", self.output.store().id())
            .field("staged_bytes", &self.stage.held())
            .finish_non_exhaustive()
    }
}
