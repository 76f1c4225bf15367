//! Selections of a variable's elements: hyperslabs (start, count, stride) and index lists.
mod points;

pub use points::PointSelection;

use std::fmt;

/// The selected elements of one axis, in the order of the result.
#[expect(missing_docs, reason = "the fields of the variants are named by what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisSelection {
    /// `count` indices from `start`, `stride` apart (stride at least 1).
    Slice { start: u64, count: u64, stride: u64 },
    /// These indices, in this order; repetition is allowed.
    Indices(Vec<u64>),
}

/// A selection of a variable's elements: one [`AxisSelection`] per dimension; the result has one axis for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    axes: Vec<AxisSelection>,
}

/// A box of elements: first index and length per axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Region {
    /// First element, one index per axis.
    pub start: Vec<u64>,
    /// Elements along each axis.
    pub count: Vec<u64>,
}

/// A selection that does not fit the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionError(pub String);

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectionError {}

impl AxisSelection {
    /// Number of selected elements.
    pub fn count(&self) -> u64 {
        match self {
            Self::Slice { count, .. } => *count,
            Self::Indices(indices) => indices.len() as u64,
        }
    }

    /// The `position`-th selected index; `None` past the end or on overflow.
    pub fn index(&self, position: u64) -> Option<u64> {
        match self {
            Self::Slice { start, count, stride } => {
                (position < *count).then(|| position.checked_mul(*stride)?.checked_add(*start)).flatten()
            }
            Self::Indices(indices) => indices.get(usize::try_from(position).ok()?).copied(),
        }
    }

    /// One more than the largest selected index; 0 if nothing is selected, `None` on overflow.
    pub fn end(&self) -> Option<u64> {
        match self {
            Self::Slice { count: 0, .. } => Some(0),
            Self::Slice { count, .. } => self.index(count - 1)?.checked_add(1),
            Self::Indices(indices) => match indices.iter().max() {
                Some(max) => max.checked_add(1),
                None => Some(0),
            },
        }
    }

    /// The two halves of at least two indices, cut at a multiple of `grain` if there is one between.
    fn halves(&self, grain: u64) -> (Self, Self) {
        match self {
            Self::Slice { start, count, stride } => {
                let (start, stride) = (*start, *stride);
                let middle = start.saturating_add((count / 2).saturating_mul(stride));
                let below = middle.checked_div(grain).map_or(middle, |cells| cells * grain);
                // How many indices lie before an element.
                let before = |element: u64| element.saturating_sub(start).div_ceil(stride.max(1));
                let cuts = [before(below), before(below.saturating_add(grain)), count / 2];
                let half = cuts.into_iter().find(|half| (1..*count).contains(half)).unwrap_or(1);
                let then = start.saturating_add(half.saturating_mul(stride));
                (
                    Self::Slice { start, count: half, stride },
                    Self::Slice { start: then, count: count - half, stride },
                )
            }
            Self::Indices(indices) => {
                let (one, other) = indices.split_at(indices.len() / 2);
                (Self::Indices(one.to_vec()), Self::Indices(other.to_vec()))
            }
        }
    }
}

impl Selection {
    /// Every element of an array of that shape.
    pub fn all(shape: &[u64]) -> Self {
        Self {
            axes: shape.iter().map(|&count| AxisSelection::Slice { start: 0, count, stride: 1 }).collect(),
        }
    }

    /// One selection per axis.
    pub fn new(axes: Vec<AxisSelection>) -> Self {
        Self { axes }
    }

    /// A box: `start` and `count` with one entry per axis (the shorter of the two decides the rank).
    pub fn slab(start: &[u64], count: &[u64]) -> Self {
        let axes = start.iter().zip(count);
        Self { axes: axes.map(|(&start, &count)| AxisSelection::Slice { start, count, stride: 1 }).collect() }
    }

    /// A hyperslab: `start`, `count` and `stride` with one entry per axis.
    pub fn strided(start: &[u64], count: &[u64], stride: &[u64]) -> Self {
        let axes = start.iter().zip(count).zip(stride);
        let slice = |((&start, &count), &stride)| AxisSelection::Slice { start, count, stride };
        Self { axes: axes.map(slice).collect() }
    }

    /// The axes' selections.
    pub fn axes(&self) -> &[AxisSelection] {
        &self.axes
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Shape of the result, one length per axis.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(AxisSelection::count).collect()
    }

