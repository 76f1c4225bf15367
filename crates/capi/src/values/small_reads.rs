//! Reads of a few values: programs that ask for one value at a time get them from a block of the thread, without a lock that others
//! hold for long and without new memory.
//!
//! A block is what one chunk holds, or some rows of a variable that has no chunks. It is read when a thread asks for values near those
//! that it asked for before, and it is valid as long as nothing was changed through any handle of the file (`FileStamp`). A variable that
//! is read here and there is read whole, if it is not large.
use crate::c_types::codes::Outcome;
use crate::c_types::memory::BytesOut;
use crate::files::{self, FileStamp};
use crate::opening::chunk_caches;
use crate::process::faults::{self, FaultPlace};
use crate::rules::slabs::{CSlab, SlabAccess};
use ncirrus::pace::{can_cast, cast};
use ncirrus::{Atomic, AxisSelection, Selection, TypeRef, model::Storage};
use std::cell::RefCell;
use std::ffi::c_int;

/// Blocks that a thread has.
const BLOCKS: usize = 8;
/// The largest block that is read at the second read; larger ones wait for more.
const LARGEST_AT_ONCE: usize = 1 << 20;
/// Bytes of larger blocks that a thread has.
const LARGE_OF_THREAD: usize = 16 << 20;
/// Bytes of a larger block for which it waits for one more read near the one before: copying it costs less than was spent by then.
const BYTES_PER_NEAR_READ: usize = 16 << 10;
/// A block of a variable without chunks.
const ROWS: usize = 64 << 10;
/// The largest variable that is read whole, and the largest block of any kind.
const LARGEST_WHOLE: usize = 8 << 20;
/// Bytes of a variable for which it waits for one more read that is far from the one before: what it costs to read them ahead is less
/// than what was spent by then.
const BYTES_PER_FAR_READ: usize = 64 << 10;
/// Reads of at most as many values are small.
const SMALL: usize = 64;
/// So are rows of a variable without chunks in a file near by, of at most as many bytes, which are copied as they are: several of them are
/// in a block.
const SMALL_ROW: usize = 16 << 10;

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
    /// Reads of the variable that were not near the one before.
    far_reads: usize,
    /// Reads since then that were, before its bytes were read.
    near_reads: usize,
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

/// Whether values of a block are answered as a type: as they are, or as numbers of another one.
fn can_copy(ty: Atomic, memory: Option<Atomic>) -> bool {
    memory.is_none_or(|memory| memory == ty || can_cast(ty, memory))
}

impl SmallBlock {
    fn copy(&self, slab: &CSlab, memory: Option<Atomic>, out: BytesOut) -> Option<()> {
        let rank = self.counts.len();
        let start = slab.start.read(rank).ok()?;
        let Some(count) = &slab.count else { return self.copy_row(self.place_of(start)?, 1, memory, out, 0) };
        let counts = count.read(rank).ok()?;
        let ends = start.iter().zip(counts).map(|(start, count)| start.checked_add(*count)?.checked_sub(1));
        let last = ends.collect::<Option<Vec<_>>>()?;
        let (first, _) = (self.place_of(start)?, self.place_of(&last)?);
        let (row, outer) = counts.split_last()?;
        let rows = outer.iter().try_fold(1usize, |rows, count| rows.checked_mul(*count))?;
        for number in 0..rows {
            // Which row of the box it is, and how far it is from the first one in the block.
            let (mut rest, mut from, mut unit) = (number, first, *self.counts.last()?);
            for (count, len) in outer.iter().zip(&self.counts).rev() {
                from += rest % count * unit;
                (rest, unit) = (rest / count, unit * len);
            }
            self.copy_row(from, *row, memory, out, number * row)?;
        }
        Some(())
    }

    /// The number of an element in the block. `None` if it is outside.
    fn place_of(&self, at: &[usize]) -> Option<usize> {
        at.iter().zip(self.start.iter().zip(&self.counts)).try_fold(0usize, |place, (at, (start, count))| {
            let within = at.checked_sub(*start).filter(|within| within < count)?;
            Some(place * count + within)
        })
    }

