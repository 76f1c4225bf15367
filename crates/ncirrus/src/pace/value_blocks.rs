//! Reads of a few values: programs that ask for one value at a time get them from a block, without a plan and without the engine.
//!
//! A block is what one chunk holds, or some rows of a variable that has no chunks. It is read when values near those before it are asked
//! for. A variable that is read here and there is read whole, if it is not large. Faces keep blocks by the key under which they look for
//! them, with a stamp of the dataset: a block of another stamp is out of date.
use crate::session::WindowShare;
use crate::{Atomic, AxisSelection, Model, Selection, Storage, TypeRef, VarId};

/// Blocks that are kept together.
const BLOCKS: usize = 8;
/// The largest block that is read at the second read; larger ones wait for more.
const LARGEST_AT_ONCE: usize = 1 << 20;
/// Bytes of larger blocks that are kept together.
const LARGE_TOGETHER: usize = 16 << 20;
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
pub struct ValueBlock<S> {
    stamp: S,
    ty: Atomic,
    element: usize,
    start: Vec<usize>,
    counts: Vec<usize>,
    bytes: Vec<u8>,
    /// What its bytes take of the memory of the session.
    share: Option<WindowShare>,
    /// Reads of the variable that were not near the one before.
    far_reads: usize,
    /// Reads since then that were, before its bytes were read.
    near_reads: usize,
}

/// Blocks, one for each variable that was read last.
#[derive(Debug)]
pub struct ValueBlocks<K, S> {
    blocks: Vec<(K, ValueBlock<S>)>,
    /// The one that is replaced next.
    oldest: usize,
}

/// A variable of which a few values are read.
#[derive(Debug)]
pub struct BlockedVariable {
    ty: Atomic,
    element: usize,
    shape: Vec<usize>,
    chunks: Option<Vec<usize>>,
    /// Whether it is written, too: then a chunk is decoded for each value that is not in a block.
    is_written: bool,
    /// Whether it is read whole, if it is not large and is read here and there.
    may_be_whole: bool,
}

impl BlockedVariable {
    /// What is known of a variable. `None` if it has no plain numbers, no dimensions, or is assembled from others.
    pub fn of(model: &Model, id: VarId, is_written: bool) -> Option<Self> {
        let lens = |lens: &[u64]| -> Option<Vec<usize>> {
            lens.iter().map(|len| usize::try_from(*len).ok()).collect()
        };
        let variable = model.variable(id)?;
        let TypeRef::Atomic(ty) = variable.ty else { return None };
        let chunks = match &variable.storage {
            Storage::Chunked(chunks) => Some(lens(chunks)?),
            _ => None,
        };
        let shape = lens(&model.shape(id))?;
        let element = ty.byte_len().filter(|_| !shape.is_empty())?;
        Some(Self { ty, element, shape, chunks, is_written, may_be_whole: true })
    }

    /// The same, but only chunks with a requested value are read: a caller that is notified of missing chunks is
    /// not notified of others.
    #[must_use]
    pub fn chunk_by_chunk(mut self) -> Self {
        self.may_be_whole = self.chunks.is_none();
        self
    }

    /// Whether a read of so many values is small. Whole rows are, as far as `has_rows` says that several of them may be in a block.
    pub fn is_small(&self, count: usize, has_rows: bool) -> bool {
        let has_rows = has_rows && self.chunks.is_none();
        count <= if has_rows { SMALL.max(SMALL_ROW / self.element) } else { SMALL }
    }

    /// Its type.
    pub fn ty(&self) -> Atomic {
        self.ty
    }

    /// Whether its blocks are chunks.
    pub(super) fn is_chunked(&self) -> bool {
        self.chunks.is_some()
    }

