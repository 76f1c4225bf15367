use super::*;
use crate::selection::tests::{any_selection, elements};
use crate::selection::{BlockProgression, HyperslabSelection};
use proptest::prelude::*;

const TARGET: [u64; 3] = [4, 5, 6];
const SOURCE: [u64; 3] = [3, 4, 7];

fn all(set: &ElementSet, shape: &[u64]) -> Vec<Vec<u64>> {
    let mut rows = set.within(&Region::all(shape), &Limits::default()).expect("rows");
    rows.sort_by_key(|row| row.position);
    rows.iter().flat_map(|row| elements(&line(row.start.clone(), row.len))).collect()
}

fn check(target: &ElementSet, source: &ElementSet, region: &Region) -> usize {
    let found = pairs(target, source, region, &Limits::default()).expect("pairs");
    let expected: Vec<_> = all(target, &TARGET).into_iter().zip(all(source, &SOURCE)).collect();
    let meant = elements(region);
    let mut wanted: Vec<_> = expected.into_iter().filter(|(at, _)| meant.contains(at)).collect();
    let mut pairs: Vec<_> = found
        .iter()
        .flat_map(|(target, source)| elements(target).into_iter().zip(elements(source)).collect::<Vec<_>>())
        .collect();
    pairs.sort();
    wanted.sort();
    assert_eq!(pairs, wanted);
    found.len()
}

fn regular(axes: [(u64, u64, u64, u64); 3]) -> ElementSet {
    let axis = |(start, stride, count, block)| BlockProgression {
        start,
        stride,
        count: Some(count),
        block: Some(block),
    };
    let selection = HyperslabSelection::Regular(axes.map(axis).to_vec());
    ElementSet::new(&selection, &[9, 9, 9], 0, &Limits::default()).expect("a set")
}

#[test]
fn boxes_that_are_alike_but_for_single_indices_are_one_pair() {
    let target = regular([(1, 1, 1, 2), (2, 1, 1, 1), (0, 1, 1, 5)]);
    let source = regular([(2, 1, 1, 1), (1, 1, 1, 2), (1, 1, 1, 5)]);
    assert_eq!(check(&target, &source, &Region::all(&TARGET)), 1);
}

#[test]
fn strides_cut_only_where_both_do() {
    let target = regular([(0, 1, 1, 2), (0, 1, 1, 1), (0, 2, 3, 1)]);
    let source = regular([(0, 1, 1, 2), (0, 1, 1, 1), (1, 1, 1, 3)]);
    assert_eq!(check(&target, &source, &Region::all(&TARGET)), 3);
}

#[test]
fn sets_of_different_length_do_not_go_together() {
    let target = regular([(0, 1, 1, 2), (0, 1, 1, 1), (0, 1, 1, 3)]);
    let source = regular([(0, 1, 1, 1), (0, 1, 1, 1), (0, 1, 1, 3)]);
    let error = pairs(&target, &source, &Region::all(&TARGET), &Limits::default()).expect_err("6 and 3");
    assert!(error.message().contains("6 elements to 3"), "{error}");
}

/// Reduces a selection to some of its elements in order, as points.
fn shortened(selection: &HyperslabSelection, shape: &[u64], len: usize) -> ElementSet {
    let limits = Limits::default();
    let set = ElementSet::new(selection, shape, 0, &limits).expect("a set");
    let elements = all(&set, shape);
    if elements.len() == len {
        return set;
    }
    let coords = elements.into_iter().take(len).flatten().collect();
    ElementSet::new(&HyperslabSelection::Points { rank: 3, coords }, shape, 0, &limits).expect("a set")
}

proptest! {
    #[test]
    fn elements_are_paired_in_order(
        target in any_selection(TARGET),
        source in any_selection(SOURCE),
        start in (0u64..4, 0u64..5, 0u64..6),
        count in (1u64..4, 1u64..4, 1u64..6),
    ) {
        let limits = Limits::default();
        let lens = [(&target, TARGET), (&source, SOURCE)].map(|(selection, shape)| {
            usize::try_from(ElementSet::new(selection, &shape, 0, &limits).expect("a set").len().expect("small")).expect("small")
        });
        // Repeated points are not a valid target selection.
        let len = lens[0].min(lens[1]);
        let region = Region { start: vec![start.0, start.1, start.2], count: vec![count.0, count.1, count.2] };
        let (target, source) = (shortened(&target, &TARGET, len), shortened(&source, &SOURCE, len));
        check(&target, &source, &region);
    }
}
