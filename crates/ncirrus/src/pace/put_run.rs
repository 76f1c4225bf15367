//! Runs of values, each of one variable, which are collected before they are written.
use super::small_casts::{can_cast, cast};
use crate::{Atomic, AxisSelection, Dataset, Model, Result, Selection, TypeRef, VarId};
use std::collections::HashMap;
use std::hash::Hash;

/// Writes of at most as many values are small: longer ones take less time to write than to call.
const SMALL: usize = 512;
/// Bytes of all runs.
const LONGEST: usize = 64 << 10;
/// Records of all runs, if there are several: those of several variables are next to each other in a file, and the engine
/// writes so many together.
const MAX_RECORDS: usize = 4096;
/// Variables that have a run at a time: one of a record of each fills them.
const MAX_RUNS: usize = MAX_RECORDS;
/// Bytes of memory that runs keep after they are written.
const MAX_KEPT: usize = 2 * LONGEST;

/// Values that are collected, and where they belong: a program that puts records of several variables in turn has one run of
/// each. A face finds the variable by a key of its own.
#[derive(Debug)]
pub struct PutRuns<K> {
    /// One of each variable at most.
    runs: Vec<PutRun<K>>,
    /// Where the run of a variable is.
    index: HashMap<K, usize>,
    /// Where the search for a run that makes room begins: behind the one that did last.
    oldest: usize,
    /// Which of them was continued last.
    last: usize,
    /// Bytes and records of all; a write to a variable without records counts as one.
    len: usize,
    count: usize,
}

#[derive(Debug)]
struct PutRun<K> {
    place: RunPlace<K>,
    /// The values, one after the other.
    bytes: Vec<u8>,
}

/// The run of a variable, to be continued.
#[derive(Debug)]
pub struct OpenRun<'a, K> {
    runs: &'a mut PutRuns<K>,
    at: usize,
}

/// Where a run is.
#[derive(Debug)]
pub struct RunPlace<K> {
    key: K,
    var: VarId,
    ty: Atomic,
    /// Bytes of an element.
    element: usize,
    /// The lengths of its dimensions; records without end, if they are added.
    shape: Vec<usize>,
    /// Whether it may add records.
    is_growing: bool,
    /// Which element its bytes begin with, counted row by row.
    first: usize,
    /// The element that continues it.
    next: usize,
}

/// Whether a write of so many values is small.
pub fn is_small_put(count: usize) -> bool {
    count <= SMALL
}

impl<K> RunPlace<K> {
    /// The place behind a write of numbers of a type, if it was small and of plain numbers that follow each other. `may_grow`: records may be added.
    pub fn after(
        key: K,
        (model, var): (&Model, VarId),
        selection: &Selection,
        memory: Option<Atomic>,
        may_grow: bool,
    ) -> Option<Self> {
        let size = |number: u64| usize::try_from(number).ok();
        let TypeRef::Atomic(ty) = model.variable(var)?.ty else { return None };
        let element = ty.byte_len()?;
        let can_take = memory.is_none_or(|memory| memory == ty || can_cast(memory, ty));
        if selection.rank() == 0 || !can_take || selection.element_count()? > SMALL as u64 {
            return None;
        }
        let first = |axis: &AxisSelection| match axis {
            AxisSelection::Slice { start, stride: 1, .. } => size(*start),
            _ => None,
        };
        let start = selection.axes().iter().map(first).collect::<Option<Vec<_>>>()?;
        let counts = selection.shape().into_iter().map(size).collect::<Option<Vec<_>>>()?;
        let mut shape = model.shape(var).into_iter().map(size).collect::<Option<Vec<_>>>()?;
        let (at, len) = row_place(&start, Some(&counts), &shape)?;
        let next = at + len;
        let is_growing = may_grow && model.growing(var).first() == Some(&true);
        if let Some(records) = shape.first_mut().filter(|_| is_growing) {
            *records = usize::MAX;
        }
        Some(Self { key, var, ty, element, shape, is_growing, first: next, next })
    }

    /// Whether it may add records.
    pub(super) fn grows(&self) -> bool {
        self.is_growing
    }
}

impl<K> Default for PutRuns<K> {
    fn default() -> Self {
        Self { runs: Vec::new(), index: HashMap::new(), oldest: 0, last: 0, len: 0, count: 0 }
    }
}

impl<K> PutRuns<K> {
    /// Whether nothing is collected.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether they are to be written.
    pub fn is_full(&self) -> bool {
        self.len >= LONGEST || self.count >= MAX_RECORDS && self.runs.len() > 1
    }

