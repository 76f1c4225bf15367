use super::*;
use proptest::prelude::*;

/// The elements of a box with two axes.
fn elements(region: &Region) -> Vec<(u64, u64)> {
    let axis = |at: usize| region.start[at]..region.start[at] + region.count[at];
    axis(0).flat_map(|y| axis(1).map(move |x| (y, x))).collect()
}

fn region() -> impl Strategy<Value = Region> {
    prop::collection::vec((0u64..8, 1u64..6), 2).prop_map(|axes| Region {
        start: axes.iter().map(|a| a.0).collect(),
        count: axes.iter().map(|a| a.1).collect(),
    })
}

proptest! {
    #[test]
    fn what_is_left_and_the_boxes_make_up_the_region(
        whole in region(),
        boxes in prop::collection::vec(region(), 0..6),
    ) {
        let left = uncovered(&whole, &boxes.iter().collect::<Vec<_>>());
        let covered: Vec<_> = boxes.iter().flat_map(elements).collect();
        let mut expected = elements(&whole);
        expected.retain(|at| !covered.contains(at));
        let mut found: Vec<_> = left.iter().flat_map(elements).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_scalar_is_covered_or_not() {
    let scalar = Region::all(&[]);
    assert_eq!(uncovered(&scalar, &[]), std::slice::from_ref(&scalar));
    assert!(uncovered(&scalar, &[&scalar]).is_empty());
}
