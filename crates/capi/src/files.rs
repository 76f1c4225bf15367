//! Open files: their slots and handles, and the groups that ids refer to.

pub(crate) mod broken;
pub(crate) mod file_edit;
pub(crate) mod file_format;
pub(crate) mod file_state;
pub(crate) mod handles;
pub(crate) mod members;
mod numbered_members;
pub(crate) mod opened_blocks;
pub(crate) mod put_door;
pub(crate) mod slots;
pub(crate) mod user_file;

use crate::c_types::codes::{self, Code, NC_EBADID, NC_ECANTWRITE, NC_EGLOBAL, NC_ENOTVAR, Outcome};
use crate::c_types::modes::{INMEMORY, SHARE};
pub(crate) use crate::c_types::numbers::{member, number, size};
use crate::files::file_edit::FileEdit;
use crate::files::file_state::FileCore;
pub(crate) use crate::files::handles::OpenFile;
use crate::files::handles::RunningCall;
use crate::files::members::FileMembers;
use crate::files::put_door::PutDoor;
use crate::files::slots::SlotFile;
use crate::files::user_file::UserFile;
use crate::process::faults::{self, FaultPlace};
pub(crate) use crate::process::{end_session, session};
use ncirrus::{Attributes, Dataset, GroupId, Model, NodeId, VarId, model};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};

/// `NC_GLOBAL`: attributes of a group instead of a variable's.
pub(crate) const GLOBAL: c_int = -1;
/// Bits of an id for the group; the others are the slot.
const GROUP_BITS: u32 = 16;

/// A group of an open file, as an id refers to it.
#[derive(Debug, Clone)]
pub(crate) struct FileGroup {
    pub(crate) file: RunningCall,
    pub(crate) members: Arc<FileMembers>,
    pub(crate) id: GroupId,
    slot: c_int,
}

/// Closes what is open when the program ends: asked for once.
pub(crate) fn close_at_exit() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| crate::c_types::memory::at_exit(close_all));
}

/// Closes every file that is written.
fn close_all() {
    let written = |file: &Arc<OpenFile>| file.writes && !file.is_inherited();
    for file in slots::own().into_iter().filter(written) {
        // The program ends, and no call returns an error. What goes wrong with one file leaves the others whole.
        let _ = catch_unwind(AssertUnwindSafe(|| end_at_exit(&file)));
    }
}

/// Ends a file when the program ends: one that cannot be ended is given up. It is not dropped any more, and a new one would stay under
/// the name that it has until it is at its path.
fn end_at_exit(file: &OpenFile) -> Outcome<()> {
    let mut state = file.core.alone();
    state.finish().or_else(|code| state.abandon().and(Err(code)))
}

/// Puts a file into the lowest free slot and returns the id of its root group.
///
/// # Errors
/// `NC_ENFILE` if all are in use.
pub(crate) fn insert(file: OpenFile) -> Outcome<c_int> {
    let core = Arc::clone(&file.core);
    insert_any(SlotFile::Own(Arc::new(file))).inspect_err(|_| {
        core.release();
    })
}

/// As [`insert`], for a file of a format of the program.
///
/// # Errors
/// `NC_ENFILE` if all are in use.
pub(crate) fn insert_user(file: UserFile) -> Outcome<c_int> {
    let id = insert_any(SlotFile::User(Arc::new(file)))?;
    USER_FILES.fetch_add(1, Ordering::AcqRel);
    Ok(id)
}

fn insert_any(file: SlotFile) -> Outcome<c_int> {
    Ok(number(slots::held().insert(file)?) << GROUP_BITS)
}

/// Takes the file out of its slot, and waits for the calls that run with it.
///
/// # Errors
/// `NC_EBADID` if no file has the id.
pub(crate) fn remove(ncid: c_int) -> Outcome<Arc<OpenFile>> {
    match handle_of(ncid) {
        Ok(handle) => drop(handle.group()?),
        Err(Code(NC_EBADID)) => return Err(Code(NC_EBADID)),
        // What cannot be used any more can be closed.
        Err(_) => {}
    }
    let file = taken(ncid)?;
    file.wait_for_calls();
    Ok(file)
}

