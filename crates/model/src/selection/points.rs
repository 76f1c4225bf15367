//! Elements that are selected one by one.
use super::SelectionError;

/// Elements of a variable that are selected one by one: an index list per axis, all of one length. Element `i` of the
/// result is the one at the `i`-th index of every list; repetition is allowed.
///
/// A variable without axes has one element, which an empty list of axes selects as often as [`count`](Self::count) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointSelection {
    axes: Vec<Vec<u64>>,
    count: usize,
}

impl PointSelection {
    /// The points with these indices, one list per axis; without axes, one point.
    ///
    /// # Errors
    /// When the lists differ in length.
    pub fn new(axes: Vec<Vec<u64>>) -> Result<Self, SelectionError> {
        let count = axes.first().map_or(1, Vec::len);
        match axes.iter().position(|axis| axis.len() != count) {
            None => Ok(Self { axes, count }),
            Some(axis) => Err(SelectionError(format!(
                "axis {axis} has {} indices, axis 0 has {count}: points have one index per axis",
                axes.get(axis).map_or(0, Vec::len)
            ))),
        }
    }

    /// `count` times the one element of a variable without axes.
    pub fn scalar(count: usize) -> Self {
        Self { axes: Vec::new(), count }
    }

    /// Number of points.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// The indices along each axis.
    pub fn axes(&self) -> &[Vec<u64>] {
        &self.axes
    }

    /// The index of a point along an axis; 0 where there is no such point or axis.
    pub fn index(&self, axis: usize, point: usize) -> u64 {
        self.axes.get(axis).and_then(|axis| axis.get(point)).copied().unwrap_or(0)
    }

    /// The points with these numbers, in this order.
    #[must_use]
    pub fn pick(&self, points: &[usize]) -> Self {
        let pick = |axis: &Vec<u64>| points.iter().map(|at| axis.get(*at).copied().unwrap_or(0)).collect();
        Self { axes: self.axes.iter().map(pick).collect(), count: points.len() }
    }

    /// Checks that the points lie in an array of that shape.
    ///
    /// # Errors
    /// When the number of axes differs, or an index is at or past its axis' length: the first such point is named.
    pub fn check(&self, shape: &[u64]) -> Result<(), SelectionError> {
        if self.rank() != shape.len() {
            return Err(SelectionError(format!(
                "the points have {} axes, the variable {}",
                self.rank(),
                shape.len()
            )));
        }
        for (at, (axis, len)) in self.axes.iter().zip(shape).enumerate() {
            if let Some((point, index)) = axis.iter().enumerate().find(|(_, index)| *index >= len) {
                return Err(SelectionError(format!(
                    "axis {at}: index {index} of point {point} is past its length {len}"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_one_index_per_axis_inside_of_the_array() {
        let points = PointSelection::new(vec![vec![0, 4, 4], vec![7, 0, 0]]).unwrap();
        assert_eq!((points.count(), points.rank(), points.index(1, 0)), (3, 2, 7));
        assert_eq!(points.check(&[5, 8]), Ok(()));
        assert!(points.check(&[4, 8]).unwrap_err().0.contains("axis 0: index 4 of point 1"));
        assert!(points.check(&[5]).unwrap_err().0.contains("2 axes, the variable 1"));
        assert!(PointSelection::new(vec![vec![0], vec![]]).unwrap_err().0.contains("axis 1 has 0"));
        assert_eq!(points.pick(&[2, 0]).axes(), [vec![4, 0], vec![0, 7]]);
        assert_eq!(PointSelection::scalar(2).check(&[]), Ok(()));
    }
}
