//! The placer: placement of chunks, commits.
use super::commit::{self, CommitOrder, CommitPlan, CommittedDocuments};
use super::compose::{ComposedDocuments, DocumentComposer, MetadataDocument, keeps_unlimited_apart};
use super::definitions::{DefinedState, VariableState};
use super::plan::{self, VariablePlan};
use super::present::OpenedDataset;
use super::{ZarrWriter, names};
use crate::Dialect;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, CellList, ChunkGrid, ChunkRef, Encoding, Error, FillStorage, Location, ObjectId, Placer,
    PlacerWork, PreparedPlacement, PutPhase, Result, Sharding, Step, StorePut, View,
};
use ncirrus_model::{AttributeState, Attributes, Changes, CodecSpace, Model, NodeId, Values, VarId};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Places the chunks and metadata of one dataset.
#[derive(Debug)]
pub(crate) struct ZarrPlacer {
    pub(crate) writer: ZarrWriter,
    pub(crate) root: ObjectId,
    pub(crate) present: Option<OpenedDataset>,
    pub(crate) defined: DefinedState,
    pub(crate) committed: CommittedDocuments,
    /// Variables that exist but whose chunks cannot be written, with the reason; those that can be read have a plan.
    pub(crate) closed: HashMap<VarId, Error>,
    pub(crate) planned: Option<PlannedCommit>,
    /// The consolidated document of the committed state, if it is not put.
    pub(crate) whole: Option<MetadataDocument>,
    /// Whether that document was put to hide the intermediate states of a commit.
    pub(crate) guarded: bool,
    /// Keys of documents that a killed writer left ahead of their consolidated copies; the next change puts them.
    pub(crate) ahead: HashSet<String>,
    /// Variables with chunks that were not written before the commit.
    pub(crate) sparse: HashSet<VarId>,
}

/// A commit in progress.
#[derive(Debug)]
pub(crate) struct PlannedCommit {
    after: CommittedDocuments,
    shapes: HashMap<VarId, Vec<u64>>,
    whole: Option<MetadataDocument>,
    /// Whether documents that were ahead are put.
    heals: bool,
}

impl ZarrPlacer {
    /// A dataset that does not exist yet.
    pub(crate) fn create(mut writer: ZarrWriter, root: ObjectId) -> Self {
        // Other readers refuse a dataset whose consolidated metadata have names of objects that they do not know.
        writer.consolidated &= writer.dialect != Dialect::Draft2018;
        Self {
            writer,
            root,
            present: None,
            defined: DefinedState::default(),
            committed: CommittedDocuments::new(),
            closed: HashMap::new(),
            planned: None,
            whole: None,
            guarded: false,
            ahead: HashSet::new(),
            sparse: HashSet::new(),
        }
    }

