//! Writes of a few values, one after the other: they are collected in the file and written together.
//!
//! A run begins after a small write that was done as it was asked for; what continues it is copied to its end. It is written when it is
//! long, and before anything else looks at values or at the state of the file. Records that are not there yet, and values of another
//! type, are not collected; with `NC_SHARE` nothing is.
use crate::codes::{Code, Outcome};
use crate::file_state::FileCore;
use crate::files::CallHandle;
use crate::memory::Bytes;
use crate::modes::SHARE;
use crate::slabs::{CSlab, SlabAccess};
use ncirrus::{Atomic, AxisSelection, Dataset, Selection, TypeRef, VarId};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a run.
const LONGEST: usize = 64 << 10;
/// Writes of at most as many values are small.
const SMALL: usize = 64;

/// The run of a file, if there is one.
#[derive(Debug, Default)]
pub(crate) struct CollectedPuts {
    run: Mutex<PutRun>,
    is_there: AtomicBool,
    /// The code with which values that were collected could not be written, until somebody is told.
    failure: AtomicI32,
}

#[derive(Debug, Default)]
struct PutRun {
    place: Option<RunPlace>,
    bytes: Vec<u8>,
}

/// Where a run is.
#[derive(Debug)]
struct RunPlace {
    group: usize,
    varid: c_int,
    var: VarId,
    ty: Atomic,
    element: usize,
    shape: Vec<usize>,
    /// Which element its bytes begin with, counted row by row.
    first: usize,
    /// The element that continues it.
    next: usize,
}

/// Copies values to the end of the run of their file. `false`: they do not continue it.
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
    if !core.puts.is_there.load(Ordering::Acquire) || !file.writes || file.mode & SHARE != 0 {
        return Ok(false);
    }
    if slab.stride.is_some() || slab.start.is_null() || data.is_null() {
        return Ok(false);
    }
    let _in_use = core.in_use();
    let mut run = core.puts.lock();
    let Some(bytes) = run.continued(handle.group_number(), varid, slab, memory, data) else {
        return Ok(false);
    };
    run.bytes.extend_from_slice(bytes);
    if run.bytes.len() >= LONGEST {
        run.write(&core.look(|state| state.dataset.clone())).map_err(|error| core.code_of(error))?;
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
    if counts.is_empty()
        || memory.is_some_and(|memory| memory != ty)
        || counts.iter().product::<usize>() > SMALL
    {
        return None;
    }
    let shape: Vec<usize> = handle
        .file
        .core
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
    Some(RunPlace {
        group: handle.group_number(),
        varid,
        var: access.id,
        ty,
        element,
        shape,
        first: next,
        next,
    })
}

/// The number of the first of some elements of one row, and how many they are. `None` if they are of several rows, or outside.
fn row_place(start: &[usize], counts: Option<&[usize]>, shape: &[usize]) -> Option<(usize, usize)> {
    let (mut at, mut len) = (0usize, 1usize);
    for (axis, axis_len) in shape.iter().enumerate() {
        let (start, count) = (*start.get(axis)?, counts.map_or(Some(1), |counts| counts.get(axis).copied())?);
        let is_inside = start < *axis_len && count <= axis_len - start;
        if !is_inside || count == 0 || count > 1 && axis + 1 != shape.len() {
            return None;
        }
        at = at.checked_mul(*axis_len)?.checked_add(start)?;
        len = count;
    }
    Some((at, len))
}

