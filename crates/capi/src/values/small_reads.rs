//! Reads of a few values: programs that ask for one value at a time get them from a block of the thread, without a lock that others
//! hold for long and without new memory. A block is valid as long as nothing was changed through any handle of the file (`FileStamp`).
use crate::c_types::codes::Outcome;
use crate::c_types::memory::BytesOut;
use crate::files::{self, FileStamp};
use crate::opening::chunk_caches;
use crate::process::faults::{self, FaultPlace};
use crate::rules::slabs::{CSlab, SlabAccess};
use ncirrus::pace::{BlockedVariable, ValueBlock, ValueBlocks, can_cast, cast};
use ncirrus::{Atomic, AxisSelection};
use std::cell::RefCell;
use std::ffi::c_int;

/// Blocks by file and variable.
type ThreadBlocks = ValueBlocks<(c_int, c_int), FileStamp>;

thread_local! {
    static OF_THREAD: RefCell<ThreadBlocks> = const { RefCell::new(ThreadBlocks::new()) };
}

/// Copies values out of a block of this thread. `false`: they are not there.
pub(crate) fn copied(ncid: c_int, varid: c_int, slab: &CSlab, memory: Option<Atomic>, out: BytesOut) -> bool {
    if slab.stride.is_some() || slab.start.is_null() || out.is_null() {
        return false;
    }
    let found = OF_THREAD.try_with(|blocks| {
        let blocks = blocks.try_borrow().ok()?;
        let block = blocks.find((ncid, varid), || files::stamp(ncid))?;
        if can_copy(block.ty(), memory) { copy(block, slab, memory, out) } else { None }
    });
    found.ok().flatten().is_some()
}

/// Whether values of a block are answered as a type: as they are, or as numbers of another one.
fn can_copy(ty: Atomic, memory: Option<Atomic>) -> bool {
    memory.is_none_or(|memory| memory == ty || can_cast(ty, memory))
}

fn copy(block: &ValueBlock<FileStamp>, slab: &CSlab, memory: Option<Atomic>, out: BytesOut) -> Option<()> {
    let (start, counts) = slab.read(block.rank())?;
    let Some(memory) = memory.filter(|memory| *memory != block.ty()) else {
        return block.copy_box(start, counts, |row, at| out.write_at(at * block.element(), row).ok());
    };
    block.copy_box(start, counts, |row, at| {
        for (index, bytes) in row.chunks_exact(block.element()).enumerate() {
            let number = cast(block.ty(), memory, bytes)?;
            out.write_at((at + index) * number.as_slice().len(), number.as_slice()).ok()?;
        }
        Some(())
    })
}

/// After a small read: remembers where it was, and reads the block around it if the one before was near. What cannot be read as a block
/// is read as it is asked for.
pub(crate) fn remember(
    ncid: c_int,
    varid: c_int,
    access: &SlabAccess,
    memory: Option<Atomic>,
    stamp: Option<FileStamp>,
) {
    let (Some(stamp), core) = (stamp, &access.at.file.core) else { return };
    let Some(variable) = BlockedVariable::of(access.at.model(), access.id, core.is_written()) else { return };
    let is_own = memory.is_none_or(|memory| memory == variable.ty());
    let has_rows = is_own && core.place.is_some();
    let is_small = access.slab.element_count().is_ok_and(|count| variable.is_small(count, has_rows));
    if !is_small || !can_copy(variable.ty(), memory) {
        return;
    }
    let Some(at) = start_of(access) else { return };
    let _ = OF_THREAD.try_with(|blocks| {
        let (Ok(mut blocks), key) = (blocks.try_borrow_mut(), (ncid, varid)) else { return };
        let Some(mut block) = blocks.note(key, stamp, &variable, &at) else { return };
        let may_hold =
            access.at.file.is_classic() || block.byte_len() <= chunk_caches::most_held(ncid, varid);
        if may_hold && fill(&mut block, access).is_err() {
            block.forget();
        }
        blocks.keep(key, block);
    });
}

/// Where a read began.
fn start_of(access: &SlabAccess) -> Option<Vec<usize>> {
    let first = |axis: &AxisSelection| match axis {
        AxisSelection::Slice { start, .. } => usize::try_from(*start).ok(),
        AxisSelection::Indices(_) => None,
    };
    access.slab.selection.axes().iter().map(first).collect()
}

fn fill(block: &mut ValueBlock<FileStamp>, access: &SlabAccess) -> Outcome<()> {
    faults::reached(FaultPlace::Block);
    let variable = access.at.settled()?.variable_by_id(access.id);
    Ok(block.fill(|selection, bytes| variable.read_bytes_into(selection, bytes))?)
}