    /// Whether any small write that continues one is collected. The last one may make them longer than they are meant to be.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < LONGEST && (self.count < MAX_RECORDS - 1 || self.runs.len() == 1)
    }

    /// Whether they may add records.
    pub fn grows(&self) -> bool {
        self.runs.iter().any(|run| run.place.grows())
    }

    /// Ends all: what continues them is not collected.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// Writes what was collected, in the order in which the variables were defined, as most formats store them; what continues it is
    /// collected again.
    ///
    /// # Errors
    /// The first one of writing; the other runs are written all the same.
    pub fn write(&mut self, dataset: &Dataset) -> Result<()> {
        (self.len, self.count) = (0, 0);
        let mut done = Ok(());
        let mut full: Vec<&mut PutRun<K>> =
            self.runs.iter_mut().filter(|run| !run.bytes.is_empty()).collect();
        full.sort_by_key(|run| run.place.var);
        for run in full {
            done = done.and(run.write(dataset));
        }
        self.bound_memory();
        done
    }

    /// Gives back the memory of what was written, if it is much: each of the runs may have been long.
    fn bound_memory(&mut self) {
        if self.runs.iter().map(|run| run.bytes.capacity()).sum::<usize>() > MAX_KEPT {
            self.runs.iter_mut().for_each(|run| run.bytes = Vec::new());
        }
    }
}

impl<K: Eq + Hash + Clone> PutRuns<K> {
    /// After a write: what continues it is collected, unless something of its variable is.
    pub(super) fn begin(&mut self, place: RunPlace<K>) {
        let key = place.key.clone();
        if let Some(run) = self.index.get(&key).and_then(|at| self.runs.get_mut(*at)) {
            if run.bytes.is_empty() {
                run.place = place;
            }
            return;
        }
        let (run, count) = (PutRun { place, bytes: Vec::new() }, self.runs.len());
        if count < MAX_RUNS {
            self.runs.push(run);
            self.index.insert(key, count);
            return;
        }
        let mut from_oldest = (self.oldest..count).chain(0..self.oldest);
        let is_empty = |at: &usize| self.runs.get(*at).is_some_and(|run| run.bytes.is_empty());
        let Some(at) = from_oldest.find(is_empty) else { return };
        if let Some(place) = self.runs.get_mut(at) {
            let former = std::mem::replace(place, run);
            self.index.remove(&former.place.key);
            self.index.insert(key, at);
        }
        self.oldest = at + 1;
    }

    /// The run of a variable. The one after the last, or the last one, is found first: most programs put records of their variables
    /// in one order.
    #[inline]
    pub fn of(&mut self, key: &K) -> Option<OpenRun<'_, K>> {
        let is_of = |at: &usize| self.runs.get(*at).is_some_and(|run| run.place.key == *key);
        let next = if self.last + 1 < self.runs.len() { self.last + 1 } else { 0 };
        let near = [self.last, next].into_iter().find(is_of);
        let at = near.or_else(|| self.index.get(key).copied())?;
        self.last = at;
        Some(OpenRun { runs: self, at })
    }
}

impl<K> OpenRun<'_, K> {
    /// How many dimensions its variable has.
    #[inline]
    pub fn rank(&self) -> usize {
        self.runs.runs.get(self.at).map_or(0, |run| run.place.shape.len())
    }

    /// Takes values that continue the run, which ends after them then: `data` has them, so many bytes of numbers of a type. `None`: they
    /// do not continue it.
    #[inline]
    pub fn extend<'d>(
        self,
        start: &[usize],
        counts: Option<&[usize]>,
        memory: Option<Atomic>,
        data: impl FnOnce(usize) -> Option<&'d [u8]>,
    ) -> Option<()> {
        let run = self.runs.runs.get_mut(self.at)?;
        let before = run.bytes.len();
        let count = run.extend(start, counts, memory, data)?;
        self.runs.len += run.bytes.len() - before;
        self.runs.count += count;
        Some(())
    }
}

