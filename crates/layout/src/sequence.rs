//! Boxes that follow one another: the rule by which reads slab after slab are recognized, and what comes next.
use ncirrus_model::Region;

/// The only axis along which a box differs from the one before, if it begins there where that one ended.
pub fn continued_axis(before: &Region, next: &Region) -> Option<usize> {
    if before.rank() != next.rank() {
        return None;
    }
    let differs =
        |axis: &usize| before.start[*axis] != next.start[*axis] || before.count[*axis] != next.count[*axis];
    let mut differing = (0..next.rank()).filter(differs);
    let axis = differing.next().filter(|axis| next.start[*axis] == end(before, *axis))?;
    differing.next().is_none().then_some(axis)
}

/// The axis along which a box follows the one before: it begins where that ended, or, where that was at the end of the axis, at the
/// begin of the axis and one step further along an axis before it.
pub fn axis_after(before: &Region, next: &Region, shape: &[u64]) -> Option<usize> {
    if let Some(axis) = continued_axis(before, next) {
        return Some(axis);
    }
    if before.rank() != next.rank() || next.rank() != shape.len() {
        return None;
    }
    let moved: Vec<usize> =
        (0..next.rank()).filter(|axis| next.start[*axis] != before.start[*axis]).collect();
    let [outer, axis] = *moved.as_slice() else { return None };
    let wraps = next.start[axis] == 0 && end(before, axis) == shape[axis];
    let is_alike = |other: usize| other == axis || next.count[other] == before.count[other];
    let follows = next.start[outer] == end(before, outer) && wraps && (0..next.rank()).all(is_alike);
    follows.then_some(axis)
}

/// The box that comes after another one along an axis, with the counts of a slab along all others. `end_of` says where it ends, from
/// where it begins along the axis. `None` after the last element.
pub fn region_after(
    after: &Region,
    axis: usize,
    counts: &[u64],
    shape: &[u64],
    end_of: impl FnOnce(&[u64]) -> u64,
) -> Option<Region> {
    let mut start = after.start.clone();
    start[axis] = end(after, axis);
    if start[axis] >= shape[axis] {
        start[axis] = 0;
        let outer = (0..axis).rev().find(|outer| counts[*outer] < shape[*outer])?;
        start[outer] = end(after, outer);
        if start[outer].checked_add(counts[outer])? > shape[outer] {
            return None;
        }
    }
    let end = end_of(&start).min(shape[axis]);
    let mut count = counts.to_vec();
    count[axis] = end.checked_sub(start[axis]).filter(|count| *count > 0)?;
    Some(Region { start, count })
}

/// Whether a box has all elements of another one.
pub fn has_all(region: &Region, other: &Region) -> bool {
    let is_within =
        |axis: usize| other.start[axis] >= region.start[axis] && end(other, axis) <= end(region, axis);
    region.rank() == other.rank() && (0..region.rank()).all(is_within)
}

/// Whether a box has the last elements of another one, which has all of its.
pub fn ends_with(region: &Region, other: &Region) -> bool {
    region.rank() == other.rank() && (0..region.rank()).all(|axis| end(region, axis) == end(other, axis))
}

/// The first index along an axis that is behind a box.
fn end(region: &Region, axis: usize) -> u64 {
    region.start[axis].saturating_add(region.count[axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: &[u64], count: &[u64]) -> Region {
        Region { start: start.to_vec(), count: count.to_vec() }
    }

    #[test]
    fn a_slab_follows_another_along_one_axis_or_begins_it_again_one_step_further() {
        let (shape, first) = ([4, 6, 10], region(&[0, 2, 0], &[1, 2, 10]));
        let after = |before: &Region, next: &Region| axis_after(before, next, &shape);
        assert_eq!(after(&first, &region(&[0, 4, 0], &[1, 2, 10])), Some(1));
        assert_eq!(after(&first, &region(&[1, 2, 0], &[1, 2, 10])), Some(0));
        let shorter = region(&[0, 4, 0], &[1, 1, 10]);
        assert_eq!(after(&first, &shorter), Some(1), "the last may be shorter");
        let last = region(&[0, 4, 0], &[1, 2, 10]);
        assert_eq!(after(&last, &region(&[1, 0, 0], &[1, 2, 10])), Some(1));
        assert_eq!(after(&first, &region(&[1, 0, 0], &[1, 2, 10])), None, "it was not at its end");
        assert_eq!(after(&last, &region(&[2, 0, 0], &[1, 2, 10])), None);
        assert_eq!(after(&first, &region(&[0, 4, 0], &[1, 2, 5])), None);
        assert_eq!(after(&first, &first), None);
        assert_eq!(after(&first, &region(&[0, 4], &[1, 2])), None);
    }

    #[test]
    fn what_comes_next_goes_on_to_the_end_of_an_axis_then_one_step_further_and_ends_with_the_variable() {
        let (shape, counts) = ([2, 7, 10], [1, 1, 10]);
        let mut at = region(&[0, 1, 0], &counts);
        let mut seen = Vec::new();
        while let Some(next) =
            region_after(&at, 1, &counts, &shape, |start| (start[1] + 2).next_multiple_of(4))
        {
            seen.push((next.start[0], next.start[1], next.count[1]));
            at = next;
        }
        assert_eq!(seen, [(0, 2, 2), (0, 4, 3), (1, 0, 4), (1, 4, 3)]);
        let whole = region(&[3, 0], &[1, 5]);
        assert_eq!(region_after(&whole, 0, &[1, 5], &[4, 5], |start| start[0] + 1), None);
    }
}
