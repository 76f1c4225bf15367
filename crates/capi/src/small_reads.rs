//! Reads of a few values: programs that ask for one value at a time get them from a block of the thread, without a lock that others
//! hold for long and without new memory.
//!
//! A block is what one chunk holds, or some rows of a variable that has no chunks. It is read when a thread asks for values near those
//! that it asked for before, and it is valid as long as nothing was changed through any handle of the file (`FileStamp`).
use crate::codes::Outcome;
use crate::files::{self, FileStamp};
use crate::memory::BytesOut;
use crate::slabs::{CSlab, SlabAccess};
use ncirrus::{Atomic, AxisSelection, Selection, TypeRef, model::Storage};
use std::cell::RefCell;
use std::ffi::c_int;

/// Blocks that a thread has.
const BLOCKS: usize = 8;
/// The largest block.
const LARGEST: usize = 1 << 20;
/// A block of a variable without chunks.
const ROWS: usize = 64 << 10;
/// Reads of at most as many values are small.
const SMALL: usize = 64;

/// Part of a variable; without bytes until a second read is near the first one.
#[derive(Debug)]
struct SmallBlock {
    ncid: c_int,
    varid: c_int,
    stamp: FileStamp,
    ty: Atomic,
    element: usize,
    start: Vec<usize>,
    counts: Vec<usize>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct ThreadBlocks {
    blocks: Vec<SmallBlock>,
    /// The one that is replaced next.
    oldest: usize,
}

thread_local! {
    static OF_THREAD: RefCell<ThreadBlocks> = const { RefCell::new(ThreadBlocks { blocks: Vec::new(), oldest: 0 }) };
}

/// Copies values out of a block of this thread. `false`: they are not there.
pub(crate) fn copied(ncid: c_int, varid: c_int, slab: &CSlab, memory: Option<Atomic>, out: BytesOut) -> bool {
    if slab.stride.is_some() || slab.start.is_null() || out.is_null() {
        return false;
    }
    let found = OF_THREAD.try_with(|blocks| {
        let blocks = blocks.try_borrow().ok()?;
        let block = blocks.blocks.iter().find(|block| block.ncid == ncid && block.varid == varid)?;
        let is_current = !block.bytes.is_empty() && files::stamp(ncid) == Some(block.stamp);
        (is_current && can_copy(block.ty, memory)).then(|| block.copy(slab, memory, out)).flatten()
    });
    found.ok().flatten().is_some()
}

/// Whether values of a block are answered as a type: as they are, or as numbers that have every value of theirs.
fn can_copy(ty: Atomic, memory: Option<Atomic>) -> bool {
    let is_narrow = matches!(ty, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Float);
    memory.is_none_or(|memory| memory == ty || memory == Atomic::Double && is_narrow)
}

/// The double that is equal to a number.
fn widened(ty: Atomic, bytes: &[u8]) -> Option<f64> {
    match ty {
        Atomic::Byte => Some(f64::from(i8::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Short => Some(f64::from(i16::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Int => Some(f64::from(i32::from_ne_bytes(bytes.try_into().ok()?))),
        Atomic::Float => Some(f64::from(f32::from_ne_bytes(bytes.try_into().ok()?))),
        _ => None,
    }
}

impl SmallBlock {
    fn copy(&self, slab: &CSlab, memory: Option<Atomic>, out: BytesOut) -> Option<()> {
        let rank = self.counts.len();
        let start = slab.start.read(rank).ok()?;
        let counts = match &slab.count {
            Some(count) => Some(count.read(rank).ok()?),
            None => None,
        };
        let (mut at, mut len) = (0usize, 1usize);
        for axis in 0..rank {
            let within = start[axis].checked_sub(self.start[axis])?;
            let count = counts.map_or(1, |counts| counts[axis]);
            let is_row = axis + 1 == rank;
            let is_inside = within < self.counts[axis] && count <= self.counts[axis] - within;
            if !is_inside || count == 0 || count > 1 && !is_row {
                return None;
            }
            at = at * self.counts[axis] + within;
            len = count;
        }
        let from = at.checked_mul(self.element)?;
        let found = self.bytes.get(from..from.checked_add(len * self.element)?)?;
        if memory.is_none_or(|memory| memory == self.ty) {
            return out.write(found).ok();
        }
        for (index, bytes) in found.chunks_exact(self.element).enumerate() {
            out.write_at(index * size_of::<f64>(), &widened(self.ty, bytes)?.to_ne_bytes()).ok()?;
        }
        Some(())
    }

    /// Whether an element is in the block, or where the next one would be when it is used up.
    fn is_near(&self, start: &[usize]) -> bool {
        let reach = if self.bytes.is_empty() { 1 } else { 2 };
        let is_along = |(at, (first, count)): (&usize, (&usize, &usize))| {
            at.checked_sub(*first).is_some_and(|within| within < count.saturating_mul(reach))
        };
        let axes = start.iter().zip(self.start.iter().zip(&self.counts));
        let wraps = |at: &usize, first: &usize| at < first;
        // Along the last axes the next block begins at their start again.
        let is_next_row = !self.bytes.is_empty()
            && start.iter().zip(&self.start).any(|(at, first)| at > first)
            && axes.clone().all(|(at, (first, count))| wraps(at, first) || is_along((at, (first, count))));
        start.len() == self.start.len() && (axes.clone().all(is_along) || is_next_row)
    }
}

/// After a small read: remembers where it was, and reads the block around it if the one before was near.
///
/// # Errors
/// None: what cannot be read as a block is read as it is asked for.
pub(crate) fn remember(
    ncid: c_int,
    varid: c_int,
    access: &SlabAccess,
    memory: Option<Atomic>,
    stamp: Option<FileStamp>,
) {
    let can_copy = matches!(access.ty, TypeRef::Atomic(ty) if can_copy(ty, memory));
    let Some(stamp) = stamp.filter(|_| can_copy) else { return };
    let Some((start, is_second)) = near(ncid, varid, access, stamp) else { return };
    let _ = OF_THREAD.try_with(|blocks| {
        let Ok(mut blocks) = blocks.try_borrow_mut() else { return };
        let Some(mut block) = block_around(ncid, varid, access, stamp, &start) else { return };
        if is_second && block.fill(access).is_err() {
            return;
        }
        let known = blocks.blocks.iter().position(|old| old.ncid == ncid && old.varid == varid);
        let place = known.unwrap_or(blocks.oldest);
        match blocks.blocks.get_mut(place) {
            Some(old) => *old = block,
            None => blocks.blocks.push(block),
        }
        if known.is_none() {
            blocks.oldest = (place + 1) % BLOCKS;
        }
    });
}

/// Where a small read began, and whether another one was near it before.
fn near(ncid: c_int, varid: c_int, access: &SlabAccess, stamp: FileStamp) -> Option<(Vec<usize>, bool)> {
    let slab = &access.slab;
    if slab.counts.is_empty() || slab.element_count().ok()? > SMALL {
        return None;
    }
    let first = |axis: &AxisSelection| match axis {
        AxisSelection::Slice { start, .. } => usize::try_from(*start).ok(),
        _ => None,
    };
    let start = slab.selection.axes().iter().map(first).collect::<Option<Vec<_>>>()?;
    let is_second = OF_THREAD.try_with(|blocks| {
        let blocks = blocks.try_borrow().ok()?;
        let known = blocks.blocks.iter().find(|block| block.ncid == ncid && block.varid == varid)?;
        (known.stamp == stamp && known.is_near(&start)).then_some(())
    });
    Some((start, is_second.ok().flatten().is_some()))
}

/// The block that has an element: its chunk, or rows from it on. `None` if it is too large or not of plain numbers.
fn block_around(
    ncid: c_int,
    varid: c_int,
    access: &SlabAccess,
    stamp: FileStamp,
    at: &[usize],
) -> Option<SmallBlock> {
    let TypeRef::Atomic(ty) = access.ty else { return None };
    let element = ty.byte_len()?;
    let model = access.at.model();
    let shape: Vec<usize> =
        model.shape(access.id).into_iter().map(usize::try_from).collect::<Result<_, _>>().ok()?;
    let (mut start, mut counts) = (at.to_vec(), vec![1; at.len()]);
    match &model.variable(access.id)?.storage {
        Storage::Chunked(chunks) => {
            for (axis, chunk) in chunks.iter().enumerate().take(at.len()) {
                let chunk = usize::try_from(*chunk).ok().filter(|chunk| *chunk > 0)?;
                start[axis] = at[axis] / chunk * chunk;
                counts[axis] = chunk.min(shape[axis].checked_sub(start[axis])?);
            }
        }
        _ => {
            let mut room = ROWS / element;
            for axis in (0..at.len()).rev() {
                let is_whole = shape[axis] <= room;
                start[axis] = if is_whole { 0 } else { at[axis] };
                counts[axis] =
                    if is_whole { shape[axis] } else { room.clamp(1, shape[axis].checked_sub(at[axis])?) };
                room /= counts[axis].max(1);
            }
        }
    }
    let len = counts.iter().try_fold(element, |len, count| len.checked_mul(*count))?;
    let block = SmallBlock { ncid, varid, stamp, ty, element, start, counts, bytes: Vec::new() };
    (len <= LARGEST && len > 0).then_some(block)
}

impl SmallBlock {
    fn fill(&mut self, access: &SlabAccess) -> Outcome<()> {
        let axes = self.start.iter().zip(&self.counts).map(|(start, count)| AxisSelection::Slice {
            start: *start as u64,
            count: *count as u64,
            stride: 1,
        });
        let mut bytes = vec![0; self.counts.iter().product::<usize>() * self.element];
        let variable = access.at.settled()?.variable_by_id(access.id);
        variable.read_bytes_into(&Selection::new(axes.collect()), &mut bytes)?;
        self.bytes = bytes;
        Ok(())
    }
}
