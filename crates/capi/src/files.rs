//! Open files: their slots, and the numbers under which programs know groups, dimensions and types.
use crate::codes::{Code, NC_EBADDIM, NC_EBADID, NC_EBADTYPE, NC_EGLOBAL, NC_ENFILE, NC_ENOTVAR, Outcome};
use ncirrus::{
    Atomic, Attributes, Dataset, DimId, GroupId, Model, NodeId, Session, TypeId, TypeRef, VarId, model,
};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// `NC_GLOBAL`: attributes of a group instead of a variable's.
pub(crate) const GLOBAL: c_int = -1;
/// The number of the first user-defined type.
pub(crate) const FIRST_USER_TYPE: c_int = 32;
/// Bits of an id for the group; the others are the slot.
const GROUP_BITS: u32 = 16;
/// Files that can be open at once: slots have fifteen bits, and 0 is none.
const MOST_FILES: usize = (1 << 15) - 1;

/// A dataset that a program has open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) dataset: Dataset,
    /// The mode with which it was opened or created.
    pub(crate) mode: c_int,
    members: RwLock<Arc<FileMembers>>,
}

/// The definitions of a file, and its members in the order of their numbers.
#[derive(Debug)]
pub(crate) struct FileMembers {
    pub(crate) model: Arc<Model>,
    groups: Vec<GroupId>,
    dims: Vec<DimId>,
    types: Vec<TypeId>,
}

/// A group of an open file, as an id refers to it.
#[derive(Debug, Clone)]
pub(crate) struct FileGroup {
    pub(crate) file: Arc<OpenFile>,
    pub(crate) members: Arc<FileMembers>,
    pub(crate) id: GroupId,
    slot: c_int,
}

/// The first slot is never used: no id is below 65536.
static SLOTS: RwLock<Vec<Option<Arc<OpenFile>>>> = RwLock::new(Vec::new());
static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// The session of the process, made at the first call from the user's configuration.
///
/// # Errors
/// If the configuration is wrong.
pub(crate) fn session() -> ncirrus::Result<Session> {
    let mut session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    match &*session {
        Some(session) => Ok(session.clone()),
        None => Ok(session.insert(Session::new()?).clone()),
    }
}

