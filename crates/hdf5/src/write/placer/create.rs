//! A file being created.
//!
//! Chunks are put as they come, behind the space reserved for the metadata. The commit puts all metadata, and the
//! superblock last; from then on the file is changed like an existing one.
use super::additions::AddedMembers;
use super::form::StorageForm;
use super::held::{HeldElements, run_of};
use super::image::{ImageSource, MetadataImage, SUPERBLOCK, VariableWrites, superblock};
use super::{FileStructures, Hdf5Writer, strict};
use crate::address::FileAddress;
use crate::datatypes::ValueResolver;
use crate::file::{Hdf5File, NodeRanks};
use crate::write::StoredChunk;
use crate::write::heap::HeapBuilder;
use crate::write::objects::{FileObject, SIZES};
use crate::write::space::SpaceAllocator;
use crate::write::update::MadeFile;
use crate::write::value::encode_values;
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{
    Abilities, CellList, ChunkRef, Encoding, Error, FillStorage, Location, ObjectId, PhaseForm, Placer,
    PlacerWork, PreparedPlacement, PutPhase, Resolver, Result, Step, StorePut, Tag, View,
};
use ncirrus_model::{Changes, CodecSpace, Model, Values, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// A file being created.
#[derive(Debug)]
pub(crate) struct FileCreation {
    root: ObjectId,
    choices: Hdf5Writer,
    model: Model,
    pending_writes: HashMap<VarId, VariableWrites>,
    /// The stored data of the variables; those without an entry have none.
    held: HashMap<VarId, HeldElements>,
    /// Where data go; `None` before the first data.
    space: Option<SpaceAllocator>,
    /// Size of the space reserved at the front for metadata.
    front: u64,
    heap: HeapBuilder,
    /// The locations of the objects when the planned commit is done.
    planned: Option<HashMap<FileObject, FileAddress>>,
}

impl FileCreation {
    pub(super) fn new(root: ObjectId, choices: Hdf5Writer) -> Self {
        Self {
            root,
            choices,
            model: Model::new(),
            pending_writes: HashMap::new(),
            held: HashMap::new(),
            space: None,
            front: 0,
            heap: HeapBuilder::new(SIZES),
            planned: None,
        }
    }

    /// Applies a changed model; nothing is changed if it does not fit.
    fn adopt(&mut self, model: &Model) -> Result<()> {
        if self.choices.classic_model {
            strict::check(model)?;
        }
        let pending_writes = model.variables().into_iter().map(|var| Ok((var, self.writes(model, var)?)));
        let pending_writes = pending_writes.collect::<Result<HashMap<_, _>>>()?;
        self.images(model, &pending_writes).check()?;
        self.held.retain(|var, _| pending_writes.contains_key(var));
        (self.pending_writes, self.model) = (pending_writes, model.clone());
        Ok(())
    }

    /// Applies what was added to the model; nothing is changed, and `false` is returned, if more changed or if it does not fit.
    fn adopt_additions(&mut self, model: &Model, changes: &Changes) -> bool {
        let Some(added) = AddedMembers::find(&self.model, model, changes) else { return false };
        if self.choices.classic_model && !added.is_classic(model, changes) {
            return false;
        }
        let new = added.reshaped(model).into_iter().map(|var| Ok((var, self.writes(model, var)?)));
        let Ok(new) = new.collect::<Result<Vec<_>>>() else { return false };
        let former = new.into_iter().map(|(var, pending)| (var, self.pending_writes.insert(var, pending)));
        let former: Vec<_> = former.collect();
        if added.check(&self.images(model, &self.pending_writes), changes).unwrap_or(false) {
            self.model.follow(model, changes);
            return true;
        }
        for (var, pending) in former {
            match pending {
                Some(pending) => _ = self.pending_writes.insert(var, pending),
                None => _ = self.pending_writes.remove(&var),
            }
        }
        false
    }

    /// How a variable is written. With data it keeps its form, whatever would be chosen now.
    fn writes(&self, model: &Model, var: VarId) -> Result<VariableWrites> {
        let form = match self.pending_writes.get(&var).filter(|_| self.held.contains_key(&var)) {
            Some(pending) => pending.form.clone(),
            None => StorageForm::new(model, var, &self.choices)?,
        };
        Ok(VariableWrites { form, path: model.variable_path(var), shape: model.shape(var) })
    }

    fn images<'a>(
        &'a self,
        model: &'a Model,
        pending_writes: &'a HashMap<VarId, VariableWrites>,
    ) -> ImageSource<'a> {
        ImageSource {
            model,
            pending_writes,
            held: &self.held,
            newer: self.choices.structures == FileStructures::V110,
            strict: self.choices.classic_model,
        }
    }

    fn pending(&self, var: VarId) -> Result<&VariableWrites> {
        self.pending_writes
            .get(&var)
            .ok_or_else(|| Error::not_found("the variable is not defined in the file"))
    }

    /// Reserves space at the front when the first data come.
    fn open_space(&mut self) -> Result<()> {
        if self.space.is_none() {
            let front = match self.choices.reserve {
                Some(reserve) => reserve,
                None => self.images(&self.model, &self.pending_writes).reserve()?,
            };
            self.front = front.max(SUPERBLOCK).next_multiple_of(self.choices.align.max(8));
            self.space = Some(SpaceAllocator::new(self.front));
        }
        Ok(())
    }

    fn put_at(&self, addr: FileAddress, body: Bytes) -> StorePut {
        StorePut::Patch { object: self.root.clone(), offset: addr.0, body }
    }

    /// Stores a chunk's bytes.
    fn store(&mut self, var: VarId, cell: &[u64], body: Bytes, mask: u32) -> Result<Vec<StorePut>> {
        self.open_space()?;
        let align = self.choices.align;
        let missing = || Error::not_found("the variable is not defined in the file");
        let (Some(pending), Some(space)) = (self.pending_writes.get(&var), &mut self.space) else {
            return Err(missing());
        };
        let held = self.held.entry(var).or_insert_with(|| HeldElements::nothing(pending.form.arranged));
        // Each allocation ends where the next one begins, because streams only send what has no gaps.
        let room = |len: u64| len.checked_next_multiple_of(align).unwrap_or(len);
        let (addr, end) = match held {
            HeldElements::Compact(held) => {
                *held = Some(body);
                return Ok(Vec::new());
            }
            HeldElements::Run { addr, cells } => {
                let range = run_of(&pending.form, &pending.shape, cell)?;
                let total = pending
                    .shape
                    .iter()
                    .try_fold(pending.form.datatype.byte_len, |total, len| total.checked_mul(*len))
                    .ok_or_else(|| Error::limit("the variable has more than 2^64 bytes"))?;
                let start = addr.get_or_insert_with(|| space.take(room(total), align)).0;
                cells.insert(cell.to_vec());
                let len = range.end - range.start;
                let end = if range.end == total { room(total) - range.start } else { len };
                (FileAddress(start.saturating_add(range.start)), end)
            }
            HeldElements::Chunks(chunks) => {
                let len = body.len() as u64;
                let old = chunks.get(cell).copied();
                let addr = match old {
                    Some(old) if len <= old.len => old.addr,
                    _ => {
                        if let Some(old) = old {
                            space.free(old.addr, old.len);
                        }
                        space.take(room(len), align)
                    }
                };
                chunks.insert(cell.to_vec(), StoredChunk { addr, len, mask });
                (addr, room(len))
            }
        };
        Ok(vec![self.put_at(addr, padded(body, end))])
    }

    /// All metadata: at the front if they fit, otherwise behind everything.
    fn image(&mut self, model: &Model) -> Result<MetadataImage> {
        self.open_space()?;
        let image = self.images(model, &self.pending_writes).build(FileAddress(SUPERBLOCK))?;
        if image.end() <= self.front {
            return Ok(image);
        }
        let Some(space) = &mut self.space else { return Err(Error::internal("no room is kept")) };
        let addr = space.take(image.bytes.len() as u64, 8);
        self.images(model, &self.pending_writes).build(addr)
    }

    fn phases(&mut self, model: &Model) -> Result<Vec<PutPhase>> {
        let image = self.image(model)?;
        let placed = self.space.as_ref().map(SpaceAllocator::end).filter(|end| *end > self.front);
        let end = placed.unwrap_or(image.end());
        let head = self.put_at(FileAddress(0), superblock(end, image.root));
        self.planned = Some(image.addrs);
        let metadata = self.put_at(image.start, image.bytes);
        Ok([metadata, head].map(|put| PutPhase { puts: vec![put], form: PhaseForm::Separate }).into())
    }

    /// Called when all phases are done: passes on what was made.
    pub(super) fn committed(&mut self) -> Option<MadeFile> {
        let (addrs, mut space) = (self.planned.take()?, self.space.take()?);
        space.committed();
        let mut run = |var: &VarId| match self.held.remove(var) {
            Some(HeldElements::Run { addr, .. }) => addr,
            _ => None,
        };
        let pending_writes = std::mem::take(&mut self.pending_writes);
        Some(MadeFile {
            root: self.root.clone(),
            choices: self.choices.clone(),
            model: std::mem::take(&mut self.model),
            addrs,
            forms: pending_writes.into_iter().map(|(var, pending)| (var, pending.form, run(&var))).collect(),
            space,
        })
    }

    fn at(&self, var: VarId, error: Error) -> Error {
        let path = self.pending_writes.get(&var).map(|pending| pending.path.clone()).unwrap_or_default();
        error.at_path(path).by("hdf5")
    }

    fn find(&self, var: VarId, cell: &[u64]) -> Result<ChunkRef> {
        let pending = self.pending(var)?;
        let bytes = |addr: FileAddress, len: u64| {
            Location::Bytes(self.root.clone(), addr.0..addr.0.saturating_add(len))
        };
        let Some(held) = self.held.get(&var) else { return Ok(ChunkRef::new(Location::Absent)) };
        let location = match held {
            HeldElements::Compact(Some(body)) => Location::Inline(body.clone()),
            HeldElements::Run { addr: Some(addr), cells } if cells.contains(cell) => {
                let range = run_of(&pending.form, &pending.shape, cell)?;
                bytes(FileAddress(addr.0.saturating_add(range.start)), range.end - range.start)
            }
            HeldElements::Chunks(chunks) => match chunks.get(cell) {
                Some(StoredChunk { addr, len, mask }) => {
                    return Ok(ChunkRef { location: bytes(*addr, *len), mask: *mask });
                }
                None => Location::Absent,
            },
            HeldElements::Compact(None) | HeldElements::Run { .. } => Location::Absent,
        };
        Ok(ChunkRef::new(location))
    }
}

