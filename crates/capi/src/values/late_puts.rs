//! Writes that are not done when the call returns: small ones that continue one another, and long ones. The rules are those of
//! [`ncirrus::pace`]; this module finds the file and variable of a call, and returns errors. A call that reads values or the state of the
//! file finishes these writes first, and so does one that asks for a number of records that they add to. The next call, `nc_sync` or
//! `nc_close` returns the first error. With `NC_SHARE` every write is done at once.
use crate::c_types::codes::Outcome;
use crate::c_types::memory::Bytes;
use crate::c_types::modes::SHARE;
use crate::files::broken::PanicMark;
use crate::files::file_state::FileCore;
use crate::files::put_door::RunKey;
use crate::files::{self, CallHandle};
use crate::process::faults::{self, FaultPlace};
use crate::rules::slabs::{CSlab, SlabAccess};
use ncirrus::Atomic;
use ncirrus::pace::{PutBehind, PutRuns, RunPlace, is_small_put};
use std::ffi::c_int;

/// Whether a slab is a row that runs take.
fn is_row(slab: &CSlab, data: &Bytes) -> bool {
    slab.stride.is_none() && !slab.start.is_null() && !data.is_null()
}

/// Copies values to the end of the run of their variable, if there is room. `false`: they do not continue it.
///
/// It takes the lock of the runs only: a call that replaces or closes the file writes and ends them first.
pub(crate) fn continued(
    ncid: c_int,
    varid: c_int,
    slab: &CSlab,
    memory: Option<Atomic>,
    data: &Bytes,
) -> bool {
    if !is_row(slab, data) {
        return false;
    }
    let taken = files::at_door(ncid, |door, group| {
        let _mark = PanicMark::new(&door.health);
        let mut runs = door.runs.runs();
        if !runs.has_room() {
            return None;
        }
        extend(&mut runs, (group, varid), slab, memory, data)?;
        drop(runs);
        // After the values are there: who reads now and sees the old number reads again.
        door.changes.note_collected();
        Some(())
    });
    taken.is_some()
}

/// As [`continued`], of a call that may write the runs when they are full.
///
/// # Errors
/// `NC_EBADID`, and those of writing what was collected before.
pub(crate) fn collected(
    handle: &CallHandle,
    varid: c_int,
    slab: &CSlab,
    memory: Option<Atomic>,
    data: &Bytes,
) -> Outcome<bool> {
    let (file, core) = (&handle.file, &handle.file.core);
    if !is_row(slab, data) || !file.door.is_open() {
        return Ok(false);
    }
    let _in_use = core.in_use();
    let mut runs = core.late.runs();
    if extend(&mut runs, (handle.group_number(), varid), slab, memory, data).is_none() {
        return Ok(false);
    }
    if runs.is_full() {
        core.write_runs(&mut runs).map_err(|error| core.code_of(error))?;
    }
    drop(runs);
    // After the values are there: who reads now and sees the old number reads again.
    core.note_change();
    Ok(true)
}

/// After a write: what continues it is collected, if it was small and of plain numbers.
pub(crate) fn remember(handle: &CallHandle, varid: c_int, access: &SlabAccess, memory: Option<Atomic>) {
    let (file, core) = (&handle.file, &handle.file.core);
    let is_small = access.slab.element_count().is_ok_and(is_small_put);
    if file.mode & SHARE != 0 || !is_small {
        return;
    }
    let key = (handle.group_number(), varid);
    // In memory that stays where it is, each record first makes room.
    let may_grow = core.look(|state| state.locked_len.is_none());
    let of = (&*core.members().model, access.id);
    if let Some(place) = RunPlace::after(key, of, &access.slab.selection, memory, may_grow) {
        core.late.begin_run(place);
    }
}

/// Takes values that continue the run of their variable, which ends after them then. `None`: they do not continue it, or not all fit.
fn extend(
    runs: &mut PutRuns<RunKey>,
    key: RunKey,
    slab: &CSlab,
    memory: Option<Atomic>,
    data: &Bytes,
) -> Option<()> {
    let run = runs.of(&key)?;
    let (start, counts) = slab.read(run.rank())?;
    run.extend(start, counts, memory, |len| data.read(len).ok())
}

impl SlabAccess {
    fn behind(&self) -> PutBehind<'_> {
        let kind = self.at.file.core.format.kind;
        PutBehind::new(self.at.model(), kind, self.id, &self.slab.selection)
    }

    /// Whether a write of so many bytes may go on behind the caller: it takes long, and no other program has to see the values when the
    /// call returns.
    pub(crate) fn can_go_behind(&self, len: usize) -> bool {
        let (file, core) = (&self.at.file, &self.at.file.core);
        let put = self.behind();
        let may_go =
            core.look(|state| state.locked_len.is_none() && put.is_worth_it(len, state.dataset.session()));
        file.mode & SHARE == 0 && may_go
    }

    /// Begins to write values behind the caller.
    ///
    /// # Errors
    /// Those of writes before it.
    pub(crate) fn put_behind(&self, values: &[u8]) -> Outcome<()> {
        let core = &self.at.file.core;
        // Empty runs must not make this write wait for those before it.
        if core.late.has_collected() {
            core.write_collected();
        }
        core.check_collected()?;
        let dataset = match core.ready() {
            Some(dataset) => dataset,
            None => core.settled()?,
        };
        core.late.put_behind(&dataset, &self.behind(), values).map_err(|error| core.code_of(error))
    }
}

impl FileCore {
    /// Writes what was collected, after what is written behind the caller, before values are read or written: what continues it is
    /// collected again.
    pub(crate) fn write_collected(&self) {
        if self.health.is_broken() {
            return;
        }
        self.finish_behind();
        if self.late.has_runs() {
            self.late.note(self.write_runs(&mut self.late.runs()));
        }
    }

    /// As [`write_collected`](Self::write_collected), before anything else happens with the file: nothing is collected afterwards.
    pub(crate) fn end_collected(&self) {
        if self.health.is_broken() {
            return;
        }
        self.finish_behind();
        if self.late.has_runs() {
            let mut runs = self.late.runs();
            self.late.note(self.write_runs(&mut runs));
            self.late.end_runs(&mut runs);
        }
    }

    /// Before the number of records is asked for: a run that adds some is written.
    pub(crate) fn write_records(&self) {
        if self.late.runs_grow() && self.late.has_collected() {
            self.write_collected();
        }
    }

    /// Writes runs while their lock is held, so that no older value overtakes a newer one. After a failure nothing is collected: the next
    /// put returns it.
    fn write_runs(&self, runs: &mut PutRuns<RunKey>) -> ncirrus::Result<()> {
        if runs.is_empty() {
            return Ok(());
        }
        self.finish_behind();
        faults::reached(FaultPlace::Run);
        let written = runs.write(&self.look(|state| state.dataset.clone()));
        let refreshed = if runs.grows() { self.refresh() } else { Ok(()) };
        let done = written.and(refreshed);
        if done.is_err() {
            self.late.end_runs(runs);
        }
        done
    }

    /// Waits for the writes that go on behind the caller.
    fn finish_behind(&self) {
        let session = || self.look(|state| state.dataset.session().clone());
        self.late.finish_behind(session, || self.refresh());
    }

    /// Before the number of records is asked for: writes that add some are done.
    pub(crate) fn finish_growth(&self) {
        if self.late.behind_grows() {
            self.finish_behind();
        }
    }

    /// Returns the first error of late writes, once.
    ///
    /// # Errors
    /// Those of writing.
    pub(crate) fn check_collected(&self) -> Outcome<()> {
        self.late.check().map_err(|error| self.code_of(error))
    }
}