    /// The block to keep after a read, and whether it is to be read now: the whole variable, if it is not large and was read here and
    /// there, or what is around the element.
    fn block_at<S>(
        &self,
        stamp: S,
        at: &[usize],
        (far_reads, near_reads): (usize, usize),
    ) -> (ValueBlock<S>, bool) {
        let len_of =
            |counts: &[usize]| counts.iter().fold(self.element, |len, count| len.saturating_mul(*count));
        let whole = len_of(&self.shape);
        let is_wanted_whole =
            self.may_be_whole && whole <= LARGEST_WHOLE && far_reads > whole / BYTES_PER_FAR_READ;
        let (start, counts, is_wanted) = match self.place_around(at) {
            _ if is_wanted_whole => (vec![0; self.shape.len()], self.shape.clone(), true),
            Some((start, counts)) => {
                let len = len_of(&counts);
                let is_cheap = len <= LARGEST_AT_ONCE || self.is_written;
                let min = if is_cheap { 1 } else { len / BYTES_PER_NEAR_READ };
                (start, counts, near_reads >= min)
            }
            // Its chunk is too large: only that it was read is remembered.
            None => (at.to_vec(), vec![1; at.len()], false),
        };
        let (ty, element, bytes) = (self.ty, self.element, Vec::new());
        let share = None;
        let block = ValueBlock { stamp, ty, element, start, counts, bytes, share, far_reads, near_reads };
        (block, is_wanted)
    }

    /// The place of the block that has an element: its chunk, or rows from it on. `None` if it is too large.
    fn place_around(&self, at: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        let (shape, element) = (&self.shape, self.element);
        let (mut start, mut counts) = (at.to_vec(), vec![1; at.len()]);
        match &self.chunks {
            Some(chunks) => {
                for (axis, chunk) in chunks.iter().enumerate().take(at.len()) {
                    let chunk = Some(*chunk).filter(|chunk| *chunk > 0)?;
                    start[axis] = at[axis] / chunk * chunk;
                    counts[axis] = chunk.min(shape[axis].checked_sub(start[axis])?);
                }
            }
            None => {
                let mut room = ROWS / element;
                for axis in (0..at.len()).rev() {
                    let is_whole = shape[axis] <= room;
                    start[axis] = if is_whole { 0 } else { at[axis] };
                    counts[axis] = if is_whole {
                        shape[axis]
                    } else {
                        room.clamp(1, shape[axis].checked_sub(at[axis])?)
                    };
                    room /= counts[axis].max(1);
                }
            }
        }
        let len = counts.iter().try_fold(element, |len, count| len.checked_mul(*count))?;
        (len <= LARGEST_WHOLE && len > 0).then_some((start, counts))
    }
}

impl<S> ValueBlock<S> {
    /// The type of its values.
    #[inline]
    pub fn ty(&self) -> Atomic {
        self.ty
    }

    /// The number of its axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// Bytes of an element.
    #[inline]
    pub fn element(&self) -> usize {
        self.element
    }

    /// Bytes that it has once it is read.
    pub fn byte_len(&self) -> usize {
        self.counts.iter().fold(self.element, |len, count| len.saturating_mul(*count))
    }

    /// Hands the elements of a box to `copy`, row after row, each with the number of elements before it; of one element without counts.
    /// `None` if not all are in the block, or `copy` returns it.
    #[inline]
    pub fn copy_box(
        &self,
        start: &[usize],
        counts: Option<&[usize]>,
        mut copy: impl FnMut(&[u8], usize) -> Option<()>,
    ) -> Option<()> {
        let Some(counts) = counts else { return copy(self.row(self.place_of(start)?, 1)?, 0) };
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
            copy(self.row(from, *row)?, number * row)?;
        }
        Some(())
    }

    /// The number of an element in the block. `None` if it is outside.
    #[inline]
    fn place_of(&self, at: &[usize]) -> Option<usize> {
        if at.len() != self.start.len() {
            return None;
        }
        at.iter().zip(self.start.iter().zip(&self.counts)).try_fold(0usize, |place, (at, (start, count))| {
            let within = at.checked_sub(*start).filter(|within| within < count)?;
            Some(place * count + within)
        })
    }

    /// The bytes of elements that are one after the other.
    #[inline]
    fn row(&self, from: usize, len: usize) -> Option<&[u8]> {
        let begin = from.checked_mul(self.element)?;
        self.bytes.get(begin..begin.checked_add(len.checked_mul(self.element)?)?)
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

    /// Reads the block with `read`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn fill<E>(&mut self, read: impl FnOnce(&Selection, &mut [u8]) -> Result<(), E>) -> Result<(), E> {
        let axes = self.start.iter().zip(&self.counts).map(|(start, count)| AxisSelection::Slice {
            start: *start as u64,
            count: *count as u64,
            stride: 1,
        });
        let mut bytes = vec![0; self.byte_len()];
        read(&Selection::new(axes.collect()), &mut bytes)?;
        (self.bytes, self.near_reads) = (bytes, 0);
        Ok(())
    }

    /// Counts its bytes as those of a session, until it gives them up.
    pub(super) fn hold(&mut self, share: WindowShare) {
        self.share = Some(share);
    }

    /// Gives its memory up, or the attempt to read it. It is not read whole again before as many far reads as the first time: two
    /// variables that are read by turns would be read whole for every value.
    pub fn forget(&mut self) {
        (self.bytes, self.share, self.far_reads, self.near_reads) = (Vec::new(), None, 0, 0);
        self.counts.fill(1);
    }

    fn is_of_same_place(&self, other: &Self) -> bool {
        self.start == other.start && self.counts == other.counts
    }
}

