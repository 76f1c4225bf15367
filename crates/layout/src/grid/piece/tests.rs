use super::*;
use proptest::prelude::*;

/// Index and position of every element along an axis.
fn pairs(axis: &PieceAxis) -> Vec<(u64, u64)> {
    match axis {
        PieceAxis::Slice { start, count, stride, position } => {
            (0..*count).map(|at| (start + at * stride, position + at)).collect()
        }
        PieceAxis::Picks(picks) => picks.clone(),
    }
}

fn any_axis() -> impl Strategy<Value = AxisSelection> {
    let slice = (0u64..20, 0u64..9, 1u64..5).prop_map(|(start, count, stride)| AxisSelection::Slice {
        start,
        count,
        stride,
    });
    prop_oneof![slice, prop::collection::vec(0u64..20, 0..8).prop_map(AxisSelection::Indices)]
}

proptest! {
    #[test]
    fn what_lies_in_a_box_is_what_has_its_indices_there(
        axis in any_axis(),
        first in 0u64..24,
        len in 0u64..24,
    ) {
        let whole = SelectionPiece::of(&Selection::new(vec![axis]));
        let inside = |pair: &(u64, u64)| (first..first + len).contains(&pair.0);
        let expected: Vec<(u64, u64)> = pairs(&whole.axes[0]).into_iter().filter(inside).collect();
        let found = whole.within(&Region { start: vec![first], count: vec![len] });
        prop_assert_eq!(found.map(|piece| pairs(&piece.axes[0])).unwrap_or_default(), expected);
    }

    #[test]
    fn what_is_cut_is_whole_again_in_order(axis in any_axis(), max in 1u64..6) {
        let whole = SelectionPiece::of(&Selection::new(vec![axis]));
        let expected = pairs(&whole.axes[0]);
        let cut = whole.cut(max);
        prop_assert!(cut.iter().all(|piece| piece.count() <= max));
        let found: Vec<(u64, u64)> = cut.iter().flat_map(|piece| pairs(&piece.axes[0])).collect();
        prop_assert_eq!(found, expected);
    }
}
