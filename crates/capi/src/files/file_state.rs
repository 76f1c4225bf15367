//! The state of a file: its dataset, its definitions, and whether it is in define mode.
//!
//! Definitions are collected here and given to the dataset when values are read or written, and at `nc_enddef`, `nc_sync`
//! and `nc_close`: a program that defines a thousand variables makes thousands of calls.
use crate::c_types::codes::{Code, NC_EHDFERR, NC_EINDEFINE, NC_EINVAL, Outcome};
use crate::files::broken::{FileHealth, MarkedGuard};
pub(crate) use crate::files::file_format::FileFormat;
use crate::files::members::FileMembers;
use crate::files::put_door::{ChangeCount, PutDoor, RunKey};
use crate::process::faults::{self, FaultPlace};
use crate::process::last_error;
use crate::process::local_place::{LocalPlace, address_of, anchored};
use crate::process::{self, open_options, session};
use ncirrus::pace::LatePuts;
use ncirrus::{Dataset, Endianness, Model, TypeId, UserKind, VarId};
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// A file that one or several handles refer to.
#[derive(Debug)]
pub(crate) struct FileCore {
    pub(crate) format: FileFormat,
    /// The file on this machine, by which another opening of it is recognised.
    pub(crate) place: Option<LocalPlace>,
    /// Held by calls that read or write values; alone by those that replace the dataset. It is taken before `state`.
    in_use: RwLock<()>,
    state: RwLock<FileState>,
    handles: AtomicUsize,
    /// Whether a call panicked with it.
    pub(crate) health: Arc<FileHealth>,
    /// Distinguishes it from every other file that was open in this process.
    serial: u64,
    /// How often something was changed.
    changes: Arc<ChangeCount>,
    /// Values that were put and are not written yet.
    pub(crate) late: LatePuts<RunKey>,
}

/// The state of a file while no other call has it or its values.
pub(crate) struct ExclusiveState<'a> {
    health: &'a FileHealth,
    state: MarkedGuard<'a, FileState>,
    _in_use: MarkedGuard<'a, ()>,
}

impl Deref for ExclusiveState<'_> {
    type Target = FileState;
    fn deref(&self) -> &FileState {
        &self.state
    }
}

impl DerefMut for ExclusiveState<'_> {
    fn deref_mut(&mut self) -> &mut FileState {
        &mut self.state
    }
}

impl ExclusiveState<'_> {
    /// Ends the file: what was written becomes permanent.
    ///
    /// # Errors
    /// If writing fails; `NC_EINTERNAL` for a file that was given up, of which nothing becomes permanent.
    pub(crate) fn finish(&mut self) -> Outcome<()> {
        match self.health.check() {
            Ok(()) => self.close(),
            Err(code) => self.abandon().and(Err(code)),
        }
    }

    /// Ends the file without what did not become permanent yet.
    ///
    /// # Errors
    /// If what is already stored cannot be removed.
    pub(crate) fn abandon(&mut self) -> Outcome<()> {
        Ok(self.dataset.clone().abort()?)
    }
}

/// What changes of a file.
#[derive(Debug)]
pub(crate) struct FileState {
    pub(crate) format: FileFormat,
    pub(crate) dataset: Dataset,
    pub(crate) members: Arc<FileMembers>,
    pub(crate) origin: FileOrigin,
    /// Whether it is in define mode.
    pub(crate) is_defining: bool,
    /// Whether it was in data mode before.
    pub(crate) was_defined: bool,
    /// Whether new variables have fill values.
    pub(crate) fills: bool,
    /// The mode reported for stored variables of a classic file, whose elements are filled as before: whether they are not filled.
    pub(crate) told_no_fill: HashMap<VarId, bool>,
    /// Variables for which no byte order was chosen, which a file that is opened again has forgotten.
    pub(crate) native: HashSet<VarId>,
    /// Variables whose storage is settled.
    pub(crate) stored: HashSet<VarId>,
    /// Variables that were defined since define mode ended last.
    pub(crate) defined: Vec<VarId>,
    /// How many types, in the order of their numbers, are settled.
    pub(crate) stored_types: usize,
    /// Variables that came into the file without `nc_enddef`, and that no value was read from or written to yet.
    pub(crate) unused: HashSet<VarId>,
    /// Variables that the file had when it was opened.
    opened: HashSet<VarId>,
    /// Whether there may be elements that were not written and are not filled yet.
    may_lack_values: bool,
    /// Bytes of the program's memory that the file is in and stays in.
    pub(crate) locked_len: Option<u64>,
}

