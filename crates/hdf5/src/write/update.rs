//! Changing existing files (docs/spec/hdf5-netcdf4.md J).
//!
//! New data go behind the end of the file, where no reader looks; a commit plans the references to them, and writes
//! these in an order in which the file is valid after every single write. Before that nothing that readers know is
//! touched, except contiguous data, which are overwritten.
mod additions;
mod after;
mod attributes;
mod data;
mod head;
mod layout_message;
mod links;
mod message_names;
mod plan;

pub(crate) use after::MadeFile;

use super::heap::HeapBuilder;
use super::objects::{FileObject, scale_of, type_users};
use super::placer::{
    ChunkArrangement, FileStructures, Hdf5Writer, HeldElements, StorageForm, check_classic, run_of,
};
use super::space::SpaceAllocator;
use super::value::encode_values;
use super::{FilePatch, StoredChunk};
use crate::address::{FieldSizes, FileAddress};
use crate::datatypes::ValueResolver;
use crate::file::Hdf5File;
use crate::netcdf::members;
use crate::object::ObjectRef;
use crate::superblock::load;
use additions::AcceptedAdditions;
use bytes::Bytes;
use data::{ExistingStorage, form, locate};
use head::SuperblockImage;
use ncirrus_layout::{
    Abilities, CellList, ChunkRef, Detail, Encoding, Error, FillStorage, Location, ObjectId, PhaseForm,
    Placer, PlacerWork, PreparedPlacement, PutPhase, Resolver, Result, Stall, Step, StorePut, StoredType,
    Tag, View, settle,
};
use ncirrus_model::{Changes, CodecSpace, DimId, Model, Values, VarId};
use plan::{UnscaledAxes, UpdatePlan, UpdatePlanner};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The locations of a file's objects, and its ids of dimensions.
#[derive(Debug, Clone, Default)]
struct KnownObjects {
    addrs: HashMap<FileObject, FileAddress>,
    ids: HashMap<DimId, i32>,
}

/// A variable: its storage, and what was placed since the last commit.
#[derive(Debug, Clone)]
struct PendingWrites {
    form: StorageForm,
    held: HeldElements,
    path: String,
    /// The shape of contiguous data.
    shape: Vec<u64>,
    /// Chunks of references in a run that readers know: the targets must be put first.
    late: BTreeMap<Vec<u64>, Bytes>,
}

impl PendingWrites {
    /// Whether anything is waiting for a commit.
    fn waits(&self) -> bool {
        let is_held = match &self.held {
            HeldElements::Compact(body) => body.is_some(),
            HeldElements::Run { addr, .. } => addr.is_some(),
            HeldElements::Chunks(chunks) => !chunks.is_empty(),
        };
        is_held || !self.late.is_empty()
    }
}

/// A file being changed.
#[derive(Debug)]
pub(crate) struct FileUpdate {
    root: ObjectId,
    choices: Hdf5Writer,
    /// The model that readers see.
    model: Model,
    known: KnownObjects,
    pending_writes: HashMap<VarId, PendingWrites>,
    existing_storage: HashMap<VarId, ExistingStorage>,
    /// Why data of a variable cannot be written.
    refused: HashMap<VarId, Error>,
    paths: Arc<HashMap<FileAddress, String>>,
    base: u64,
    sizes: FieldSizes,
    root_group: FileAddress,
    space: SpaceAllocator,
    heap: HeapBuilder,
    planned: Option<(Model, KnownObjects)>,
    /// What was defined since the last commit.
    accepted: AcceptedAdditions,
}

