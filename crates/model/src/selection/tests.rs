use super::*;
use proptest::prelude::*;

fn indices(axis: &AxisSelection) -> Vec<u64> {
    (0..axis.count()).filter_map(|position| axis.index(position)).collect()
}

#[test]
fn halves_are_cut_between_chunks_where_there_are_several() {
    let cut = |start, count, stride, grain| {
        let selection = Selection::new(vec![AxisSelection::Slice { start, count, stride }]);
        let (first, second) = selection.halves(&[grain]).unwrap();
        assert_eq!([indices(&first.axes[0]), indices(&second.axes[0])].concat(), indices(&selection.axes[0]));
        (first.axes[0].end().unwrap(), second.axes[0].index(0).unwrap())
    };
    assert_eq!(cut(0, 10, 1, 0), (5, 5));
    assert_eq!(cut(0, 10, 1, 4), (4, 4));
    assert_eq!(cut(3, 10, 1, 7), (7, 7));
    assert_eq!(cut(1, 5, 1, 5), (5, 5), "the next multiple, when there is none before");
    assert_eq!(cut(1, 3, 1, 100), (2, 2), "within one chunk: in the middle");
    assert_eq!(cut(1, 5, 3, 8), (8, 10), "indices 1, 4, 7, 10, 13");
}

#[test]
fn only_more_than_one_element_has_halves() {
    assert_eq!(Selection::all(&[1, 1]).halves(&[]), None);
    assert_eq!(Selection::all(&[]).halves(&[]), None);
    assert_eq!(Selection::all(&[2, 0]).halves(&[]), None);
    let (first, second) = Selection::all(&[1, 4]).halves(&[]).unwrap();
    assert_eq!((first, second), (Selection::slab(&[0, 0], &[1, 2]), Selection::slab(&[0, 2], &[1, 2])));
}

proptest! {
    #[test]
    fn halves_follow_each_other(start in 0u64..50, count in 2u64..40, stride in 1u64..9, grain in 0u64..60) {
        let selection = Selection::new(vec![AxisSelection::Slice { start, count, stride }]);
        let (first, second) = selection.halves(&[grain]).unwrap();
        prop_assert!(first.axes[0].count() > 0 && second.axes[0].count() > 0);
        let both = [indices(&first.axes[0]), indices(&second.axes[0])].concat();
        prop_assert_eq!(both, indices(&selection.axes[0]));
    }
}
