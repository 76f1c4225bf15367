//! How the elements of a tile are arranged in its source.
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{AxisSelection, PointSelection, Region, Selection};

/// A tile that a box of another variable fills.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TileRegion {
    /// The tile, in elements of the assembled variable.
    pub(super) tile: Region,
    /// The box, in elements of the source.
    pub(super) source: Region,
    order: AxisOrder,
}

/// How the axes of a tile and of its source correspond.
#[derive(Debug, Clone, PartialEq)]
enum AxisOrder {
    /// For each axis of the source, the corresponding axis of the tile; none for axes of one element.
    Axes(Vec<Option<usize>>),
    /// Only the order of the elements is the same.
    Elements,
}

impl TileRegion {
    /// The place of a tile of a variable.
    ///
    /// # Errors
    /// `Malformed` if tile and box differ in their number of elements.
    pub(super) fn new(tile: Region, source: Region) -> Result<Self> {
        let count = |region: &Region| region.element_count().filter(|_| region.start.len() == region.rank());
        if count(&tile).is_none() || count(&tile) != count(&source) {
            let (one, other) = (&source.count, &tile.count);
            return Err(Error::malformed(format!("a source of {one:?} elements for a tile of {other:?}")));
        }
        let order = axes(&tile.count, &source.count).map_or(AxisOrder::Elements, AxisOrder::Axes);
        Ok(Self { tile, source, order })
    }

    /// The part of the tile whose elements are inside a source of that shape.
    ///
    /// # Errors
    /// `Malformed` if the box has another rank than the source, or the elements outside do not form a box.
    pub(super) fn inside(&self, shape: &[u64]) -> Result<Option<Region>> {
        if shape.len() != self.source.rank() {
            let message = format!("a box of rank {} of a source of shape {shape:?}", self.source.rank());
            return Err(Error::malformed(message));
        }
        let mut inside = self.tile.clone();
        for (axis, (len, start)) in shape.iter().zip(&self.source.start).enumerate() {
            let room = len.saturating_sub(*start);
            match &self.order {
                AxisOrder::Axes(axes) => {
                    match axes.get(axis).copied().flatten().and_then(|at| inside.count.get_mut(at)) {
                        Some(count) => *count = room.min(*count),
                        None if room == 0 => return Ok(None),
                        None => {}
                    }
                }
                AxisOrder::Elements if self.source.count.get(axis).is_some_and(|count| *count > room) => {
                    let message = format!("a box {:?} beyond the source's shape {shape:?}", self.source);
                    return Err(Error::malformed(message));
                }
                AxisOrder::Elements => {}
            }
        }
        Ok((!inside.is_empty()).then_some(inside))
    }

    /// The elements of the source that make up a piece of the tile, if they form a selection of it; elements that the
    /// piece repeats along an axis of length one in the tile are selected once.
    pub(super) fn selection(&self, piece: &SelectionPiece) -> Option<Selection> {
        let AxisOrder::Axes(axes) = &self.order else { return None };
        let axis = |(axis, start): (&Option<usize>, &u64)| match axis {
            Some(at) => Some(piece.axes.get(*at)?.selection(*self.tile.start.get(*at)?, *start)),
            None => Some(AxisSelection::Slice { start: *start, count: 1, stride: 1 }),
        };
        axes.iter().zip(&self.source.start).map(axis).collect::<Option<_>>().map(Selection::new)
    }

    /// The indices in the source of points in the tile, a list for each axis of the source.
    pub(super) fn points(&self, points: &PointSelection, inside: &[usize]) -> Vec<Vec<u64>> {
        let mut lists = vec![Vec::with_capacity(inside.len()); self.source.rank()];
        for point in inside {
            let within = |axis: usize, start: &u64| points.index(axis, *point).saturating_sub(*start);
            let starts = lists.iter_mut().zip(&self.source.start);
            match &self.order {
                AxisOrder::Axes(axes) => starts.zip(axes).for_each(|((list, start), axis)| {
                    let at = axis.and_then(|axis| Some(within(axis, self.tile.start.get(axis)?)));
                    list.push(start + at.unwrap_or(0));
                }),
                AxisOrder::Elements => {
                    let axes = self.tile.start.iter().zip(&self.tile.count).enumerate();
                    let mut number =
                        axes.fold(0, |number, (axis, (start, len))| number * len + within(axis, start));
                    for ((list, start), len) in starts.zip(&self.source.count).rev() {
                        list.push(start + number % len.max(&1));
                        number /= len.max(&1);
                    }
                }
            }
        }
        lists
    }

