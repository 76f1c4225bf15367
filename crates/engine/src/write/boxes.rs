//! Boxes cut out of larger ones, and their offsets in a scratch file: pure arithmetic.
//!
//! An array is cut into boxes along each of its axes. If these are stored one after the other in row-major order, each
//! of them in row-major order itself, the number of elements before one of them can be computed without visiting the
//! others.
use ncirrus_layout::grid::ElementWalk;
use ncirrus_model::Region;

/// The number of elements before a part of a box, if all parts of the box along each axis are stored one after the
/// other in row-major order.
pub(super) fn elements_before(part: &Region, whole: &Region) -> u64 {
    let mut after: u64 = whole.count.iter().fold(1, |all, len| all.saturating_mul(*len));
    let (mut before, mut rows) = (0u64, 1u64);
    for axis in 0..whole.count.len() {
        let at = |list: &[u64]| list.get(axis).copied().unwrap_or(0);
        after = after.checked_div(at(&whole.count)).unwrap_or(0);
        let first = at(&part.start).saturating_sub(at(&whole.start));
        before = before.saturating_add(rows.saturating_mul(first).saturating_mul(after));
        rows = rows.saturating_mul(at(&part.count));
    }
    before
}

/// A run of elements of a box inside a larger array, and of the same box on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxRun {
    /// First element in the array.
    pub(super) outer: usize,
    /// First element in the box.
    pub(super) inner: usize,
    /// Number of elements; in the box they are contiguous.
    pub(super) len: usize,
    /// Distance between consecutive elements in the array.
    pub(super) step: usize,
}

/// Calls `each` with the runs of a box that starts at `start` of an array of that shape, all in row-major order. Runs
/// are as long as possible: contiguous axes are treated as one.
pub(super) fn for_each_run(shape: &[usize], start: &[usize], count: &[usize], mut each: impl FnMut(BoxRun)) {
    let wide = |list: &[usize]| list.iter().map(|len| *len as u64).collect::<Vec<_>>();
    let Some(walk) = ElementWalk::of_box(&wide(shape), &wide(start), &wide(count)) else { return };
    walk.for_each_run(|run| {
        each(BoxRun { outer: run.source, inner: run.target, len: run.count, step: run.source_step });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_axis() -> impl Strategy<Value = (usize, usize, usize)> {
        (1..9usize)
            .prop_flat_map(|len| (Just(len), 0..len))
            .prop_flat_map(|(len, start)| (Just(len), Just(start), 1..=len - start))
    }

    proptest! {
        #[test]
        fn runs_are_the_elements_of_the_box_in_order(axes in prop::collection::vec(any_axis(), 0..5)) {
            let list = |pick: fn(&(usize, usize, usize)) -> usize| axes.iter().map(pick).collect::<Vec<_>>();
            let (shape, start, count) = (list(|axis| axis.0), list(|axis| axis.1), list(|axis| axis.2));
            let mut expected = vec![0];
            for ((len, start), count) in shape.iter().zip(&start).zip(&count) {
                expected = expected.iter().flat_map(|at| (*start..start + count).map(move |k| at * len + k)).collect();
            }
            let mut found = Vec::new();
            for_each_run(&shape, &start, &count, |run| {
                assert_eq!(run.inner, found.len());
                found.extend((0..run.len).map(|k| run.outer + k * run.step));
            });
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn parts_lie_one_after_the_other(
            axes in prop::collection::vec((prop::collection::vec(1..6u64, 1..4), 0..9u64), 0..4),
        ) {
            let start: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let count: Vec<u64> = axes.iter().map(|axis| axis.0.iter().sum()).collect();
            let whole = Region { start: start.clone(), count };
            let mut parts = vec![Region { start: Vec::new(), count: Vec::new() }];
            for (lens, start) in &axes {
                let mut longer = Vec::new();
                for part in parts {
                    let mut at = *start;
                    for len in lens {
                        let mut part = part.clone();
                        part.start.push(at);
                        part.count.push(*len);
                        longer.push(part);
                        at += len;
                    }
                }
                parts = longer;
            }
            let mut before = 0;
            for part in parts {
                prop_assert_eq!(elements_before(&part, &whole), before);
                before += part.element_count().unwrap();
            }
        }
    }
}