/// Starts changing the file `root`, whose current state is `model`.
///
/// # Errors
/// A need, or why the file cannot be changed.
pub(super) fn update(
    view: &dyn View,
    root: &ObjectId,
    model: &Model,
    choices: &Hdf5Writer,
) -> Step<Box<dyn Placer>> {
    let file = load(view, root)?;
    let head =
        SuperblockImage::read(view, &file).map_err(|stall| stall.map_error(|error| error.at_object(root)))?;
    let found = members(view, root, choices.hides_references)?;
    if choices.needs_order
        && let Some(group) = &found.untracked_group
    {
        let message =
            format!("netCDF-C does not change this file: group {group} does not track the order of creation");
        return Err(Error::unsupported(message).with_detail(Detail::NoCreationOrder).at_object(root).into());
    }
    // The program edits `model`; addresses below are those of `found`. They belong together only if both are the same.
    if !is_same(&found.model, model) {
        let message = "the file was changed by another program since it was opened";
        return Err(Error::unsupported(message).at_object(root).into());
    }
    let mut known = KnownObjects::default();
    known.addrs.extend(found.groups.iter().map(|(id, addr)| (FileObject::Group(*id), *addr)));
    known.addrs.extend(found.variables.iter().map(|(id, addr)| (FileObject::Variable(*id), *addr)));
    known.addrs.extend(found.types.iter().map(|(id, addr)| (FileObject::Type(*id), *addr)));
    for (dim, addr, id) in &found.scales {
        // A scale that is a variable, too, is known already.
        known.addrs.entry(scale_of(model, *dim)).or_insert(*addr);
        known.ids.extend(id.and_then(|id| i32::try_from(id).ok()).map(|id| (*dim, id)));
    }
    let choices = Hdf5Writer {
        // A superblock of version 3 shows that readers of this file are 1.10 or newer (docs/spec/hdf5-netcdf4.md A.3).
        structures: if file.version >= 3 { FileStructures::V110 } else { choices.structures },
        ..choices.clone()
    };
    // A writer that was killed may have left bytes behind the end that the superblock states: they are not reused.
    let end = head.end().max(file.size.saturating_sub(file.base));
    let mut update = FileUpdate {
        root: root.clone(),
        choices,
        model: model.clone(),
        known,
        pending_writes: HashMap::new(),
        existing_storage: HashMap::new(),
        refused: HashMap::new(),
        paths: found.paths,
        base: file.base,
        sizes: file.sizes,
        root_group: file.root,
        space: SpaceAllocator::new(end),
        heap: HeapBuilder::new(file.sizes),
        planned: None,
        accepted: AcceptedAdditions::default(),
    };
    update.read_existing(view)?;
    Ok(Box::new(update))
}

/// Whether two models have the same members; attributes are not compared.
fn is_same(a: &Model, b: &Model) -> bool {
    let names = |model: &Model| -> Vec<(String, Vec<u64>)> {
        let variables = model.variables().into_iter();
        variables.map(|id| (model.variable_path(id), model.shape(id))).collect()
    };
    a.walk() == b.walk() && names(a) == names(b)
}

impl FileUpdate {
    /// Reads the storage of all variables of the file.
    fn read_existing(&mut self, view: &dyn View) -> Step<()> {
        let file = load(view, &self.root)?;
        let (mut pending_writes, mut existing_storage, mut refused) =
            (HashMap::new(), HashMap::new(), HashMap::new());
        for id in self.model.variables() {
            let path = self.model.variable_path(id);
            let Some(addr) = self.known.addrs.get(&FileObject::Variable(id)) else {
                refused.insert(id, Error::unsupported("the variable lies in another file").at_path(path));
                continue;
            };
            let object = ObjectRef { file: Arc::clone(&file), addr: *addr };
            match settle(form(view, &object, (&self.model, id), &self.paths)).map_err(Stall::Need)? {
                Ok((form, existing)) => {
                    let (held, shape) = (HeldElements::nothing(form.arranged), existing.shape.clone());
                    pending_writes
                        .insert(id, PendingWrites { form, held, path, shape, late: BTreeMap::new() });
                    existing_storage.insert(id, existing);
                }
                Err(error) => _ = refused.insert(id, error.at_path(path)),
            }
        }
        (self.pending_writes, self.existing_storage, self.refused) =
            (pending_writes, existing_storage, refused);
        Ok(())
    }

    /// The variables of a changed model.
    fn adopted(&self, model: &Model) -> Result<HashMap<VarId, PendingWrites>> {
        if self.choices.classic_model {
            check_classic(model)?;
        }
        let writes = |id| Some(self.writes(model, id).transpose()?.map(|writes| (id, writes)));
        model.variables().into_iter().filter_map(writes).collect()
    }

    /// How a variable of a changed model is written; `None` if it cannot be. With data it keeps its form.
    fn writes(&self, model: &Model, id: VarId) -> Result<Option<PendingWrites>> {
        let path = model.variable_path(id);
        match self.kept(id) {
            Some(pending) => Ok(Some(PendingWrites { path, ..pending.clone() })),
            None if self.refused.contains_key(&id) => Ok(None),
            None => {
                let form = StorageForm::new(model, id, &self.choices)?;
                let (held, shape) = (HeldElements::nothing(form.arranged), model.shape(id));
                Ok(Some(PendingWrites { form, held, path, shape, late: BTreeMap::new() }))
            }
        }
    }

    /// A variable that has data, and therefore keeps its form.
    fn kept(&self, id: VarId) -> Option<&PendingWrites> {
        let has_data = |pending: &&PendingWrites| self.existing_storage.contains_key(&id) || pending.waits();
        self.pending_writes.get(&id).filter(has_data)
    }

