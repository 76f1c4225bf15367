//! Single elements of sources that are read by boxes only: those whose values become others together.
use super::super::MosaicRead;
use crate::convert;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{AxisSelection, PointSelection, Selection, Values};

/// A part of the points is read as a box of index lists that has at most so many elements for each point.
const DENSE: u64 = 8;
/// As many elements are read whatever the number of points.
const MIN_ELEMENTS: u64 = 4096;

impl MosaicRead<'_> {
    /// The values of points by index lists: neighbours are read together, as the smallest sets of index lists that hold
    /// them, of which not many more elements are read than are wanted.
    pub(super) async fn read_by_lists(&self, points: &PointSelection) -> Result<Values> {
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        let mut read = convert::empty(model, ty)?;
        // The position of each point's value among those that were read.
        let mut places = vec![0usize; points.count()];
        let mut rest = vec![(0..points.count()).collect::<Vec<usize>>()];
        while let Some(part) = rest.pop() {
            if part.is_empty() {
                continue;
            }
            let lists: Vec<Vec<u64>> = (0..points.rank()).map(|axis| distinct(points, axis, &part)).collect();
            let count = lists.iter().fold(1u64, |product, list| product.saturating_mul(list.len() as u64));
            if count > MIN_ELEMENTS.max((part.len() as u64).saturating_mul(DENSE))
                && let Some((first, second)) = halves(points, part.clone(), &lists)
            {
                rest.extend([second, first]);
                continue;
            }
            let mut inside = Vec::with_capacity(part.len());
            for (at, point) in part.iter().enumerate() {
                let place = lists.iter().enumerate().try_fold(0usize, |place, (axis, list)| {
                    let at = list.binary_search(&points.index(axis, *point)).ok()?;
                    place.checked_mul(list.len())?.checked_add(at)
                });
                inside.push(place.ok_or_else(|| Error::internal(format!("point {point} is in no list")))?);
                if let Some(slot) = places.get_mut(*point) {
                    *slot = read.len() + at;
                }
            }
            let selection = Selection::new(lists.into_iter().map(AxisSelection::Indices).collect());
            let values = convert::take(&self.read(&selection).await?, &inside)?;
            if !read.extend_from(&values, 0..values.len()) {
                return Err(Error::internal("values of different types in one variable"));
            }
        }
        convert::take(&read, &places)
    }
}

/// The indices of some points along an axis, each once.
fn distinct(points: &PointSelection, axis: usize, part: &[usize]) -> Vec<u64> {
    let mut list: Vec<u64> = part.iter().map(|point| points.index(axis, *point)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The points on both sides of the middle of the longest list; `None` when there is one point, as often as it may be.
fn halves(points: &PointSelection, part: Vec<usize>, lists: &[Vec<u64>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (axis, list) = lists.iter().enumerate().max_by_key(|(_, list)| list.len())?;
    let middle = *list.get(list.len() / 2).filter(|_| list.len() > 1)?;
    Some(part.into_iter().partition(|point| points.index(axis, *point) < middle))
}
