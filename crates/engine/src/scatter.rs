//! Writes decoded elements to their places in the caller's memory, from many threads at once.
//!
//! This is the one module of the crate with `unsafe`: an [`Output`] hands out [`ScatterPiece`]s that write into one
//! buffer through a raw pointer. It is sound because:
//! - An `Output` borrows the buffer exclusively, and neither pieces nor parts outlive that borrow.
//! - The pieces of a selection are disjoint: [`ChunkIntersections`] assigns every position of an axis to exactly one
//!   segment, and every combination of segments occurs once; [`PointIntersections`] hands out every position once. A
//!   piece becomes one [`ScatterPart`], or several that hold disjoint elements; neither can be copied.
//! - When a part was made, its walk was checked to stay inside the buffer.
use crate::convert::RowCopier;
use crate::filling::fill_elements;
use ncirrus_layout::grid::{
    AxisSlab, CellPoints, ChunkIntersections, ElementSizes, ElementWalk, PointIntersections, row_major,
};
use ncirrus_layout::{ChunkGrid, Error, Result};
use ncirrus_model::Selection;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// The memory that receives the values of a selection.
pub(crate) struct OutputBuffer<'out, 'p> {
    buffer: WholeBuffer<'out>,
    cuts: OutputCuts<'p>,
    /// Distances between consecutive elements along each axis of the result; points have one axis.
    strides: Arc<[u64]>,
    sizes: ElementSizes,
}

/// The picked elements, cut along the chunks that hold them.
#[derive(Clone)]
pub(crate) enum OutputCuts<'p> {
    /// A selection, and the shape of its result.
    Selection(ChunkIntersections, Vec<u64>),
    /// Single elements.
    Points(PointIntersections<'p>),
}

impl OutputCuts<'_> {
    /// A selection cut along a grid of which only `extent` is stored.
    pub(crate) fn selection(selection: &Selection, grid: &ChunkGrid, extent: &[u64]) -> Self {
        Self::Selection(ChunkIntersections::new(selection, grid, extent), selection.shape())
    }

    /// Number of chunks that are touched; `None` if it exceeds 64 bits.
    pub(crate) fn cell_count(&self) -> Option<u64> {
        match self {
            Self::Selection(cuts, _) => cuts.cell_count(),
            Self::Points(cuts) => Some(cuts.cell_count()),
        }
    }

    fn next_elements(&mut self) -> Option<PieceElements> {
        match self {
            Self::Selection(cuts, _) => cuts.next_piece().map(PieceElements::Slabs),
            Self::Points(cuts) => cuts.next_cell().map(PieceElements::Points),
        }
    }
}

/// The elements of a piece.
enum PieceElements {
    Slabs(Vec<AxisSlab>),
    Points(CellPoints),
}

/// The elements of the selection that are in one chunk, and the memory that they go to.
pub(crate) struct ScatterPiece<'out> {
    buffer: WholeBuffer<'out>,
    elements: PieceElements,
    strides: Arc<[u64]>,
    sizes: ElementSizes,
}

/// Elements whose place in the source is known.
pub(crate) struct ScatterPart<'out> {
    buffer: WholeBuffer<'out>,
    walk: ElementWalk,
}

/// The whole buffer; only this module accesses parts of it.
struct WholeBuffer<'out> {
    start: *mut u8,
    len: usize,
    borrow: PhantomData<&'out mut [u8]>,
}

// SAFETY: a buffer represents an exclusive borrow of bytes, which may be used from any thread; that no two threads use
// the same bytes is ensured by handing out disjoint pieces (see the module's first lines).
#[expect(unsafe_code, reason = "disjoint parts of one buffer are filled by several threads")]
unsafe impl Send for WholeBuffer<'_> {}
// SAFETY: a shared reference to a buffer gives no access to its bytes.
#[expect(unsafe_code, reason = "disjoint parts of one buffer are filled by several threads")]
unsafe impl Sync for WholeBuffer<'_> {}

impl<'out, 'p> OutputBuffer<'out, 'p> {
    /// Hands out `bytes`, which hold the selected elements, in pieces.
    pub(crate) fn new(bytes: &'out mut [u8], cuts: OutputCuts<'p>, sizes: ElementSizes) -> Result<Self> {
        let strides = match &cuts {
            OutputCuts::Selection(_, shape) => row_major(shape, sizes.native as u64)?,
            OutputCuts::Points(_) => vec![sizes.native as u64],
        };
        let buffer = WholeBuffer { start: bytes.as_mut_ptr(), len: bytes.len(), borrow: PhantomData };
        Ok(Self { buffer, cuts, strides: strides.into(), sizes })
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next_piece(&mut self) -> Option<ScatterPiece<'out>> {
        let elements = self.cuts.next_elements()?;
        let strides = Arc::clone(&self.strides);
        Some(ScatterPiece { buffer: self.buffer.again(), elements, strides, sizes: self.sizes })
    }
}

impl<'out> ScatterPiece<'out> {
    /// Puts the coordinates of the chunk into `cell`; false outside the stored extent.
    pub(crate) fn copy_cell(&self, cell: &mut Vec<u64>) -> bool {
        cell.clear();
        match &self.elements {
            PieceElements::Slabs(segments) => {
                cell.extend(segments.iter().map_while(|segment| segment.cell));
                cell.len() == segments.len()
            }
            PieceElements::Points(points) => {
                cell.extend(points.cell.iter().flatten());
                points.cell.is_some()
            }
        }
    }