    /// Applies a changed model, if it can be planned; nothing is changed otherwise.
    fn define_planned(&mut self, view: &dyn View, model: &Model) -> Step<()> {
        let adopted = self.adopted(model)?;
        let before = std::mem::replace(&mut self.pending_writes, adopted);
        // What cannot be changed is reported before anything is put.
        let planned = self.plan(view, model).and_then(|_| self.note_planned(view, model));
        if planned.is_err() {
            self.pending_writes = before;
        }
        planned
    }

    fn plan(&self, view: &dyn View, model: &Model) -> Step<UpdatePlan> {
        let file = load(view, &self.root)?;
        let planner = UpdatePlanner {
            view,
            old: &self.model,
            new: model,
            known: &self.known,
            pending_writes: &self.pending_writes,
            existing_storage: &self.existing_storage,
            newer: self.choices.structures == FileStructures::V110,
            after: self.known.clone(),
            space: self.space.clone(),
            heap: HeapBuilder::new(file.sizes),
            file,
            headers: BTreeMap::new(),
            unscaled: UnscaledAxes::default(),
            losing: HashSet::new(),
            type_users: type_users(model),
            turns: HashMap::new(),
            fresh: Vec::new(),
            late: Vec::new(),
            indexes: Vec::new(),
            root_is_new: false,
            links_are_changed: false,
        };
        planner.plan()
    }

    fn phases(&self, view: &dyn View, plan: &UpdatePlan) -> Step<Vec<PutPhase>> {
        let file = load(view, &self.root)?;
        let mut head = SuperblockImage::read(view, &file)?;
        let waits = self.pending_writes.values().any(|pending| pending.waits());
        let is_changed = waits || !plan.fresh.is_empty() || !plan.headers.is_empty();
        if !is_changed && plan.indexes.is_empty() {
            return Ok(Vec::new());
        }
        let mut phases = vec![self.phase(&plan.fresh, PhaseForm::Separate)];
        if plan.space.end() > head.end() || plan.root_is_new {
            head.set_end(plan.space.end().max(head.end()))?;
            if plan.root_is_new {
                head.forget_root()?;
            }
            let head = [FilePatch { addr: FileAddress(0), body: head.encode() }];
            phases.push(self.phase(&head, PhaseForm::Separate));
        }
        let mut known = plan.late.clone();
        known.extend(plan.indexes.iter().cloned());
        phases.push(self.phase(&known, PhaseForm::Separate));
        phases.extend(plan.headers.values().map(|patches| self.phase(patches, PhaseForm::Together)));
        phases.retain(|phase| !phase.puts.is_empty());
        Ok(phases)
    }

    fn phase(&self, patches: &[FilePatch], form: PhaseForm) -> PutPhase {
        let puts = patches.iter().map(|patch| self.put_at(patch.addr, patch.body.clone()));
        PutPhase { puts: puts.collect(), form }
    }

    fn put_at(&self, addr: FileAddress, body: Bytes) -> StorePut {
        StorePut::Patch { object: self.root.clone(), offset: self.base.saturating_add(addr.0), body }
    }

    fn pending(&self, var: VarId) -> Result<&PendingWrites> {
        match (self.pending_writes.get(&var), self.refused.get(&var)) {
            (Some(pending), _) => Ok(pending),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Err(Error::not_found("the variable is not defined in the file")),
        }
    }

    fn bytes_at(&self, addr: FileAddress, len: u64) -> Location {
        let start = self.base.saturating_add(addr.0);
        Location::Bytes(self.root.clone(), start..start.saturating_add(len))
    }

    /// The location of a chunk that was placed since the last commit, or that is in a run; `None`: as in the file.
    fn placed(&self, var: VarId, pending: &PendingWrites, cell: &[u64]) -> Result<Option<ChunkRef>> {
        let existing = self.existing_storage.get(&var);
        if let Some(body) = pending.late.get(cell) {
            return Ok(Some(ChunkRef::new(Location::Inline(body.clone()))));
        }
        let location = match &pending.held {
            HeldElements::Compact(Some(body)) => Location::Inline(body.clone()),
            HeldElements::Run { addr, cells } => {
                let committed = existing.and_then(|existing| existing.run);
                let run = committed.or(addr.filter(|_| cells.contains(cell)));
                let range = run_of(&pending.form, &pending.shape, cell)?;
                match run {
                    Some(run) => {
                        self.bytes_at(FileAddress(run.0.saturating_add(range.start)), range.end - range.start)
                    }
                    None => Location::Absent,
                }
            }
            HeldElements::Chunks(chunks) => match chunks.get(cell) {
                Some(StoredChunk { addr, len, mask }) => {
                    return Ok(Some(ChunkRef { location: self.bytes_at(*addr, *len), mask: *mask }));
                }
                None if existing.is_some() => return Ok(None),
                None => Location::Absent,
            },
            HeldElements::Compact(None) if existing.is_some() => return Ok(None),
            HeldElements::Compact(None) => Location::Absent,
        };
        Ok(Some(ChunkRef::new(location)))
    }

