//! Arrays of several dimensions in Blosc 2: chunks of blocks that are boxes, each stored whole (b2nd).
use std::ops::Range;

/// How the elements of an array are divided into chunks and blocks.
#[derive(Debug)]
pub(super) struct ArrayGrid {
    pub(super) axes: Vec<GridAxis>,
}

/// One dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridAxis {
    len: usize,
    chunk: usize,
    block: usize,
}

impl GridAxis {
    fn chunks(self) -> usize {
        self.len.div_ceil(self.chunk)
    }

    fn blocks(self) -> usize {
        self.chunk.div_ceil(self.block)
    }

    /// The elements of a block that are inside the array.
    fn range(self, chunk: usize, block: usize) -> Range<usize> {
        let start = (chunk * self.chunk).saturating_add(block * self.block);
        let end = start.saturating_add(self.block).min((chunk + 1).saturating_mul(self.chunk)).min(self.len);
        start.min(end)..end
    }
}

const MAX_AXES: usize = 16;

impl ArrayGrid {
    /// Reads this part of a frame's header: an array of version, rank, shape, chunk shape, block shape, and more.
    pub(super) fn read(part: &[u8]) -> Option<Self> {
        let [kind, version, rank, rest @ ..] = part else { return None };
        let rank = usize::from(*rank);
        if kind & 0xf0 != 0x90 || *version > 1 || rank > MAX_AXES {
            return None;
        }
        let (shape, rest) = list::<9>(rest, rank, |[_, word @ ..]| i64::from_be_bytes(word))?;
        let (chunks, rest) = list::<5>(rest, rank, |[_, word @ ..]| i64::from(i32::from_be_bytes(word)))?;
        let (blocks, _) = list::<5>(rest, rank, |[_, word @ ..]| i64::from(i32::from_be_bytes(word)))?;
        let axes = shape.into_iter().zip(chunks).zip(blocks);
        let axes: Vec<GridAxis> = axes.map(|((len, chunk), block)| GridAxis { len, chunk, block }).collect();
        axes.iter().all(|axis| axis.chunk > 0 && axis.block > 0).then_some(Self { axes })
    }

    /// Elements of the array.
    pub(super) fn len(&self) -> Option<usize> {
        product(self.axes.iter().map(|axis| Some(axis.len)))
    }

    /// Elements of a block.
    pub(super) fn block_len(&self) -> Option<usize> {
        product(self.axes.iter().map(|axis| Some(axis.block)))
    }

    /// Elements of a chunk including all of its blocks.
    pub(super) fn chunk_len(&self) -> Option<usize> {
        product(self.axes.iter().map(|axis| axis.blocks().checked_mul(axis.block)))
    }

    /// Number of chunks.
    pub(super) fn chunks(&self) -> Option<usize> {
        product(self.axes.iter().map(|axis| Some(axis.chunks())))
    }

    /// Number of blocks of a chunk.
    pub(super) fn blocks(&self) -> Option<usize> {
        product(self.axes.iter().map(|axis| Some(axis.blocks())))
    }

    /// The elements of a block that are inside the array, along each axis.
    pub(super) fn region(&self, mut chunk: usize, mut block: usize) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let (chunks, blocks) = (axis.chunks().max(1), axis.blocks().max(1));
            ranges.push(axis.range(chunk % chunks, block % blocks));
            (chunk, block) = (chunk / chunks, block / blocks);
        }
        ranges.reverse();
        ranges
    }

    /// The start of a region in the array, if the elements of the region are contiguous there, and are a whole block.
    pub(super) fn contiguous(&self, region: &[Range<usize>]) -> Option<usize> {
        let mut start = 0usize;
        // Whether a block has more than one element along an axis before this one.
        let mut wide = false;
        for (axis, range) in self.axes.iter().zip(region) {
            if range.len() != axis.block || (wide && axis.block != axis.len) {
                return None;
            }
            wide |= axis.block > 1;
            start = start.checked_mul(axis.len)?.checked_add(range.start)?;
        }
        Some(start)
    }

    /// Copies the elements of a region from a block to the array.
    pub(super) fn scatter(
        &self,
        region: &[Range<usize>],
        size: usize,
        block: &[u8],
        out: &mut [u8],
    ) -> Option<()> {
        if region.iter().any(Range::is_empty) {
            return Some(());
        }
        let (last, outer) = region.split_last()?;
        let (row, outer_axes) = self.axes.split_last()?;
        let mut at = vec![0; outer.len()];
        loop {
            let (mut from, mut to) = (0usize, 0usize);
            for ((axis, range), &at) in outer_axes.iter().zip(outer).zip(&at) {
                from = from * axis.block + at;
                to = to * axis.len + range.start + at;
            }
            let (from, to) = ((from * row.block) * size, (to * row.len + last.start) * size);
            let bytes = last.len() * size;
            out.get_mut(to..to + bytes)?.copy_from_slice(block.get(from..from + bytes)?);
            if !step(&mut at, outer) {
                return Some(());
            }
        }
    }
}

/// The next position in the region; `false` if there is none.
fn step(at: &mut [usize], region: &[Range<usize>]) -> bool {
    for (at, range) in at.iter_mut().zip(region).rev() {
        *at += 1;
        if *at < range.len() {
            return true;
        }
        *at = 0;
    }
    false
}

fn product(lens: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    let mut lens = lens;
    lens.try_fold(1usize, |product, len| product.checked_mul(len?))
}

/// A list of `rank` numbers of `N` bytes, the first of which is the type marker.
fn list<const N: usize>(
    input: &[u8],
    rank: usize,
    number: impl Fn([u8; N]) -> i64,
) -> Option<(Vec<usize>, &[u8])> {
    let (&kind, rest) = input.split_first()?;
    let (items, rest) = rest.split_at_checked(rank.checked_mul(N)?)?;
    if kind & 0xf0 != 0x90 {
        return None;
    }
    let items = items.as_chunks::<N>().0.iter();
    let numbers: Option<Vec<usize>> = items.map(|item| usize::try_from(number(*item)).ok()).collect();
    Some((numbers?, rest))
}
