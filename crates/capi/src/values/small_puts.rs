//! Writes of a few values, one after the other: they are collected in the file and written together.
//!
//! A run begins after a small write that was done as it was asked for; what continues it is copied to its end, records that are not
//! there yet as well. It is written when it is long, and before anything else looks at values or at the state of the file; one that adds
//! records before their number is asked for, too. Numbers of another type are collected if they are in the range of the variable's; with
//! `NC_SHARE` nothing is.
use crate::c_types::codes::{Code, Outcome};
use crate::c_types::memory::Bytes;
use crate::c_types::modes::SHARE;
use crate::files::broken::PanicMark;
use crate::files::file_state::FileCore;
use crate::files::{self, CallHandle, OpenFile};
use crate::process::faults::{self, FaultPlace};
use crate::rules::slabs::{CSlab, SlabAccess};
use ncirrus::pace::{PutRun, RunPlace, can_cast, row_place};
use ncirrus::{Atomic, AxisSelection, TypeRef};
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// Bytes of a run.
const LONGEST: usize = 64 << 10;
/// Bytes of the largest number.
const LARGEST_NUMBER: usize = 8;
/// Writes of at most as many values are small.
const SMALL: usize = 64;

/// Whether there is a run in a file that the values of a slab may continue.
fn has_run(file: &OpenFile, slab: &CSlab, data: &Bytes) -> bool {
    let is_row = slab.stride.is_none() && !slab.start.is_null() && !data.is_null();
    is_row && file.core.puts.is_there.load(Ordering::Acquire) && file.writes && file.mode & SHARE == 0
}

/// Copies values to the end of the run of their file, if there is room. `false`: they do not continue it.
///
/// The lock of the run is all that this takes: whoever replaces or closes the file writes the run first, and nobody begins another one
/// then.
pub(crate) fn continued(
    ncid: c_int,
    varid: c_int,
    slab: &CSlab,
    memory: Option<Atomic>,
    data: &Bytes,
) -> bool {
    let taken = files::glance(ncid, |file, group| {
        let core = &file.core;
        if !has_run(file, slab, data) || core.health.is_broken() {
            return None;
        }
        let _mark = PanicMark::new(&core.health);
        let mut run = core.puts.lock();
        if run.bytes.len() >= LONGEST - SMALL * LARGEST_NUMBER {
            return None;
        }
        extend(&mut run, (group, varid), slab, memory, data)?;
        drop(run);
        // After the values are there: who reads now and sees the old number reads again.
        core.note_change();
        Some(())
    });
    taken.is_some()
}

/// As [`continued`], of a call that may write the run when it is full.
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
    if !has_run(file, slab, data) {
        return Ok(false);
    }
    let _in_use = core.in_use();
    let mut run = core.puts.lock();
    if extend(&mut run, (handle.group_number(), varid), slab, memory, data).is_none() {
        return Ok(false);
    }
    if run.bytes.len() >= LONGEST {
        core.write_run(&mut run)?;
    }
    drop(run);
    // After the values are there: who reads now and sees the old number reads again.
    core.note_change();
    Ok(true)
}

/// After a write: what continues it is collected, if it was small and of plain numbers.
pub(crate) fn remember(handle: &CallHandle, varid: c_int, access: &SlabAccess, memory: Option<Atomic>) {
    let file = &handle.file;
    let Some(place) = place_of(handle, varid, access, memory).filter(|_| file.mode & SHARE == 0) else {
        return;
    };
    let mut run = file.core.puts.lock();
    if run.bytes.is_empty() {
        file.core.puts.is_growing.store(place.is_growing, Ordering::Release);
        run.place = Some(place);
        file.core.puts.is_there.store(true, Ordering::Release);
    }
}

fn place_of(
    handle: &CallHandle,
    varid: c_int,
    access: &SlabAccess,
    memory: Option<Atomic>,
) -> Option<RunPlace> {
    let TypeRef::Atomic(ty) = access.ty else { return None };
    let element = ty.byte_len()?;
    let counts = &access.slab.counts;
    let can_take = memory.is_none_or(|memory| memory == ty || can_cast(memory, ty));
    if counts.is_empty() || !can_take || counts.iter().product::<usize>() > SMALL {
        return None;
    }
    let core = &handle.file.core;
    let mut shape: Vec<usize> = core
        .members()
        .model
        .shape(access.id)
        .into_iter()
        .map(usize::try_from)
        .collect::<Result<_, _>>()
        .ok()?;
    let first = |axis: &AxisSelection| match axis {
        AxisSelection::Slice { start, stride: 1, .. } => usize::try_from(*start).ok(),
        _ => None,
    };
    let start = access.slab.selection.axes().iter().map(first).collect::<Option<Vec<_>>>()?;
    let (at, len) = row_place(&start, Some(counts), &shape)?;
    let next = at + len;
    // In memory that stays where it is, each record first makes room.
    let is_growing = access.growing.first() == Some(&true) && core.look(|state| state.locked_len.is_none());
    if let Some(records) = shape.first_mut().filter(|_| is_growing) {
        *records = usize::MAX;
    }
    Some(RunPlace {
        group: handle.group_number(),
        varid,
        var: access.id,
        ty,
        element,
        shape,
        is_growing,
        first: next,
        next,
    })
}

/// Takes values that continue a run, which ends after them then. `None`: they do not continue it, or not all fit.
fn extend(
    run: &mut PutRun,
    (group, varid): (usize, c_int),
    slab: &CSlab,
    memory: Option<Atomic>,
    data: &Bytes,
) -> Option<()> {
    let rank = run.place.as_ref().filter(|place| place.is_of(group, varid))?.shape.len();
    let start = slab.start.read(rank).ok()?;
    let counts = match &slab.count {
        Some(count) => Some(count.read(rank).ok()?),
        None => None,
    };
    run.extend(start, counts, memory, |len| data.read(len).ok())
}

impl FileCore {
    /// Writes what was collected, after what is written behind the caller, before anything else happens with the file.
    pub(crate) fn write_collected(&self) {
        if self.health.is_broken() {
            return;
        }
        self.finish_behind();
        if !self.puts.is_there.load(Ordering::Acquire) {
            return;
        }
        let mut run = self.puts.lock();
        if !run.bytes.is_empty()
            && let Err(code) = self.write_run(&mut run)
        {
            self.note_failure(code);
        }
        run.place = None;
        self.puts.is_there.store(false, Ordering::Release);
    }

    /// Before the number of records is asked for: a run that adds some is written.
    pub(crate) fn write_records(&self) {
        if self.puts.is_there.load(Ordering::Acquire) && self.puts.is_growing.load(Ordering::Acquire) {
            self.write_collected();
        }
    }

    fn write_run(&self, run: &mut PutRun) -> Outcome<()> {
        self.finish_behind();
        faults::reached(FaultPlace::Run);
        run.write(&self.look(|state| state.dataset.clone())).map_err(|error| self.code_of(error))?;
        if run.place.as_ref().is_some_and(|place| place.is_growing) { self.refresh() } else { Ok(()) }
    }

    /// Whether all that was collected could be written: the next call is told.
    ///
    /// # Errors
    /// Those of writing.
    pub(crate) fn check_collected(&self) -> Outcome<()> {
        match self.puts.failure.swap(0, Ordering::AcqRel) {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }
}
