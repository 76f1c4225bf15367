//! A run of values of one variable, which is collected before it is written.
use super::small_casts::cast;
use crate::{Atomic, AxisSelection, Dataset, Selection, VarId};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The run of a file, if there is one.
#[derive(Debug, Default)]
pub struct CollectedPuts {
    /// What was collected.
    pub run: Mutex<PutRun>,
    /// Whether there is a run.
    pub is_there: AtomicBool,
    /// Whether it may add records.
    pub is_growing: AtomicBool,
    /// The code with which values that were collected could not be written, until somebody is told.
    pub failure: AtomicI32,
}

/// Values that are collected, and where they belong.
#[derive(Debug, Default)]
pub struct PutRun {
    /// Where they belong; `None` if nothing is collected.
    pub place: Option<RunPlace>,
    /// The values, one after the other.
    pub bytes: Vec<u8>,
}

/// Where a run is.
#[derive(Debug)]
pub struct RunPlace {
    /// The group by which the program refers to the variable.
    pub group: usize,
    /// The number by which it does.
    pub varid: c_int,
    /// The variable.
    pub var: VarId,
    /// Its type.
    pub ty: Atomic,
    /// Bytes of an element.
    pub element: usize,
    /// The lengths of its dimensions; records without end, if they are added.
    pub shape: Vec<usize>,
    /// Whether it may add records.
    pub is_growing: bool,
    /// Which element its bytes begin with, counted row by row.
    pub first: usize,
    /// The element that continues it.
    pub next: usize,
}

impl CollectedPuts {
    /// The run, for one call alone.
    pub fn lock(&self) -> MutexGuard<'_, PutRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes of at most as many values are small.
const SMALL: usize = 64;

impl RunPlace {
    /// Whether it is of the variable to which a program refers so.
    #[inline]
    pub fn is_of(&self, group: usize, varid: c_int) -> bool {
        self.varid == varid && self.group == group
    }
}

impl PutRun {
    /// Takes values that continue the run, which ends after them then: `data` has them, so many bytes of numbers of a type. `None`: they
    /// do not continue it.
    #[inline]
    pub fn extend<'d>(
        &mut self,
        start: &[usize],
        counts: Option<&[usize]>,
        memory: Option<Atomic>,
        data: impl FnOnce(usize) -> Option<&'d [u8]>,
    ) -> Option<()> {
        let place = self.place.as_mut()?;
        let (at, len) = row_place(start, counts, &place.shape)?;
        if at != place.next || len > SMALL {
            return None;
        }
        match memory.filter(|memory| *memory != place.ty) {
            None => self.bytes.extend_from_slice(data(len * place.element)?),
            Some(memory) => {
                let (before, element) = (self.bytes.len(), memory.byte_len()?);
                for number in data(len * element)?.chunks_exact(element) {
                    let Some(number) = cast(memory, place.ty, number) else {
                        self.bytes.truncate(before);
                        return None;
                    };
                    self.bytes.extend_from_slice(number.as_slice());
                }
            }
        }
        place.next += len;
        Some(())
    }

    /// Writes what was collected; what continues it is collected again.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, dataset: &Dataset) -> crate::Result<()> {
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

/// The number of the first of some elements of one row, and how many they are. `None` if they are of several rows, or outside.
#[inline]
pub fn row_place(start: &[usize], counts: Option<&[usize]>, shape: &[usize]) -> Option<(usize, usize)> {
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

#[cfg(test)]
mod tests {
    use super::largest_box;
    use crate::AxisSelection;

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