    /// Number of selected elements; `None` on overflow.
    pub fn element_count(&self) -> Option<u64> {
        self.axes.iter().try_fold(1u64, |product, axis| product.checked_mul(axis.count()))
    }

    /// Two selections whose concatenated results are this one's: cut near the middle of the slowest possible axis, at
    /// a multiple of the axis's `grain` if it extends beyond one (0, or no grain: anywhere). `None` for at most one
    /// element.
    pub fn halves(&self, grain: &[u64]) -> Option<(Self, Self)> {
        let at = self.axes.iter().position(|axis| axis.count() > 1)?;
        let (one, other) = self.axes.get(at)?.halves(grain.get(at).copied().unwrap_or(0));
        let (mut first, mut second) = (self.axes.clone(), self.axes.clone());
        *first.get_mut(at)? = one;
        *second.get_mut(at)? = other;
        let is_empty = self.element_count() == Some(0);
        (!is_empty).then_some((Self { axes: first }, Self { axes: second }))
    }

    /// The minimum shape of an array that contains every selected element; `None` on overflow.
    pub fn extent(&self) -> Option<Vec<u64>> {
        self.axes.iter().map(AxisSelection::end).collect()
    }

    /// The box, if every axis is a slice with stride 1 (or of one element).
    pub fn as_region(&self) -> Option<Region> {
        let mut region = Region { start: Vec::new(), count: Vec::new() };
        for axis in &self.axes {
            match axis {
                AxisSelection::Slice { start, count, stride } if *stride == 1 || *count <= 1 => {
                    region.start.push(*start);
                    region.count.push(*count);
                }
                AxisSelection::Slice { .. } | AxisSelection::Indices(_) => return None,
            }
        }
        Some(region)
    }

    /// Checks that the selection fits an array of that shape and can be addressed.
    ///
    /// # Errors
    /// If the rank differs, a stride is 0, an index is at or past the axis' length, or a size overflows.
    pub fn check(&self, shape: &[u64]) -> Result<(), SelectionError> {
        self.check_growing(shape, &vec![false; shape.len()])
    }

    /// As [`check`](Self::check), but axes marked in `growing` (unlimited dimensions on writing) may be exceeded.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_growing(&self, shape: &[u64], growing: &[bool]) -> Result<(), SelectionError> {
        if self.rank() != shape.len() {
            return Err(SelectionError(format!(
                "the selection has {} axes, the variable {}",
                self.rank(),
                shape.len()
            )));
        }
        for (at, axis) in self.axes.iter().enumerate() {
            if let AxisSelection::Slice { stride: 0, .. } = axis {
                return Err(SelectionError(format!("axis {at}: the stride is 0")));
            }
            let len = shape.get(at).copied().unwrap_or(0);
            let may_grow = growing.get(at).copied().unwrap_or(false);
            match axis.end() {
                Some(end) if end <= len || may_grow => {}
                Some(end) => {
                    let last = end - 1;
                    return Err(SelectionError(format!("axis {at}: index {last} is past its length {len}")));
                }
                None => return Err(SelectionError(format!("axis {at}: the last index exceeds 64 bits"))),
            }
        }
        match self.element_count() {
            Some(_) => Ok(()),
            None => Err(SelectionError("the number of elements exceeds 64 bits".to_owned())),
        }
    }
}

impl Region {
    /// The whole of an array.
    pub fn all(shape: &[u64]) -> Self {
        Self { start: vec![0; shape.len()], count: shape.to_vec() }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.count.len()
    }

    /// Number of elements; `None` on overflow.
    pub fn element_count(&self) -> Option<u64> {
        self.count.iter().try_fold(1u64, |product, count| product.checked_mul(*count))
    }

    /// Whether no element is inside.
    pub fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// The intersection of both boxes; `None` if it is empty or the ranks differ.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.rank() != other.rank() {
            return None;
        }
        let mut both =
            Self { start: Vec::with_capacity(self.rank()), count: Vec::with_capacity(self.rank()) };
        for axis in 0..self.rank() {
            let start = self.start[axis].max(other.start[axis]);
            let end = (self.start[axis].saturating_add(self.count[axis]))
                .min(other.start[axis].saturating_add(other.count[axis]));
            if end <= start {
                return None;
            }
            both.start.push(start);
            both.count.push(end - start);
        }
        Some(both)
    }
}

impl From<Region> for Selection {
    fn from(region: Region) -> Self {
        Self::slab(&region.start, &region.count)
    }
}

#[cfg(test)]
mod tests;