fn taken(ncid: c_int) -> Outcome<Arc<OpenFile>> {
    let (slots, index) = (slots::held(), slot_of(ncid)?);
    let file = slots::file_at(index).ok_or(Code(NC_EBADID))?;
    slots.replace(index, None);
    Ok(file)
}

/// The number of the group that an id says.
fn group_number_of(ncid: c_int) -> Option<usize> {
    usize::try_from(ncid & ((1 << GROUP_BITS) - 1)).ok()
}

/// The slot that an id says.
fn slot_of(ncid: c_int) -> Outcome<usize> {
    usize::try_from(ncid >> GROUP_BITS).map_err(|_| Code(NC_EBADID))
}

/// How many files of formats of the program are open.
static USER_FILES: AtomicUsize = AtomicUsize::new(0);

/// The file of a format of the program that an id refers to.
pub(crate) fn user_file(ncid: c_int) -> Option<Arc<UserFile>> {
    if USER_FILES.load(Ordering::Acquire) == 0 {
        return None;
    }
    slots::user_at(slot_of(ncid).ok()?)
}

/// Takes a file of a format of the program out of its slot.
pub(crate) fn remove_user(ncid: c_int) {
    let slots = slots::held();
    if user_file(ncid).is_some()
        && let Ok(slot) = slot_of(ncid)
    {
        slots.replace(slot, None);
        USER_FILES.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A handle in a call, and the number of the group that its id says.
#[derive(Debug)]
pub(crate) struct CallHandle {
    pub(crate) file: RunningCall,
    slot: c_int,
    group: usize,
}

/// The handle that an id refers to.
///
/// # Errors
/// `NC_EBADID` if there is none, `NC_EINTERNAL` if a call panicked with it, `NC_ECANTWRITE` in a child of the process that
/// writes it.
pub(crate) fn handle_of(ncid: c_int) -> Outcome<CallHandle> {
    let bad = Code(NC_EBADID);
    let slot = ncid >> GROUP_BITS;
    let index = slot_of(ncid)?;
    let group = group_number_of(ncid).ok_or(bad)?;
    let call = slots::call(index).ok_or(bad)?;
    let file = if call.is_inherited() { reopened(index, &call)? } else { call };
    file.core.health.check()?;
    faults::reached(FaultPlace::File);
    Ok(CallHandle { file, slot, group })
}

/// A file of the parent process, opened by this one, too, in the same slot.
///
/// # Errors
/// `NC_ECANTWRITE` for what the parent writes or has in memory, and those of opening.
#[cold]
fn reopened(index: usize, inherited: &OpenFile) -> Outcome<RunningCall> {
    if inherited.writes || inherited.mode & INMEMORY != 0 {
        return Err(Code(NC_ECANTWRITE));
    }
    let core =
        FileCore::reopened(&inherited.path, inherited.core.place.clone()).map_err(codes::of_opening)?;
    let new = Arc::new(OpenFile::new(Arc::new(core), inherited.mode, inherited.path.clone(), false));
    let slots = slots::held();
    let now = slots::file_at(index).ok_or(Code(NC_EBADID))?;
    if now.is_inherited() {
        slots.replace(index, Some(SlotFile::Own(Arc::clone(&new))));
        return RunningCall::begin(&new).ok_or(Code(NC_EBADID));
    }
    // Another thread was faster.
    RunningCall::begin(&now).ok_or(Code(NC_EBADID))
}

/// A file, as it was before the next change; what has the same stamp has the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp((u64, u64));

/// The stamp of the file that an id refers to; none for one whose values others change, and one that was given up.
pub(crate) fn stamp(ncid: c_int) -> Option<FileStamp> {
    slots::look_at(slot_of(ncid).ok()?, |file| {
        (file.mode & SHARE == 0 && !file.core.health.is_broken()).then(|| FileStamp(file.core.stamp()))
    })
}

/// Looks at the file that an id refers to, without a call that `nc_close` waits for.
pub(crate) fn glance<T>(ncid: c_int, look: impl FnOnce(&OpenFile) -> Option<T>) -> Option<T> {
    slots::look_at(slot_of(ncid).ok()?, |file| if file.is_inherited() { None } else { look(file) })
}

/// Passes the door to the runs of the file that an id refers to, with the number of its group, without a call that `nc_close` waits for.
pub(crate) fn at_door<T>(ncid: c_int, look: impl Fn(&PutDoor, usize) -> Option<T>) -> Option<T> {
    let (slot, group) = (ncid >> GROUP_BITS, group_number_of(ncid)?);
    let look = |door: &PutDoor| if door.is_open() { look(door, group) } else { None };
    put_door::with_remembered(slot, look).or_else(|| {
        slots::look_at(slot_of(ncid).ok()?, |file| {
            let looked = look(&file.door);
            if looked.is_some() {
                put_door::remember(slot, &file.door);
            }
            looked
        })
    })
}

/// The group that an id refers to.
///
/// # Errors
/// `NC_EBADID` if there is none.
pub(crate) fn group_of(ncid: c_int) -> Outcome<FileGroup> {
    handle_of(ncid)?.group()
}

impl CallHandle {
    /// The number of the group that its id says.
    pub(crate) fn group_number(&self) -> usize {
        self.group
    }

    /// The group, with the definitions as they are now.
    ///
    /// # Errors
    /// `NC_EBADID` if there is none.
    pub(crate) fn group(&self) -> Outcome<FileGroup> {
        self.group_of(self.file.core.members())
    }

    /// The group for a write to a place that does not depend on the number of records.
    ///
    /// # Errors
    /// `NC_EBADID` if there is none.
    pub(crate) fn group_to_put(&self) -> Outcome<FileGroup> {
        self.group_of(self.file.core.members_to_put())
    }

    fn group_of(&self, members: Arc<FileMembers>) -> Outcome<FileGroup> {
        let id = members.group(self.group).ok_or(Code(NC_EBADID))?;
        Ok(FileGroup { file: self.file.clone(), members, id, slot: self.slot })
    }
}

/// Rejects `NC_GLOBAL` for an inquiry about one variable, before the group is looked up.
///
/// # Errors
/// `NC_EBADID`, `NC_EGLOBAL`.
pub(crate) fn check_not_global(ncid: c_int, varid: c_int) -> Outcome<()> {
    if handle_of(ncid)?.file.is_classic() {
        group_of(ncid)?;
    }
    if varid == GLOBAL { Err(Code(NC_EGLOBAL)) } else { Ok(()) }
}

/// Changes definitions, or the state, of the file that an id refers to.
///
/// # Errors
/// `NC_EBADID`, and those of `change`.
pub(crate) fn edit<T>(ncid: c_int, change: impl FnOnce(&mut FileEdit<'_>) -> Outcome<T>) -> Outcome<T> {
    let CallHandle { file, slot, group } = handle_of(ncid)?;
    let mut state = file.core.state();
    let group = state.members.group(group).ok_or(Code(NC_EBADID))?;
    change(&mut FileEdit { file: &file, group, first_id: slot << GROUP_BITS, state: &mut state })
}

/// The open files of this process that can be used, by their handles.
pub(crate) fn open_files() -> Vec<Arc<OpenFile>> {
    let is_usable = |file: &Arc<OpenFile>| !file.is_inherited() && !file.core.health.is_broken();
    slots::own().into_iter().filter(is_usable).collect()
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
        (self.slot << GROUP_BITS) | self.members.number_of_group(group)
    }

    /// The dataset, with all definitions, for its values.
    ///
    /// # Errors
    /// Those of a format that cannot hold what was defined.
    pub(crate) fn settled(&self) -> Outcome<Dataset> {
        self.file.core.settled()
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
        state.known().ok_or(Code(codes::NC_EATTMETA))
    }
}
