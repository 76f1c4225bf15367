//! How a box is cut into slabs of whole chunks, and which target chunks are in it: pure arithmetic.
use ncirrus_layout::ChunkGrid;
use ncirrus_model::Region;
use std::ops::Range;

/// A box that is cut into slabs: each ends at the end of a source chunk, or of the box.
#[derive(Debug)]
pub(super) struct SlabIterator {
    start: Vec<u64>,
    /// Ends of slabs, per axis, ascending.
    ends: Vec<Vec<u64>>,
}

/// The chunks of a regular grid that have elements in a box, in row-major order.
#[derive(Debug)]
pub(super) struct CellBox {
    first: Vec<u64>,
    counts: Vec<u64>,
}

impl SlabIterator {
    /// Cuts a box. Slabs have the lengths `max` if a chunk ends there, otherwise they are shorter, unless a single
    /// chunk is longer. The array begins at `offset` among the chunks.
    pub(super) fn new(whole: &Region, max: &[u64], chunks: &ChunkGrid, offset: &[u64]) -> Self {
        let at = |list: &[u64], axis: usize| list.get(axis).copied().unwrap_or(0);
        let axis = |axis: usize| {
            let span = at(&whole.start, axis)..at(&whole.start, axis).saturating_add(at(&whole.count, axis));
            ends_along(span, at(max, axis), at(offset, axis), chunks, axis)
        };
        Self { start: whole.start.clone(), ends: (0..whole.count.len()).map(axis).collect() }
    }

    /// Number of slabs.
    pub(super) fn count(&self) -> usize {
        self.ends.iter().map(Vec::len).fold(1, usize::saturating_mul)
    }

    /// The slab with these indices.
    pub(super) fn region(&self, at: &[usize]) -> Region {
        let (mut start, mut count) = (Vec::with_capacity(at.len()), Vec::with_capacity(at.len()));
        for ((ends, begin), at) in self.ends.iter().zip(&self.start).zip(at) {
            let first = at.checked_sub(1).and_then(|before| ends.get(before)).unwrap_or(begin);
            start.push(*first);
            count.push(ends.get(*at).map_or(0, |end| end - first));
        }
        Region { start, count }
    }

    /// The number of the slab with these indices, in row-major order.
    pub(super) fn number(&self, at: &[usize]) -> usize {
        self.ends.iter().zip(at).fold(0, |number, (ends, at)| number * ends.len() + at)
    }

    /// The indices of the slabs that share elements with a box, in row-major order.
    pub(super) fn touched(&self, region: &Region) -> impl Iterator<Item = Vec<usize>> {
        let spans =
            self.ends.iter().zip(region.start.iter().zip(&region.count)).map(|(ends, (start, count))| {
                let last = start + count.saturating_sub(1);
                let place = |element: u64| ends.partition_point(|end| *end <= element);
                place(*start)..(place(last) + 1).min(ends.len())
            });
        places(spans.collect())
    }

    /// All slabs in row-major order.
    pub(super) fn into_regions(self) -> impl Iterator<Item = Region> {
        let all = places(self.ends.iter().map(|ends| 0..ends.len()).collect());
        all.map(move |at| self.region(&at))
    }
}

/// All combinations of indices, the last axis fastest.
fn places(spans: Vec<Range<usize>>) -> impl Iterator<Item = Vec<usize>> {
    let first = spans.iter().map(|span| (!span.is_empty()).then_some(span.start)).collect::<Option<Vec<_>>>();
    std::iter::successors(first, move |at| {
        let mut next = at.clone();
        for (slot, span) in next.iter_mut().zip(&spans).rev() {
            *slot += 1;
            if *slot < span.end {
                return Some(next);
            }
            *slot = span.start;
        }
        None
    })
}

fn ends_along(span: Range<u64>, max: u64, offset: u64, chunks: &ChunkGrid, axis: usize) -> Vec<u64> {
    let chunk_of = |element: u64| {
        let place = element.saturating_add(offset);
        let span = chunks.span(axis, chunks.cell_at(axis, place)?)?;
        Some(span.start.saturating_sub(offset)..span.end.saturating_sub(offset))
    };
    let (mut ends, mut at) = (Vec::new(), span.start);
    while at < span.end {
        let limit = at.saturating_add(max.max(1));
        // The last border between chunks within the limit, otherwise the next one.
        let before = if limit < span.end { chunk_of(limit).map(|chunk| chunk.start) } else { Some(span.end) };
        let end = before.filter(|end| *end > at).or_else(|| chunk_of(at).map(|chunk| chunk.end));
        at = end.filter(|end| *end > at).unwrap_or(span.end).min(span.end);
        ends.push(at);
    }
    ends
}