    /// Fixes the positions of the elements in a chunk's bytes.
    pub(crate) fn place(self, source_strides: &[u64]) -> Result<ScatterPart<'out>> {
        let walk = match &self.elements {
            PieceElements::Slabs(segments) => {
                ElementWalk::new(segments, source_strides, &self.strides, self.sizes)
            }
            PieceElements::Points(points) => {
                let step = self.strides.first().copied().unwrap_or(0);
                let pairs = points.pairs(source_strides);
                pairs.and_then(|pairs| ElementWalk::of_points(pairs, step, self.sizes))
            }
        };
        let walk = walk.filter(|walk| walk.target_span().end <= self.buffer.len);
        let walk = walk.ok_or_else(|| Error::internal("a piece of the selection lies outside the result"))?;
        Ok(ScatterPart { buffer: self.buffer, walk })
    }

    /// The elements without a source, for filling.
    pub(crate) fn unplaced(self) -> Result<ScatterPart<'out>> {
        let rank = match &self.elements {
            PieceElements::Slabs(segments) => segments.len(),
            PieceElements::Points(_) => 0,
        };
        self.place(&vec![0; rank])
    }
}

impl<'out> ScatterPart<'out> {
    /// The positions of the elements.
    pub(crate) fn walk(&self) -> &ElementWalk {
        &self.walk
    }

    /// Splits the part where the source has gaps of more than `gap` bytes, as long as that makes at most `max` parts.
    pub(crate) fn split(self, gap: usize, max: usize) -> Vec<Self> {
        let part = |walk| Self { buffer: self.buffer.again(), walk };
        self.walk.split(gap, max).into_iter().map(part).collect()
    }

    /// Splits the part in two; a single element comes back unchanged.
    pub(crate) fn halve(self) -> std::result::Result<(Self, Self), Self> {
        let Some((first, second)) = self.walk.halves() else { return Err(self) };
        Ok((Self { buffer: self.buffer.again(), walk: first }, Self { buffer: self.buffer, walk: second }))
    }

    /// The bytes of the source that are needed, from the first to the last.
    pub(crate) fn span(&self) -> Range<usize> {
        self.walk.source_span()
    }

    /// The same part for a source of which only the span is in memory.
    pub(crate) fn at_span(self) -> Self {
        let start = self.walk.source_span().start;
        Self { buffer: self.buffer, walk: self.walk.skip_source(start) }
    }

    /// The memory itself, if source and result are one run of bytes each.
    pub(crate) fn run_mut(&mut self) -> Option<&mut [u8]> {
        let contiguous = self.walk.is_contiguous();
        contiguous.then(|| self.buffer.bytes(self.walk.target_span()))
    }

    /// Copies the elements from the bytes of the chunk.
    pub(crate) fn copy_from(&mut self, source: &[u8], copier: &RowCopier) -> Result<()> {
        let (walk, buffer) = (&self.walk, &mut self.buffer);
        let ElementSizes { stored, native } = walk.sizes();
        if walk.count() == 0 {
            return Ok(());
        }
        if walk.source_span().end > source.len() {
            let end = walk.source_span().end;
            return Err(Error::internal(format!("elements up to byte {end} of {} are wanted", source.len())));
        }
        walk.for_each_run(|run| {
            if run.target_step != native {
                for step in 0..run.count {
                    let (from, to) =
                        (run.source + step * run.source_step, run.target + step * run.target_step);
                    copier.copy(&source[from..from + stored], buffer.bytes(to..to + native));
                }
                return;
            }
            let target = buffer.bytes(run.target..run.target + run.count * native);
            if run.source_step == stored {
                copier.copy(&source[run.source..run.source + run.count * stored], target);
            } else {
                copier.gather(&source[run.source..], run.source_step, target);
            }
        });
        Ok(())
    }

    /// Fills the elements with copies of `one`, which has the length of one element.
    pub(crate) fn fill(&mut self, one: &[u8]) {
        let (walk, buffer) = (&self.walk, &mut self.buffer);
        let element = walk.sizes().native;
        walk.for_each_run(|run| {
            if run.target_step == element {
                fill_elements(buffer.bytes(run.target..run.target + run.count * element), one);
            } else {
                for step in 0..run.count {
                    let start = run.target + step * run.target_step;
                    fill_elements(buffer.bytes(start..start + element), one);
                }
            }
        });
    }
}

impl WholeBuffer<'_> {
    fn again(&self) -> Self {
        Self { start: self.start, len: self.len, borrow: PhantomData }
    }

    /// Bytes of the buffer, which must belong to the part that asks.
    #[expect(unsafe_code, reason = "disjoint parts of one buffer are filled by several threads")]
    fn bytes(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len, "a part stays inside its buffer");
        // SAFETY: the range is inside the buffer, which is borrowed exclusively for as long as `self` lives; the bytes
        // belong to the part that asks, parts are disjoint, and `&mut self` keeps this part from asking twice.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests;