    /// Copies elements that are one after the other, behind those that are there.
    fn copy_row(
        &self,
        from: usize,
        len: usize,
        memory: Option<Atomic>,
        out: BytesOut,
        behind: usize,
    ) -> Option<()> {
        let begin = from.checked_mul(self.element)?;
        let found = self.bytes.get(begin..begin.checked_add(len.checked_mul(self.element)?)?)?;
        let Some(memory) = memory.filter(|memory| *memory != self.ty) else {
            return out.write_at(behind * self.element, found).ok();
        };
        for (index, bytes) in found.chunks_exact(self.element).enumerate() {
            let number = cast(self.ty, memory, bytes)?;
            out.write_at((behind + index) * number.as_slice().len(), number.as_slice()).ok()?;
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
    let Some(at) = start_of(access, memory) else { return };
    let _ = OF_THREAD.try_with(|blocks| {
        let Ok(mut blocks) = blocks.try_borrow_mut() else { return };
        let known = blocks.blocks.iter().position(|old| old.ncid == ncid && old.varid == varid);
        let before = known.and_then(|place| blocks.blocks.get(place)).filter(|block| block.stamp == stamp);
        let is_near = before.is_some_and(|block| block.is_near(&at));
        let far_reads = before.map_or(0, |block| block.far_reads + usize::from(!is_near));
        let near_reads = before.filter(|_| is_near).map_or(0, |block| block.near_reads + 1);
        let Some((mut block, is_wanted)) =
            block_for(ncid, varid, access, stamp, &at, (far_reads, near_reads))
        else {
            return;
        };
        let is_there = before.is_some_and(|old| !old.bytes.is_empty() && old.is_of_same_place(&block));
        if is_there || is_wanted && block.fill(access).is_err() {
            return;
        }
        blocks.keep(known, block);
    });
}

impl ThreadBlocks {
    /// Keeps a block instead of that of the same variable, or of the oldest one.
    fn keep(&mut self, known: Option<usize>, block: SmallBlock) {
        let place = known.unwrap_or(self.oldest);
        if block.bytes.len() > LARGEST_AT_ONCE {
            self.make_room(place, block.bytes.len());
        }
        match self.blocks.get_mut(place) {
            Some(old) => *old = block,
            None => self.blocks.push(block),
        }
        if known.is_none() {
            self.oldest = (place + 1) % BLOCKS;
        }
    }

    /// Gives up large blocks until another one fits beside them, which comes to a place: those first that came first.
    fn make_room(&mut self, place: usize, mut bytes: usize) {
        for behind in 1..BLOCKS {
            let at = (place + BLOCKS - behind) % BLOCKS;
            let old = self.blocks.get_mut(at).filter(|old| old.bytes.len() > LARGEST_AT_ONCE);
            let Some(old) = old else { continue };
            if bytes + old.bytes.len() > LARGE_OF_THREAD {
                old.forget();
            }
            bytes += old.bytes.len();
        }
    }
}

/// Where a small read began. `None` if it was not small.
fn start_of(access: &SlabAccess, memory: Option<Atomic>) -> Option<Vec<usize>> {
    let slab = &access.slab;
    if slab.counts.is_empty() || slab.element_count().ok()? > most_values(access, memory)? {
        return None;
    }
    let first = |axis: &AxisSelection| match axis {
        AxisSelection::Slice { start, .. } => usize::try_from(*start).ok(),
        _ => None,
    };
    slab.selection.axes().iter().map(first).collect()
}

/// How many values a small read of a variable has at most.
fn most_values(access: &SlabAccess, memory: Option<Atomic>) -> Option<usize> {
    let TypeRef::Atomic(ty) = access.ty else { return None };
    let has_rows =
        !matches!(access.at.model().variable(access.id)?.storage, Storage::Chunked(_) | Storage::Virtual);
    let is_own = memory.is_none_or(|memory| memory == ty);
    let is_near = access.at.file.core.place.is_some();
    Some(if has_rows && is_own && is_near { SMALL.max(SMALL_ROW / ty.byte_len()?) } else { SMALL })
}

/// The block to keep after a read, and whether it is to be read now: the whole variable, if it is not large and was read here and
/// there, or what is around the element. `None` if it is not of plain numbers.
fn block_for(
    ncid: c_int,
    varid: c_int,
    access: &SlabAccess,
    stamp: FileStamp,
    at: &[usize],
    (far_reads, near_reads): (usize, usize),
) -> Option<(SmallBlock, bool)> {
    let TypeRef::Atomic(ty) = access.ty else { return None };
    let element = ty.byte_len()?;
    let shape: Vec<usize> =
        access.at.model().shape(access.id).into_iter().map(usize::try_from).collect::<Result<_, _>>().ok()?;
    let whole = shape.iter().try_fold(element, |len, count| len.checked_mul(*count));
    let is_wanted_whole =
        whole.is_some_and(|len| len <= LARGEST_WHOLE && far_reads > len / BYTES_PER_FAR_READ);
    let around = place_around(access, &shape, element, at);
    let (start, counts, is_wanted) = match around {
        _ if is_wanted_whole => (vec![0; shape.len()], shape, true),
        Some((start, counts)) => {
            let len = counts.iter().fold(element, |len, count| len.saturating_mul(*count));
            // In a file that is written its chunk would be decoded for each value.
            let is_cheap = len <= LARGEST_AT_ONCE || access.at.file.core.is_written();
            let least = if is_cheap { 1 } else { len / BYTES_PER_NEAR_READ };
            (start, counts, near_reads >= least)
        }
        // Its chunk is too large: only that it was read is remembered.
        None => (at.to_vec(), vec![1; at.len()], false),
    };
    let len = counts.iter().fold(element, |len, count| len.saturating_mul(*count));
    let is_wanted = is_wanted && (access.at.file.is_classic() || len <= chunk_caches::most_held(ncid, varid));
    let block = SmallBlock {
        ncid,
        varid,
        stamp,
        ty,
        element,
        start,
        counts,
        bytes: Vec::new(),
        far_reads,
        near_reads,
    };
    Some((block, is_wanted))
}

/// The place of the block that has an element: its chunk, or rows from it on. `None` if it is too large.
fn place_around(
    access: &SlabAccess,
    shape: &[usize],
    element: usize,
    at: &[usize],
) -> Option<(Vec<usize>, Vec<usize>)> {
    let (mut start, mut counts) = (at.to_vec(), vec![1; at.len()]);
    match &access.at.model().variable(access.id)?.storage {
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
    (len <= LARGEST_WHOLE && len > 0).then_some((start, counts))
}

impl SmallBlock {
    /// Gives its memory up. It is not read whole again before as many far reads as the first time: two variables that are read by
    /// turns would be read whole for every value.
    fn forget(&mut self) {
        (self.bytes, self.far_reads, self.near_reads) = (Vec::new(), 0, 0);
        self.counts.fill(1);
    }

    fn is_of_same_place(&self, other: &Self) -> bool {
        self.start == other.start && self.counts == other.counts
    }

    fn fill(&mut self, access: &SlabAccess) -> Outcome<()> {
        faults::reached(FaultPlace::Block);
        let axes = self.start.iter().zip(&self.counts).map(|(start, count)| AxisSelection::Slice {
            start: *start as u64,
            count: *count as u64,
            stride: 1,
        });
        let mut bytes = vec![0; self.counts.iter().product::<usize>() * self.element];
        let variable = access.at.settled()?.variable_by_id(access.id);
        variable.read_bytes_into(&Selection::new(axes.collect()), &mut bytes)?;
        (self.bytes, self.near_reads) = (bytes, 0);
        Ok(())
    }
}
