use super::*;
use proptest::prelude::*;

fn region(axes: &[Range<u64>]) -> Region {
    let (start, count) = axes.iter().map(|axis| (axis.start, axis.end - axis.start)).unzip();
    Region { start, count }
}

fn any_box() -> impl Strategy<Value = Vec<Range<u64>>> {
    prop::collection::vec((0..40u64, 0..12u64).prop_map(|(start, len)| start..start + len), 2)
}

proptest! {
    #[test]
    fn touched_boxes_are_those_of_a_list(
        boxes in prop::collection::vec(any_box(), 0..200),
        wanted in any_box(),
    ) {
        let tree = BoxTree::new(2, boxes.len(), boxes.concat());
        let wanted = region(&wanted);
        let list = (0..boxes.len()).filter(|at| region(&boxes[*at]).intersect(&wanted).is_some());
        prop_assert_eq!(tree.touched(&wanted), list.collect::<Vec<_>>());
    }

    #[test]
    fn halves_make_up_the_region_and_weigh_less(
        boxes in prop::collection::vec(any_box(), 0..60),
        wanted in any_box(),
        max in 0..20u64,
    ) {
        let tree = BoxTree::new(2, boxes.len(), boxes.concat());
        let wanted = region(&wanted);
        let weight = |region: &Region| tree.touched(region).len() as u64;
        if let Some([first, second]) = tree.halves(&wanted, max, |_, _| 1) {
            let count = |region: &Region| region.element_count().unwrap();
            prop_assert!(weight(&wanted) > max);
            prop_assert!(weight(&first).max(weight(&second)) < weight(&wanted));
            prop_assert!(first.intersect(&second).is_none());
            prop_assert_eq!(count(&first) + count(&second), count(&wanted));
        }
    }
}

#[test]
fn one_of_very_many_boxes_is_found_with_few_looks_however_they_overlap() {
    let stacked: Vec<Range<u64>> = (0..100_000).flat_map(|at| [at * 10..at * 10 + 10, 0..50]).collect();
    let mut below_a_long_one = stacked.clone();
    below_a_long_one[..2].clone_from_slice(&[0..1_000_000, 0..50]);
    let sliding: Vec<Range<u64>> = (0..100_000).flat_map(|at| [at * 10..at * 10 + 100, 0..50]).collect();
    let grid: Vec<Range<u64>> =
        (0..100_000).flat_map(|at| [at / 300 * 10..at / 300 * 10 + 10, at % 300..at % 300 + 2]).collect();
    for (boxes, expected) in [(stacked, 1), (below_a_long_one, 2), (sliding, 10), (grid, 2)] {
        let tree = BoxTree::new(2, 100_000, boxes);
        let mut found = 0;
        let looks = tree.walk(&region(&[2025..2026, 20..21]), |_| found += 1);
        assert_eq!(found, expected);
        assert!(looks < 300, "{looks} looks");
    }
}

#[test]
fn boxes_that_all_begin_together_are_cut_in_the_middle_by_their_weight() {
    let tree = BoxTree::new(2, 10, vec![[0..1000, 0..1]; 10].concat());
    let whole = region(&[0..1000, 0..1]);
    assert_eq!(tree.halves(&whole, 5, |_, _| 1), None, "each half would have all of them");
    let rows = |_: usize, region: &Region| region.count[0] / 10;
    assert_eq!(tree.halves(&whole, 5, rows), Some([region(&[0..500, 0..1]), region(&[500..1000, 0..1])]));
    assert_eq!(tree.halves(&whole, 1000, rows), None);
}
