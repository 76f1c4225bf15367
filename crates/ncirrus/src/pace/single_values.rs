//! A few values of a local dataset: from the second read on that is near the one before, they are copied out of a block that is kept with
//! the dataset, for each thread and variable ([`super::value_blocks`]).
//!
//! Blocks hold memory of the session as windows do; chunks that no cache would keep are not kept here either. A file that was changed
//! since it was opened is not read from them: the read reports the change.
use super::value_blocks::{BlockedVariable, ValueBlock, ValueBlocks};
use crate::dataset::{Dataset, DatasetState};
use crate::{AxisSelection, Result, Selection, Storage, Values, VarId, Variable};
use ncirrus_layout::LockExt;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

/// The blocks of a dataset.
pub(crate) type ReadBlocks = Mutex<ValueBlocks<(VarId, ThreadId), ()>>;

/// The most axes of a variable whose values are copied out of blocks.
const MAX_AXES: usize = 8;

/// A box, axis by axis.
#[derive(Debug, Clone, Copy)]
struct SmallBox {
    rank: usize,
    start: [usize; MAX_AXES],
    counts: [usize; MAX_AXES],
}

/// A read of a few values.
pub(super) struct SmallRead<'a> {
    variable: &'a Variable,
    reader: &'a ncirrus_engine::Dataset,
    blocked: BlockedVariable,
    slab: SmallBox,
}

impl SmallBox {
    /// The box of a selection. `None` if it is not a box, is empty or has too many axes.
    fn of(selection: &Selection) -> Option<Self> {
        let rank = selection.rank();
        let (mut start, mut counts) = ([0; MAX_AXES], [0; MAX_AXES]);
        if rank == 0 || rank > MAX_AXES {
            return None;
        }
        for (axis, (start, count)) in selection.axes().iter().zip(start.iter_mut().zip(&mut counts)) {
            let AxisSelection::Slice { start: first, count: many, stride } = axis else { return None };
            if *many == 0 || *many > 1 && *stride != 1 {
                return None;
            }
            (*start, *count) = (usize::try_from(*first).ok()?, usize::try_from(*many).ok()?);
        }
        Some(Self { rank, start, counts })
    }

    fn start(&self) -> &[usize] {
        self.start.get(..self.rank).unwrap_or_default()
    }

    fn counts(&self) -> &[usize] {
        self.counts.get(..self.rank).unwrap_or_default()
    }

    fn element_count(&self) -> Option<usize> {
        self.counts().iter().try_fold(1usize, |product, count| product.checked_mul(*count))
    }
}

/// Copies a few values of a variable into memory, as [`Variable::read_bytes_into`] does, if they are in a block: without waiting for
/// anything. `false`: they are not there.
pub fn copy_held(variable: &Variable, selection: &Selection, out: &mut [u8]) -> bool {
    SmallBox::of(selection).is_some_and(|slab| copy(variable, &slab, out))
}

/// Copies one element of a variable into memory, by its indices: as [`copy_held`], but without a selection and without new memory.
/// `false`: it is not in a block, or has another number of bytes.
pub fn copy_held_element(dataset: &Dataset, id: VarId, at: &[usize], out: &mut [u8]) -> bool {
    copied_from_block(dataset, id, |block| {
        block.copy_box(at, None, |bytes, _| (bytes.len() == out.len()).then(|| out.copy_from_slice(bytes)))
    })
}

fn copy(variable: &Variable, slab: &SmallBox, out: &mut [u8]) -> bool {
    copied_from_block(variable.dataset(), variable.id(), |block| {
        let element = block.element();
        let len = slab.element_count().and_then(|count| count.checked_mul(element));
        len.filter(|len| *len == out.len())?;
        block.copy_box(slab.start(), Some(slab.counts()), |row, at| {
            let first = at.checked_mul(element)?;
            out.get_mut(first..first.checked_add(row.len())?)?.copy_from_slice(row);
            Some(())
        })
    })
}

/// Whether something was copied out of the block of a variable, and the file is as it was when it was opened. The file is examined last:
/// it costs a call of the system, which values outside the block do without.
fn copied_from_block(dataset: &Dataset, id: VarId, copy: impl FnOnce(&ValueBlock<()>) -> Option<()>) -> bool {
    let DatasetState::Reading(reader) = dataset.state() else { return false };
    let key = (id, thread::current().id());
    let is_copied = {
        let blocks = dataset.pace().blocks.guard();
        blocks.find(key, || Some(())).is_some_and(|block| copy(block).is_some())
    };
    is_copied && reader.is_current().is_ok_and(|is_current| is_current)
}

impl SmallRead<'_> {
    /// Memory for its values.
    pub(super) fn memory(&self) -> Values {
        Values::zeroed(self.blocked.ty(), self.slab.element_count().unwrap_or(0))
    }

    /// Copies its values out of a block, or reads them and remembers where they were.
    ///
    /// # Errors
    /// Those of `plainly`.
    pub(super) fn into_memory(
        self,
        out: &mut [u8],
        plainly: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        if copy(self.variable, &self.slab, out) {
            return Ok(());
        }
        plainly(out)?;
        self.note();
        Ok(())
    }

    /// Remembers where it was, and reads the block around it if the one before was near.
    fn note(&self) {
        let dataset = self.variable.dataset();
        let (session, blocks) = (dataset.session(), &dataset.pace().blocks);
        let key = (self.variable.id(), thread::current().id());
        let wanted = blocks.guard().note(key, (), &self.blocked, self.slab.start());
        let (Some(mut block), Some(budget)) = (wanted, &session.windows) else { return };
        let len = block.byte_len();
        let may_hold = !self.blocked.is_chunked() || self.reader.keeps_chunk(key.0, len);
        let share = if may_hold { budget.take(len, session.memory() / 4) } else { None };
        let Some(share) = share else { return blocks.guard().keep(key, block) };
        let read = |selection: &Selection, out: &mut [u8]| dataset.read_native(key.0, selection, out);
        match block.fill(read) {
            Ok(()) => block.hold(share),
            // What cannot be read as a block is read as it is asked for.
            Err(_) => block.forget(),
        }
        blocks.guard().keep(key, block);
    }
}

impl Variable {
    /// A read of a few values of a local dataset that is open for reading. `None` for all others.
    pub(super) fn small_read(&self, selection: &Selection) -> Option<SmallRead<'_>> {
        let dataset = self.dataset();
        let DatasetState::Reading(reader) = dataset.state() else { return None };
        let session = dataset.session();
        if session.windows.is_none() || session.has_no_blocks {
            return None;
        }
        let slab = SmallBox::of(selection)?;
        let place = dataset.pace().place(dataset);
        if !place.is_near || place.is_queried {
            return None;
        }
        let model = reader.model();
        if model.variable(self.id())?.storage == Storage::Virtual {
            return None;
        }
        let blocked = BlockedVariable::of(&model, self.id(), false)?.chunk_by_chunk();
        let is_small = blocked.is_small(slab.element_count()?, true);
        is_small.then_some(SmallRead { variable: self, reader, blocked, slab })
    }
}