    /// Stores a chunk's bytes.
    fn store(&mut self, var: VarId, cell: &[u64], body: Bytes, mask: u32) -> Result<Vec<StorePut>> {
        self.pending(var)?;
        let align = self.choices.align;
        let existing = self.existing_storage.get(&var);
        let Some(pending) = self.pending_writes.get_mut(&var) else {
            return Err(Error::internal("no such variable"));
        };
        let (space, form, shape) = (&mut self.space, &pending.form, &pending.shape);
        let addr = match &mut pending.held {
            HeldElements::Compact(held) => {
                *held = Some(body);
                return Ok(Vec::new());
            }
            HeldElements::Run { addr, cells } => {
                let range = run_of(form, shape, cell)?;
                let is_known = existing.is_some_and(|existing| existing.run.is_some());
                if is_known && matches!(form.encoding.stored, StoredType::Reference { .. }) {
                    pending.late.insert(cell.to_vec(), body);
                    return Ok(Vec::new());
                }
                let start = match (existing.and_then(|existing| existing.run), *addr) {
                    (Some(run), _) | (None, Some(run)) => run,
                    (None, None) => {
                        let total = shape
                            .iter()
                            .try_fold(form.datatype.byte_len, |total, len| total.checked_mul(*len));
                        let total =
                            total.ok_or_else(|| Error::limit("the variable has more than 2^64 bytes"))?;
                        *addr.insert(space.take(total, align))
                    }
                };
                if !is_known {
                    cells.insert(cell.to_vec());
                }
                FileAddress(start.0.saturating_add(range.start))
            }
            HeldElements::Chunks(chunks) => {
                let len = body.len() as u64;
                if let Some(existing) = existing.filter(|existing| existing.implicit)
                    && let Some(first) = existing.run
                {
                    let number = number_in(existing, form, cell);
                    let offset = number
                        .and_then(|number| number.checked_mul(len))
                        .and_then(|at| at.checked_add(first.0));
                    let offset = offset.ok_or_else(|| Error::invalid("there is no such chunk"))?;
                    return Ok(vec![self.put_at(FileAddress(offset), body)]);
                }
                let addr = match chunks.get(cell) {
                    // It is not visible yet.
                    Some(old) if old.len == len => old.addr,
                    Some(old) => {
                        space.leave(old.addr, old.len);
                        space.take(len, align)
                    }
                    None => space.take(len, align),
                };
                chunks.insert(cell.to_vec(), StoredChunk { addr, len, mask });
                addr
            }
        };
        Ok(vec![self.put_at(addr, body)])
    }

    fn at(&self, var: VarId, error: Error) -> Error {
        let path = self.pending_writes.get(&var).map(|pending| pending.path.clone()).unwrap_or_default();
        error.at_path(path).by("hdf5")
    }
}

/// Number of a chunk among consecutive ones.
fn number_in(existing: &ExistingStorage, form: &StorageForm, cell: &[u64]) -> Option<u64> {
    let counts =
        existing.shape.iter().zip(form.cell_shape()).map(|(len, chunk)| len.div_ceil((*chunk).max(1)));
    cell.iter().zip(counts).try_fold(0u64, |number, (at, count)| {
        number.checked_mul(count)?.checked_add(*at).filter(|_| *at < count)
    })
}

impl Placer for FileUpdate {
    fn abilities(&self) -> Abilities {
        Abilities {
            redefine: true,
            codecs: Some(CodecSpace::Hdf5),
            sparse: true,
            shards: false,
            patches: true,
            unlimits: false,
            keeps_unlimited: true,
            fills: FillStorage::Lasting,
        }
    }