impl CellBox {
    /// The chunks of these lengths that have elements in a box.
    pub(super) fn new(region: &Region, cell: &[u64]) -> Self {
        let axes = region.start.iter().zip(&region.count).zip(cell);
        let axes = axes.map(|((start, count), len)| {
            let (first, last) = (start / len.max(&1), (start + count.saturating_sub(1)) / len.max(&1));
            (first, if *count == 0 { 0 } else { last - first + 1 })
        });
        let (first, counts) = axes.unzip();
        Self { first, counts }
    }

    /// Number of chunks.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().fold(1, |all, count| all.saturating_mul(*count))
    }

    /// The coordinates of the chunk with that number.
    pub(super) fn cell(&self, number: u64) -> Vec<u64> {
        let (mut rest, mut cell) = (number, self.first.clone());
        for (slot, count) in cell.iter_mut().zip(&self.counts).rev() {
            *slot += rest % count.max(&1);
            rest /= count.max(&1);
        }
        cell
    }

    /// The number of a chunk.
    pub(super) fn number(&self, cell: &[u64]) -> u64 {
        let axes = cell.iter().zip(&self.first).zip(&self.counts);
        axes.fold(0, |number, ((at, first), count)| number * count + (at - first))
    }
}

/// The elements of a chunk of these lengths.
pub(super) fn cell_region(cell: &[u64], lens: &[u64]) -> Region {
    let start = cell.iter().zip(lens).map(|(at, len)| at.saturating_mul(*len)).collect();
    Region { start, count: lens.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slabs_end_where_chunks_do() {
        let whole = Region { start: vec![4], count: vec![30] };
        let grid = ChunkGrid::Regular(vec![5]);
        // The array begins at element 3 of the source: chunks end at 2, 7, 12 and so on.
        let slabs = SlabIterator::new(&whole, &[11], &grid, &[3]);
        assert_eq!(slabs.ends, [[12, 22, 32, 34]]);
        let uneven = ChunkGrid::rectilinear(&[vec![3, 30, 2, 2, 99]]).unwrap();
        assert_eq!(SlabIterator::new(&whole, &[6], &uneven, &[0]).ends, [[33, 34]]);
    }

    proptest! {
        #[test]
        fn slabs_make_up_the_box_and_cut_no_chunk(
            axes in prop::collection::vec((0..20u64, 1..40u64, 1..15u64, 1..9u64, 0..9u64), 1..4),
        ) {
            let list = |pick: fn(&(u64, u64, u64, u64, u64)) -> u64| axes.iter().map(pick).collect::<Vec<_>>();
            let whole = Region { start: list(|axis| axis.0), count: list(|axis| axis.1) };
            let (chunk, offset) = (list(|axis| axis.3), list(|axis| axis.4));
            let grid = ChunkGrid::Regular(chunk.clone());
            let slabs = SlabIterator::new(&whole, &list(|axis| axis.2), &grid, &offset);
            for (axis, ends) in slabs.ends.iter().enumerate() {
                let (last, inner) = ends.split_last().unwrap();
                prop_assert_eq!(*last, whole.start[axis] + whole.count[axis]);
                prop_assert!(inner.iter().all(|end| (end + offset[axis]).is_multiple_of(chunk[axis])));
            }
            let touched: Vec<_> = slabs.touched(&whole).collect();
            prop_assert_eq!(touched.len(), slabs.count());
            prop_assert!(touched.iter().enumerate().all(|(number, at)| slabs.number(at) == number));
            let regions: Vec<Region> = touched.iter().map(|at| slabs.region(at)).collect();
            let elements: u64 = regions.iter().map(|region| region.element_count().unwrap()).sum();
            prop_assert_eq!(Some(elements), whole.element_count());
            let one = Region { start: whole.start.clone(), count: vec![1; axes.len()] };
            prop_assert_eq!(slabs.touched(&one).collect::<Vec<_>>(), [vec![0; axes.len()]]);
        }

        #[test]
        fn cells_have_numbers(axes in prop::collection::vec((0..20u64, 1..30u64, 1..9u64), 0..4)) {
            let list = |pick: fn(&(u64, u64, u64)) -> u64| axes.iter().map(pick).collect::<Vec<_>>();
            let region = Region { start: list(|axis| axis.0), count: list(|axis| axis.1) };
            let lens = list(|axis| axis.2);
            let cells = CellBox::new(&region, &lens);
            let mut elements = 0;
            for number in 0..cells.count() {
                let cell = cells.cell(number);
                prop_assert_eq!(cells.number(&cell), number);
                elements += cell_region(&cell, &lens).intersect(&region).unwrap().element_count().unwrap();
            }
            prop_assert_eq!(Some(elements), region.element_count());
        }
    }
}