    /// The store's documents as far as they agree with the consolidated metadata; the others are put with the next
    /// change.
    fn consistent(&self, documents: &ComposedDocuments) -> Cow<'_, CommittedDocuments> {
        if self.ahead.is_empty() {
            return Cow::Borrowed(&self.committed);
        }
        let mut consistent = self.committed.clone();
        // The consolidated document may be the root's, which is listed without what it consolidates.
        let whole = documents.consolidated.as_ref();
        let is_single = |document: &&MetadataDocument| whole.is_none_or(|whole| whole.key != document.key);
        let mut all = documents.list.iter().filter(is_single).chain(whole);
        if !self.defined.removed.is_empty() || all.any(|document| commit::differs(document, &consistent)) {
            consistent.retain(|key, _| !self.ahead.contains(key));
        }
        Cow::Owned(consistent)
    }

    fn plan(&self, var: VarId) -> Result<&VariablePlan> {
        if let Some(error) = self.closed.get(&var) {
            return Err(error.clone());
        }
        let undefined = || Error::internal(format!("variable {} was not defined for writing", var.index()));
        self.defined.plans.get(&var).map(Arc::as_ref).ok_or_else(undefined)
    }

    /// The object of a chunk, or of the shard that contains it.
    fn chunk(&self, plan: &VariablePlan, cell: &[u64]) -> ObjectId {
        let array = self.root.child(&plan.key);
        match &plan.shards {
            Some(sharding) => array.child(&plan.keys.key(&sharding.shard_of(cell))),
            None => array.child(&plan.keys.key(cell)),
        }
    }

    /// Records that a chunk is stored, and returns its object.
    fn place_chunk(&mut self, var: VarId, cell: &[u64], mask: u32) -> Result<ObjectId> {
        if mask != 0 {
            return Err(
                Error::invalid("zarr cannot record that a codec was skipped for a chunk").at_chunk(cell)
            );
        }
        let plan = self.plan(var)?;
        if cell.len() != plan.encoding.grid.rank() {
            return Err(Error::internal(format!("cell {cell:?} has not {} axes", plan.encoding.grid.rank())));
        }
        let object = self.chunk(plan, cell);
        let is_committed = self.defined.states.get(&var).is_some_and(|state| state.is_committed(plan, cell));
        let state = self.defined.states.get_mut(&var).map(Arc::make_mut);
        let state =
            state.ok_or_else(|| Error::internal("a chunk of an array that is not known").at_chunk(cell))?;
        state.has_data = true;
        if !is_committed {
            state.placed.insert(cell);
        }
        Ok(object)
    }

    /// Records which variables lack chunks: only the fill value determines their values.
    fn note_sparse(&mut self, model: &Model) {
        for (var, state) in &self.defined.states {
            let Some(plan) = self.defined.plans.get(var) else { continue };
            let cells = |shape: &[u64]| -> u64 {
                let along =
                    shape.iter().enumerate().map(|(axis, len)| plan.encoding.grid.cells_along(axis, *len));
                along.fold(1, u64::saturating_mul)
            };
            let committed = state.extent.as_deref().map_or(0, cells);
            if state.placed.len().saturating_add(committed) < cells(&model.shape(*var)) {
                self.sparse.insert(*var);
            }
        }
    }

    /// Without consolidated metadata readers list the store: before copies are made, the committed state is put as a
    /// consolidated document, which the next commit removes.
    fn guard(&self) -> Option<StorePut> {
        if self.writer.consolidated || self.guarded || self.committed.is_empty() {
            return None;
        }
        self.whole.as_ref().map(|whole| commit::put(&self.root, whole))
    }

    /// Variables that cannot be read can be removed, alone or with their groups, but not changed. Those with a plan
    /// are treated like all others: only their chunks cannot be written.
    fn redefine_closed(&self, model: &Model, defined: &mut DefinedState) -> Result<()> {
        let Some(present) = &self.present else { return Ok(()) };
        for (var, reason) in self.closed.iter().filter(|(var, _)| !self.defined.plans.contains_key(var)) {
            let path = present.model.variable_path(*var);
            let key = path.trim_start_matches('/').to_owned();
            if model.variable(*var).is_none() {
                defined.removed.push(key);
            } else if model.variable_path(*var) != path {
                return Err(Error::unsupported("a variable that cannot be read cannot be renamed")
                    .at_path(path)
                    .because(reason.clone()));
            } else if let (Some(old), Some(new)) = (known(&present.model, *var), known(model, *var))
                && old != new
            {
                return Err(Error::unsupported(
                    "attributes of a variable that cannot be read cannot be changed",
                )
                .at_path(path)
                .because(reason.clone()));
            }
        }
        Ok(())
    }

    /// An array at the root is the whole dataset: nothing else has a place in it.
    fn check_root_array(&self, model: &Model) -> Result<()> {
        let (Some(array), Some(present)) = (self.defined.root_array, &self.present) else { return Ok(()) };
        let name = |model: &Model| model.variable(array).map(|variable| variable.name.clone());
        let has_attributes = model.attributes(NodeId::Group(model.root())).and_then(AttributeState::known);
        let is_alone = model.variables() == [array] && model.walk().len() == 1;
        if is_alone && name(model) == name(&present.model) && has_attributes.is_none_or(Attributes::is_empty)
        {
            return Ok(());
        }
        let reason = "an array at the root of a store is the whole dataset: it keeps its name, and there are no other members \
                      and no attributes of the root";
        Err(Error::unsupported(reason))
    }

    fn check_names(&self, model: &Model) -> Result<()> {
        for group in model.walk() {
            let path = || model.group_path(group);
            if group != model.root() {
                let name = model.group(group).map(|group| group.name.as_str()).unwrap_or_default();
                let is_old = self.present.as_ref().is_some_and(|old| old.model.group_at(&path()).is_some());
                if !is_old {
                    names::check_member(name, self.writer.dialect).map_err(|error| error.at_path(path()))?;
                }
            }
            for dim in model.group(group).map(|group| group.dims.as_slice()).unwrap_or_default() {
                let name = model.dimension(*dim).map(|dimension| dimension.name.as_str()).unwrap_or_default();
                names::check_dimension(name).map_err(|error| error.at_path(path()))?;
            }
            self.check_attributes(model, NodeId::Group(group)).map_err(|error| error.at_path(path()))?;
        }
        for var in model.variables() {
            let name = model.variable(var).map(|variable| variable.name.as_str()).unwrap_or_default();
            let path = model.variable_path(var);
            let is_old = self.present.as_ref().is_some_and(|old| old.model.variable_at(&path).is_some());
            let checked = if is_old { Ok(()) } else { names::check_member(name, self.writer.dialect) };
            let checked = checked.and_then(|()| self.check_attributes(model, NodeId::Variable(var)));
            checked.map_err(|error| error.at_path(path))?;
        }
        Ok(())
    }

    pub(super) fn check_attributes(&self, model: &Model, node: NodeId) -> Result<()> {
        let Some(AttributeState::Known(list)) = model.attributes(node) else { return Ok(()) };
        let old = self.present.as_ref().and_then(|present| present.model.attributes(node)?.known());
        list.iter()
            .filter(|attribute| old.is_none_or(|old| old.find(&attribute.name).is_none()))
            .try_for_each(|attribute| names::check_attribute(&attribute.name))
    }
}

