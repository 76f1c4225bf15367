use super::TileFit;
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{FragmentAxis, FragmentPart};
use ncirrus_model::{AxisSelection, Region, Selection};
use proptest::prelude::*;

fn tile(count: &[u64]) -> Region {
    Region { start: vec![7; count.len()], count: count.to_vec() }
}

fn axis(axis: Option<usize>, part: FragmentPart, reversed: bool) -> FragmentAxis {
    FragmentAxis { axis, part, reversed }
}

#[test]
fn axes_of_one_element_may_be_lacking_or_lie_elsewhere() {
    for (due, shape, fits) in [
        (&[3, 1, 4][..], &[3, 4][..], true),
        (&[3, 1, 4], &[3, 1, 4], true),
        (&[1, 3, 4], &[3, 1, 4], true),
        (&[3, 4], &[3, 1, 4], false),
        (&[3, 4], &[4, 3], false),
        (&[3, 4], &[3], false),
        (&[1, 1], &[], true),
        (&[], &[], true),
    ] {
        assert_eq!(TileFit::new(tile(due), shape, None).is_ok(), fits, "{shape:?} in {due:?}");
    }
}

#[test]
fn the_error_names_both_shapes() {
    let error = TileFit::new(tile(&[3, 4]), &[4, 3], None).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(error, Err("a fragment of shape [4, 3] instead of [3, 4]".to_owned()));
}

#[test]
fn parts_that_are_not_there_do_not_fit() {
    for part in [
        FragmentPart::Slice { first: 0, last: 5, step: 1 },
        FragmentPart::Slice { first: 5, last: 0, step: 1 },
        FragmentPart::Slice { first: 0, last: 4, step: 0 },
        FragmentPart::Slice { first: u64::MAX, last: 0, step: i64::MIN },
        FragmentPart::Indices(vec![0, 1, 2, 3, 5]),
        FragmentPart::Indices(vec![0]),
    ] {
        let axes = [axis(Some(0), part.clone(), true)];
        assert!(TileFit::new(tile(&[5]), &[5], Some(&axes)).is_err(), "{part:?}");
    }
}

/// An axis of a tile of that length as it may be stored: the length of the stored axis, and the elements that are
/// taken.
fn part(len: u64) -> impl Strategy<Value = (u64, FragmentPart)> {
    let slice = (0..3u64, 1..4u64, any::<bool>()).prop_map(move |(before, step, down)| {
        let (low, high) = (before, before + (len - 1) * step);
        let signed = i64::try_from(step).unwrap_or(1);
        let part = if down {
            FragmentPart::Slice { first: high, last: low, step: -signed }
        } else {
            FragmentPart::Slice { first: low, last: high, step: signed }
        };
        (high + 2, part)
    });
    let count = usize::try_from(len).unwrap_or(1);
    let list = proptest::collection::vec(0..9u64, count).prop_map(|list| (9, FragmentPart::Indices(list)));
    prop_oneof![Just((len, FragmentPart::All)), slice, list]
}

fn taken(part: &FragmentPart, len: u64) -> Vec<u64> {
    match part {
        FragmentPart::All => (0..len).collect(),
        FragmentPart::Slice { first, last, step } if *step > 0 => {
            (*first..=*last).step_by(usize::try_from(*step).unwrap_or(1)).collect()
        }
        FragmentPart::Slice { first, last, step } => {
            (*last..=*first).rev().step_by(usize::try_from(-step).unwrap_or(1)).collect()
        }
        FragmentPart::Indices(list) => list.clone(),
    }
}

proptest! {
    /// Whatever part of a tile is read, the values are those at the same place in the whole tile.
    #[test]
    fn every_element_comes_from_where_the_description_says(
        (first, second) in (part(4), part(3)),
        swapped: bool,
        reversed: [bool; 2],
        picks in proptest::collection::vec(0..4u64, 1..5),
        (from, stride) in (0..3u64, 1..3u64),
    ) {
        let order = if swapped { [1, 0] } else { [0, 1] };
        let parts = [first, second];
        let stored = order.map(|at| axis(Some(at), parts[at].1.clone(), reversed[at]));
        let shape = order.map(|at| parts[at].0);
        let fit = TileFit::new(tile(&[4, 3]), &shape, Some(&stored));
        prop_assert!(fit.is_ok());
        let Ok(fit) = fit else { return Ok(()) };
        let count = (3 - from).div_ceil(stride);
        let selection = Selection::new(vec![
            AxisSelection::Indices(picks.iter().map(|at| at + 7).collect()),
            AxisSelection::Slice { start: 7 + from, count, stride },
        ]);
        let Ok((read, strides)) = fit.selection(&SelectionPiece::of(&selection)) else { return Ok(()) };
        let mut sorted = picks;
        sorted.sort_unstable();
        let index = |at: usize, index: u64| {
            let taken = taken(&parts[at].1, parts[at].0);
            let at_end = taken.len() - 1 - usize::try_from(index).unwrap_or(0);
            taken[if reversed[at] { at_end } else { usize::try_from(index).unwrap_or(0) }]
        };
        for (row, pick) in (0u64..).zip(&sorted) {
            for column in 0..count {
                let at = row * strides[0] + column * strides[1];
                let inner = read.axes()[1].count();
                let here = [read.axes()[0].index(at / inner), read.axes()[1].index(at % inner)];
                let due = [index(0, *pick), index(1, from + column * stride)];
                let due = order.map(|at| Some(due[at]));
                prop_assert_eq!(here, due);
            }
        }
    }
}