    fn define(&mut self, view: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>> {
        if changes.is_some_and(|changes| self.adopt_additions(model, changes)) {
            return Ok(Vec::new());
        }
        self.define_planned(view, model).map_err(|stall| stall.map_error(|error| error.by("hdf5")))?;
        Ok(Vec::new())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        Ok(Arc::clone(&self.pending(var)?.form.encoding))
    }

    fn encoding_in(&self, model: &Model, var: VarId) -> Result<Arc<Encoding>> {
        if let Some(pending) = self.kept(var) {
            return Ok(Arc::clone(&pending.form.encoding));
        }
        let writes = self.writes(model, var).map_err(|error| error.by("hdf5"))?;
        writes.map(|writes| writes.form.encoding).map_or_else(|| self.encoding(var), Ok)
    }

    fn needs_fill(&self, var: VarId) -> bool {
        let is_known = self.existing_storage.get(&var).is_some_and(|existing| existing.run.is_some());
        let is_run = |pending: &PendingWrites| {
            pending.form.arranged == ChunkArrangement::Contiguous && pending.waits()
        };
        !is_known && self.pending_writes.get(&var).is_some_and(is_run)
    }

    fn resolver(&self, var: VarId) -> Option<Arc<dyn Resolver>> {
        let datatype = Arc::new(self.pending_writes.get(&var)?.form.datatype.clone());
        let file = Arc::new(Hdf5File {
            object: self.root.clone(),
            tag: Tag::new(""),
            size: self.base.saturating_add(self.space.end()),
            base: self.base,
            sizes: self.sizes,
            version: 2,
            root: self.root_group,
            ranks: crate::file::NodeRanks::default(),
            shared: None,
            page: None,
            missing: 0,
            warnings: Vec::new(),
            losses: Vec::new(),
        });
        Some(Arc::new(ValueResolver { file, datatype, paths: Arc::clone(&self.paths) }))
    }

    fn locate(&self, view: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let pending = self.pending(var)?;
        let placed = cells.iter().map(|cell| self.placed(var, pending, cell)).collect::<Result<Vec<_>>>();
        let placed = placed.map_err(|error| self.at(var, error))?;
        let mut lacking = CellList::new(cells.rank());
        cells
            .iter()
            .zip(&placed)
            .filter(|(_, place)| place.is_none())
            .for_each(|(cell, _)| lacking.push(cell));
        let mut found = Vec::new().into_iter();
        if let (Some(existing), false) = (self.existing_storage.get(&var), lacking.is_empty()) {
            let file = load(view, &self.root)?;
            found = locate(view, &file, existing, &pending.form, &lacking)?.into_iter();
        }
        let absent = || ChunkRef::new(Location::Absent);
        Ok(placed.into_iter().map(|place| place.or_else(|| found.next()).unwrap_or_else(absent)).collect())
    }

    fn prepare(&self, _: &dyn View, _: &[PlacerWork]) -> Step<PreparedPlacement> {
        Ok(PreparedPlacement::nothing())
    }

    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        let datatype = self.pending(var)?.form.datatype.clone();
        let stored = encode_values(&datatype, values, 0..values.len(), &mut self.heap, &mut self.space);
        let stored = stored.map_err(|error| self.at(var, error))?;
        let patches = self.heap.take();
        Ok((stored.into(), patches.into_iter().map(|patch| self.put_at(patch.addr, patch.body)).collect()))
    }

    fn place(
        &mut self,
        _: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>> {
        self.store(var, cell, body, mask).map_err(|error| self.at(var, error.at_chunk(cell)))
    }

    fn plan_commit(&mut self, view: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        self.pending_writes = self.adopted(model).map_err(|error| error.by("hdf5"))?;
        let named = |stall: Stall| stall.map_error(|error| error.by("hdf5"));
        let plan = self.plan(view, model).map_err(named)?;
        let phases = self.phases(view, &plan).map_err(named)?;
        self.space = plan.space;
        self.planned = Some((model.clone(), plan.known));
        Ok(phases)
    }

    fn committed(&mut self) {
        let Some((model, known)) = self.planned.take() else { return };
        (self.model, self.known) = (model, known);
        self.accepted = AcceptedAdditions::default();
        self.space.committed();
        self.heap = HeapBuilder::new(self.sizes);
        self.existing_storage.retain(|id, _| self.model.variable(*id).is_some());
        for (id, pending) in &mut self.pending_writes {
            let run = match &pending.held {
                HeldElements::Run { addr, .. } => *addr,
                _ => None,
            };
            pending.held = HeldElements::nothing(pending.form.arranged);
            pending.late.clear();
            let Some(addr) = self.known.addrs.get(&FileObject::Variable(*id)).copied() else { continue };
            let shape = pending.shape.clone();
            let existing = self.existing_storage.entry(*id).or_insert(ExistingStorage {
                addr,
                run: None,
                implicit: false,
                shape,
            });
            existing.run = existing.run.or(run);
        }
    }
}