impl<K> PutRun<K> {
    /// Takes values that continue it, and counts their records.
    #[inline]
    fn extend<'d>(
        &mut self,
        start: &[usize],
        counts: Option<&[usize]>,
        memory: Option<Atomic>,
        data: impl FnOnce(usize) -> Option<&'d [u8]>,
    ) -> Option<usize> {
        let place = &mut self.place;
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
        let records = counts.and_then(|counts| counts.first().copied()).filter(|_| place.is_growing);
        Some(records.unwrap_or(1))
    }

    fn write(&mut self, dataset: &Dataset) -> Result<()> {
        let place = &mut self.place;
        let (mut first, mut bytes) = (place.first, self.bytes.as_slice());
        place.first = place.next;
        if bytes.is_empty() {
            return Ok(());
        }
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

/// The number of the first of some elements that follow each other, and how many they are. `None` if they do not, or are outside.
#[inline]
fn row_place(start: &[usize], counts: Option<&[usize]>, shape: &[usize]) -> Option<(usize, usize)> {
    let (mut at, mut len) = (0usize, 1usize);
    for (axis, axis_len) in shape.iter().enumerate() {
        let (start, count) = (*start.get(axis)?, counts.map_or(Some(1), |counts| counts.get(axis).copied())?);
        let is_inside = start < *axis_len && count <= axis_len - start;
        // Of several rows, all are whole.
        if !is_inside || count == 0 || len > 1 && count != *axis_len {
            return None;
        }
        at = at.checked_mul(*axis_len)?.checked_add(start)?;
        len = len.checked_mul(count)?;
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
    use super::{LONGEST, MAX_KEPT, MAX_RECORDS, MAX_RUNS, PutRuns, RunPlace, largest_box};
    use crate::{Atomic, AxisSelection};

    /// The place of records of a variable behind the first one.
    fn records(key: usize) -> RunPlace<usize> {
        let mut model = crate::Model::new();
        let root = model.root();
        let var = model.add_variable(root, "v", Atomic::Double.into(), &[]).unwrap();
        let (ty, element) = (Atomic::Double, 8);
        RunPlace { key, var, ty, element, shape: vec![usize::MAX], is_growing: true, first: 1, next: 1 }
    }

    fn put(runs: &mut PutRuns<usize>, key: usize, record: usize) -> bool {
        runs.of(&key).is_some_and(|run| {
            assert_eq!(run.rank(), 1);
            run.extend(&[record], None, None, |len| [0; 8].get(..len)).is_some()
        })
    }

    #[test]
    fn records_of_several_variables_are_collected_in_turn_until_they_are_many() {
        let mut runs = PutRuns::default();
        for key in 0..4 {
            assert!(!put(&mut runs, key, 1), "nothing was put before");
            runs.begin(records(key));
        }
        assert!(runs.is_empty() && runs.grows());
        let mut count = 0;
        while runs.has_room() {
            assert!(put(&mut runs, count % 4, 1 + count / 4));
            count += 1;
        }
        assert_eq!(count, MAX_RECORDS - 1);
        assert!(!put(&mut runs, 3, 1) && !put(&mut runs, 2, 1 << 20), "they do not continue it");
        while !runs.is_full() {
            assert!(put(&mut runs, count % 4, 1 + count / 4));
            count += 1;
        }
        assert_eq!(count, MAX_RECORDS);
        // What is collected of a variable is not forgotten for a later write.
        runs.begin(RunPlace { next: 7, ..records(0) });
        assert!(put(&mut runs, 0, 1 + count / 4));
        runs.end();
        assert!(runs.is_empty() && !put(&mut runs, 0, 2 + count / 4));
    }

    #[test]
    fn a_single_run_has_room_for_more_values() {
        let mut runs = PutRuns::default();
        runs.begin(records(9));
        let mut record = 1;
        while !runs.is_full() {
            assert!(put(&mut runs, 9, record));
            record += 1;
        }
        assert_eq!(record - 1, LONGEST / 8);
    }

    #[test]
    fn the_oldest_run_without_values_makes_room_for_another_variable() {
        let mut runs = PutRuns::default();
        (0..MAX_RUNS).for_each(|key| runs.begin(records(key)));
        assert!(put(&mut runs, 0, 1));
        runs.begin(records(MAX_RUNS));
        assert!(put(&mut runs, MAX_RUNS, 1) && !put(&mut runs, 1, 1), "the second one made room");
        assert!(put(&mut runs, 0, 2) && put(&mut runs, 2, 1));
    }

    #[test]
    fn records_of_many_variables_in_turn_are_collected() {
        let (mut runs, mut collected) = (PutRuns::default(), 0);
        for record in 0..100 {
            for key in 0..300 {
                if put(&mut runs, key, record) {
                    collected += 1;
                } else {
                    runs.begin(RunPlace { first: record + 1, next: record + 1, ..records(key) });
                }
                if runs.is_full() {
                    // As when they are written.
                    (runs.len, runs.count) = (0, 0);
                    runs.runs.iter_mut().for_each(|run| run.bytes.clear());
                }
            }
        }
        assert_eq!(collected, 99 * 300);
    }

    #[test]
    fn runs_that_were_long_one_after_the_other_keep_little_memory() {
        let mut runs = PutRuns::default();
        for key in 0..8 {
            runs.begin(records(key));
            (1..=LONGEST / 8).for_each(|record| assert!(put(&mut runs, key, record)));
            runs.runs.iter_mut().for_each(|run| run.bytes.clear());
            runs.bound_memory();
            let kept: usize = runs.runs.iter().map(|run| run.bytes.capacity()).sum();
            assert!(kept <= MAX_KEPT, "{kept} bytes after {key}");
        }
    }

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