/// The attributes of a variable.
fn known(model: &Model, var: VarId) -> Option<&Attributes> {
    model.attributes(NodeId::Variable(var))?.known()
}

impl Placer for ZarrPlacer {
    fn abilities(&self) -> Abilities {
        let codecs = if self.writer.dialect.zarr_format() == 3 { CodecSpace::V3 } else { CodecSpace::V2 };
        Abilities {
            redefine: true,
            codecs: Some(codecs),
            sparse: true,
            shards: self.writer.dialect.zarr_format() == 3,
            patches: false,
            unlimits: true,
            keeps_unlimited: matches!(self.writer.dialect, Dialect::Attributes | Dialect::Nczarr3)
                || keeps_unlimited_apart(self.writer.dialect, self.present.as_ref()),
            fills: FillStorage::Variable,
        }
    }

    fn define(&mut self, _view: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>> {
        if changes.is_some_and(|changes| self.define_additions(model, changes)) {
            return Ok(Vec::new());
        }
        self.check_names(model)?;
        self.check_root_array(model)?;
        let mut defined = self.defined.clone();
        let moves = defined.redefine(&self.writer, &self.closed, model)?;
        self.redefine_closed(model, &mut defined)?;
        self.closed.retain(|var, _| model.variable(*var).is_some());
        let guard = if moves.copied.is_empty() { None } else { self.guard() };
        self.guarded |= guard.is_some();
        self.defined = defined;
        Ok(guard.into_iter().chain(moves.puts(&self.root)).collect())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        Ok(Arc::clone(&self.plan(var)?.encoding))
    }

    fn encoding_in(&self, model: &Model, var: VarId) -> Result<Arc<Encoding>> {
        let is_kept = |state: &Arc<VariableState>| state.extent.is_some() || state.has_data;
        if self.closed.contains_key(&var) || self.defined.states.get(&var).is_some_and(is_kept) {
            return self.encoding(var);
        }
        Ok(plan::plan(&self.writer, model, var, String::new())?.encoding)
    }

    fn extend_grid(&mut self, var: VarId, grid: ChunkGrid) -> Result<()> {
        self.plan(var)?;
        if let Some(plan) = self.defined.plans.get_mut(&var) {
            Arc::make_mut(plan).extend_grid(grid);
        }
        Ok(())
    }

    fn extend_shards(&mut self, var: VarId, shards: Arc<dyn Sharding>) -> Result<()> {
        self.plan(var)?;
        if let Some(plan) = self.defined.plans.get_mut(&var) {
            Arc::make_mut(plan).extend_shards(shards);
        }
        Ok(())
    }

    fn locate(&self, _view: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let plan = self.plan(var)?;
        let state = self.defined.states.get(&var);
        let location = |cell: &[u64]| {
            let known = state.is_none_or(|state| state.holds(plan, cell));
            ChunkRef::new(if known { Location::Object(self.chunk(plan, cell)) } else { Location::Absent })
        };
        Ok(cells.iter().map(location).collect())
    }

    fn sharding(&self, var: VarId) -> Option<Arc<dyn Sharding>> {
        self.plan(var).ok()?.shards.clone()
    }

    fn object_of(&self, var: VarId, cell: &[u64]) -> Option<ObjectId> {
        let plan = self.plan(var).ok().filter(|plan| plan.encoding.grid.rank() == cell.len())?;
        plan.shards.is_none().then(|| self.chunk(plan, cell))
    }

    fn shard_object(&self, var: VarId, shard: &[u64]) -> Option<ObjectId> {
        let plan = self.plan(var).ok().filter(|plan| plan.encoding.grid.rank() == shard.len())?;
        plan.shards.as_ref().map(|_| self.root.child(&plan.key).child(&plan.keys.key(shard)))
    }

    fn prepare(&self, _view: &dyn View, _work: &[PlacerWork]) -> Step<PreparedPlacement> {
        Ok(PreparedPlacement::nothing())
    }

    fn intern(&mut self, _var: VarId, _values: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        Err(Error::internal("zarr stores no references"))
    }

    fn place(
        &mut self,
        _prepared: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>> {
        if self.sharding(var).is_some() {
            return Err(Error::internal("a chunk of a shard as an object of its own").at_chunk(cell));
        }
        Ok(vec![StorePut::Object { object: self.place_chunk(var, cell, mask)?, body }])
    }

    fn place_whole(
        &mut self,
        _prepared: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        mask: u32,
    ) -> Result<Option<ObjectId>> {
        self.place_chunk(var, cell, mask).map(Some)
    }

    fn plan_commit(&mut self, _view: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        let vars: Vec<VarId> = self.defined.plans.keys().copied().collect();
        for var in vars {
            let extended = self.defined.extend_to(var, &model.shape(var));
            extended.map_err(|error| error.at_path(model.variable_path(var)))?;
        }
        self.note_sparse(model);
        let present = self.present.as_ref();
        let composer = DocumentComposer::new(&self.writer, model, &self.defined.plans, present);
        let documents = composer.with_sparse(&self.sparse).documents()?;
        let order = CommitOrder {
            is_new: self.committed.is_empty(),
            consolidated: self.writer.consolidated,
            guarded: self.guarded,
        };
        let whole = if self.writer.consolidated { None } else { documents.consolidated.clone() };
        let committed = self.consistent(&documents);
        let CommitPlan { phases, after } =
            commit::commit(&self.root, documents, &committed, self.defined.removed.keys(), order);
        let shapes = self.defined.plans.keys().map(|var| (*var, model.shape(*var))).collect();
        let heals = !phases.is_empty();
        self.planned = Some(PlannedCommit { after, shapes, whole, heals });
        Ok(phases)
    }

    fn committed(&mut self) {
        let Some(PlannedCommit { after, shapes, whole, heals }) = self.planned.take() else { return };
        if heals {
            self.ahead.clear();
        }
        self.committed = after;
        self.whole = whole;
        self.guarded = false;
        self.defined.removed.clear();
        for (var, shape) in shapes {
            if let Some(state) = self.defined.states.get_mut(&var).map(Arc::make_mut) {
                state.extent = Some(shape);
                state.placed.clear();
            }
        }
    }

    fn commit_object(&self) -> Option<ObjectId> {
        let name = DECIDING.iter().find(|name| self.committed.contains_key(**name))?;
        Some(self.root.child(name))
    }

    fn documents(&self) -> Vec<ObjectId> {
        self.committed.keys().map(|key| self.root.child(key)).collect()
    }
}

/// Documents of a root, with the commit object first.
const DECIDING: [&str; 6] = [".zmetadata", "zarr.json", ".zgroup", ".zarray", ".nczgroup", ".nczarr"];