/// Where the dataset comes from, which says how its changes become permanent.
#[derive(Debug, Clone)]
pub(crate) enum FileOrigin {
    /// Open for reading.
    Reading,
    /// New, and not at its path yet.
    Created {
        /// The address.
        url: String,
    },
    /// At its path, and changed in place.
    Updating,
    /// In memory.
    Memory,
    /// New, until another new file was created in its place: nothing of it becomes permanent.
    Replaced,
}

/// The dataset at the path of a file that is read, as it is now.
///
/// # Errors
/// Those of opening.
pub(crate) fn opened_again(path: &[u8], place: Option<&LocalPlace>) -> ncirrus::Result<Dataset> {
    let url = anchored(&address_of(path), place);
    Dataset::open_with(&url, &open_options(), &session()?)
}

/// The number of the next file.
static SERIALS: AtomicU64 = AtomicU64::new(0);

impl FileCore {
    /// A file with one handle.
    ///
    /// # Errors
    /// If the attributes of the dataset cannot be fetched.
    pub(crate) fn new(
        dataset: Dataset,
        origin: FileOrigin,
        format: FileFormat,
        place: Option<LocalPlace>,
        is_new: bool,
    ) -> ncirrus::Result<Self> {
        if !matches!(origin, FileOrigin::Reading) {
            // What is written is known by where its links lead now.
            _ = place.as_ref().map(LocalPlace::real);
        }
        let members = FileMembers::of(dataset.model()?);
        let stored: HashSet<VarId> = members.model.variables().into_iter().collect();
        let state = FileState {
            format,
            opened: if is_new { HashSet::new() } else { stored.clone() },
            stored,
            defined: Vec::new(),
            stored_types: members.type_count(),
            unused: HashSet::new(),
            may_lack_values: false,
            locked_len: None,
            members: Arc::new(members),
            is_defining: is_new,
            was_defined: !is_new,
            fills: true,
            told_no_fill: HashMap::new(),
            native: HashSet::new(),
            dataset,
            origin,
        };
        Ok(Self {
            format,
            place,
            in_use: RwLock::new(()),
            state: RwLock::new(state),
            handles: AtomicUsize::new(1),
            health: Arc::default(),
            serial: SERIALS.fetch_add(1, Ordering::Relaxed),
            changes: Arc::default(),
            late: LatePuts::default(),
        })
    }

    /// A file that is read, opened again: by a process that inherited a handle.
    ///
    /// # Errors
    /// Those of opening.
    pub(crate) fn reopened(path: &[u8], place: Option<LocalPlace>) -> ncirrus::Result<Self> {
        let dataset = opened_again(path, place.as_ref())?;
        let format = FileFormat::of(&dataset);
        Self::new(dataset, FileOrigin::Reading, format, place, false)
    }

    /// Whether it is the file at a place of this machine.
    pub(crate) fn is_at(&self, place: &LocalPlace) -> bool {
        self.place.as_ref().is_some_and(|own| own.is(place))
    }