impl<K, S> ValueBlocks<K, S> {
    /// None yet.
    pub const fn new() -> Self {
        Self { blocks: Vec::new(), oldest: 0 }
    }
}

impl<K, S> Default for ValueBlocks<K, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy + PartialEq, S: Copy + PartialEq> ValueBlocks<K, S> {
    /// The block of a variable, if it was read and is not out of date.
    #[inline]
    pub fn find(&self, key: K, stamp: impl FnOnce() -> Option<S>) -> Option<&ValueBlock<S>> {
        let (_, block) = self.blocks.iter().find(|(known, _)| *known == key)?;
        (!block.bytes.is_empty() && stamp() == Some(block.stamp)).then_some(block)
    }

    /// After a small read: remembers where it was. If the one before was near, returns the block around it, which is to be read and
    /// [kept](Self::keep).
    pub fn note(
        &mut self,
        key: K,
        stamp: S,
        variable: &BlockedVariable,
        at: &[usize],
    ) -> Option<ValueBlock<S>> {
        let known = self.blocks.iter().find(|(known, _)| *known == key).map(|(_, block)| block);
        let before = known.filter(|block| block.stamp == stamp);
        let is_near = before.is_some_and(|block| block.is_near(at));
        let far_reads = before.map_or(0, |block| block.far_reads + usize::from(!is_near));
        let near_reads = before.filter(|_| is_near).map_or(0, |block| block.near_reads + 1);
        let (block, is_wanted) = variable.block_at(stamp, at, (far_reads, near_reads));
        if before.is_some_and(|old| !old.bytes.is_empty() && old.is_of_same_place(&block)) {
            return None;
        }
        if is_wanted {
            return Some(block);
        }
        self.keep(key, block);
        None
    }

    /// Keeps a block instead of that of the same variable, or of the oldest one.
    pub fn keep(&mut self, key: K, block: ValueBlock<S>) {
        let known = self.blocks.iter().position(|(old, _)| *old == key);
        let place = known.unwrap_or(self.oldest);
        if block.bytes.len() > LARGEST_AT_ONCE {
            self.make_room(place, block.bytes.len());
        }
        match self.blocks.get_mut(place) {
            Some(old) => *old = (key, block),
            None => self.blocks.push((key, block)),
        }
        if known.is_none() {
            self.oldest = (place + 1) % BLOCKS;
        }
    }

    /// Gives up large blocks until another one fits beside them, which comes to a place: those first that came first.
    fn make_room(&mut self, place: usize, mut bytes: usize) {
        for behind in 1..BLOCKS {
            let at = (place + BLOCKS - behind) % BLOCKS;
            let old = self.blocks.get_mut(at).map(|(_, old)| old);
            let Some(old) = old.filter(|old| old.bytes.len() > LARGEST_AT_ONCE) else { continue };
            if bytes + old.bytes.len() > LARGE_TOGETHER {
                old.forget();
            }
            bytes += old.bytes.len();
        }
    }
}
