//! Many small records of a variable that are written at once, as if they were one chunk: a program that puts the records of its
//! variables in turn has thousands of them collected.
//!
//! The commit lock is held alone, instead of the lock of each chunk, so that these writes are bounded. If others read or write,
//! records are put one by one.
use super::DatasetWriter;
use super::rows::WriteData;
use super::target::WriteTarget;
use crate::picked::Picked;
use ncirrus_layout::{ChunkGrid, Result};
use ncirrus_model::{AxisSelection, Selection, VarId};

/// Fewer records are written one by one.
const MIN_ROWS: u64 = 16;
/// Longer writes are divided among threads.
const MAX_BYTES: u64 = 128 << 10;

impl DatasetWriter {
    /// Whether what is written may be whole records that are [put as rows](Self::put_rows).
    pub(super) fn may_be_rows(&self, var: VarId, picked: &Picked<'_>) -> bool {
        let Picked::Selection(selection) = picked else { return false };
        if !self.output.gathers() || self.conflicts.is_shared() {
            return false;
        }
        let model = self.model();
        let Some(first) = whole_records(selection, &model.shape(var)) else { return false };
        let element = model.variable(var).and_then(|variable| model.packed_len(variable.ty));
        let len =
            element.zip(selection.element_count()).and_then(|(element, count)| element.checked_mul(count));
        first.1 >= MIN_ROWS
            && len.is_some_and(|len| len > 0 && len <= MAX_BYTES)
            && model.growing(var).first() == Some(&true)
    }

    /// Writes whole records of a variable, while nothing else is written or read: `count` values. `false`, without any effect, if the
    /// format has no rows of them or one is cached.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(super) fn put_rows(
        &self,
        target: &WriteTarget,
        selection: &Selection,
        (data, count): (&WriteData<'_>, usize),
    ) -> Result<bool> {
        let Some((first, records)) = whole_records(selection, &self.model().shape(target.var)) else {
            return Ok(false);
        };
        let (Some(element), ChunkGrid::Regular(chunk)) = (target.element, &target.encoding.grid) else {
            return Ok(false);
        };
        let is_record = chunk.first() == Some(&1) && chunk.len() == selection.rank();
        let mut cell = vec![0; selection.rank()];
        cell.iter_mut().take(1).for_each(|record| *record = first);
        let is_cached = || !self.stage.has_none_of(target.var, &cell, records);
        if !is_record || !target.is_raw() || target.sharding.is_some() || is_cached() {
            return Ok(false);
        }
        let mut bytes = vec![0; count.saturating_mul(element)];
        if !data.store_all(&mut bytes) {
            return Ok(false);
        }
        let placed = self.placer.guard().place_rows(target.var, &cell, records, bytes);
        let Some(rows) = placed.map_err(|error| target.located(error, &cell))? else { return Ok(false) };
        self.session.shared.counters.stored_many(records);
        self.placer.forget_object(&rows.object);
        self.uploads.keep_failure(self.output.put_rows(rows)).map(|()| true)
    }
}

/// The first of the records that a selection consists of, and how many they are; `None` if it is not whole records.
fn whole_records(selection: &Selection, shape: &[u64]) -> Option<(u64, u64)> {
    let (records, others) = selection.axes().split_first()?;
    let AxisSelection::Slice { start, count, stride: 1 } = records else { return None };
    let is_whole = |(axis, len): (&AxisSelection, &u64)| matches!(axis, AxisSelection::Slice { start: 0, count, stride: 1 } if count == len);
    let is_whole = others.len() + 1 == shape.len() && others.iter().zip(shape.get(1..)?).all(is_whole);
    is_whole.then_some((*start, *count))
}