    /// Keeps the dataset from being replaced or closed while its values are read or written.
    pub(crate) fn in_use(&self) -> RwLockReadGuard<'_, ()> {
        self.in_use.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, when no call reads or writes values.
    pub(crate) fn alone(&self) -> ExclusiveState<'_> {
        let in_use = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        let in_use = MarkedGuard::new(&self.health, in_use);
        faults::reached(FaultPlace::Alone);
        ExclusiveState { health: &self.health, state: self.state(), _in_use: in_use }
    }

    /// The definitions as they are.
    pub(crate) fn members(&self) -> Arc<FileMembers> {
        self.finish_growth();
        self.members_to_put()
    }

    /// The definitions for a call that writes at a place of its own: what is written behind the caller may still add records.
    pub(crate) fn members_to_put(&self) -> Arc<FileMembers> {
        self.write_records();
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner).members)
    }

    /// The state, for one call alone.
    pub(crate) fn state(&self) -> MarkedGuard<'_, FileState> {
        self.end_collected();
        let state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = MarkedGuard::new(&self.health, state);
        self.note_change();
        faults::reached(FaultPlace::State);
        state
    }

    /// Takes over lengths that grew by writing, while values are collected.
    ///
    /// # Errors
    /// None that a dataset that is written has.
    pub(crate) fn refresh(&self) -> ncirrus::Result<()> {
        self.state.write().unwrap_or_else(PoisonError::into_inner).refresh()
    }

    /// Something was changed: what was read before may be out of date.
    pub(crate) fn note_change(&self) {
        self.changes.note();
    }

    /// The file, and how often it was changed, before values are read.
    pub(crate) fn stamp(&self) -> (u64, u64) {
        (self.serial, self.changes.read())
    }

    /// What a new handle has for puts that continue others. `collects`: they may be collected.
    pub(crate) fn door(&self, collects: bool) -> PutDoor {
        PutDoor::new(&self.health, &self.changes, self.late.collected(), collects)
    }

    /// Whether a variable was in the file when it was opened.
    pub(crate) fn was_opened_with(&self, var: VarId) -> bool {
        self.look(|state| state.opened.contains(&var))
    }

    /// Looks at the state.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&FileState) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether one of its handles writes.
    pub(crate) fn is_written(&self) -> bool {
        self.look(|state| !matches!(state.origin, FileOrigin::Reading))
    }

    /// The code of an error of writing: what HDF5 has no place for is its error.
    pub(crate) fn code_of(&self, error: ncirrus::Error) -> Code {
        self.format.code_of(error)
    }

    /// The dataset with all definitions.
    ///
    /// # Errors
    /// Those of a format that cannot hold what was defined.
    pub(crate) fn settled(&self) -> Outcome<Dataset> {
        self.write_collected();
        self.check_collected()?;
        if let Some(dataset) = self.ready() {
            return Ok(dataset);
        }
        let mut state = self.state();
        state.pass_on()?;
        Ok(state.dataset.clone())
    }

    /// The dataset, if it has all definitions.
    pub(crate) fn ready(&self) -> Option<Dataset> {
        self.look(|state| (!state.has_pending()).then(|| state.dataset.clone()))
    }

    /// Whether values can be read or written: in define mode the strict kinds refuse, and the others leave it.
    ///
    /// # Errors
    /// `NC_EINDEFINE`.
    pub(crate) fn enter_data_mode(&self) -> Outcome<()> {
        if !self.look(|state| state.is_defining) {
            return Ok(());
        }
        if self.format.is_strict() {
            return Err(Code(NC_EINDEFINE));
        }
        let mut state = self.state();
        let (defined, mut unused) = (state.defined.clone(), std::mem::take(&mut state.unused));
        let ended = state.end_definitions();
        if ended.is_ok() {
            unused.extend(defined.into_iter().filter(|var| state.stored.contains(var)));
        }
        state.unused = unused;
        ended
    }

    /// Values of a variable are read or written: its fill value is settled.
    pub(crate) fn note_use(&self, var: VarId) {
        if self.look(|state| state.unused.contains(&var)) {
            self.state().unused.remove(&var);
        }
    }

    /// Adds a handle; `None` after the last one was closed.
    pub(crate) fn share(self: &Arc<Self>) -> Option<Arc<Self>> {
        let more = |handles: usize| (handles > 0).then_some(handles + 1);
        self.handles.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Arc::clone(self))
    }

    /// Ends a handle; whether it was the last one.
    pub(crate) fn release(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl FileState {
    /// Whether the definitions can be written: a file is not closed with types that have no members.
    ///
    /// # Errors
    /// `NC_EHDFERR`, `NC_EINVAL`.
    pub(crate) fn check_types(&self) -> Outcome<()> {
        let model = &self.members.model;
        if self.has_pending() { check_types(model, model.types()) } else { Ok(()) }
    }

    /// Whether the definitions were changed since the dataset got them.
    pub(crate) fn has_pending(&self) -> bool {
        !self.members.model.is_unchanged()
    }

    /// The definitions, to be changed: the dataset will get them.
    pub(crate) fn members_mut(&mut self) -> &mut FileMembers {
        if Arc::get_mut(&mut self.members).is_none() {
            // A call looks at them.
            self.members = Arc::new(self.members.successor());
        }
        Arc::make_mut(&mut self.members)
    }

    /// The dataset refused or forgot the definitions: it will get them again.
    pub(crate) fn keep_pending(&mut self) {
        self.members_mut().model_mut();
    }

    /// Gives changed definitions to the dataset.
    ///
    /// # Errors
    /// `NC_EHDFERR` for types without members, and what the format refuses.
    pub(crate) fn pass_on(&mut self) -> Outcome<()> {
        if !self.has_pending() {
            return Ok(());
        }
        let dataset = self.dataset.clone();
        let draft = &mut self.members_mut().model;
        let changed = draft.changes().map(|changes| changes.types().iter().copied().collect());
        check_types(draft, changed.unwrap_or_else(|| draft.types()))?;
        // The dataset has no other definitions than those of this file.
        let passed = dataset.refresh_draft(draft).and_then(|()| dataset.adopt_draft(draft));
        passed.map_err(|error| self.format.code_of(error))?;
        self.may_lack_values = true;
        Ok(self.refresh()?)
    }

    /// Fills what was not written into a variable of a classic file before its fill value changes: it keeps the one of then.
    ///
    /// # Errors
    /// If writing fails, and for a new file that is sent to an object store while it is written: it cannot be filled before it ends.
    pub(crate) fn keep_fill(&mut self, var: VarId) -> Outcome<()> {
        if !self.format.is_classic() || !self.may_lack_values || !self.stored.contains(&var) {
            return Ok(());
        }
        self.dataset.sync().map_err(|error| self.format.code_of(error))?;
        self.may_lack_values = false;
        Ok(())
    }

    /// Takes over lengths that grew by writing.
    ///
    /// # Errors
    /// None that a dataset that is written has.
    pub(crate) fn refresh(&mut self) -> ncirrus::Result<()> {
        if self.members.model.is_of(&self.dataset.model()?) {
            return Ok(());
        }
        self.may_lack_values = true;
        let dataset = self.dataset.clone();
        dataset.refresh_draft(&mut self.members_mut().model)
    }

    /// Makes permanent what was written. A new file appears at its path and is changed in place from then on.
    ///
    /// # Errors
    /// If writing fails, or the format refuses definitions; what else was written to a file that was there becomes permanent all
    /// the same.
    pub(crate) fn publish(&mut self) -> Outcome<()> {
        let settled = self.settle();
        match &self.origin {
            FileOrigin::Reading | FileOrigin::Memory | FileOrigin::Replaced => settled,
            FileOrigin::Updating => {
                let synced = self.dataset.sync().map_err(|error| self.format.code_of(error));
                settled.and(synced)
            }
            FileOrigin::Created { url } => {
                settled?;
                self.dataset.clone().close().map_err(|error| self.format.code_of(error))?;
                self.replace(process::updated(url, LocalPlace::of(url).as_ref())?)?;
                self.origin = FileOrigin::Updating;
                Ok(())
            }
        }
    }

    /// Goes on with another dataset of the same place.
    ///
    /// # Errors
    /// If its attributes cannot be fetched.
    pub(crate) fn replace(&mut self, dataset: Dataset) -> Outcome<()> {
        let members = self.members.reopened(dataset.model()?);
        let there = |id: &VarId| members.model.variable_at(&self.members.model.variable_path(*id));
        let is_native = |id: &VarId| {
            let variable = self.members.model.variable(*id);
            !self.opened.contains(id) && variable.is_some_and(|own| own.endianness == Endianness::Native)
        };
        let native: Vec<VarId> = self.members.model.variables().into_iter().filter(is_native).collect();
        self.native = native.iter().chain(&self.native).filter_map(there).collect();
        self.stored = self.stored.iter().filter_map(there).collect();
        self.defined = self.defined.iter().filter_map(there).collect();
        // A classic file does not say that it is not filled.
        let is_told =
            |id: &VarId| self.members.model.variable(*id).is_some_and(|variable| !variable.is_filled());
        let unfilled = self.members.model.variables().into_iter().filter(is_told).map(|id| (id, true));
        let told = unfilled.chain(std::mem::take(&mut self.told_no_fill));
        self.told_no_fill = told.filter_map(|(id, is_unfilled)| Some((there(&id)?, is_unfilled))).collect();
        self.unused.clear();
        self.members = Arc::new(members);
        self.dataset = dataset;
        Ok(())
    }

    /// Goes back to the definitions that the dataset has.
    ///
    /// # Errors
    /// None that a dataset that is written has.
    pub(crate) fn forget_pending(&mut self) -> Outcome<()> {
        let model = self.dataset.model()?;
        self.members_mut().model = model.into();
        self.is_defining = false;
        Ok(())
    }

    /// Ends writing: what was written becomes permanent.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub(crate) fn close(&mut self) -> Outcome<()> {
        let ended = self.end_definitions();
        if !matches!(self.origin, FileOrigin::Updating) {
            ended?;
        }
        faults::reached(FaultPlace::End);
        match self.origin {
            FileOrigin::Reading | FileOrigin::Memory => Ok(()),
            FileOrigin::Created { .. } | FileOrigin::Updating => {
                let closed = self.dataset.clone().close().map_err(|error| self.format.code_of(error));
                ended.and(closed)
            }
            FileOrigin::Replaced => Ok(self.dataset.clone().abort()?),
        }
    }
}

/// Compounds and enums have members.
fn check_types(model: &Model, types: Vec<TypeId>) -> Outcome<()> {
    let lacking = |id: TypeId, what: &str, code| {
        last_error::set(&format!("{}: {what}", model.type_path(id)));
        Err(Code(code))
    };
    types.into_iter().try_for_each(|id| match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Compound(fields)) if fields.is_empty() => lacking(
            id,
            "a compound without fields cannot be stored: nc_insert_compound adds some",
            NC_EHDFERR,
        ),
        Some(UserKind::Enum { members, .. }) if members.is_empty() => {
            lacking(id, "an enum without members cannot be stored: nc_insert_enum adds some", NC_EINVAL)
        }
        _ => Ok(()),
    })
}