/// Ends the session; the next call makes another one.
pub(crate) fn end_session() {
    drop(SESSION.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Puts a file into the lowest free slot and returns the id of its root group.
///
/// # Errors
/// `NC_ENFILE` if all are in use.
pub(crate) fn insert(file: OpenFile) -> Outcome<c_int> {
    let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    if slots.is_empty() {
        slots.push(None);
    }
    let free = slots.iter().skip(1).position(Option::is_none).map(|at| at + 1);
    let slot = free.unwrap_or(slots.len());
    if slot > MOST_FILES {
        return Err(Code(NC_ENFILE));
    }
    let file = Some(Arc::new(file));
    match slots.get_mut(slot) {
        Some(place) => *place = file,
        None => slots.push(file),
    }
    Ok(number(slot) << GROUP_BITS)
}

/// Takes the file out of its slot.
///
/// # Errors
/// `NC_EBADID` if no file has the id.
pub(crate) fn remove(ncid: c_int) -> Outcome<Arc<OpenFile>> {
    let group = group_of(ncid)?;
    let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let place = usize::try_from(group.slot).ok().and_then(|slot| slots.get_mut(slot));
    place.and_then(Option::take).ok_or(Code(NC_EBADID))
}

/// The group that an id refers to.
///
/// # Errors
/// `NC_EBADID` if there is none.
pub(crate) fn group_of(ncid: c_int) -> Outcome<FileGroup> {
    let bad = Code(NC_EBADID);
    let slot = ncid >> GROUP_BITS;
    let index = usize::try_from(slot).map_err(|_| bad)?;
    let slots = SLOTS.read().unwrap_or_else(PoisonError::into_inner);
    let file = slots.get(index).and_then(Option::clone).ok_or(bad)?;
    drop(slots);
    let members = file.members();
    let group = usize::try_from(ncid & ((1 << GROUP_BITS) - 1)).map_err(|_| bad)?;
    let id = members.groups.get(group).copied().ok_or(bad)?;
    Ok(FileGroup { file, members, id, slot })
}

impl OpenFile {
    /// A dataset whose definitions are complete.
    ///
    /// # Errors
    /// If its attributes cannot be fetched.
    pub(crate) fn new(dataset: Dataset, mode: c_int) -> ncirrus::Result<Self> {
        let members = FileMembers::of(dataset.model()?, None);
        Ok(Self { dataset, mode, members: RwLock::new(Arc::new(members)) })
    }

    pub(crate) fn members(&self) -> Arc<FileMembers> {
        Arc::clone(&self.members.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it is netCDF-3.
    pub(crate) fn is_classic(&self) -> bool {
        matches!(self.dataset.kind(), "classic" | "64-bit offset" | "cdf5")
    }

    /// Whether it is netCDF-4 as HDF5; what is neither this nor netCDF-3 is Zarr.
    pub(crate) fn is_hdf5(&self) -> bool {
        self.fact("_IsNetcdf4").is_some()
    }

    /// A fact about the storage.
    pub(crate) fn fact(&self, name: &str) -> Option<String> {
        self.dataset.facts().into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

impl FileMembers {
    /// Members in the order of their groups, after those that have a number already.
    fn of(model: Arc<Model>, before: Option<&Self>) -> Self {
        let mut groups = before.map(|old| old.groups.clone()).unwrap_or_default();
        let mut dims = before.map(|old| old.dims.clone()).unwrap_or_default();
        let mut types = before.map(|old| old.types.clone()).unwrap_or_default();
        for id in model.walk() {
            add_new(&mut groups, &[id]);
            if let Some(group) = model.group(id) {
                add_new(&mut dims, &group.dims);
                add_new(&mut types, &group.types);
            }
        }
        Self { model, groups, dims, types }
    }

    /// The number of a dimension.
    pub(crate) fn number_of_dim(&self, id: DimId) -> c_int {
        position(&self.dims, &id)
    }

    /// The dimension with a number.
    ///
    /// # Errors
    /// `NC_EBADDIM`.
    pub(crate) fn dim(&self, number: c_int) -> Outcome<DimId> {
        member(&self.dims, number).ok_or(Code(NC_EBADDIM))
    }

    /// The number of a type.
    pub(crate) fn number_of_type(&self, ty: TypeRef) -> c_int {
        match ty {
            TypeRef::Atomic(atomic) => c_int::from(atomic.number()),
            TypeRef::User(id) => position(&self.types, &id).saturating_add(FIRST_USER_TYPE),
        }
    }

    /// The type with a number.
    ///
    /// # Errors
    /// `NC_EBADTYPE`.
    pub(crate) fn ty(&self, number: c_int) -> Outcome<TypeRef> {
        let atomic = Atomic::ALL.into_iter().find(|atomic| c_int::from(atomic.number()) == number);
        let user = || member(&self.types, number.checked_sub(FIRST_USER_TYPE)?).map(TypeRef::User);
        atomic.map(TypeRef::Atomic).or_else(user).ok_or(Code(NC_EBADTYPE))
    }
}

impl FileGroup {
    pub(crate) fn model(&self) -> &Model {
        &self.members.model
    }

    pub(crate) fn group(&self) -> Outcome<&model::Group> {
        self.model().group(self.id).ok_or(Code(NC_EBADID))
    }

    /// The id of a group of the same file.
    pub(crate) fn ncid_of(&self, group: GroupId) -> c_int {
        (self.slot << GROUP_BITS) | position(&self.members.groups, &group)
    }

    /// The variable with a number in this group.
    ///
    /// # Errors
    /// `NC_ENOTVAR`.
    pub(crate) fn variable_id(&self, varid: c_int) -> Outcome<VarId> {
        member(&self.group()?.vars, varid).ok_or(Code(NC_ENOTVAR))
    }

    /// The description of the variable with a number in this group.
    ///
    /// # Errors
    /// `NC_EGLOBAL` for the group itself, `NC_ENOTVAR` if there is none.
    pub(crate) fn variable(&self, varid: c_int) -> Outcome<&model::Variable> {
        if varid == GLOBAL {
            return Err(Code(NC_EGLOBAL));
        }
        self.model().variable(self.variable_id(varid)?).ok_or(Code(NC_ENOTVAR))
    }

    /// What has attributes: the group, or one of its variables.
    ///
    /// # Errors
    /// `NC_ENOTVAR`.
    pub(crate) fn node(&self, varid: c_int) -> Outcome<NodeId> {
        if varid == GLOBAL {
            return Ok(NodeId::Group(self.id));
        }
        Ok(NodeId::Variable(self.variable_id(varid)?))
    }

    /// The attributes of the group or of a variable.
    ///
    /// # Errors
    /// `NC_ENOTVAR`; `NC_EATTMETA` if they cannot be read.
    pub(crate) fn attributes(&self, varid: c_int) -> Outcome<&Attributes> {
        let state = self.model().attributes(self.node(varid)?).ok_or(Code(NC_ENOTVAR))?;
        state.known().ok_or(Code(crate::codes::NC_EATTMETA))
    }
}

fn add_new<T: Copy + PartialEq>(list: &mut Vec<T>, members: &[T]) {
    let known = list.len();
    let new = members.iter().filter(|member| !list[..known].contains(member)).copied();
    let new: Vec<T> = new.collect();
    list.extend(new);
}

fn position<T: PartialEq>(list: &[T], item: &T) -> c_int {
    list.iter().position(|other| other == item).map_or(-1, number)
}

/// The member of a list with a number.
pub(crate) fn member<T: Copy>(list: &[T], number: c_int) -> Option<T> {
    list.get(usize::try_from(number).ok()?).copied()
}

/// A count as C has it; the largest one if there are more.
pub(crate) fn number(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(c_int::MAX)
}

/// A length as C has it.
///
/// # Errors
/// `NC_ENOMEM` if it exceeds the address space.
pub(crate) fn size(len: u64) -> Outcome<usize> {
    usize::try_from(len).map_err(|_| Code(crate::codes::NC_ENOMEM))
}