impl Placer for FileCreation {
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

    fn define(&mut self, _: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>> {
        if !changes.is_some_and(|changes| self.adopt_additions(model, changes)) {
            self.adopt(model).map_err(|error| error.by("hdf5"))?;
        }
        Ok(Vec::new())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        Ok(Arc::clone(&self.pending(var)?.form.encoding))
    }

    fn encoding_in(&self, model: &Model, var: VarId) -> Result<Arc<Encoding>> {
        let writes = self.writes(model, var).map_err(|error| error.by("hdf5"))?;
        Ok(writes.form.encoding)
    }

    fn needs_fill(&self, var: VarId) -> bool {
        matches!(self.held.get(&var), Some(HeldElements::Run { .. }))
    }

    fn resolver(&self, var: VarId) -> Option<Arc<dyn Resolver>> {
        let datatype = Arc::new(self.pending_writes.get(&var)?.form.datatype.clone());
        let size = self.space.as_ref().map_or(0, SpaceAllocator::end);
        let file = Arc::new(Hdf5File {
            object: self.root.clone(),
            tag: Tag::new(""),
            size,
            base: 0,
            sizes: SIZES,
            version: 2,
            root: FileAddress(SUPERBLOCK),
            ranks: NodeRanks::default(),
            shared: None,
            page: None,
            missing: 0,
            warnings: Vec::new(),
            losses: Vec::new(),
        });
        Some(Arc::new(ValueResolver { file, datatype, paths: Arc::default() }))
    }

    fn locate(&self, _: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let located = cells.iter().map(|cell| self.find(var, cell));
        Ok(located.collect::<Result<_>>().map_err(|error| self.at(var, error))?)
    }

    fn prepare(&self, _: &dyn View, _: &[PlacerWork]) -> Step<PreparedPlacement> {
        Ok(PreparedPlacement::nothing())
    }

    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        self.open_space()?;
        let (Some(pending), Some(space)) = (self.pending_writes.get(&var), &mut self.space) else {
            return Err(Error::not_found("the variable is not defined in the file"));
        };
        let stored = encode_values(&pending.form.datatype, values, 0..values.len(), &mut self.heap, space);
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

    fn plan_commit(&mut self, _: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        self.adopt(model).map_err(|error| error.by("hdf5"))?;
        Ok(self.phases(model).map_err(|error| error.by("hdf5"))?)
    }

    /// See [`FileCreation::committed`].
    fn committed(&mut self) {}
}

/// A body padded with zeros to the end of its space, unless there would be many.
fn padded(body: Bytes, len: u64) -> Bytes {
    let missing = usize::try_from(len).map_or(0, |len| len.saturating_sub(body.len()));
    if missing == 0 || missing > MAX_PADDING {
        return body;
    }
    let mut bytes = body.try_into_mut().unwrap_or_else(|shared| BytesMut::from(shared.as_ref()));
    bytes.resize(bytes.len() + missing, 0);
    bytes.freeze()
}

/// Maximum number of zeros put after a body.
const MAX_PADDING: usize = 4096;