impl CollectedPuts {
    fn lock(&self) -> MutexGuard<'_, PutRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PutRun {
    /// The bytes of values that continue the run, which ends after them then.
    fn continued<'a>(
        &mut self,
        group: usize,
        varid: c_int,
        slab: &CSlab,
        memory: Option<Atomic>,
        data: &'a Bytes,
    ) -> Option<&'a [u8]> {
        let place = self.place.as_mut().filter(|place| place.varid == varid && place.group == group)?;
        if memory.is_some_and(|memory| memory != place.ty) {
            return None;
        }
        let rank = place.shape.len();
        let start = slab.start.read(rank).ok()?;
        let counts = match &slab.count {
            Some(count) => Some(count.read(rank).ok()?),
            None => None,
        };
        let (at, len) = row_place(start, counts, &place.shape)?;
        if at != place.next || len > SMALL {
            return None;
        }
        let bytes = data.read(len * place.element).ok()?;
        place.next += len;
        Some(bytes)
    }

    /// Writes what was collected; what continues it is collected again.
    fn write(&mut self, dataset: &Dataset) -> ncirrus::Result<()> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let (mut first, mut bytes) = (place.first, self.bytes.as_slice());
        place.first = place.next;
        let variable = dataset.variable_by_id(place.var);
        let mut written = Ok(());
        while !bytes.is_empty() && written.is_ok() {
            let (selection, len) = largest_box(first, bytes.len() / place.element.max(1), &place.shape);
            let (now, later) = bytes.split_at((len * place.element).min(bytes.len()));
            written = variable.write_bytes(&selection, now);
            (first, bytes) = (first + len, later);
        }
        self.bytes.clear();
        written
    }
}

/// The largest box that begins with an element and has none but those that follow it, and how many it has.
fn largest_box(first: usize, count: usize, shape: &[usize]) -> (Selection, usize) {
    let mut units = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        units[axis - 1] = units[axis].saturating_mul(shape[axis]);
    }
    let begins = |unit: &usize| first.is_multiple_of((*unit).max(1)) && count >= *unit;
    let along = units.iter().position(begins).unwrap_or(shape.len().saturating_sub(1));
    let mut len = 1;
    let axes = shape.iter().zip(&units).enumerate().map(|(axis, (axis_len, unit))| {
        let start = first / (*unit).max(1) % (*axis_len).max(1);
        let (start, taken) = match axis.cmp(&along) {
            std::cmp::Ordering::Less => (start, 1),
            std::cmp::Ordering::Equal => {
                (start, (count / (*unit).max(1)).clamp(1, (axis_len - start).max(1)))
            }
            std::cmp::Ordering::Greater => (0, *axis_len),
        };
        len *= taken;
        AxisSelection::Slice { start: start as u64, count: taken as u64, stride: 1 }
    });
    let selection = Selection::new(axes.collect());
    (selection, len)
}

impl FileCore {
    /// Writes what was collected, before anything else happens with the file.
    pub(crate) fn write_collected(&self) {
        if !self.puts.is_there.load(Ordering::Acquire) {
            return;
        }
        let mut run = self.puts.lock();
        if !run.bytes.is_empty()
            && let Err(error) = run.write(&self.look(|state| state.dataset.clone()))
        {
            self.puts.failure.store(self.code_of(error).0, Ordering::Release);
        }
        run.place = None;
        self.puts.is_there.store(false, Ordering::Release);
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

#[cfg(test)]
mod tests {
    use super::largest_box;
    use ncirrus::AxisSelection;

    #[test]
    fn boxes_have_every_element_of_a_run_once_and_in_order() {
        let shape = [3usize, 4, 5];
        for first in 0..60 {
            for count in 1..=60 - first {
                let (mut at, mut boxes) = (first, 0);
                while at < first + count {
                    let (selection, len) = largest_box(at, first + count - at, &shape);
                    let bounds = selection.axes().iter().map(|axis| match axis {
                        AxisSelection::Slice { start, count, .. } => (*start, *start + *count - 1),
                        other => panic!("{other:?}"),
                    });
                    let number = |at: [u64; 3]| (at[0] * 4 + at[1]) * 5 + at[2];
                    let bounds: Vec<(u64, u64)> = bounds.collect();
                    assert_eq!(number([bounds[0].0, bounds[1].0, bounds[2].0]), at as u64);
                    assert_eq!(number([bounds[0].1, bounds[1].1, bounds[2].1]), (at + len - 1) as u64);
                    assert_eq!(selection.element_count(), Some(len as u64));
                    (at, boxes) = (at + len, boxes + 1);
                }
                assert_eq!(at, first + count);
                assert!(boxes <= 5, "{boxes}");
            }
        }
    }
}
