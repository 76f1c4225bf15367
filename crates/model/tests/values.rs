//! Columns of values, and selections.
use ncirrus_model::{Atomic, AxisSelection, Region, Selection, Strings, Values};
use proptest::prelude::*;

fn vlen(lists: &[&[i32]]) -> Values {
    let ends = lists.iter().scan(0, |end, list| {
        *end += list.len();
        Some(*end)
    });
    let elements = Values::Int(lists.concat());
    Values::Vlen { ends: ends.collect(), elements: Box::new(elements) }
}

#[test]
fn null_and_empty_strings_differ() {
    let strings = Strings::from_iter([Some("a"), None, Some("")]);
    assert_eq!(strings.get(0), Some(&b"a"[..]));
    assert_eq!(strings.get(1), None);
    assert_eq!(strings.get(2), Some(&b""[..]));
    assert_eq!(strings.get(3), None);
    assert_eq!((strings.len(), strings.byte_len(), strings.max_len()), (3, 1, 1));
}

#[test]
fn slices_of_vlens_and_compounds_keep_their_elements() {
    let lists = vlen(&[&[1, 2], &[], &[3], &[4, 5, 6]]);
    assert_eq!(lists.slice(1..4), vlen(&[&[], &[3], &[4, 5, 6]]));
    let compound =
        Values::Compound { len: 2, fields: vec![Values::Byte(vec![1, 2]), Values::Short(vec![1, 2, 3, 4])] };
    let second = Values::Compound { len: 1, fields: vec![Values::Byte(vec![2]), Values::Short(vec![3, 4])] };
    assert_eq!(compound.slice(1..2), second);
    assert_eq!(second.repeat(2).len(), 2);
}

#[test]
fn values_of_another_type_are_not_appended() {
    let mut ints = Values::Int(vec![1]);
    assert!(!ints.extend_from(&Values::Short(vec![2]), 0..1));
    assert!(!ints.extend_from(&Values::Int(vec![2]), 0..2));
    assert!(ints.extend_from(&Values::Int(vec![2]), 0..1));
    assert_eq!(ints, Values::Int(vec![1, 2]));
}

#[test]
fn native_bytes_round_trip_for_every_fixed_type() {
    for atomic in Atomic::ALL {
        let Some(size) = atomic.byte_len() else { continue };
        let bytes: Vec<u8> = (0..size * 3).map(|at| u8::try_from(at + 1).unwrap()).collect();
        let values = Values::from_native_bytes(atomic, &bytes).unwrap();
        assert_eq!((values.atomic(), values.len(), values.as_bytes()), (Some(atomic), 3, Some(&bytes[..])));
        assert_eq!(Values::from_native_bytes(atomic, &bytes[..size * 3 - 1]).is_none(), size > 1);
    }
}

#[test]
fn a_selection_that_does_not_fit_is_reported_with_its_axis() {
    let shape = [4, 5];
    let past = Selection::slab(&[0, 3], &[4, 3]);
    assert!(past.check(&shape).unwrap_err().to_string().contains("axis 1"));
    assert!(past.check_growing(&shape, &[false, true]).is_ok());
    assert!(Selection::strided(&[0, 0], &[1, 1], &[1, 0]).check(&shape).is_err());
    assert!(Selection::slab(&[u64::MAX], &[2]).check_growing(&[1], &[true]).is_err());
    assert!(Selection::all(&[1]).check(&shape).is_err());
    assert!(Selection::slab(&[4, 5], &[0, 0]).check(&shape).is_ok());
}

#[test]
fn only_slices_without_gaps_are_boxes() {
    let region = Region { start: vec![1, 2], count: vec![3, 1] };
    assert_eq!(Selection::strided(&[1, 2], &[3, 1], &[1, 7]).as_region(), Some(region));
    assert_eq!(Selection::strided(&[1], &[3], &[2]).as_region(), None);
    assert_eq!(Selection::new(vec![AxisSelection::Indices(vec![0])]).as_region(), None);
}

proptest! {
    #[test]
    fn an_axis_selection_ends_after_its_largest_index(start in 0u64..100, count in 0u64..50, stride in 1u64..9) {
        let axis = AxisSelection::Slice { start, count, stride };
        let indices: Vec<u64> = (0..count).map(|at| axis.index(at).unwrap()).collect();
        prop_assert_eq!(axis.end(), Some(indices.iter().max().map_or(0, |max| max + 1)));
        prop_assert_eq!(axis.index(count), None);
        prop_assert_eq!(AxisSelection::Indices(indices).end(), axis.end());
    }

    #[test]
    fn the_intersection_holds_exactly_the_shared_elements(
        a in prop::collection::vec((0u64..9, 0u64..9), 1..4), b in prop::collection::vec((0u64..9, 0u64..9), 1..4),
    ) {
        let rank = a.len().min(b.len());
        let region = |parts: &[(u64, u64)]| Region {
            start: parts[..rank].iter().map(|part| part.0).collect(),
            count: parts[..rank].iter().map(|part| part.1).collect(),
        };
        let (a, b) = (region(&a), region(&b));
        let shared: u64 = (0..rank).map(|axis| {
            let inside = |r: &Region, at: u64| at >= r.start[axis] && at < r.start[axis] + r.count[axis];
            (0..20).filter(|at| inside(&a, *at) && inside(&b, *at)).count() as u64
        }).product();
        prop_assert_eq!(a.intersect(&b).map_or(0, |both| both.element_count().unwrap()), shared);
    }
}
