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
        let left = uncovered(&whole, &boxes.iter().collect::<Vec<_>>(), &Limits::default()).unwrap();
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
    let limits = Limits::default();
    assert_eq!(uncovered(&scalar, &[], &limits).unwrap(), std::slice::from_ref(&scalar));
    assert!(uncovered(&scalar, &[&scalar], &limits).unwrap().is_empty());
}

/// This many parts suffice to find what boxes leave uncovered.
fn parts(region: &Region, boxes: &[Region]) -> u64 {
    let boxes: Vec<&Region> = boxes.iter().collect();
    let suffices = |count: u64| uncovered(region, &boxes, &Limits { count, ..Limits::default() }).is_ok();
    let mut max = 1;
    while !suffices(max) {
        max *= 2;
    }
    max
}

#[test]
fn few_parts_are_looked_at_whatever_the_number_of_boxes_on_top_of_each_other() {
    let whole = Region::all(&[4096, 4096]);
    let nested: Vec<Region> =
        (0..2000).map(|at| Region { start: vec![at, at], count: vec![4096 - 2 * at; 2] }).collect();
    assert_eq!(parts(&whole, &nested), 1);
    let tiles: Vec<Region> =
        (0..4096).map(|at| Region { start: vec![at / 64 * 64, at % 64 * 64], count: vec![64, 63] }).collect();
    let left = uncovered(&whole, &tiles.iter().collect::<Vec<_>>(), &Limits::default()).unwrap();
    assert_eq!(left.iter().map(|part| part.element_count().unwrap()).sum::<u64>(), 64 * 4096);
    assert!(parts(&whole, &tiles) <= 8 * 4096, "{}", parts(&whole, &tiles));
}