    /// Lengths along each axis of the [`selection`](Self::selection).
    pub(super) fn selected_shape(&self, piece: &SelectionPiece) -> Vec<u64> {
        let axes = piece.shape().into_iter().zip(&self.tile.count);
        axes.map(|(count, len)| if *len == 1 { 1 } else { count }).collect()
    }

    /// The numbers of a piece's elements in the order of the tile's elements, listed in the order of the piece.
    pub(super) fn numbers(&self, piece: &SelectionPiece) -> Vec<u64> {
        let mut numbers = vec![0u64];
        for (axis, (start, len)) in piece.axes.iter().zip(self.tile.start.iter().zip(&self.tile.count)) {
            let indices = axis.indices();
            let next = |number: u64| indices.iter().map(move |index| number * len + (index - start));
            numbers = numbers.into_iter().flat_map(next).collect();
        }
        numbers
    }

    /// How many elements of the source there are from the first to the last of a piece.
    pub(super) fn reach(&self, piece: &SelectionPiece) -> u64 {
        let (first, end) = self.span(piece);
        end - first
    }

    /// The number of a piece's first element in the order of the tile's, and one more than that of its last.
    pub(super) fn span(&self, piece: &SelectionPiece) -> (u64, u64) {
        let bounds = piece.bounds();
        let (mut first, mut last) = (0u64, 0u64);
        for (axis, (start, len)) in self.tile.start.iter().zip(&self.tile.count).enumerate() {
            let at = bounds.start.get(axis).map_or(0, |at| at.saturating_sub(*start));
            let reach = bounds.count.get(axis).map_or(0, |count| count.saturating_sub(1));
            (first, last) = (first * len + at, last * len + at + reach);
        }
        (first, last + 1)
    }

    /// The boxes of the source that hold the elements from number `first` to before `end`, in order.
    pub(super) fn boxes(&self, first: u64, end: u64) -> Vec<Region> {
        let mut boxes = Vec::new();
        let mut prefix = Vec::new();
        boxes_of(&self.source.count, first, end, &mut prefix, &mut boxes);
        for region in &mut boxes {
            region.start.iter_mut().zip(&self.source.start).for_each(|(at, start)| *at += start);
        }
        boxes
    }
}

/// The axes that correspond, if those of more than one element have the same lengths in the same order.
fn axes(tile: &[u64], source: &[u64]) -> Option<Vec<Option<usize>>> {
    let mut long = tile.iter().enumerate().filter(|(_, len)| **len != 1);
    let axis = |len: &u64| match len {
        1 => Some(None),
        len => long.next().filter(|(_, other)| *other == len).map(|(at, _)| Some(at)),
    };
    source.iter().map(axis).collect::<Option<_>>().filter(|_| long.next().is_none())
}

/// The boxes of an array that hold its elements from number `first` to before `end`, each prefixed with `prefix`.
fn boxes_of(shape: &[u64], first: u64, end: u64, prefix: &mut Vec<u64>, boxes: &mut Vec<Region>) {
    let ones = vec![1; prefix.len()];
    let Some((_, inner)) = shape.split_first() else {
        boxes.extend((first < end).then(|| Region { start: prefix.clone(), count: ones }));
        return;
    };
    let row = inner.iter().product::<u64>().max(1);
    let mut at = first;
    while at < end {
        let (index, offset) = (at / row, at % row);
        let rows = if offset == 0 { (end - at) / row } else { 0 };
        if rows > 0 {
            let start = [prefix.as_slice(), &[index], &vec![0; inner.len()]].concat();
            boxes.push(Region { start, count: [ones.as_slice(), &[rows], inner].concat() });
            at += rows * row;
            continue;
        }
        let stop = end.min((index + 1) * row);
        prefix.push(index);
        boxes_of(inner, offset, stop - index * row, prefix, boxes);
        prefix.pop();
        at = stop;
    }
}

#[cfg(test)]
mod tests;
